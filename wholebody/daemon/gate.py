"""Gate: what the robot is told, whatever the clients say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wholebody.daemon import _kernels
from wholebody.daemon.limits import Limits
from wholebody.errors import BadReference
from wholebody.messages import Reference, Refusal, State, bounds

ROWS_OF_MEMORY = 4
REASONS = ("", "its upper end", "its lower end", "its velocity limit")
"""Why a joint is taken over, by the number in `taken`."""

Array = np.ndarray[Any, Any]


class Gate:
    """Limits of position, velocity, step, effort and gains, joint by joint and in every mode; gate.c has the laws.

    A position command never leaves the joint's range and never changes by more than the step limit in a cycle: velocity
    limit × period, unless the joint has a step limit of its own. The effort that an impedance command makes is
    saturated at the effort limit. A joint that is about to leave its range or its velocity limit is `taken` from who
    drives it, and handed back when that is safe.
    """

    def __init__(self, limits: Limits, period: float, names: tuple[str, ...]) -> None:
        self.limits = limits
        rows = (limits.velocity, limits.velocity * period, limits.effort, limits.stiffness, limits.damping)
        self._rows = np.array([limits.lower, limits.upper, *rows], np.float64)
        self.lower, self.upper, self.velocity, self.step, self.effort, self.stiffness, self.damping = self._rows
        self._usual_step = self.step.copy()
        joints = len(self.step)
        self.refused = np.zeros((len(Refusal), joints), np.uint64)
        self.taken = np.zeros(joints, np.uint8)
        self._memory = np.zeros((ROWS_OF_MEMORY, joints))
        self._names, self._period = names, period

    def set_step(self, joint: int, step: float, may_open: bool) -> None:
        """Give a joint a step limit, rad; 0 for the usual one. Only a simulated joint may get a larger one."""
        if step <= 0:
            self.step[joint] = self._usual_step[joint]
            return
        if complaint := bounds.STEP_LIMIT.complaint(step):
            raise BadReference(f"{complaint}, or 0 for the usual")
        if step > self._usual_step[joint] and not may_open:
            raise BadReference(
                f"{self._names[joint]} is a real joint: its step limit cannot be above its velocity limit, "
                f"{self._usual_step[joint]:.4g} rad per period"
            )
        self.step[joint] = step

    def passing(
        self, positions: Array, values: Array, modes: Array, state: State, command: Reference
    ) -> Callable[[], bool]:
        """A call that turns what is wanted into the next command; True if a joint is taken over.

        positions  wanted, filtered or not
        values     wanted: position, velocity, effort, stiffness, damping of all joints, one below the other
        modes      wanted
        """
        block = np.lib.stride_tricks.as_strided(command.position, values.shape, (8 * values.shape[1], 8))
        return _kernels.gate(
            *(positions, values, modes, state.position, state.velocity, state.measured, self._rows),
            *(block, command.mode, self.taken, self._memory, self.refused, self._period),
        )
