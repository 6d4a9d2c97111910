"""VelocityCommands: /cmd_vel as goals of the walking controller, each of which ends by itself if no other comes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from wholebody.behaviors.walking_goals import KeepVelocity, Stop, WalkingClient
from wholebody.errors import NoServer
from wholebody.ros.standard import Twist
from wholebody.services import Stage

TIMEOUT = 0.5
"""s without a command after which the robot stops."""
AGAIN = 0.1
"""s from one goal to the next while the command stays the same."""


class VelocityCommands:
    """Walks at the newest velocity that was told, like everybody else: through the walking controller's goals.

    timeout   s after which one velocity counts no more
    complain  told why the robot does not walk
    """

    def __init__(self, robot: str, complain: Callable[[str], None], timeout: float = TIMEOUT) -> None:
        self._robot, self._complain, self._timeout = robot, complain, timeout
        self._client: WalkingClient | None = None
        self._told = (0.0, 0.0, 0.0)
        self._sent = 0.0
        self._numbers: list[int] = []

    def take(self, twist: Twist) -> None:
        """Walk so: forward, leftward, turning; zero is a stop."""
        wanted = (twist.linear.x, twist.linear.y, twist.angular.z)
        if not all(map(math.isfinite, wanted)):
            self._complain(f"a velocity of {wanted} is left out; give finite numbers")
            return
        before, self._told = self._told, wanted
        if not any(wanted):
            if any(before):
                self._send(Stop())
        elif wanted != before or time.monotonic() > self._sent + AGAIN:
            self._send(KeepVelocity(*wanted, lasts=self._timeout))

    def look(self) -> None:
        """Say why what was told is not done."""
        if self._client is None:
            return
        for number in list(self._numbers):
            reports = self._client.reports(number)
            if reports and reports[-1].stage is Stage.REJECTED:
                self._complain(reports[-1].text)
            if reports:
                self._numbers.remove(number)

    def close(self) -> None:
        """Let go of the controller; what was told last ends by itself."""
        if self._client is not None:
            self._client.close()

    def _send(self, goal: KeepVelocity | Stop) -> None:
        try:
            if self._client is None:
                self._client = WalkingClient(self._robot, timeout=0.0)
            elif not self._client.alive:
                raise NoServer(f"{self._client} has ended{self._client.remedy}")
            self._client.follow()
            self._sent = time.monotonic()
            self._numbers = [*self._numbers[-8:], self._client.send(goal, keep=0.0)]
        except NoServer as error:
            self._complain(str(error))
