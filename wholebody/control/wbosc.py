"""WBOSC: whole-body operational space control: tasks in strict levels, above them constraints, below them nothing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from wholebody.control import kernels
from wholebody.control.memory import output_size, size_of_memory
from wholebody.control.problem import Problem
from wholebody.control.result import Fault, Result, Sheets
from wholebody.control.singular import TASK_TOLERANCE
from wholebody.control.table import Table
from wholebody.errors import BadProblem, WrongRecord
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.tasks import CenterOfMassTask, Task

REASONS = {
    kernels.NOT_FINITE: "a number that is none came out",
    kernels.NOT_POSITIVE: "the mass matrix is not positive",
}


@dataclass(frozen=True)
class Prepared:
    """A problem made ready for the loop."""

    table: Table
    work: Array
    counts: Integers
    sheets: Sheets
    has_own: bool


class WBOSC:
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
                             regular; unless told 1e-2 if shared, 1e-6 if truncated
    force_tolerance          the same for tasks on the forces of contacts
    hard_tolerance           below which numbers are rounding, and for constraints and motors
    """

    KEPT = 8  # problems made ready

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
    ) -> None:
        if singular not in TASK_TOLERANCE:
            raise BadProblem(f"a singular level is {' or '.join(TASK_TOLERANCE)}, not {singular!r}")
        shared_below = TASK_TOLERANCE[singular] if task_tolerance is None else task_tolerance
        tolerances = (shared_below, force_tolerance, hard_tolerance)
        if not (period > 0 and all(0 < each < 1 for each in tolerances)):
            raise BadProblem(f"period {period} and tolerances {tolerances} must be above 0, and tolerances below 1")
        self.model = model
        self.period = period
        self.limits = _limits(model, max_effort)
        enforced = (enforce_effort_limits, enforce_position_limits, enforce_velocity_limits)
        settings = [period, *tolerances, singular == "shared", *enforced]
        self._settings = np.concatenate([settings, self.limits.ravel()])
        self.enforces_effort = enforce_effort_limits
        self._prepared: OrderedDict[int, Prepared] = OrderedDict()
        self._problem: Problem | None = None
        self._now: Prepared | None = None
        self._last: Result | None = None
        self._written: Array | None = None
        self._compile()

    def _compile(self) -> None:
        """Run the kernel once: if it must be compiled, that is done now and never in a loop."""
        self.solve(self.model.at(self.model.neutral()), Problem([CenterOfMassTask("compile", (0.0, 0.0, 0.0))]))
        self._prepared.clear()
        self._problem = self._now = self._last = self._written = None

    def prepare(self, problem: Problem) -> None:
        """Check a problem against the robot and make it ready, so that nothing is left to do in the loop."""
        self._ready(problem)

    def solve(self, snapshot: Snapshot, problem: Problem) -> Result:
        """The command of one cycle. It raises nothing once the problem is prepared."""
        now = self._now if problem is self._problem and self._now is not None else self._ready(problem)
        model = self.model
        if snapshot.model is not model:
            raise WrongRecord(
                f"a snapshot of {snapshot.model!r} for a controller of {model!r}; make both with one model"
            )
        if now.has_own:
            fault = _evaluate_own(now.table, snapshot)
            if fault is not None:
                return self._safe(fault, snapshot, now)
        sheet = now.sheets.take()
        verdict = kernels.solve(
            model.integers,
            model.numbers,
            snapshot.storage,
            now.table.integers,
            now.table.own,
            self._settings,
            now.work,
            now.counts,
            sheet.flat,
        )
        if verdict != kernels.WELL:
            return self._safe(_why(verdict, now.table, snapshot), snapshot, now)
        result = Result(model, now.table, sheet.shown, self.limits)
        self._last, self._written = result, sheet.flat
        return result

    def table_of(self, problem: Problem) -> Table:
        """The table of a problem, made ready if it is not yet."""
        return (self._now if problem is self._problem and self._now is not None else self._ready(problem)).table

    def written_command(self, result: Result) -> Array | None:
        """Efforts, positions and velocities of the newest result in one array, to be changed; None after a fault."""
        if result is not self._last or self._written is None:
            return None
        return self._written[: 3 * len(self.model.joint_names)]

    def _ready(self, problem: Problem) -> Prepared:
        found = self._prepared.get(id(problem))
        if found is None:
            table = Table(problem, self.model)
            numbers, integers = size_of_memory(self.model.nv, table.sizes)
            size = output_size(len(self.model.joint_names), self.model.nv, table.sizes)
            sheets = Sheets(self.model, table, size)
            has_own = bool(table.own_tasks or table.own_constraints)
            found = Prepared(table, np.zeros(numbers), np.zeros(integers, np.int64), sheets, has_own)
            _try_out(table, self.model)
            self._prepared[id(problem)] = found  # the table keeps the problem, so its id is its own
            while len(self._prepared) > self.KEPT:
                self._prepared.popitem(last=False)
        self._problem, self._now = problem, found
        return found

    def _safe(self, fault: Fault, snapshot: Snapshot, now: Prepared) -> Result:
        """The last safe command; before there was one, where the robot is, held by what gravity needs."""
        if self._last is not None:
            return self._last.instead(fault)
        sheet = now.sheets.take()
        out = sheet.written
        joints = len(self.model.joint_names)
        sheet.flat[:] = 0.0
        out.position[:] = snapshot.q[-joints:]
        driven = self.model.actuated_joints - (self.model.nv - joints)
        out.effort[driven] = np.clip(snapshot.gravity_compensation[-joints:], -self.limits[3], self.limits[3])[driven]
        out.unlimited_position[:], out.unlimited_effort[:] = out.position, out.effort
        return Result(self.model, now.table, sheet.shown, self.limits, fault)


def _limits(model: Model, max_effort: npt.ArrayLike | None) -> Array:
    """Lower, upper, velocity and effort limits, 4 × joints."""
    moving = model.robot.moving
    limits = np.array([(each.lower, each.upper, each.velocity, each.effort) for each in moving]).reshape(-1, 4).T.copy()
    if max_effort is not None:
        given = np.asarray(max_effort, float)
        if given.shape not in ((), (len(moving),)) or not np.all(given >= 0):
            raise BadProblem(f"max_effort must be one number ≥ 0 for all {len(moving)} joints, or one for each")
        limits[3] = np.minimum(limits[3], given)
    return limits


def _try_out(table: Table, model: Model) -> None:
    """Run users' own tasks and constraints once, and count their rows, and what the constraints leave to move."""
    snapshot = model.at(model.neutral())
    for task, _, rows in table.own_tasks:
        shapes = {name: np.shape(getattr(task, name)(snapshot)) for name in ("error", "jacobian", "bias")}
        wanted = {"error": (rows,), "jacobian": (rows, model.nv), "bias": (rows,)}
        if shapes != wanted:
            raise BadProblem(f"task '{task.name}' has row_count {rows}, so it needs shapes {wanted}, not {shapes}")
    held = [np.zeros((0, model.nv))]
    for constraint in table.problem.constraints:
        jacobian, bias = np.asarray(constraint.jacobian(snapshot)), np.asarray(constraint.bias(snapshot))
        rows = constraint.count_rows()
        if jacobian.shape != (rows, model.nv) or bias.shape != (rows,):
            raise BadProblem(
                f"constraint '{constraint.name}' has row_count {rows}, so its Jacobian needs shape {(rows, model.nv)} "
                f"and its bias {(rows,)}, not {jacobian.shape} and {bias.shape}"
            )
        if constraint.state == "enabled":
            held.append(jacobian)
    if np.linalg.matrix_rank(np.vstack(held)) == model.nv:
        names = ", ".join(each.name for each in table.problem.constraints)
        raise BadProblem(f"the constraints ({names}) leave the robot nothing to move; disable some")


def _evaluate_own(table: Table, snapshot: Snapshot) -> Fault | None:
    """Let users' own tasks and constraints write their rows."""
    n, own = snapshot.model.nv, table.own
    name = ""
    try:
        for task, at, rows in table.own_tasks:
            name = task.name
            end = at + rows * n
            jacobian = task.jacobian(snapshot)
            own[at:end].reshape(rows, n)[:] = jacobian
            own[end : end + rows] = task.error(snapshot)
            own[end + rows : end + 2 * rows] = jacobian @ snapshot.v
            own[end + 2 * rows : end + 3 * rows] = task.bias(snapshot)
        for constraint, at, rows in table.own_constraints:
            name = constraint.name
            end = at + rows * n
            own[at:end].reshape(rows, n)[:] = constraint.jacobian(snapshot)
            own[end : end + rows] = constraint.bias(snapshot)
    except Exception as error:  # whatever it is, the robot must be given a command
        return Fault(f"'{name}' raised {type(error).__name__}: {error}")
    return None


def _why(verdict: int, table: Table, snapshot: Snapshot) -> Fault:
    """Say what went wrong, and name the task with a number that is none."""
    named = [task.name for task in table.problem.tasks if not np.isfinite(task.numbers).all()]
    named += [each.name for each in table.problem.constraints if not np.isfinite(each.numbers).all()]
    named += _not_finite(table.own_tasks, snapshot)
    return Fault(REASONS[verdict] + (f"; look at {', '.join(repr(name) for name in named)}" if named else ""))


def _not_finite(own: Iterable[tuple[Task, int, int]], snapshot: Snapshot) -> list[str]:
    return [
        task.name
        for task, _, _ in own
        if not (np.isfinite(task.error(snapshot)).all() and np.isfinite(task.jacobian(snapshot)).all())
    ]
