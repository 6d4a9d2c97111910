"""What a crawling robot can be told: its goals, the server that takes them, and the client that gives them.

They are told as those of walking are; of what bears, `doing` tells BOTH while all limbs do, and else the side on which
both do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from wholebody.behaviors.lying_motions import OntoLimbs
from wholebody.behaviors.walking_goals import Bearing, WalkingClient
from wholebody.drivers import Names
from wholebody.errors import BadFootsteps, NoController, NoServer
from wholebody.estimation.base_pose import DoingMessage, doing_record
from wholebody.messages import Reference, State
from wholebody.motion.capture.gait import CRAWLING
from wholebody.parameters import Bounds, Unit
from wholebody.parameters.parameter import check_fields
from wholebody.parameters.verbs import described
from wholebody.services import Asked, GoalServer, Stage, UnderWay

if TYPE_CHECKING:
    from wholebody.behaviors.crawling import Crawling

CONTROLLER = "crawl"


@dataclass(frozen=True)
class CrawlingGoal:
    """Something that a crawling robot can be told."""

    needs_limbs: ClassVar[bool] = True
    """Whether it must be on wrists and knees."""
    leads_on: ClassVar[bool] = False
    """Whether it leads to ground that the robot may object to."""

    def begin(self, server: CrawlingServer, state: State) -> None:
        """Tell the robot; any error of ours rejects the goal."""
        raise NotImplementedError

    @property
    def holds(self) -> float:
        """Seconds after which the robot is to stop by itself; 0 for what has an end of its own."""
        return 0.0


@dataclass(frozen=True)
class Stand(CrawlingGoal):
    """Get on wrists and knees, from wherever the robot lies or stands; if it is there, stop.

    seconds  how long it takes to take the posture
    """

    seconds: Annotated[float, Unit("s")] = 2.0
    needs_limbs: ClassVar[bool] = False

    def begin(self, server: CrawlingServer, state: State) -> None:
        """Stop, or begin to get there."""
        server.get_on_limbs(state, self.seconds)


@dataclass(frozen=True)
class Go(CrawlingGoal):
    """Crawl a way forward or backward, or turn on the spot."""

    forward: Annotated[float, Unit("m")] = 0.0
    leftward: Annotated[float, Unit("m")] = 0.0
    turn: Annotated[float, Unit("rad")] = 0.0
    leads_on: ClassVar[bool] = True

    def begin(self, server: CrawlingServer, state: State) -> None:
        """Do one of them."""
        if self.leftward or (self.forward and self.turn):
            raise BadFootsteps("it crawls a way forward or backward, or turns on the spot; give one of them")
        if self.turn:
            server.crawling.turn(self.turn)
        else:
            server.crawling.crawl(distance=self.forward)


@dataclass(frozen=True)
class KeepVelocity(CrawlingGoal):
    """Crawl at a velocity for a while; who wants more repeats it.

    lasts  how long it holds
    """

    forward: Annotated[float, Unit("m/s")] = 0.0
    leftward: Annotated[float, Unit("m/s")] = 0.0
    turn: Annotated[float, Unit("rad/s")] = 0.0
    lasts: Annotated[float, Unit("s"), Bounds(0.001, 10.0)] = 0.5
    leads_on: ClassVar[bool] = True

    @property
    def holds(self) -> float:
        """For how long it was told."""
        return self.lasts

    def begin(self, server: CrawlingServer, state: State) -> None:
        """Crawl on and on; the server ends it in time."""
        server.crawling.crawl(velocity=(self.forward, self.leftward, self.turn))


@dataclass(frozen=True)
class Stop(CrawlingGoal):
    """Rest on all limbs, after the steps that bring them to their places."""

    needs_limbs: ClassVar[bool] = False

    def begin(self, server: CrawlingServer, state: State) -> None:
        """Rest."""
        server.crawling.stop()


GOALS: tuple[type[CrawlingGoal], ...] = (Stand, Go, KeepVelocity, Stop)


_BEARING = tuple(Bearing.RIGHT if part.startswith("left") else Bearing.LEFT for part in CRAWLING)
"""What bears while a limb does not."""


class CrawlingServer(GoalServer):
    """Passes goals on to a Crawling, one a cycle, and tells what becomes of them, and where it is.

    with CrawlingServer(crawling, "robot") as server:
        while ...:
            if server.cycle(state, reference):
                ...    # the reference is to be followed
    """

    missing: ClassVar[type[NoServer]] = NoController

    def __init__(
        self,
        crawling: Crawling,
        robot: str = "",
        controller: str = CONTROLLER,
        goals: tuple[type[CrawlingGoal], ...] = GOALS,
    ) -> None:
        super().__init__(Names(robot).service(controller), goals, doing_record(), described(goals))
        self.crawling = crawling
        self.on_limbs = False
        self._until = 0.0  # when the velocity of the goal under way ends
        self._getting_there: OntoLimbs | None = None

    def cycle(self, state: State, reference: Reference) -> bool:
        """Take the next goal, move, and tell; whether it moves the robot. Before its first goal it does not."""
        time = state.time
        if (asked := self.take_goal(time)) is not None:
            self._begin(asked, state, time)
        moves = self._moved(state, reference)
        self._tell(time)  # before any report, so that who hears of an end sees how it ended
        if (now := self.under_way.get("")) is not None:
            self._see(now, time)
        return moves

    def get_on_limbs(self, state: State, seconds: float) -> None:
        """Get on wrists and knees; if it is there, stop."""
        if self.on_limbs:
            self.crawling.stop()
        elif self._getting_there is None:
            self._getting_there = OntoLimbs(self.crawling.crawler, state, seconds)

    @property
    def moving(self) -> bool:
        """Whether it is on its way somewhere, and has no trouble."""
        on_its_way = self.on_limbs and not self.crawling.standing and not self.crawling.trouble
        return on_its_way or self._getting_there is not None

    def end(self, time: float, why: str) -> None:
        """Rest, and say that the goal under way will not be reached."""
        self.crawling.stop()
        self.preempt(time, why)

    def give_up(self, slot: str) -> None:
        """Rest."""
        self.crawling.stop()
        self._until = math.inf

    def _moved(self, state: State, reference: Reference) -> bool:
        if self._getting_there is not None:
            if self._getting_there.cycle(state, reference):
                self._getting_there, self.on_limbs = None, True
            return True
        if self.on_limbs:
            self.crawling.cycle(state, reference)
        return self.on_limbs

    def _begin(self, asked: Asked, state: State, time: float) -> None:
        goal: CrawlingGoal = asked.request
        with self.rejecting(asked, time):
            self._check(goal)
            goal.begin(self, state)
            self._until = time + goal.holds
            self.accept(asked, time)
            self.run(time)

    def _check(self, goal: CrawlingGoal) -> None:
        check_fields(goal)
        if goal.needs_limbs and not self.on_limbs:
            wait = "wait until it is" if self._getting_there else "tell it to stand first, which means on its limbs"
            raise BadFootsteps(f"it is not on wrists and knees yet; {wait}")

    def _see(self, now: UnderWay, time: float) -> None:
        crawling, goal = self.crawling, now.goal
        if crawling.trouble:
            self.finish(Stage.FAILED, time, crawling.trouble)
            return
        if goal.holds and time >= self._until:
            crawling.stop()
            self._until = math.inf
        if not crawling.standing or self._getting_there is not None:
            return
        if crawling.objection and goal.leads_on:
            self.finish(Stage.FAILED, time, crawling.objection)
        elif not time < self._until < math.inf:
            self.finish(Stage.SUCCEEDED, time)

    def _tell(self, time: float) -> None:
        crawling = self.crawling
        message: DoingMessage = self._doing.message
        message.time, message.place[:] = time, crawling.place
        message.standing = self.on_limbs and crawling.standing
        message.bearing, message.goal, message.trouble = self._bearing, self.number, crawling.trouble
        self._doing.put()

    @property
    def _bearing(self) -> Bearing:
        if not self.on_limbs:
            return Bearing.RISING if self._getting_there else Bearing.NOT_UP
        bearing = self.crawling.crawler.target.bearing
        return Bearing.BOTH if all(bearing) else _BEARING[bearing.index(False)]


class CrawlingClient(WalkingClient):
    """Tells a robot that runs where to crawl: what walking robots can be told, but footsteps and steps in place.

    with CrawlingClient("robot") as robot:
        robot.wait(robot.stand())                        # on wrists and knees
        robot.wait(robot.walk(distance=0.5))
        robot.walk(velocity=(0.05, 0, 0.05), lasts=5.0)
        robot.stop()
    """

    activity: ClassVar[str] = "crawling"
    usual: ClassVar[str] = CONTROLLER
