"""What a crawling robot can be told: each goal is a class here, with its fields and how it is begun.

They are told as those of walking are; of what bears, `doing` tells BOTH while all limbs do, and else the side on which
both do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from wholebody.errors import BadFootsteps
from wholebody.messages import State
from wholebody.parameters import Bounds, Unit

if TYPE_CHECKING:
    from wholebody.behaviors.crawling_server import CrawlingServer

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
