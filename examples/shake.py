"""A verb of one's own, in one file: the robot shakes its head, or anything else that turns.

wholebody start --behavior examples/shake.py:Shake
wholebody console -c "shake times=3 angle=20deg"
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from wholebody.behaviors import Goal
from wholebody.drivers.connection import Connection
from wholebody.parameters import Bounds, Unit


@dataclass(frozen=True)
class Shake(Goal):
    """Turn a joint to and fro.

    times  how often
    angle  how far to each side
    joint  which one; that of the neck of Hubo2+, if not given
    """

    times: Annotated[int, Unit("1"), Bounds(1, 20)] = 2
    angle: Annotated[float, Unit("rad"), Bounds(0.0, 0.6)] = 0.3
    joint: str = "NKY"

    def run(self, robot: Connection) -> Iterator[float]:
        """One turn to and fro takes a second."""
        middle, begin = robot.position(self.joint), robot.now  # a joint that is not there is refused here
        yield 0.0
        while (share := (robot.now - begin) / self.times) < 1.0:
            robot.move({self.joint: middle + self.angle * math.sin(math.tau * self.times * share)})
            yield share
        robot.move({self.joint: middle})
