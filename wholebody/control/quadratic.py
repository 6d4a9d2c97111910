"""QuadraticController: the problems of WBOSC with limits that hold: of contacts, joints, motors and distances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wholebody.control import quadratic_kernels as kernels
from wholebody.control.beginning import begin_cycle, explain, hold_still, joint_limits, try_out
from wholebody.control.memory import output_size
from wholebody.control.problem import Problem
from wholebody.control.quadratic_contacts import Bearing, bearing_of
from wholebody.control.quadratic_departure import Departure
from wholebody.control.quadratic_descent import Descent
from wholebody.control.quadratic_distances import Distances
from wholebody.control.quadratic_fading import carve_fading
from wholebody.control.quadratic_memory import (
    ACTIVE,
    PERIOD,
    SETTINGS,
    SOLVED,
    TASK_TOLERANCE,
    Extent,
    Work,
    carve_active,
    carve_work,
    constraint_rows,
    fading_begins,
    size_of_work,
)
from wholebody.control.quadratic_result import InfeasibleFault, Limit, QuadraticResult, limits_of
from wholebody.control.quadratic_weights import Weights
from wholebody.control.result import Fault, Sheets
from wholebody.control.table import Table
from wholebody.control.tabled import TabledController
from wholebody.control.tuning import Settings
from wholebody.errors import BadProblem, Infeasible, UnknownName, WrongRecord
from wholebody.kinematics.collision import Collisions
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot

TOLERATED = 1e-5
LOST = 1e-3


@dataclass
class Prepared:
    """A problem made ready for the loop."""

    table: Table
    work: Work
    bearing: Bearing
    sheets: Sheets
    descent: Descent
    departure: Departure
    limits: tuple[Limit, ...]
    weights: Array


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
    max_effort        limits on efforts below the robot's own: one for all joints, or one for each
    collisions        links that must keep `clearance` (m) from each other; none are looked at unless given
    strict            False: one program for all levels, each weighing `level_ratio` as much as the one above
    weights           of tasks among those of their level, by name; 1 unless told. `weigh` changes them while running
    raise_infeasible  raise instead of giving the last safe command again
    """

    fades_inside = True

    def __init__(
        self,
        model: Model,
        *,
        period: float = 0.001,
        friction: float | Mapping[str, float] = 0.6,
        least_force: float = 0.0,
        inset: float = 0.0,
        braking: float = 20.0,
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
        super().__init__()
        self.model = model
        self.period = period
        self.limits = joint_limits(model, max_effort)
        self._friction, self._least_force, self._inset = friction, least_force, inset
        self._limit_contacts = limit_contacts
        self._strict, self._level_ratio = strict, level_ratio
        self._raise = raise_infeasible
        self._weights = Weights(weights or {}, period)
        self._departed: Departure | None = None
        limits = self.limits.copy()
        for row, limited, free in ((0, limit_positions, -np.inf), (1, limit_positions, np.inf)):
            limits[row] = limits[row] if limited else free
        limits[2] = limits[2] if limit_velocities else np.inf
        limits[3] = limits[3] if limit_efforts else np.inf
        closing = braking * 0.5  # m/s², of distances
        self._distances = Distances(collisions, clearance, closing, period) if collisions is not None else None
        settings = [period, task_tolerance, hard_tolerance, braking, clearance, closing, float(strict)]
        self._settings = np.concatenate([settings, limits.ravel()])
        self.enforces_effort = limit_efforts

    # --- before the loop ---------------------------------------------------------------------------

    def weigh(self, task: str, weight: float, seconds: float = 0.0) -> None:
        """Set the weight of a task among those of its level, at once or little by little from the next cycle on."""
        self._weights.change(task, weight, seconds)
        for each in self._prepared.values():
            self._fill_weights(each)

    def _make_ready(self, problem: Problem) -> Prepared:
        model = self.model
        table = Table(problem, model)
        try_out(table, model)
        for name in self._friction if isinstance(self._friction, Mapping) else ():
            if all(each.name != name for each in problem.constraints):
                raise UnknownName("constraint", name, [each.name for each in problem.constraints])
        bearing = bearing_of(problem, model, self._friction, self._least_force, self._inset, self._limit_contacts)
        joints, sizes = len(model.joint_names), table.sizes
        extent = Extent(len(bearing.rows), self._distances.most if self._distances is not None else 0)
        count, integers = size_of_work(model.nv, joints, sizes, extent)
        numbers, counts = np.zeros(count), np.zeros(integers, np.int64)
        work = carve_work(model.nv, joints, sizes, extent, numbers, counts)
        memory = (model.integers, table.integers, np.array(extent, np.int64), numbers, counts)
        fading = carve_fading(model.nv, sizes, numbers, fading_begins(model.nv, joints, sizes, extent))
        found = Prepared(
            table,
            work,
            bearing,
            Sheets(model, table, output_size(joints, model.nv, sizes)),
            Descent(memory, carve_active(model.nv, joints, sizes, extent, numbers, counts, work)),
            Departure(table, fading, constraint_rows(sizes, counts)),
            limits_of(model, bearing.names),
            np.ones(sizes.tasks),
        )
        self._fill_weights(found)
        self._rehearse(found)
        return found

    def _rehearse(self, prepared: Prepared) -> None:
        """Run every kernel once: if it must be compiled, that is done now and never in the loop."""
        still = self._settings.copy()
        still[PERIOD] = 1e-300  # so that no task integrates anything
        snapshot, sheet = self.model.at(self.model.neutral()), prepared.sheets.take()
        if self._distances is not None:
            self._distances.fill(snapshot, prepared.descent.memory)
        self._solve(snapshot, prepared, still, sheet.flat)
        kernels.mix(*prepared.descent.memory)
        kernels.evaluate(*prepared.descent.memory)
        self._write(snapshot, prepared, still, sheet.flat)
        prepared.work.state[ACTIVE] = 0
        prepared.departure.clear()

    def _fill_weights(self, prepared: Prepared) -> None:
        index = 0
        for number, level in enumerate(prepared.table.problem.levels):
            for task in level:
                own = self._weights.of(task.name)
                prepared.weights[index] = own if self._strict else own * self._level_ratio**number
                index += 1

    # --- in the loop -------------------------------------------------------------------------------

    def depart(self, snapshot: Snapshot, problem: Problem) -> None:
        """Begin a way from the last command to what the problem asks for; `fade` says how far it has come."""
        now = self._ready(problem)
        if self._departed is not None:
            self._departed.leave_for(now.departure, snapshot)

    def fade(self, problem: Problem, share: float) -> None:
        """From the next cycle on, keep that share of the difference between what was and what is asked for."""
        self._ready(problem).departure.fade(share)

    def solve(self, snapshot: Snapshot, problem: Problem) -> QuadraticResult:
        """The command of one cycle."""
        now = self._ready(problem)
        model = self.model
        fault = begin_cycle(model, now.table, snapshot)
        if fault is not None:
            return self._safe(fault, snapshot, now)
        if self._distances is not None:
            self._distances.fill(snapshot, now.descent.memory)
        if self._weights.advance():
            self._fill_weights(now)
        sheet = now.sheets.take()
        verdict = self._solve(snapshot, now, self._settings, sheet.flat)
        if now.departure.fading.share[0] > 0.0 and now.descent.settled(verdict):
            verdict = kernels.mix(*now.descent.memory)
        if not now.descent.settled(verdict):
            return self._safe(explain(verdict, now.table, snapshot), snapshot, now)
        slack, residual = self._write(snapshot, now, self._settings, sheet.flat)
        if slack.min(initial=0.0) < -TOLERATED:
            return self._refuse(slack, residual, snapshot, now)
        result = QuadraticResult(model, now.table, sheet.shown, self.limits)
        result.explain(self._names(now), slack, residual, int(now.work.state[SOLVED]))
        self._last, self._written, self._departed = result, sheet.flat, now.departure
        now.departure.note(result, sheet.shown.contact)
        return result

    def _solve(self, snapshot: Snapshot, now: Prepared, settings: Array, output: Array) -> int:
        """Find motion and forces; how that went."""
        integers, table, beyond, numbers, counts = now.descent.memory
        return kernels.solve(
            integers,
            self.model.numbers,
            snapshot.storage,
            table,
            now.table.own,
            settings,
            now.weights,
            now.bearing.contacts,
            now.bearing.rows,
            beyond,
            numbers,
            counts,
            output,
        )

    def _write(self, snapshot: Snapshot, now: Prepared, settings: Array, output: Array) -> tuple[Array, Array]:
        """Write the command; how far each limit is, and what each task did not get."""
        rows = len(now.work.value)
        report = np.empty(rows + len(now.weights))
        kernels.write(*now.descent.memory, snapshot.storage, settings, now.weights, output, report)
        return report[:rows], report[rows:]

    def _names(self, now: Prepared) -> tuple[Limit, ...]:
        return now.limits if self._distances is None else now.limits + self._distances.limits

    def _refuse(self, slack: Array, residual: Array, snapshot: Snapshot, now: Prepared) -> QuadraticResult:
        """Say which limits would be exceeded and which tasks lose, and give the last safe command."""
        names = self._names(now)
        violations = [
            (str(names[row]), float(-slack[row] * now.work.scale[row]), names[row].unit)
            for row in np.argsort(slack)
            if slack[row] < -TOLERATED
        ]
        lost = [task.name for task, each in zip(now.table.problem.tasks, residual, strict=True) if each > LOST]
        error = Infeasible(violations, lost)
        now.work.state[ACTIVE] = 0
        if self._raise:
            raise error
        return self._safe(InfeasibleFault(str(error), error), snapshot, now)

    def _safe(self, fault: Fault, snapshot: Snapshot, now: Prepared) -> QuadraticResult:
        """The last safe command; before there was one, where the robot is, held by what gravity needs."""
        if self._last is not None:
            return self._last.instead(fault)
        sheet = now.sheets.take()
        hold_still(self.model, snapshot, self.limits, sheet)
        result = QuadraticResult(self.model, now.table, sheet.shown, self.limits, fault)
        result.explain((), np.empty(0), np.empty(0), 0)
        return result

    @property
    def settings(self) -> Settings:
        """What can be changed while it runs."""
        return Settings(
            self._settings[SETTINGS:].reshape(self.limits.shape),
            self.limits,
            {"task_tolerance": self._settings[TASK_TOLERANCE : TASK_TOLERANCE + 1]},
            self._settings[:0],
        )
