"""What a walking robot can be told: each goal is a class here, with its fields and how it is begun.

    robot.walk.requests   goals: those of GOALS, and Cancel (services)
    robot.walk.replies    what becomes of them
    robot.walk.doing      every cycle: where the body is by plan, which feet bear, the goal under way, what is wrong

What is told last counts: a goal that is accepted preempts the one before. A velocity holds for a short time only,
unless it is repeated, so that nobody who goes away leaves a robot walking.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import numpy as np

from wholebody.errors import BadFootsteps
from wholebody.locomotion.walking.footsteps import Footstep, Place
from wholebody.messages import TEXT_SIZE, Dtype
from wholebody.parameters import Bounds, Unit
from wholebody.services import AtMost

if TYPE_CHECKING:
    from wholebody.behaviors.walking import Walking

CONTROLLER = "walk"
MOST_FOOTSTEPS = 64
"""In one goal."""


@dataclass(frozen=True)
class WalkingGoal:
    """Something that a walking robot can be told."""

    needs_standing: ClassVar[bool] = True
    """Whether it must have stood up."""
    begins_at_rest: ClassVar[bool] = False
    """Whether it begins where the robot stands, or will stand when it has stopped."""

    def begin(self, walking: Walking) -> None:
        """Tell the robot; any error of ours rejects the goal."""
        raise NotImplementedError

    @property
    def holds(self) -> float:
        """Seconds after which the robot is to stop by itself; 0 for what has an end of its own."""
        return 0.0


@dataclass(frozen=True)
class Stand(WalkingGoal):
    """Stand up and balance; if it does already, stop.

    seconds  how long it takes to stand up
    """

    seconds: Annotated[float, Unit("s")] = 2.0
    needs_standing: ClassVar[bool] = False

    def begin(self, walking: Walking) -> None:
        """Stand up, unless it is about to."""
        if not walking.rising:
            walking.stand(self.seconds)


@dataclass(frozen=True)
class Go(WalkingGoal):
    """Walk to a place seen from where the robot stands, or will stand."""

    forward: Annotated[float, Unit("m")] = 0.0
    leftward: Annotated[float, Unit("m")] = 0.0
    turn: Annotated[float, Unit("rad")] = 0.0
    begins_at_rest: ClassVar[bool] = True

    def begin(self, walking: Walking) -> None:
        """Plan steps to there."""
        walking.go(self.forward, self.leftward, self.turn)


@dataclass(frozen=True)
class KeepVelocity(WalkingGoal):
    """Walk at a velocity for a while; who wants more repeats it.

    lasts  how long it holds
    """

    forward: Annotated[float, Unit("m/s")] = 0.0
    leftward: Annotated[float, Unit("m/s")] = 0.0
    turn: Annotated[float, Unit("rad/s")] = 0.0
    lasts: Annotated[float, Unit("s"), Bounds(0.001, 10.0)] = 0.5

    @property
    def holds(self) -> float:
        """For how long it was told."""
        return self.lasts

    def begin(self, walking: Walking) -> None:
        """Walk on and on; the server ends it in time."""
        walking.walk(velocity=(self.forward, self.leftward, self.turn))


@dataclass(frozen=True)
class FollowFootsteps(WalkingGoal):
    """Walk along footsteps in the axes of the plan, in which `doing` tells the body's place."""

    footsteps: Annotated[tuple[Footstep, ...], AtMost(MOST_FOOTSTEPS)]

    def begin(self, walking: Walking) -> None:
        """Follow them from where the feet stand."""
        if not walking.standing:
            raise BadFootsteps("it walks, and footsteps begin where the feet stand; stop first, and wait")
        walking.walk(footsteps=self.footsteps)


@dataclass(frozen=True)
class StepInPlace(WalkingGoal):
    """Step on the spot."""

    count: Annotated[int, Unit("1"), Bounds(1)]
    begins_at_rest: ClassVar[bool] = True

    def begin(self, walking: Walking) -> None:
        """Plan so many steps."""
        walking.walk(steps_in_place=self.count)


@dataclass(frozen=True)
class Stop(WalkingGoal):
    """Stand, after the steps that cannot be taken back."""

    needs_standing: ClassVar[bool] = False

    def begin(self, walking: Walking) -> None:
        """Stop, if it stands or walks at all."""
        if walking.up:
            walking.stop()


GOALS: tuple[type[WalkingGoal], ...] = (Stand, Go, KeepVelocity, FollowFootsteps, StepInPlace, Stop)


class Bearing(IntEnum):
    """Which feet bear by plan, or that it has not stood up yet."""

    NOT_UP = 0
    RISING = 1
    BOTH = 2
    LEFT = 3
    RIGHT = 4


class Doing(NamedTuple):
    """What the controller does at an instant."""

    time: float
    place: Place  # of the body by plan: between the feet; it begins at zero where the robot stood up
    bearing: Bearing
    standing: bool
    goal: int  # the number of the one under way, 0 if there is none
    trouble: str  # why it stopped by itself; empty if nothing is wrong
    left: float  # s until it is done with all that it was told; no number if it goes on and on


def doing_record() -> Dtype:
    """Build what the controller does now.

    `base` is where the base is by what legs and IMU sense, in the axes of `place`: position and quaternion x y z w, no
    numbers as long as nobody knows.
    """
    fields: list[Any] = [("time", "<f8"), ("place", "<f8", (3,)), ("bearing", "u1"), ("standing", "?")]
    fields += [("base", "<f8", (7,)), ("left", "<f8")]
    return np.dtype([*fields, ("goal", "<u8"), ("trouble", f"S{TEXT_SIZE}")], align=True)


def read_doing(message: Any) -> Doing:
    """What the controller does, as a record says it."""
    return Doing(
        float(message["time"]),
        Place(*(float(value) for value in message["place"])),
        Bearing(int(message["bearing"])),
        bool(message["standing"]),
        int(message["goal"]),
        bytes(message["trouble"]).decode(errors="replace"),
        float(message["left"]),
    )
