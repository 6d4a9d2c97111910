"""QuadraticController: the problems of WBOSC with limits that hold: of contacts, joints, motors and distances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
from wholebody.control.quadratic.fallback import Fallback
from wholebody.control.quadratic.limits import Distances, contact_limits
from wholebody.control.quadratic.memory import Memory
from wholebody.control.quadratic.result import InfeasibleFault, Limit, QuadraticResult, limits_of
from wholebody.control.quadratic.transition import Transition, Weights
from wholebody.control.result import Fault, ResultBuffers
from wholebody.control.tuning import Settings
from wholebody.errors import BadProblem, Infeasible, UnknownName, WrongRecord
from wholebody.kinematics.collision import Collisions
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot

UNSETTLED, UNSETTLED_BLEND = 3, 4
"""How a cycle can end beside what all controllers know: quadratic.h."""

PERIOD, TASK_TOLERANCE, CONTACT_GAINS, LIMITS = 0, 1, slice(8, 10), 10
"""Where settings stand; QuadraticSettings of quadratic.h has them all."""

TOLERATED = 1e-5
LOST = 1e-3


@dataclass
class Prepared:
    """A problem made ready for the loop."""

    table: ProblemLayout
    memory: Memory
    handle: _kernels.Quadratic
    buffers: ResultBuffers
    fallback: Fallback
    transition: Transition
    limits: tuple[Limit, ...]
    weights: Array
    hard: Integers  # the rows of limits that never give way


class QuadraticController(TabledController[Prepared, QuadraticResult]):
    """Whole-body control of one robot with inequalities.

        controller = QuadraticController(model, friction=0.6)
        controller.prepare(problem)
        command = controller.solve(model.at(q, v), problem)
        command.effort, command.contact_force("left_foot"), command.active, command.losses, command.fault

    It gives what WBOSC gives as long as that keeps all limits: contacts that push and do not slip, tip or spin; joints
    that can always still stop before their limits; efforts; distances between links. Else each level gets as much as
    the limits and the levels above leave it. Which limits are reached is guessed from the cycle before and put right
    one by one; where that does not settle, by quadratic programs. Near a singularity it keeps the law of
    WBOSC(singular="truncated"). If there is no motion at all that keeps the limits, the last safe command is given
    again with a `fault` that names limits and tasks, or Infeasible is raised, as you choose.

    friction          μ of all contacts, or of each by its name
    least_force       that a contact presses with at least, N
    inset             how far inside the outline of a sole its centre of pressure stays, m
    braking           acceleration with which joints are stopped before their limits, rad/s² or m/s²
    acceleration_limit  of all joints, in every level: `braking` unless told, ∞ for none. Where contacts and dynamics
                      leave no other motion it is relaxed, before any other limit: `command.relaxed` names the joints
    contact_feedback  "damping" unless told: velocities that constraints forbid are damped; "position": contacts also
                      come back to where they were switched on, which an internal model needs, and has inside
                      `Impedance(leak=0)`; "none"
    contact_damping   kd of it, 1/s; unless told 10, or 2 √kp where positions count
    contact_stiffness  kp of it, 1/s²; unless told 400
    max_effort        limits on efforts below the robot's own: one for all joints, or one for each
    collisions        links that must keep `clearance` (m) from each other; none are looked at unless given
    strict            False: one program for all levels, each weighing `level_ratio` as much as the one above
    weights           of tasks among those of their level, by name; 1 unless told. `weigh` changes them while running
    raise_infeasible  raise instead of giving the last safe command again
    """

    blends_inside = True

    def __init__(
        self,
        model: Model,
        *,
        period: float = 0.001,
        friction: float | Mapping[str, float] = 0.6,
        least_force: float = 0.0,
        inset: float = 0.0,
        braking: float = 20.0,
        acceleration_limit: float | None = None,
        max_effort: npt.ArrayLike | None = None,
        limit_contacts: bool = True,
        limit_positions: bool = True,
        limit_velocities: bool = True,
        limit_efforts: bool = True,
        collisions: Collisions | None = None,
        clearance: float = 0.01,
        strict: bool = True,
        level_ratio: float = 1e-3,
        weights: Mapping[str, float] | None = None,
        task_tolerance: float = 1e-6,
        hard_tolerance: float = 1e-11,
        raise_infeasible: bool = False,
        contact_feedback: Feedback | None = None,
        contact_damping: float | None = None,
        contact_stiffness: float | None = None,
    ) -> None:
        checked = {"period": period, "braking": braking, "level_ratio": level_ratio, "task_tolerance": task_tolerance}
        for name, value in checked.items():
            if not 0 < value < np.inf:
                raise BadProblem(f"{name} must be above 0, not {value}")
        if not 0 < hard_tolerance < 1:
            raise BadProblem(f"hard_tolerance must be between 0 and 1, not {hard_tolerance}")
        for name, value in {"least_force": least_force, "inset": inset, "clearance": clearance}.items():
            if not 0 <= value < np.inf:
                raise BadProblem(f"{name} must not be below 0, but is {value}")
        for name, value in (friction if isinstance(friction, Mapping) else {"all contacts": friction}).items():
            if not 0 < value < np.inf:
                raise BadProblem(f"the friction of {name} must be above 0, not {value}")
        if collisions is not None and collisions.model is not model:
            raise WrongRecord(
                f"collisions of {collisions.model!r} for a controller of {model!r}: make them of one model"
            )
        bound = braking if acceleration_limit is None else acceleration_limit
        if not bound >= braking:
            raise BadProblem(f"acceleration_limit must be at least what brakes need, {braking:g}, not {bound}")
        super().__init__()
        self.model = model
        self.period = period
        self.limits = joint_limits(model, max_effort)
        self._friction, self._least_force, self._inset = friction, least_force, inset
        self._limit_contacts = limit_contacts
        self._strict, self._level_ratio = strict, level_ratio
        self._raise = raise_infeasible
        self._weights = Weights(weights or {}, period)
        self._newest: Transition | None = None
        limits = self.limits.copy()
        for row, limited, free in ((0, limit_positions, -np.inf), (1, limit_positions, np.inf)):
            limits[row] = limits[row] if limited else free
        limits[2] = limits[2] if limit_velocities else np.inf
        limits[3] = limits[3] if limit_efforts else np.inf
        closing = braking * 0.5  # m/s², of distances
        self._distances = Distances(collisions, clearance, closing, period) if collisions is not None else None
        gains = contact_gains(contact_feedback or "damping", contact_damping, contact_stiffness, period)
        settings = [period, task_tolerance, hard_tolerance, braking, bound, clearance, closing, float(strict)]
        self._settings = np.concatenate([settings, gains, limits.ravel()])
        self._contact_gains, self._feedback_told = self._settings[CONTACT_GAINS], contact_feedback is not None
        self.enforces_effort = limit_efforts

    # --- before the loop ---------------------------------------------------------------------------

    def weigh(self, task: str, weight: float, seconds: float = 0.0) -> None:
        """Set the weight of a task among those of its level, at once or little by little from the next cycle on."""
        self._weights.change(task, weight, seconds)
        for each in self._prepared.values():
            self._fill_weights(each)

    def _make_ready(self, problem: Problem) -> Prepared:
        model = self.model
        table = ProblemLayout(problem, model)
        try_out(table, model)
        for name in self._friction if isinstance(self._friction, Mapping) else ():
            if all(each.name != name for each in problem.constraints):
                raise UnknownName("constraint", name, [each.name for each in problem.constraints])
        contacts = contact_limits(problem, model, self._friction, self._least_force, self._inset, self._limit_contacts)
        weights = np.ones(len(list(problem.tasks)))
        frames, gaps = self._pairs()
        joints = len(model.joint_names)
        first = joints + len(model.actuated_joints) + len(contacts.rows)  # of those that bound accelerations
        rows = first + joints + len(gaps)
        memory = Memory(model, table, rows, len(gaps))
        bounds = np.arange(first, first + joints)
        given = (self._settings, weights, contacts.contacts, contacts.rows, frames, gaps)
        handle = _kernels.quadratic_problem(table.handle, given, memory.shared)
        found = Prepared(
            table,
            memory,
            handle,
            ResultBuffers(model, table),
            Fallback(handle, memory),
            Transition(table, handle, memory.blend),
            limits_of(model, contacts.names),
            weights,
            np.setdiff1d(np.arange(rows), bounds),
        )
        self._fill_weights(found)
        return found

    def _pairs(self) -> tuple[Integers, Array]:
        """Frames and gaps of the pairs of links that are looked at."""
        if self._distances is None:
            return np.zeros((0, 2), np.int64), np.zeros((0, 10))
        return self._distances.frames, self._distances.gaps

    def _fill_weights(self, prepared: Prepared) -> None:
        index = 0
        for number, level in enumerate(prepared.table.problem.levels):
            for task in level:
                own = self._weights.of(task.name)
                prepared.weights[index] = own if self._strict else own * self._level_ratio**number
                index += 1

    # --- in the loop -------------------------------------------------------------------------------

    def begin_transition(self, snapshot: Snapshot, problem: Problem) -> None:
        now = self._ready(problem)
        if self._newest is not None:
            self._newest.begin(now.transition, snapshot)

    def blend(self, problem: Problem, share: float) -> None:
        self._ready(problem).transition.blend_by(share)

    def solve(self, snapshot: Snapshot, problem: Problem) -> QuadraticResult:
        now = self._ready(problem)
        model = self.model
        fault = begin_cycle(model, now.table, snapshot)
        if fault is not None:
            return self._safe(fault, snapshot, now)
        if self._distances is not None:
            self._distances.update(snapshot)
        if self._weights.advance():
            self._fill_weights(now)
        buffer = now.buffers.take()
        report = np.empty(len(now.memory.value) + len(now.weights))
        verdict = _kernels.quadratic_solve(now.handle, snapshot.handle, buffer.flat, report)
        if verdict in (UNSETTLED, UNSETTLED_BLEND):
            verdict = self._fall_back(verdict, now)
            if verdict == SOLVED:
                _kernels.quadratic_write(now.handle, snapshot.handle, buffer.flat, report)
        if verdict != SOLVED:
            return self._safe(explain(verdict, now.table, snapshot), snapshot, now)
        slack, residual = report[: len(now.memory.value)], report[len(now.memory.value) :]
        if slack[now.hard].min(initial=0.0) < -TOLERATED:
            return self._refuse(slack, residual, snapshot, now)
        result = QuadraticResult(model, now.table, buffer.shown, self.limits)
        result.explain(self._names(now), slack, residual, now.memory.count("solved"))
        self._last, self._written, self._newest = result, buffer.flat, now.transition
        now.transition.note(result, buffer.shown.contact)
        return result

    def _fall_back(self, verdict: int, now: Prepared) -> int:
        """Do by quadratic programs what was not settled: of the law, then of its blend with the law before."""
        now.fallback.settle()
        if verdict == UNSETTLED and now.memory.blend.share[0] > 0.0:
            verdict = _kernels.quadratic_blend(now.handle)
            if verdict != UNSETTLED_BLEND:
                return verdict
            now.fallback.settle()
        return SOLVED

    def _names(self, now: Prepared) -> tuple[Limit, ...]:
        return now.limits if self._distances is None else now.limits + self._distances.limits

    def _refuse(self, slack: Array, residual: Array, snapshot: Snapshot, now: Prepared) -> QuadraticResult:
        """Say which limits would be exceeded and which tasks lose, and give the last safe command."""
        names = self._names(now)
        violations = [
            (str(names[row]), float(-slack[row] * now.memory.scale[row]), names[row].unit)
            for row in now.hard[np.argsort(slack[now.hard])]
            if slack[row] < -TOLERATED
        ]
        lost = [task.name for task, each in zip(now.table.problem.tasks, residual, strict=True) if each > LOST]
        error = Infeasible(violations, lost)
        now.memory.forget_active()
        if self._raise:
            raise error
        return self._safe(InfeasibleFault(str(error), error), snapshot, now)

    def _safe(self, fault: Fault, snapshot: Snapshot, now: Prepared) -> QuadraticResult:
        """The last safe command; before there was one, where the robot is, held by what gravity needs."""
        if self._last is not None:
            return self._last.instead(fault)
        buffer = now.buffers.take()
        hold_still(self.model, snapshot, self.limits, buffer)
        result = QuadraticResult(self.model, now.table, buffer.shown, self.limits, fault)
        result.explain((), np.empty(0), np.empty(0), 0)
        return result

    @property
    def settings(self) -> Settings:
        """What can be changed while it runs."""
        return Settings(
            self._settings[LIMITS:].reshape(self.limits.shape),
            self.limits,
            {"task_tolerance": self._settings[TASK_TOLERANCE : TASK_TOLERANCE + 1]},
            self._settings[:0],
            self._contact_gains,
        )
