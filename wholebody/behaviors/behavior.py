"""Goal: a verb in one class, in any file: what a robot can be told, and how it is done; Goals gives them.

@dataclass(frozen=True)
class Nod(Goal):
    '''Say yes.'''

    times: Annotated[int, Unit("1"), Bounds(1, 20)] = 2

    def run(self, robot):
        rest, begin = robot.position("HNP"), robot.now
        while (share := (robot.now - begin) / self.times) < 1.0:
            robot.move({"HNP": rest + 0.1 * math.sin(math.tau * self.times * share)})
            yield share

`wholebody start --behavior path/to/nod.py:Nod` runs it; console, RCP, page and Python (Goals) know the verb then.
"""

from __future__ import annotations

import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from wholebody import messages, plugins
from wholebody.channels.directory import Machine, machine
from wholebody.channels.subscription import Subscription
from wholebody.drivers import Names
from wholebody.drivers.connection import Connection
from wholebody.errors import BadConfiguration, NoController, NoServer, Refused, UnknownName, WholebodyError
from wholebody.parameters.parameter import check_fields
from wholebody.parameters.verbs import Verb, described, verbs_in
from wholebody.robots.robot import Robot
from wholebody.services import Asked, Client, GoalServer, Report, Stage
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
        self._report = Subscription(names.report, messages.Report)
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


LOOK_EVERY = 0.5
"""s from one look for behaviours to the next, unless a verb is not known."""


@dataclass(frozen=True)
class GoalHandle:
    """A goal that was given, by which one hears what becomes of it."""

    client: Client
    number: int
    verb: str

    def wait(self, timeout: float = 120.0) -> Report:
        """Wait until it is done; GoalNotDone says why it is not, NoServer that its behaviour has ended."""
        return self.client.wait(self.number, timeout)

    def reports(self) -> tuple[Report, ...]:
        """What became of it so far; NoServer if its behaviour has ended before it was done."""
        return self.client.followed(self.number)

    def cancel(self) -> None:
        """Give it up."""
        self.client.cancel(self.number)


class Goals:
    """The verbs of a robot's behaviours, here or on another machine (connect=HOST:PORT); a verb is a method.

    Where two behaviours know the same verb, each is called BEHAVIOUR.VERB, such as walk.stand.

    with Goals("robot") as robot:
        robot.nod(times=3).wait()
        going = robot.say("go forward=1 turn=30deg")
        going.cancel()
        robot.verbs                          # what can be told now: of every behaviour that runs
    """

    def __init__(self, robot: str = "", connect: str | Machine = "") -> None:
        self._first = f"{Names(robot).robot}."
        self._owns_machine = isinstance(connect, str)
        self._machine = machine(connect) if isinstance(connect, str) else connect
        self._clients: dict[str, Client] = {}
        self._known: dict[str, tuple[Verb, str]] = {}  # and whose it is, as BEHAVIOUR.VERB
        self._short: dict[str, str] = {}
        self._looked = float("-inf")

    @property
    def verbs(self) -> dict[str, Verb]:
        """What can be told now, by name."""
        if time.monotonic() > self._looked + LOOK_EVERY:
            self._look()
        return {short: self._known[full][0] for short, full in self._short.items()}

    def verb(self, name: str) -> tuple[Verb, str]:
        """A verb, and the behaviour that knows it; UnknownName if none does."""
        if self._short.get(name, name) not in self._known:
            self._look()
        if (full := self._short.get(name, name)) not in self._known:
            raise UnknownName("verb", name, self._short)
        return self._known[full]

    def give(self, verb: str, *words: Any, **named: Any) -> GoalHandle:
        """Give a goal, with its arguments as values or as text; BadParameter if they will not do."""
        about, behavior = self.verb(verb)
        goal = about.goal(words, **named)
        client = self._clients[behavior]
        if not client.alive:
            raise NoController(f"'{self._first}{behavior}', which knows '{verb}', has ended; start it again")
        return GoalHandle(client, client.send(goal), verb)

    def say(self, line: str) -> GoalHandle:
        """Give a goal as people type it: a verb, and its arguments in their order or by name."""
        verb, *words = line.split() or [""]
        return self.give(verb.lower(), *words)

    def __getattr__(self, verb: str) -> Callable[..., GoalHandle]:
        """A verb as a method."""
        if verb.startswith("_"):
            raise AttributeError(verb)
        return lambda *words, **named: self.give(verb, *words, **named)

    def close(self) -> None:
        """Let go of channels, and of the other machine."""
        for each in self._clients.values():
            each.close()
        self._clients.clear()
        if self._owns_machine:
            self._machine.close()

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _look(self) -> None:
        """See which behaviours run; a client is kept for who still has goals under way there."""
        self._looked = time.monotonic()
        there = self._machine.written(".replies")
        self._known = {}
        for service in there:
            behavior = service.removeprefix(self._first)
            if behavior == service or "." in behavior:  # another robot's, or what a controller has besides its goals
                continue
            try:
                client = self._clients.get(behavior) or Client(service, timeout=0.0, connect=self._machine)
            except NoServer:  # it has just ended
                continue
            client.follow()
            self._clients[behavior] = client
            self._known |= {f"{behavior}.{verb.name}": (verb, behavior) for verb in verbs_in(client.about).values()}
        count = Counter(verb.name for verb, _ in self._known.values())
        self._short = {verb.name if count[verb.name] == 1 else full: full for full, (verb, _) in self._known.items()}
