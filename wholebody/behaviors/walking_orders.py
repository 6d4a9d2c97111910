"""What a walking controller is told through channels, what it answers, and what it says of itself: three records.

    robot.walk.orders     an order: its number, a Kind, and numbers
    robot.walk.reports    what became of it: its number, a Stage, and words
    robot.walk.doing      every cycle: where the body is by plan, which feet bear, what is being done, what is wrong

What is told last counts: an order that is accepted interrupts the one before. A velocity holds for a short time only,
unless it is repeated, so that nobody who goes away leaves a robot walking.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from wholebody.locomotion.walking.footsteps import OUTWARD, Footstep, Place, Side
from wholebody.messages import TEXT_SIZE, Dtype

CONTROLLER = "walk"
MOST_FOOTSTEPS = 64
"""In one order."""
LASTS = 0.5
"""s. How long a velocity holds unless it is repeated, or told otherwise."""
LONGEST = 10.0
"""s. The longest that a velocity may hold."""


class Kind(IntEnum):
    """What can be told; the values that go with it in brackets."""

    STAND = 0  # [seconds]
    GO = 1  # [forward m, leftward m, turn rad], seen from where it stands or will stand
    VELOCITY = 2  # [forward m/s, leftward m/s, turn rad/s, for how many seconds]
    FOOTSTEPS = 3  # in the axes of the plan, in which `doing` tells the body's place
    IN_PLACE = 4  # [how many steps]
    STOP = 5


class Stage(IntEnum):
    """What becomes of an order. After ACCEPTED comes STARTED, and at the end one of the others."""

    ACCEPTED = 0
    REFUSED = 1
    STARTED = 2
    COMPLETED = 3
    INTERRUPTED = 4
    FAILED = 5

    @property
    def final(self) -> bool:
        """Whether nothing comes after it."""
        return self not in (Stage.ACCEPTED, Stage.STARTED)


class Bearing(IntEnum):
    """Which feet bear by plan, or that it has not stood up yet."""

    NOT_UP = 0
    RISING = 1
    BOTH = 2
    LEFT = 3
    RIGHT = 4


class Order(NamedTuple):
    """An order as it is told."""

    number: int
    kind: Kind
    values: tuple[float, ...] = ()
    footsteps: tuple[Footstep, ...] = ()

    @property
    def lasts(self) -> float:
        """How long a velocity is asked for, s."""
        return self.values[3] if self.kind is Kind.VELOCITY else 0.0


class Report(NamedTuple):
    """What became of the order of a number."""

    number: int
    stage: Stage
    text: str
    time: float  # of the robot, s


class Doing(NamedTuple):
    """What the controller does at an instant."""

    time: float
    place: Place  # of the body by plan: between the feet; it begins at zero where the robot stood up
    bearing: Bearing
    standing: bool
    order: int  # the number of the one under way, 0 if there is none
    trouble: str  # why it stopped by itself; empty if nothing is wrong
    left: float  # s until it is done with all that it was told; no number if it goes on and on


def order_record() -> Dtype:
    """Build an order: four numbers, and footsteps as rows of side (+1 left, −1 right), x, y, yaw."""
    fields: list[Any] = [("number", "<u8"), ("kind", "u1"), ("count", "u1"), ("values", "<f8", (4,))]
    return np.dtype([*fields, ("footsteps", "<f8", (MOST_FOOTSTEPS, 4))], align=True)


def report_record() -> Dtype:
    """Build what becomes of an order."""
    return np.dtype([("number", "<u8"), ("time", "<f8"), ("stage", "u1"), ("text", f"S{TEXT_SIZE}")], align=True)


def doing_record() -> Dtype:
    """Build what the controller does now.

    `base` is where the base is by what legs and IMU sense, in the axes of `place`: position and quaternion x y z w, no
    numbers as long as nobody knows.
    """
    fields: list[Any] = [("time", "<f8"), ("place", "<f8", (3,)), ("bearing", "u1"), ("standing", "?")]
    fields += [("base", "<f8", (7,)), ("left", "<f8")]
    return np.dtype([*fields, ("order", "<u8"), ("trouble", f"S{TEXT_SIZE}")], align=True)


def write_order(order: Order, message: Any) -> None:
    """Fill in an order's record."""
    message["number"], message["kind"], message["count"] = order.number, order.kind, len(order.footsteps)
    message["values"] = (*order.values, 0.0, 0.0, 0.0, 0.0)[:4]
    for row, step in enumerate(order.footsteps):
        message["footsteps"][row] = OUTWARD[step.side], *step.at


def read_order(message: Any) -> Order:
    """The order in a record; ValueError if its kind is none."""
    rows = message["footsteps"][: min(int(message["count"]), MOST_FOOTSTEPS)]
    steps = tuple(Footstep(_side(row[0]), Place(*(float(value) for value in row[1:]))) for row in rows)
    values = tuple(float(value) for value in message["values"])
    return Order(int(message["number"]), Kind(int(message["kind"])), values, steps)


def _side(sign: float) -> Side:
    return "left" if sign > 0 else "right"


def read_report(message: Any) -> Report:
    """The report in a record."""
    text = bytes(message["text"]).decode(errors="replace")
    return Report(int(message["number"]), Stage(int(message["stage"])), text, float(message["time"]))


def read_doing(message: Any) -> Doing:
    """What the controller does, as a record says it."""
    return Doing(
        float(message["time"]),
        Place(*(float(value) for value in message["place"])),
        Bearing(int(message["bearing"])),
        bool(message["standing"]),
        int(message["order"]),
        bytes(message["trouble"]).decode(errors="replace"),
        float(message["left"]),
    )
