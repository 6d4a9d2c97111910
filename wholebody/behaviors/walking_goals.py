"""What a walking robot can be told: its goals, the server that takes them, and the client that gives them.

    robot.walk.requests   goals: those of GOALS, and Cancel (services)
    robot.walk.replies    what becomes of them
    robot.walk.doing      every cycle: where the body is by plan, which feet bear, the goal under way, what is wrong

What is told last counts: a goal that is accepted preempts the one before. A velocity holds for a short time only,
unless it is repeated, so that nobody who goes away leaves a robot walking.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

from wholebody.channels.directory import Machine
from wholebody.drivers import Names
from wholebody.errors import BadFootsteps, NoController, NoServer, VelocityClamped
from wholebody.estimation.base_pose import DoingMessage, doing_record
from wholebody.locomotion.walking.footsteps import Footstep, Place
from wholebody.messages import Record
from wholebody.parameters import Bounds, Unit
from wholebody.parameters.parameter import check_fields
from wholebody.parameters.verbs import described
from wholebody.services import Asked, AtMost, Client, GoalServer, Stage, UnderWay
from wholebody.services.client import SLICE

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


def read_doing(message: DoingMessage) -> Doing:
    """What the controller does, as a record says it."""
    return Doing(
        message.time,
        Place(*message.place.tolist()),
        Bearing(message.bearing),
        message.standing,
        message.goal,
        message.trouble,
        message.left,
    )


QUIET = 0.1
"""s. How long the robot stands, and no sensor is silent, before a goal counts as reached."""
_BEARING = {"both": Bearing.BOTH, "left": Bearing.LEFT, "right": Bearing.RIGHT}


@dataclass
class _Progress:
    """How far the goal under way has come."""

    until: float  # when its velocity ends
    steps: int  # of its own: when no more are to come, those before it are done, and it begins
    started: bool = False
    quiet_since: float | None = None  # when the robot came to stand, with all its senses


class WalkingServer(GoalServer):
    """Passes goals on to a Walking, one a cycle, and tells what becomes of them, and where it is.

    with WalkingServer(walking, "robot") as server:
        while ...:
            server.serve(time)
            if server.moves:
                walking.cycle(state, reference)
            server.tell(time)
    """

    missing: ClassVar[type[NoServer]] = NoController

    def __init__(
        self,
        walking: Walking,
        robot: str = "",
        controller: str = CONTROLLER,
        goals: tuple[type[WalkingGoal], ...] = GOALS,
    ) -> None:
        super().__init__(Names(robot).service(controller), goals, doing_record(), described(goals))
        self.walking = walking
        self.moves = False  # whether it was ever told to stand: before that it moves nothing
        self._progress = _Progress(0.0, 0)

    def serve(self, time: float) -> None:
        """Take the next goal, if there is one, and see what becomes of the one under way."""
        if (asked := self.take_goal(time)) is not None:
            self._begin(asked, time)
        if (now := self.under_way.get("")) is not None:
            self._see(now, self._progress, time)

    def tell(self, time: float) -> None:
        """Say what the robot does now."""
        walking = self.walking
        message: DoingMessage = self._doing.message
        message.time, message.place[:], message.standing = time, walking.place, walking.up and walking.standing
        message.bearing, message.goal = self._bearing, self.number
        message.trouble, message.left = walking.trouble, walking.left
        sensed, base = walking.sensed, message.base
        if sensed is None:
            base[:] = math.nan
        else:
            base[:3], base[3:] = sensed.base_in_world, sensed.orientation
        self._doing.put()

    def give_up(self, slot: str) -> None:
        """Stop, after the steps that cannot be taken back."""
        self._progress.until = 0.0
        if self.walking.up:
            self.walking.stop()

    @property
    def _bearing(self) -> Bearing:
        if not self.walking.up:
            return Bearing.RISING if self.walking.rising else Bearing.NOT_UP
        target = self.walking.walker.target
        return Bearing.BOTH if target is None else _BEARING[target.support]

    def _begin(self, asked: Asked, time: float) -> None:
        goal: WalkingGoal = asked.request
        with self.rejecting(asked, time):
            self._check(goal)
            kept = self._make_room(goal)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always", VelocityClamped)
                goal.begin(self.walking)
            self.moves = self.moves or isinstance(goal, Stand)
            self.accept(asked, time, "; ".join(str(each.message) for each in said))
            self._progress = _Progress(time + goal.holds, self._to_come - kept)

    def _check(self, goal: WalkingGoal) -> None:
        check_fields(goal)
        if goal.needs_standing and not self.walking.up:
            wait = "wait until it does" if self.walking.rising else "tell it to stand first"
            raise BadFootsteps(f"{self.walking.trouble or 'it does not stand yet'}; {wait}")

    def _make_room(self, goal: WalkingGoal) -> int:
        """Stop, if the goal begins where the robot stands; how many steps are to come before its own."""
        if not goal.begins_at_rest:
            return 0
        self.walking.finish()
        return self._to_come

    @property
    def _to_come(self) -> int:
        return len(self.walking.walker.pattern.steps)

    def _see(self, now: UnderWay, progress: _Progress, time: float) -> None:
        walking = self.walking
        if not progress.started and self._to_come <= progress.steps:
            progress.started = True
            self.run(time)
        if walking.trouble and not (isinstance(now.goal, Stop) and walking.up):
            self.finish(Stage.FAILED, time, walking.trouble)
        elif walking.velocity is not None and time >= progress.until:
            walking.finish()
        elif not walking.standing or walking.blind or time < progress.until:
            progress.quiet_since = None
        elif progress.quiet_since is None:
            progress.quiet_since = time
        elif time >= progress.quiet_since + QUIET:
            self.finish(Stage.SUCCEEDED, time)


class WalkingClient(Client):
    """Tells a robot that runs where to walk, from any process; `wait` and `reports` tell what becomes of it.

    with WalkingClient("robot") as robot:
        robot.wait(robot.stand())
        robot.wait(robot.walk(distance=2.0))
        robot.turn(math.pi / 2)
        robot.send(Go(forward=0.5))      # any goal
        robot.stop()
    """

    missing: ClassVar[type[NoServer]] = NoController
    does: ClassVar[type[Record]] = DoingMessage
    activity: ClassVar[str] = "walking"
    usual: ClassVar[str] = CONTROLLER

    def __init__(
        self, robot: str = "", controller: str = "", timeout: float = 10.0, connect: str | Machine = ""
    ) -> None:
        self._robot, self._controller = Names(robot).robot, controller or self.usual
        super().__init__(Names(robot).service(self._controller), timeout, connect=connect)

    # What one tells it.

    def stand(self, seconds: float = 2.0) -> int:
        """Stand up and balance; if it does already, stop."""
        return self.send(Stand(seconds))

    def walk(
        self,
        distance: float | None = None,
        velocity: Sequence[float] | None = None,
        footsteps: Sequence[Footstep] | None = None,
        steps_in_place: int | None = None,
        lasts: float = KeepVelocity.lasts,
    ) -> int:
        """Walk so far forward (m), or at a velocity (m/s, m/s, rad/s) for a time, or along footsteps, or in place."""
        given = [each for each in (distance, velocity, footsteps, steps_in_place) if each is not None]
        if len(given) != 1:
            raise BadFootsteps("say either a distance, a velocity, footsteps, or how many steps in place; one of them")
        if velocity is not None:
            forward, leftward, turn = (*velocity, 0.0, 0.0)[:3]
            return self.send(KeepVelocity(forward, leftward, turn, lasts), keep=0.0)  # who wants it repeats it
        if footsteps is not None:
            if not 0 < len(footsteps) <= MOST_FOOTSTEPS:
                raise BadFootsteps(f"{len(footsteps)} footsteps in one goal; give 1 to {MOST_FOOTSTEPS}")
            return self.send(FollowFootsteps(tuple(footsteps)))
        if distance is not None:
            return self.go(distance)
        return self.send(StepInPlace(steps_in_place or 0))

    def go(self, forward: float = 0.0, leftward: float = 0.0, turn: float = 0.0) -> int:
        """Walk to a place seen from where it stands, or will stand when it has stopped: m, m, rad."""
        return self.send(Go(forward, leftward, turn))

    def turn(self, angle: float) -> int:
        """Turn on the spot, to the left if positive, rad."""
        return self.go(turn=angle)

    def stop(self) -> int:
        """Stand, after the steps that cannot be taken back."""
        return self.send(Stop())

    # What it answers.

    @property
    def doing(self) -> Doing:
        """What the controller does now."""
        self._doing.latest()
        return read_doing(self._doing.message)

    def wait_until(self, so: Callable[[Doing], bool], timeout: float = 60.0) -> Doing:
        """Wait until something is so of what the controller does; NoController if it is not in time."""
        end = time.monotonic() + timeout
        while not so(self.doing):
            if not self._doing.wait(SLICE) and not self.alive:
                raise NoController(f"{self} has ended")
            if time.monotonic() > end:
                hush = f"; it has said nothing for {self.silent_for:.0f} s" if self._silent else ""
                raise NoController(f"{self} did not come to what was awaited within {timeout:g} s{hush}")
        return read_doing(self._doing.message)

    def __str__(self) -> str:
        """Who is at the other end."""
        return f"the {self.activity} controller '{self._controller}' of '{self._robot}'"

    @property
    def remedy(self) -> str:
        """How the controller is started."""
        return f"; start it: wholebody {self._controller} --name {self._robot}"
