"""CrawlWatch: what is true of a robot that crawls in a simulation, for the tables: balance, efforts, touches, falls."""

from __future__ import annotations

import numpy as np

from wholebody.model.support import SupportPolygon
from wholebody.simulation import Simulation

LOOK, BEFORE = 20, 5
"""Cycles from one look to the next; what touched the ground in the last of them counts as bearing."""
FALLEN = 0.2
"""m that the base is lower than at the start."""


class CrawlWatch:
    """Look by look, from how the robot is when it begins.

    balance    of each look, whether the centre of mass was above what bore
    effort     of the hardest joint so far, over its limit
    touched    names of what was touched
    """

    def __init__(self, simulation: Simulation) -> None:
        self.balance: list[bool] = []
        self.effort, self.fell, self.touched = 0.0, False, set()
        self._simulation, self._points = simulation, []
        self._limits = np.array([joint.effort for joint in simulation.robot.moving])
        self._height = float(simulation.base_to_world[2, 3])

    def cycle(self) -> bool:
        """After each cycle; whether it was one of a look."""
        simulation = self._simulation
        cycle = round(simulation.time / simulation.period) % LOOK
        if cycle >= LOOK - BEFORE:
            touches = simulation.touches
            self._points += [touch.point_in_world for touch in touches if touch.force_in_world[2] > 1.0]
            self.touched |= {touch.other for touch in touches}
        if cycle != LOOK - 1:
            return False
        balanced = bool(self._points) and SupportPolygon.of(self._points).margin(simulation.com_in_world) > 0
        self.balance.append(balanced)
        self._points.clear()
        self.effort = max(self.effort, float(np.max(np.abs(simulation.truth.effort) / self._limits)))
        self.fell = bool(simulation.base_to_world[2, 3] < self._height - FALLEN)
        return True

    @property
    def inside(self) -> float:
        """The share of looks with the centre of mass above what bore."""
        return float(np.mean(self.balance))
