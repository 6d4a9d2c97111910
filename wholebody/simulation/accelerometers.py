"""Accelerometers: what IMUs report of a period: the mean of it, as behind the low-pass filter that real ones have."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from wholebody.robots.robot import Array
from wholebody.simulation.world import World


class Accelerometers:
    """The specific force of a period T, in the axes that a sensor has on average meanwhile.

    f = R̄ᵀ ((v₁ − v₀) / T − g),   R̄ = (R₀ + R₁) / 2

    MuJoCo's own is that of the last physics step alone. Stiff servos are told something new at the beginning of a
    period, so that at its end they always brake: a body at constant speed seemed to decelerate by 1 m/s² all the time.
    """

    def __init__(self, period: float) -> None:
        self._period = period
        self._velocity = np.zeros(6)
        self._before: list[tuple[Array, Array]] = []

    def start(self, world: World) -> None:
        """Remember how sensors move at the beginning of the first period; the next begin where the last ends."""
        self._before = [self._motion(world, site) for site, _ in world.at.accelerometers]

    def end(self, world: World) -> None:
        """Put what they measured of the period into the sensors' data."""
        gravity = world.model.opt.gravity
        for number, (site, address) in enumerate(world.at.accelerometers):
            v, R = self._before[number]
            self._before[number] = velocity, turned = self._motion(world, site)
            force = (velocity - v) / self._period - gravity
            world.data.sensordata[address : address + 3] = force @ (0.5 * (R + turned)).reshape(3, 3)

    def _motion(self, world: World, site: int) -> tuple[Array, Array]:
        """Velocity of a site in world, and its axes, row by row."""
        data: Any = world.data
        mujoco.mj_objectVelocity(world.model, data, mujoco.mjtObj.mjOBJ_SITE, site, self._velocity, 0)
        return self._velocity[3:].copy(), data.site_xmat[site].copy()
