"""ProblemLayout: a problem made ready for the kernels of controllers, once before the loop.

Numbers that change (states, goals, gains) are not copied: each task and constraint keeps its own in one array, which
the kernels read in every cycle. So a change counts in the next one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterable
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from wholebody import _kernels
from wholebody.control.contact_limits import contact_gains
from wholebody.control.problem import Problem
from wholebody.control.problem_layout import ProblemLayout
from wholebody.control.result import Fault, Result, ResultBuffer
from wholebody.errors import BadProblem, WrongRecord
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.tasks import Task


class Prepared(Protocol):
    """A problem made ready for the loop."""

    @property
    def table(self) -> ProblemLayout:
        """The problem as arrays; it keeps the problem, so the id of that is its own."""


P = TypeVar("P", bound=Prepared)
R = TypeVar("R", bound=Result)


class TabledController(ABC, Generic[P, R]):
    """A controller of one robot that makes problems ready before the loop, and remembers what it commanded last."""

    KEPT = 8  # problems made ready

    model: Model
    period: float
    limits: Array  # lower, upper, velocity and effort limits, 4 × joints
    enforces_effort: bool
    blends_inside = False
    """Whether it goes from one law to another by itself, with `begin_transition` and `blend`."""
    _contact_gains: Array  # damping and stiffness of the feedback on constraints
    _feedback_told: bool  # whether the user asked for some kind of it

    def __init__(self) -> None:
        self._prepared: OrderedDict[int, P] = OrderedDict()
        self._forget()

    def _forget(self) -> None:
        """Be as new."""
        self._prepared.clear()
        self._problem: Problem | None = None
        self._now: P | None = None
        self._last: R | None = None
        self._written: Array | None = None

    @abstractmethod
    def _make_ready(self, problem: Problem) -> P:
        """Check a problem against the robot, and take all the memory that its cycles need."""

    @abstractmethod
    def solve(self, snapshot: Snapshot, problem: Problem) -> R:
        """The command of one cycle."""

    def begin_transition(self, snapshot: Snapshot, problem: Problem) -> None:
        """Begin a transition from the last command to what the problem asks for; `blend` says how far it has come."""
        raise NotImplementedError

    def blend(self, problem: Problem, share: float) -> None:
        """From the next cycle on, keep that share of the difference between what was and what is asked for."""
        raise NotImplementedError

    def hold_contacts(self) -> None:
        """Give contacts position feedback, as internal models need it, unless another kind was asked for."""
        if not self._feedback_told:
            self._contact_gains[:] = contact_gains("position", None, None, self.period)

    def release_contacts(self, problem: Problem) -> None:
        """Forget where contacts are held: the next cycle holds them where they are by then."""
        for each in problem.constraints:
            _kernels.constraints_release(each.handle(self.model))

    def prepare(self, problem: Problem) -> None:
        """Check a problem against the robot and make it ready, so that nothing is left to do in the loop."""
        self._ready(problem)

    def table_of(self, problem: Problem) -> ProblemLayout:
        """The table of a problem, made ready if it is not yet."""
        return self._ready(problem).table

    def written_command(self, result: Result) -> Array | None:
        """Efforts, positions and velocities of the newest result in one array, to be changed; None after a fault."""
        if result is not self._last or self._written is None:
            return None
        return self._written[: 3 * len(self.model.joint_names)]

    def _ready(self, problem: Problem) -> P:
        """A problem that is ready; nothing is done if it is the one of the cycle before."""
        if problem is self._problem and self._now is not None:
            return self._now
        found = self._prepared.get(id(problem))
        if found is None:
            found = self._prepared[id(problem)] = self._make_ready(problem)
            while len(self._prepared) > self.KEPT:
                self._prepared.popitem(last=False)
        self._hold_anew(problem)
        self._problem, self._now = problem, found
        return found

    def _hold_anew(self, problem: Problem) -> None:
        """Contacts that the problem before did not hold are switched on: their place is where they are."""
        before = {id(each) for each in self._problem.constraints} if self._problem is not None else set()
        for each in problem.constraints:
            if id(each) not in before:
                _kernels.constraints_release(each.handle(self.model))


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


def hold_still(model: Model, snapshot: Snapshot, limits: Array, buffer: ResultBuffer) -> None:
    """Where the robot is, held by what gravity needs: the command if there is no last one."""
    joints, out = len(model.joint_names), buffer.written
    buffer.flat[:] = 0.0
    out.position[:] = snapshot.q[-joints:]
    driven = model.actuated_joints - (model.nv - joints)
    out.effort[driven] = np.clip(snapshot.gravity_compensation[-joints:], -limits[3], limits[3])[driven]
    out.unlimited_position[:], out.unlimited_effort[:] = out.position, out.effort
