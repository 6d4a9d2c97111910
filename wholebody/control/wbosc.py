"""WBOSC: whole-body operational space control: tasks in strict levels, above them constraints, below them nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from wholebody import _kernels
from wholebody.control.contact_limits import Feedback, contact_gains
from wholebody.control.preparation import (
    SOLVED,
    TabledController,
    begin_cycle,
    explain,
    hold_still,
    joint_limits,
    try_out,
)
from wholebody.control.problem import Problem
from wholebody.control.problem_layout import ProblemLayout
from wholebody.control.result import Fault, Result, ResultBuffers
from wholebody.control.tuning import Settings
from wholebody.errors import BadProblem
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot

TASK_TOLERANCE = {"shared": 1e-3, "truncated": 1e-6}
"""Unless told: how small Λ⁻¹ may be in a direction and still be regular."""

TOLERANCES, ENFORCED, LIMITS = {"task_tolerance": 1, "force_tolerance": 2}, 7, 10
CONTACT_GAINS = slice(5, 7)
"""Where in the array of settings tolerances, what is enforced, and limits of joints stand: wbosc.h has all of them."""


@dataclass(frozen=True)
class Prepared:
    """A problem made ready for the loop."""

    table: ProblemLayout
    buffers: ResultBuffers
    handle: _kernels.Wbosc


class WBOSC(TabledController[Prepared, Result]):
    """Whole-body operational space control of one robot.

        controller = WBOSC(model)
        controller.prepare(problem)             # everything that can be wrong is found here, before the loop
        command = controller.solve(model.at(q, v), problem)
        command.effort, command.acceleration, command.contact_forces, command.warnings, command.fault

    A task's acceleration is achieved as far as constraints, motors and the levels above permit. Near a singularity,
    directions in which a level would need far too much effort are shared with the levels below it, or left to them, as
    `singular` says. If a cycle cannot be solved, because a goal is not a
    number or a user's task raises an error, the last safe command is given again with a `fault`.

    period                   of the control loop: for integrals, and for the positions and velocities commanded
    enforce_effort_limits    whether commands are cut at the limits of their joints; beyond a limit, there is a warning
    max_effort               limits on efforts below the robot's own: one for all joints, or one for each
    singular                 "shared": a level has a smaller share of a direction the more singular it is, and commands
                             are continuous; "truncated": it has all of it or nothing, the law of the paper, which
                             chatters at goals out of reach
    task_tolerance           how small Λ⁻¹ may be in a direction, as a share of the level's mobility, and still be
                             regular; unless told 1e-3 if shared, 1e-6 if truncated
    contact_feedback         "none", the law of the paper; "damping" of velocities that constraints forbid; "position",
                             with which contacts also come back to where they were switched on: what an internal model
                             needs, and has, if nothing is told, inside `Impedance(leak=0)`
    contact_damping          kd of it, 1/s; unless told 10, or 2 √kp where positions count
    contact_stiffness        kp of it, 1/s²; unless told 400
    force_tolerance          the same for tasks on the forces of contacts
    hard_tolerance           below which numbers are rounding, and for constraints and motors
    """

    def __init__(
        self,
        model: Model,
        *,
        period: float = 0.001,
        enforce_effort_limits: bool = True,
        enforce_position_limits: bool = True,
        enforce_velocity_limits: bool = True,
        max_effort: npt.ArrayLike | None = None,
        singular: Literal["shared", "truncated"] = "shared",
        task_tolerance: float | None = None,
        force_tolerance: float = 1e-6,
        hard_tolerance: float = 1e-11,
        contact_feedback: Feedback | None = None,
        contact_damping: float | None = None,
        contact_stiffness: float | None = None,
    ) -> None:
        if singular not in TASK_TOLERANCE:
            raise BadProblem(f"a singular level is {' or '.join(TASK_TOLERANCE)}, not {singular!r}")
        shared_below = TASK_TOLERANCE[singular] if task_tolerance is None else task_tolerance
        tolerances = (shared_below, force_tolerance, hard_tolerance)
        if not (period > 0 and all(0 < each < 1 for each in tolerances)):
            raise BadProblem(f"period {period} and tolerances {tolerances} must be above 0, and tolerances below 1")
        super().__init__()
        self.model = model
        self.period = period
        self.limits = joint_limits(model, max_effort)
        enforced = (enforce_effort_limits, enforce_position_limits, enforce_velocity_limits)
        gains = contact_gains(contact_feedback or "none", contact_damping, contact_stiffness, period)
        settings = [period, *tolerances, singular == "shared", *gains, *enforced]
        self._settings = np.concatenate([settings, self.limits.ravel()])
        self._contact_gains, self._feedback_told = self._settings[CONTACT_GAINS], contact_feedback is not None
        self.enforces_effort = enforce_effort_limits

    def solve(self, snapshot: Snapshot, problem: Problem) -> Result:
        """The command of one cycle. It raises nothing once the problem is prepared."""
        now = self._ready(problem)
        model = self.model
        fault = begin_cycle(model, now.table, snapshot)
        if fault is not None:
            return self._safe(fault, snapshot, now)
        buffer = now.buffers.take()
        verdict = _kernels.control_wbosc_solve(now.handle, snapshot.handle, buffer.flat)
        if verdict != SOLVED:
            return self._safe(explain(verdict, now.table, snapshot), snapshot, now)
        result = Result(model, now.table, buffer.shown, self.limits)
        self._last, self._written = result, buffer.flat
        return result

    def _make_ready(self, problem: Problem) -> Prepared:
        from scipy.linalg import cython_lapack  # half of what importing this package would take

        table = ProblemLayout(problem, self.model)
        try_out(table, self.model)
        handle = _kernels.control_wbosc(table.handle, self._settings, cython_lapack.__pyx_capi__["dsyevd"])
        return Prepared(table, ResultBuffers(self.model, table), handle)

    def _safe(self, fault: Fault, snapshot: Snapshot, now: Prepared) -> Result:
        """The last safe command; before there was one, where the robot is, held by what gravity needs."""
        if self._last is not None:
            return self._last.instead(fault)
        buffer = now.buffers.take()
        hold_still(self.model, snapshot, self.limits, buffer)
        return Result(self.model, now.table, buffer.shown, self.limits, fault)

    @property
    def settings(self) -> Settings:
        """What can be changed while it runs."""
        return Settings(
            self._settings[LIMITS:].reshape(self.limits.shape),
            self.limits,
            {name: self._settings[index : index + 1] for name, index in TOLERANCES.items()},
            self._settings[ENFORCED:LIMITS],
            self._contact_gains,
        )
