"""Loopback: a robot of nothing but numbers, whose joints are where they are told to be."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import numpy as np

from wholebody.hardware.interface import Answer, Record
from wholebody.messages import Measured, Mode, Status, Verb
from wholebody.robots.robot import Robot

_READY = int(Status.DRIVER_ON | Status.CONTROL_ON | Status.HOMED)


class Loopback:
    """A RobotInterface with Boards: a joint is where it was told to be, one write later. Its only sensors are encoders."""

    simulated = True
    modes = frozenset({Mode.POSITION})

    def __init__(self, robot: Robot, period: float = 0.005) -> None:
        self._array: np.ndarray[Any, Any] = np.zeros(1, robot.state_dtype())
        self._state: Record = self._array[0]
        self._position, self._velocity = self._array["position"][0], self._array["velocity"][0]
        self._period = period
        joints = robot.moving
        self._position[:] = [float(np.clip(0.0, j.lower, j.upper)) for j in joints]
        self._state["status"] = _READY
        self._state["measured"] = Measured.POSITION | Measured.VELOCITY
        self._commanded = self._position.copy()

    def read(self, state: Record) -> None:
        """Fill in where the joints were told to be by the last write but one."""
        state.setfield(self._state, self._state.dtype, 0)

    def write(self, reference: Record) -> None:
        """Go where the last write said, and remember this one."""
        np.subtract(self._commanded, self._position, out=self._velocity)
        self._velocity /= self._period
        np.copyto(self._position, self._commanded)
        np.copyto(self._commanded, reference["position"], where=reference["mask"])

    def stop(self) -> None:
        """Stay where it is."""
        np.copyto(self._commanded, self._position)

    def command(self, verb: Verb, joint: int, values: Sequence[float]) -> Answer:
        """Do what can be done without a body: nothing, gladly."""
        return Answer(True, "done: a loopback robot is always ready", _READY)

    def __enter__(self) -> Self:
        """Take it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it."""
        self.stop()
