"""What all whole-body controllers do before they solve anything: limits, users' own tasks, and what is safe without."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from wholebody.control.layout import ProblemLayout
from wholebody.control.result import Fault, Sheet
from wholebody.errors import BadProblem, WrongRecord
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.tasks import Task

SOLVED, NOT_FINITE, NOT_POSITIVE = 0, 1, 2
"""How a cycle can end: problem.h."""

REASONS = {
    NOT_FINITE: "a number that is none came out",
    NOT_POSITIVE: "the mass matrix is not positive",
}


def joint_limits(model: Model, max_effort: npt.ArrayLike | None) -> Array:
    """Lower, upper, velocity and effort limits, 4 × joints."""
    moving = model.robot.moving
    limits = np.array([(each.lower, each.upper, each.velocity, each.effort) for each in moving]).reshape(-1, 4).T.copy()
    if max_effort is not None:
        given = np.asarray(max_effort, float)
        if given.shape not in ((), (len(moving),)) or not np.all(given >= 0):
            raise BadProblem(f"max_effort must be one number ≥ 0 for all {len(moving)} joints, or one for each")
        limits[3] = np.minimum(limits[3], given)
    return limits


def try_out(table: ProblemLayout, model: Model) -> None:
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


def _evaluate_own(table: ProblemLayout, snapshot: Snapshot) -> Fault | None:
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


def explain(verdict: int, table: ProblemLayout, snapshot: Snapshot) -> Fault:
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


def begin_cycle(model: Model, table: ProblemLayout, snapshot: Snapshot) -> Fault | None:
    """Check that the snapshot is of this model, and let users' own tasks write their rows; the fault of one of them."""
    if snapshot.model is not model:
        raise WrongRecord(f"a snapshot of {snapshot.model!r} for a controller of {model!r}; make both with one model")
    return _evaluate_own(table, snapshot) if table.has_own else None


def hold_still(model: Model, snapshot: Snapshot, limits: Array, sheet: Sheet) -> None:
    """Where the robot is, held by what gravity needs: the command if there is no last one."""
    joints, out = len(model.joint_names), sheet.written
    sheet.flat[:] = 0.0
    out.position[:] = snapshot.q[-joints:]
    driven = model.actuated_joints - (model.nv - joints)
    out.effort[driven] = np.clip(snapshot.gravity_compensation[-joints:], -limits[3], limits[3])[driven]
    out.unlimited_position[:], out.unlimited_effort[:] = out.position, out.effort
