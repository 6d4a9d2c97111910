"""ReachingClient: tells the arms of a robot that runs what to do, from any process, and hears what becomes of it.

with ReachingClient("robot") as arms:
    arms.wait(arms.carry("right"))
    arms.wait(arms.reach("right", (0.3, -0.2, 0.1), standoff=0.03))
    arms.wait(arms.close_hand("right"))
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from wholebody.behaviors.arms import SIDES
from wholebody.behaviors.reaching_goals import CONTROLLER, Carry, CloseHand, OpenHand, Press, Reach, Rest, Stop
from wholebody.channels.directory import Machine
from wholebody.drivers import Names
from wholebody.errors import NoController, NoServer
from wholebody.services import Client


class ReachingClient(Client):
    """Every goal returns at once with its number; `wait` and `reports` tell what becomes of it."""

    missing: ClassVar[type[NoServer]] = NoController

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
        return self._of("load", side)

    def pressed(self, side: str) -> float:
        """How much more a wrist felt at most since it began to press, N; NaN if it does not, or nothing measures it."""
        return self._of("pressed", side)

    @property
    def left(self) -> float:
        """Seconds until both arms are where they were told to go."""
        return max(self._of("left", side) for side in SIDES)

    @property
    def taken(self) -> tuple[bool, bool]:
        """Whether the left arm and the right one are moved by this controller now."""
        self._doing.latest()
        left, right = self._doing.message["taken"]
        return bool(left), bool(right)

    def _of(self, what: str, side: str) -> float:
        self._doing.latest()
        return float(self._doing.message[what][SIDES.index(side)])

    def __str__(self) -> str:
        """Who is at the other end."""
        return f"the controller '{self._controller}' of '{self._robot}'"

    @property
    def remedy(self) -> str:
        """How the controller is started."""
        return f"; start it: wholebody rcp --name {self._robot}"
