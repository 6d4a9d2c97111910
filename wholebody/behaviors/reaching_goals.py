"""What arms can be told: their goals, the server that takes them, and the client that gives them.

robot.arms.requests   goals: those of GOALS, and Cancel (services)
robot.arms.replies    what becomes of them
robot.arms.doing      every cycle: loads and times of both arms
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from wholebody.behaviors.arms import SIDES
from wholebody.channels.directory import Machine
from wholebody.drivers import Names
from wholebody.errors import NoController, NoServer
from wholebody.messages import Booleans, Floats, Record
from wholebody.parameters import Bounds, Size, Unit
from wholebody.parameters.parameter import check_fields
from wholebody.parameters.verbs import described
from wholebody.services import Asked, AtMost, Client, GoalServer, Stage

if TYPE_CHECKING:
    from wholebody.behaviors.reaching import Reaching

CONTROLLER = "arms"
Side = Annotated[str, AtMost(8)]
Point = Annotated[tuple[float, float, float], Unit("m"), Bounds(-20.0, 20.0), Size(3)]


@dataclass(frozen=True)
class ReachingGoal:
    """Something that an arm can be told; a goal without a side is for both."""

    side: Side

    def begin(self, reaching: Reaching) -> None:
        """Tell the arm; any error of ours rejects the goal."""
        raise NotImplementedError


@dataclass(frozen=True)
class Reach(ReachingGoal):
    """Bring a palm straight to that far beside a point, facing it."""

    point_in_base: Point
    standoff: Annotated[float, Unit("m"), Bounds(-20.0, 20.0)] = 0.0

    def begin(self, reaching: Reaching) -> None:
        """Plan the way there."""
        reaching.reach(self.side, self.point_in_base, self.standoff)


@dataclass(frozen=True)
class Press(ReachingGoal):
    """Press a palm on a point, until the wrist feels so much more than before, or it is beyond the point."""

    point_in_base: Point
    force: Annotated[float, Unit("N"), Bounds(-20.0, 20.0)]

    def begin(self, reaching: Reaching) -> None:
        """Come to the point slowly."""
        reaching.press(self.side, self.point_in_base, self.force)


@dataclass(frozen=True)
class Carry(ReachingGoal):
    """Bring a hand before the body, where it is out of the way."""

    def begin(self, reaching: Reaching) -> None:
        """Plan the way there."""
        reaching.carry(self.side)


@dataclass(frozen=True)
class CloseHand(ReachingGoal):
    """Close a hand."""

    def begin(self, reaching: Reaching) -> None:
        """Move the fingers."""
        reaching.close(self.side)


@dataclass(frozen=True)
class OpenHand(ReachingGoal):
    """Open a hand."""

    def begin(self, reaching: Reaching) -> None:
        """Move the fingers."""
        reaching.open(self.side)


@dataclass(frozen=True)
class Rest(ReachingGoal):
    """Bring an arm back to where it was taken from, and leave it to others."""

    def begin(self, reaching: Reaching) -> None:
        """Plan the way back."""
        reaching.rest(self.side)


@dataclass(frozen=True)
class Stop(ReachingGoal):
    """Hold both arms where they are, or one of them."""

    side: Side = ""

    def begin(self, reaching: Reaching) -> None:
        """Hold them."""
        reaching.stop(self.side)


GOALS: tuple[type[ReachingGoal], ...] = (Reach, Press, Carry, CloseHand, OpenHand, Rest, Stop)


class DoingMessage(Record):
    """What the arms do now, the left one and the right one.

    load     N, the pull on the wrist
    pressed  N, how much more that was at most than when the hand began to press; NaN if it does not
    left     s, until the arm is at the end of its way
    taken    whether it is moved by this controller
    """

    time: float
    goal: int
    load: Floats
    pressed: Floats
    left: Floats
    taken: Booleans


def doing_record() -> np.dtype[DoingMessage]:
    """Its layout."""
    each = [("load", "<f8", (2,)), ("pressed", "<f8", (2,)), ("left", "<f8", (2,)), ("taken", "?", (2,))]
    return DoingMessage.of(np.dtype([("time", "<f8"), ("goal", "<u8"), *each], align=True))


class ReachingServer(GoalServer):
    """Passes goals on to a Reaching, one a cycle; one arm can be told something while the other one moves.

    with ReachingServer(reaching, "robot") as server:
        while ...:
            reaching.cycle(state, reference)
            server.serve(time)
    """

    missing: ClassVar[type[NoServer]] = NoController

    def __init__(
        self,
        reaching: Reaching,
        robot: str = "",
        controller: str = CONTROLLER,
        goals: tuple[type[ReachingGoal], ...] = GOALS,
    ) -> None:
        super().__init__(Names(robot).service(controller), goals, doing_record(), described(goals))
        self.reaching = reaching

    def serve(self, time: float) -> None:
        """Take the next goal, if there is one, see what becomes of those under way, and say what the arms do."""
        if (asked := self.take_goal(time)) is not None:
            self._begin(asked, time)
        for side in [side for side in self.under_way if not self.reaching.busy(side)]:
            self.finish(Stage.SUCCEEDED, time, slot=side)
        reaching = self.reaching
        message: DoingMessage = self._doing.message
        message.time, message.goal = time, self.number
        message.taken[:] = [reaching.takes(side) for side in SIDES]
        message.load[:] = [reaching.load(side) for side in SIDES]
        message.pressed[:] = [reaching.pressed(side) for side in SIDES]
        message.left[:] = [reaching.left(side) for side in SIDES]
        self._doing.put()

    def give_up(self, slot: str) -> None:
        """Hold an arm where it is."""
        self.reaching.stop(slot)

    def _begin(self, asked: Asked, time: float) -> None:
        goal: ReachingGoal = asked.request
        with self.rejecting(asked, time):
            check_fields(goal)
            goal.begin(self.reaching)
            for side in [] if goal.side else list(self.under_way):
                self.preempt(time, f"order {asked.number} came after it", side)
            self.accept(asked, time, slot=goal.side)
            self.run(time, goal.side)


class ReachingClient(Client):
    """Tells the arms of a robot that runs what to do, from any process; `wait` and `reports` tell what becomes of it.

    with ReachingClient("robot") as arms:
        arms.wait(arms.carry("right"))
        arms.wait(arms.reach("right", (0.3, -0.2, 0.1), standoff=0.03))
        arms.wait(arms.close_hand("right"))
    """

    missing: ClassVar[type[NoServer]] = NoController
    does: ClassVar[type[Record]] = DoingMessage

    def __init__(
        self, robot: str = "", controller: str = CONTROLLER, timeout: float = 10.0, connect: str | Machine = ""
    ) -> None:
        self._robot, self._controller = Names(robot).robot, controller
        super().__init__(Names(robot).service(controller), timeout, connect=connect)

    def reach(self, side: str, point_in_base: Iterable[float], standoff: float = 0.0) -> int:
        """Bring a palm straight to that far beside a point, m."""
        x, y, z = (float(each) for each in point_in_base)
        return self.send(Reach(side, (x, y, z), standoff))

    def press(self, side: str, point_in_base: Iterable[float], force: float) -> int:
        """Press a palm on a point, until the wrist feels so much more than before, N, or it is beyond the point."""
        x, y, z = (float(each) for each in point_in_base)
        return self.send(Press(side, (x, y, z), force))

    def carry(self, side: str) -> int:
        """Bring a hand before the body."""
        return self.send(Carry(side))

    def close_hand(self, side: str) -> int:
        """Close a hand."""
        return self.send(CloseHand(side))

    def open_hand(self, side: str) -> int:
        """Open it."""
        return self.send(OpenHand(side))

    def rest(self, side: str) -> int:
        """Bring an arm back, and leave it to others."""
        return self.send(Rest(side))

    def stop(self) -> int:
        """Hold both arms where they are."""
        return self.send(Stop())

    def load(self, side: str) -> float:
        """How strongly a wrist is pulled, N; NaN if nothing measures it."""
        return float(self._now.load[SIDES.index(side)])

    def pressed(self, side: str) -> float:
        """How much more a wrist felt at most since it began to press, N; NaN if it does not, or nothing measures it."""
        return float(self._now.pressed[SIDES.index(side)])

    @property
    def left(self) -> float:
        """Seconds until both arms are where they were told to go."""
        return float(self._now.left.max())

    @property
    def taken(self) -> tuple[bool, bool]:
        """Whether the left arm and the right one are moved by this controller now."""
        left, right = self._now.taken.tolist()
        return left, right

    @property
    def _now(self) -> DoingMessage:
        self._doing.latest()
        message: DoingMessage = self._doing.message
        return message

    def __str__(self) -> str:
        """Who is at the other end."""
        return f"the controller '{self._controller}' of '{self._robot}'"

    @property
    def remedy(self) -> str:
        """How the controller is started."""
        return f"; start it: wholebody rcp --name {self._robot}"
