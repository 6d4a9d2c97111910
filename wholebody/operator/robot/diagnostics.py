"""Diagnostics: what is wrong with a running robot now, in words, and why it can never walk."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence

from wholebody.behaviors.walking_goals import Doing
from wholebody.channels.subscription import Subscription
from wholebody.drivers import Names
from wholebody.errors import BadGait
from wholebody.locomotion.walking.gait import need_soles
from wholebody.messages import Report, State, Status, labels
from wholebody.operator.map import Map
from wholebody.operator.monitor.status_view import FAULTS, sensor_views, words
from wholebody.operator.robot.localization import PlaceEstimate
from wholebody.perception.objects import SeenObject
from wholebody.processes import silence
from wholebody.processes.registry import WALK
from wholebody.robots import Robot

LOOK_EVERY = 0.2
"""s"""
LASTS = 3.0
"""s. What comes and goes within that is one trouble."""
FAULTY = 0.5
"""s for which a joint must have a fault: for an instant motors saturate and joints touch their limits in any walk."""
SILENT = 1.0
"""s without a state after which a robot is silent."""


class Diagnostics:
    """Of the robot of a name.

    doing   what its walking controller does, and None if none runs
    fallen  what shows that it has fallen, and nothing if it has not
    """

    def __init__(
        self, name: str, doing: Callable[[], Doing | None], fallen: Callable[[State], str] = lambda state: ""
    ) -> None:
        self._name, self._fallen = name, fallen
        self._state, self._report, self._doing = (
            Subscription(Names(name).state, State),
            Subscription(Names(name).report, Report),
            doing,
        )
        self._walked = False  # whether a walking controller ever ran
        self._seen: dict[str, float] = {}  # when, last
        self._faults: dict[str, float] = {}  # of joints, since when
        self._looked = 0.0

    def now(self) -> tuple[str, ...]:
        """All of them, as they were a moment ago; the words stay the same as long as the trouble does."""
        now = time.monotonic()
        if now > self._looked + LOOK_EVERY:
            self._looked = now
            lasting = {each: when for each, when in self._seen.items() if now < when + LASTS}
            self._seen = lasting | dict.fromkeys(self._look(), now)
        return tuple(self._seen)

    def _look(self) -> Iterator[str]:
        state, report = self._state.take(), self._report.take()
        if state is None or self._state.age > SILENT:
            yield f"the robot is silent: {silence.of_robot(self._name)}"
        if report is not None and report.stopped:
            yield "the daemon holds every joint; RESUME lets it go on"
        if state is not None:
            now = time.monotonic()
            self._faults = {each: self._faults.get(each, now) for each in _faults(state)}
            yield from (each for each, since in self._faults.items() if now >= since + FAULTY)
            if fallen := self._fallen(state):
                yield fallen
        yield from self._of_legs(state)

    def _of_legs(self, state: State | None) -> Iterator[str]:
        doing = self._doing()
        if doing is None and self._walked:
            yield "the walking controller has ended"
        elif doing is not None and doing.trouble:
            yield doing.trouble
        elif doing is not None and state is not None and state.time > doing.time + SILENT:
            yield f"the walking controller says nothing: {silence.of_controller(self._name, WALK.name)}"
        self._walked = self._walked or doing is not None


def _faults(state: State) -> Iterator[str]:
    faulty = state.status & int(FAULTS)
    for number in faulty.nonzero()[0]:
        found = ", ".join(words(Status(int(faulty[number]))))
        yield f"joint {labels(state.dtype)[number]}: {found}"


def of_state(state: State) -> dict[str, str]:
    """The robot's time, IMUs, force-torque sensors and joints."""
    readings = {
        f"{sensor.name}.{axis}": f"{value:.4g}"
        for sensor in sensor_views(state)
        for axis, value in sensor.axes.items()
        if value is not None
    }
    joints = zip(labels(state.dtype), state.position, strict=True)
    readings |= {f"joint.{name}": f"{position:.4f}" for name, position in joints}
    return readings | {"time": f"{state.time:.3f}"}


def of_place(estimate: PlaceEstimate, map: Map) -> dict[str, str]:
    """Where the robot faces, how fast it goes, and how far it is to what is ahead, to the left, behind and right."""
    around = map.around(*estimate.place)
    return {
        "heading": f"{estimate.place.yaw:.3f}",
        "speed": f"{estimate.speed:.3f}",
        **{side: f"{far:.2f}" if math.isfinite(far) else "free" for side, far in around.items()},
    }


def of_objects(objects: Sequence[SeenObject]) -> dict[str, str]:
    """Each object that was seen as four numbers, m: x, y, the standard deviation of its place, and its radius."""
    return {
        f"seen.{each.name}": f"{each.position[0]:.3f} {each.position[1]:.3f} {each.deviation:.4f} {each.radius:.3f}"
        for each in objects
    }


def footless(robot: Robot) -> str:
    """Why a robot can never walk; empty if it can."""
    try:
        need_soles(robot)
    except BadGait as error:
        return str(error)
    return ""
