"""Plant: the mechanics behind simulated boards."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from wholebody.hardware.interface import Record


class Plant(Protocol):
    """Joints that motors drive to targets, and what sensors on them would read if they were perfect."""

    def advance(self, seconds: float, target: npt.NDArray[np.float64], powered: npt.NDArray[np.bool_]) -> None:
        """Let time go by with each powered joint driven to its target (rad); the others are limp."""

    def read(self, state: Record) -> None:
        """Fill in a state of the robot: positions, velocities, efforts, IMUs, force-torque sensors."""
