"""Goal: something that a robot can be told, and how it is done: a verb in one class, in any file.

@dataclass(frozen=True)
class Nod(Goal):
    '''Say yes.'''

    times: Annotated[int, Unit("1"), Bounds(1, 20)] = 2

    def run(self, robot):
        rest, begin = robot.position("HNP"), robot.now
        while (share := (robot.now - begin) / self.times) < 1.0:
            robot.move({"HNP": rest + 0.1 * math.sin(math.tau * self.times * share)})
            yield share

`wholebody start --behavior path/to/nod.py:Nod` runs it; console, RCP, page and Python (goals.py) know the verb then.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from wholebody import plugins
from wholebody.channels.subscription import Subscription
from wholebody.drivers import Names
from wholebody.drivers.connection import Connection
from wholebody.errors import BadConfiguration, NoController, NoServer, Refused, WholebodyError
from wholebody.messages import Report
from wholebody.parameters.parameter import check_fields
from wholebody.parameters.verbs import described
from wholebody.robots.robot import Robot
from wholebody.services import Asked, GoalServer, Stage
from wholebody.services.records import kind_name

LOG = logging.getLogger(__name__)
TOLD_EVERY = 0.1
"""s between two words on how far a goal has come."""
HEARD = 0.5
"""s that the daemon has to give joints to us before they count as another's."""


class Goal:
    """Something that a robot can be told, and how it is done. Heirs are frozen dataclasses."""

    def run(self, robot: Connection) -> Iterator[float]:
        """Do it: each `yield` ends a cycle, with the share that is done (NaN: nobody knows); it succeeds at the end.

        What comes before the first `yield` plans and moves nothing: an error there rejects the goal, a later one
        fails it. If it is cancelled, or another goal takes its place, GeneratorExit is raised at the `yield`.
        """
        raise NotImplementedError


class Behavior:
    """Several goals that share something: an heir names them, is made with the robot, and may run them itself."""

    goals: ClassVar[tuple[type, ...]] = ()

    def __init__(self, robot: Robot) -> None:
        self.robot = robot

    def run(self, goal: Any, robot: Connection) -> Iterator[float]:
        """Do a goal, as Goal.run does."""
        motion: Iterator[float] = goal.run(robot)
        return motion


def load(name: str, robot: Robot) -> tuple[str, Behavior]:
    """A behaviour, or one goal as a behaviour, by entry point or as path/to/file.py:Class; and what it is called."""
    kind = plugins.load("behaviors", name)
    if isinstance(kind, type) and issubclass(kind, Behavior) and kind.goals:
        behavior = kind(robot)
    elif isinstance(kind, type) and issubclass(kind, Goal) and kind is not Goal:
        behavior = Behavior(robot)
        vars(behavior)["goals"] = (kind,)
    else:
        raise BadConfiguration(f"{name} is neither a Goal nor a Behavior with goals; see docs/behaviors.md")
    for each in behavior.goals:
        if "__dataclass_fields__" not in vars(each):
            raise BadConfiguration(f"{name}: {each.__name__} is no dataclass; write @dataclass(frozen=True) above it")
    return kind_name(kind), behavior


class BehaviorServer(GoalServer):
    """Takes the goals of a behaviour, one at a time, and moves the robot as they say; between them it moves nothing."""

    missing: ClassVar[type[NoServer]] = NoController

    def __init__(self, name: str, behavior: Behavior, robot: Connection, robot_name: str = "") -> None:
        names = Names(robot_name)
        super().__init__(names.service(name), behavior.goals, about=described(behavior.goals))
        self._controller, self._behavior, self._robot = name, behavior, robot
        self._report = Subscription(names.report, Report)
        self._motion: Iterator[float] = iter(())
        self._told = self._begun = -math.inf

    def cycle(self) -> None:
        """Take the next goal, or go on with the one under way."""
        time = self._robot.now
        if (asked := self.take_goal(time)) is not None:
            self._begin(asked, time)
        elif self.under_way:
            self._go_on(time)
        elif self._robot.reference.mask.any():  # a cycle after the last word, or nobody would have heard that
            self._robot.reference.mask[:] = False
            self._robot.put()

    def end(self, why: str) -> None:
        """Leave the robot alone, and say that the goal under way will not be reached."""
        if self.under_way:
            self._end(Stage.PREEMPTED, why)

    def give_up(self, slot: str) -> None:
        """End the goal under way."""
        self._end(Stage.SUCCEEDED)

    def _begin(self, asked: Asked, time: float) -> None:
        try:
            check_fields(asked.request)
            motion = iter(self._behavior.run(asked.request, self._robot))
            share = next(motion, 1.0)
        except Exception as error:
            self.reply(asked.number, Stage.REJECTED, time, _reason(error))
            return
        self._leave()
        self.accept(asked, time)
        self._motion, self._begun, self._told = motion, time, time
        self.run(time, progress=_share(share))

    def _go_on(self, time: float) -> None:
        try:
            self._must_be_ours()
            share = next(self._motion)
        except StopIteration:
            self._end(Stage.SUCCEEDED)
        except Exception as error:
            self._end(Stage.FAILED, _reason(error))
        else:
            if time >= self._told + TOLD_EVERY:
                self._told = time
                self.run(time, progress=_share(share))

    def _must_be_ours(self) -> None:
        """Refused if the robot is stopped, or if somebody else has a lease on what is moved."""
        report, mask = self._report.take(), self._robot.reference.mask
        if report is None or report.time < self._begun:
            return
        if report.stopped:
            raise Refused("the robot is stopped; resume lets it go on")
        if report.time < self._begun + HEARD:
            return
        for joint in np.flatnonzero(mask & report.leased & (report.owner >= 0)):
            owner = report.controller[report.owner[joint]].decode()
            if owner != self._controller:
                raise Refused(f"{self._robot.joints[joint]} is moved by '{owner}', who has a lease")

    def _end(self, stage: Stage, text: str = "") -> None:
        self._leave()
        self.finish(stage, self._robot.now, text)

    def _leave(self) -> None:
        """End a motion; its joints hold where they were told to be, and are anybody's from the next cycle on."""
        motion, self._motion = self._motion, iter(())
        try:
            getattr(motion, "close", lambda: None)()
        except Exception:
            LOG.exception("a goal did not end as it should")


def _share(value: Any) -> float:
    return math.nan if value is None else float(value)


def _reason(error: Exception) -> str:
    """What people are told of an error; where one comes from that is none of ours is in the log."""
    if isinstance(error, WholebodyError):
        return str(error)
    LOG.error("unforeseen", exc_info=error)
    return f"unforeseen, {type(error).__name__}: {error}"
