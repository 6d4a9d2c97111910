"""Posture: a verb for every robot: bring all joints smoothly to a posture of its description. It balances nothing.

wholebody start --driver loopback --behavior posture
wholebody console -c "posture stand seconds=3"
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from wholebody.behaviors.behavior import Behavior, Goal
from wholebody.drivers.connection import Connection
from wholebody.errors import BadMotion
from wholebody.motion.capture.gait_plan import minimum_jerk
from wholebody.parameters import Bounds, Unit

SWIFTEST = 1.875
"""Of a minimum-jerk motion: its greatest velocity is so many times its mean."""


@dataclass(frozen=True)
class Posture(Goal):
    """Bring all joints to a posture of the robot, which has to be held: it does not balance.

    name     such as stand; `wholebody robots show` lists them
    seconds  how long it takes
    """

    name: str = "stand"
    seconds: Annotated[float, Unit("s"), Bounds(0.1, 60.0)] = 3.0


class Postures(Behavior):
    """The postures of a robot's description."""

    goals = (Posture,)

    def run(self, goal: Posture, robot: Connection) -> Iterator[float]:
        """Along a minimum-jerk curve, from rest to rest."""
        begin, to = np.array(robot.state.reference), self.robot.posture(goal.name)
        limits = np.array([self.robot.joint(name).velocity for name in robot.joints])
        least = float(np.max(SWIFTEST * np.abs(to - begin) / limits))
        if least > goal.seconds:
            raise BadMotion(f"a joint is not fast enough for that in {goal.seconds:g} s; give at least {least:.2g} s")
        start, share = robot.now, 0.0
        while share < 1.0:
            yield share
            share = min(1.0, (robot.now - start) / goal.seconds)
            robot.reference.position[:] = begin + minimum_jerk(share) * (to - begin)
            robot.reference.mask[:] = True
            robot.put()
