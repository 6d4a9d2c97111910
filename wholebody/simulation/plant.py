"""SimulatedPlant: the joints of a simulated robot, for simulated boards to drive."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from wholebody.hardware import Record
from wholebody.messages import Mode
from wholebody.simulation.simulation import Simulation


class SimulatedPlant:
    """A Plant: the mechanics of a Simulation, without the clock.

    A joint with power is held to its target with the robot's own gains; one without is limp (without physics it stays
    where it is). Time goes by in whole control periods of the simulation, and what is left of one counts next time; so
    make it with control_period = step, or as long as the boards' own period.
    """

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self._reference = simulation.new_reference()
        self._left = 0.0

    def advance(self, seconds: float, target: npt.NDArray[np.float64], powered: npt.NDArray[np.bool_]) -> None:
        """Let time go by with each powered joint driven to its target (rad); the others are limp."""
        period = self.simulation.period
        self._left += seconds
        periods = math.floor(self._left / period + 1e-6)  # sums of seconds are never exact
        self._left -= periods * period
        if periods <= 0:
            return
        np.copyto(self._reference["position"], target, where=powered & np.isfinite(target))
        self._reference["mode"] = np.where(powered, int(Mode.POSITION), int(Mode.EFFORT))
        self.simulation.write(self._reference)
        for _ in range(periods):
            self.simulation.advance()

    def read(self, state: Record) -> None:
        """Fill in a state of the robot: positions, velocities, efforts, IMUs, force-torque sensors."""
        self.simulation.read(state)
