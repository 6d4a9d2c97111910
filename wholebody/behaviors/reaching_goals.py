"""What arms can be told: each goal is a class here, with its fields and how it is begun.

robot.arms.requests   goals: those of GOALS, and Cancel (services)
robot.arms.replies    what becomes of them
robot.arms.doing      every cycle: loads and times of both arms
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from wholebody.messages import Dtype
from wholebody.parameters import Bounds, Size, Unit
from wholebody.services import AtMost

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


def doing_record() -> Dtype:
    """Build what the arms do now, the left one and the right one.

    load     N, the pull on the wrist
    pressed  N, how much more that was at most than when the hand began to press; NaN if it does not
    left     s, until the arm is at the end of its way
    taken    whether it is moved by this controller
    """
    each = [("load", "<f8", (2,)), ("pressed", "<f8", (2,)), ("left", "<f8", (2,)), ("taken", "?", (2,))]
    return np.dtype([("time", "<f8"), ("goal", "<u8"), *each], align=True)
