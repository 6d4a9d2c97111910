"""Iterative inverse kinematics of whole robots: any tasks, joint limits, a choice of what stands still."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wholebody import _kernels
from wholebody.errors import BadGoal, BadState, BadTask, UnknownName
from wholebody.kinematics.inverse_variables import BASE, mobility_of, support_of, variables_of
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model
from wholebody.tasks import JointPositionTask, Task, kinds

REASONS = ("converged", "the error falls no further", "out of iterations")
"""How an iteration can end, in the order of the kernel's codes."""

METHODS = ("least squares", "transpose")

METRES, RADIANS = 0, 1
"""In what a row of a task counts, and which tolerance it has."""

FARTHEST = 1e6
"""Metres, beyond which a goal is taken for a mistake."""

Weights = Mapping[str, float | Sequence[float]]
"""Of tasks, by name: one number, or one for each row."""


class Problem(NamedTuple):
    """All that stays the same from one solve to the next; inverse_binding.c has the same order."""

    integers: Integers  # of the model
    numbers: Array
    tasks: tuple[_kernels.Task, ...]
    row: Integers  # m × 2: the task of each row, METRES or RADIANS
    tolerance: Array  # of each task: m, rad; infinite for what it does not ask for
    scale: Array  # m: √weight of each row
    variable: Integers  # of each column of v: the variable that moves it, −1 if none does
    ratio: Array  # of each column of v: how far it moves with its variable
    place: Integers  # in q, of each variable; −1 for one of the base
    lower: Array  # of each variable
    upper: Array
    home: Array
    mobility: Array  # W⁻¹ of each variable
    seeds: Array  # restarts × variables
    support: int  # the frame that stays where it is while the base moves, or −1
    evaluate_own: Callable[[], None] | None  # evaluates users' own tasks at own_q
    own_q: Array
    own_error: Array  # m
    own_jacobian: Array  # nv × m


class Settings(NamedTuple):
    """How to iterate; inverse_binding.c has the same order."""

    regularisation: float
    locality: float
    stall: float
    patience: int
    iterations: int
    transpose: bool
    homing: int


@dataclass(frozen=True)
class GoalError:
    """How far a task is from its goal: metres, and radians; 0 for what it does not ask for, or while not enabled.

    A joint that turns counts in radians; a user's own task has the length of its error in `position`.
    """

    position: float
    rotation: float


@dataclass(frozen=True)
class Solution:
    """The best configuration found, and how good it is.

    q            within the limits of the joints
    converged    every task is within its tolerance
    errors       of each task, in the order given
    iterations   evaluations of the robot, all restarts together
    restarts     how many were needed
    reason       why it ended: one of REASONS
    iterates     each configuration on the way, one per row, if asked for
    costs        and Σ weight · error² there
    """

    q: Array
    converged: bool
    errors: tuple[GoalError, ...]
    iterations: int
    restarts: int
    reason: str
    iterates: Array
    costs: Array


class InverseKinematics:
    """Configurations in which the errors of tasks are zero: the tasks that controllers take too.

        hand = CartesianPositionTask("hand", "left_palm", (0.4, 0.3, 0.2))
        ik = InverseKinematics(model, [hand])
        solution = ik.solve(model.posture("stand"))
        solution.q, solution.converged, solution.errors
        hand.goal = (0.4, 0.3, 0.3)                 # the next solve goes there

    Each step is q ← q ⊕ J♯ e, J♯ = W⁻¹Jᵀ (J W⁻¹Jᵀ + C⁻¹)⁻¹, never longer than the locality threshold and never out of
    the joint limits. C⁻¹ is the regularisation over the weight of the row; it shrinks with the squared error, and
    grows when a step would raise the error, so that this never rises. A goal that is out of reach gets the
    nearest posture that leads on from the start, and its error.

    tasks            of joints, frames and the centre of mass, and users' own; gains have no part, and a task that is
                     not enabled asks for nothing
    fixed            the frame that stays where it is in the world: "base" or the name of the robot's root, any other
                     frame (a support limb, about which the base moves), or None (the base is free, and tasks hold it)
    weights          of tasks, by name, one number or one for each row; 1 unless told
    joints           names of joints or groups that may move; all, unless told
    mass_weighting   weigh each joint by the mass that it moves, so that heavy links move less
    joint_weights    factors on the weights of joints, by name: above 1, they move less
    home             a posture to be near, in what the tasks leave free: a name, or joint positions
    restarts         how many random postures to try, if the start leads nowhere; the same ones each time
    method           "least squares", or "transpose": steps along W⁻¹Jᵀ e, many but simple

    One solver serves one thread.
    """

    def __init__(
        self,
        model: Model,
        tasks: Sequence[Task],
        fixed: str | None = BASE,
        *,
        weights: Weights | None = None,
        joints: Iterable[str] | None = None,
        mass_weighting: bool = False,
        joint_weights: Mapping[str, float] | None = None,
        home: str | npt.ArrayLike | None = None,
        regularisation: float = 1e-3,
        locality: float = 0.4,
        position_tolerance: float = 1e-4,
        rotation_tolerance: float = 1e-4,
        max_iterations: int = 200,
        stall: float = 1e-2,
        patience: int = 3,
        restarts: int = 0,
        seed: int = 0,
        method: str = "least squares",
    ) -> None:
        if method not in METHODS:
            raise UnknownName("method", method, METHODS)
        positive = {
            "regularisation": regularisation, "locality": locality, "position_tolerance": position_tolerance,
            "rotation_tolerance": rotation_tolerance, "max_iterations": max_iterations, "patience": patience,
        }  # fmt: skip
        for name, value in positive.items():
            if not (np.isfinite(value) and value > 0):
                raise BadGoal(f"{name} is {value}; it must be a number above 0")
        if restarts < 0:
            raise BadGoal(f"restarts is {restarts}; it must be 0 or more")
        self.model, self.tasks = model, tuple(tasks)
        units = goals_of(model, self.tasks)
        support = support_of(model, fixed)
        variables = variables_of(model, joints, free_base=fixed is None and model.floating)
        row = np.array([(index, unit) for index, each in enumerate(units) for unit in each], np.int64)
        asked = np.array([[unit in each for unit in (METRES, RADIANS)] for each in units])
        finite = np.nan_to_num(np.stack([variables.lower, variables.upper]), posinf=np.pi, neginf=-np.pi)
        unit = np.random.default_rng(seed).uniform(size=(int(restarts), len(variables.place)))
        own = OwnTasks(model, self.tasks, row[:, 0])
        self._problem = Problem(
            integers=model.integers,
            numbers=model.numbers,
            tasks=tuple(task.handle(model) for task in self.tasks),
            row=row,
            tolerance=np.where(asked, (position_tolerance, rotation_tolerance), np.inf),
            scale=np.sqrt(weights_of(self.tasks, units, weights or {})),
            variable=variables.variable,
            ratio=variables.ratio,
            place=variables.place,
            lower=variables.lower,
            upper=variables.upper,
            home=self._home(home)[np.maximum(variables.place, 0)],
            mobility=mobility_of(model, variables, mass_weighting, support, joint_weights or {}),
            seeds=finite[0] + unit * (finite[1] - finite[0]),
            support=support,
            evaluate_own=own.evaluate if own.tasks else None,
            own_q=own.q,
            own_error=own.error,
            own_jacobian=own.jacobian,
        )
        self._settings = Settings(
            float(regularisation), float(locality), float(stall), int(patience), int(max_iterations),
            method == "transpose", 0 if home is None else int(max_iterations),
        )  # fmt: skip
        self._solver = _kernels.kinematics_inverse(model.tree, self._problem, self._settings)
        self._nothing = np.empty((0, model.nq + 1))

    def solve(self, start: npt.ArrayLike, record: bool = False) -> Solution:
        """From a start to the nearest configuration that reaches the goals, or comes as near as it can.

        record keeps every iterate. The start is clamped to the joint limits first.
        """
        q = self._start(start)
        gaps = np.zeros((len(self.tasks), 2))
        history = self._nothing
        if record:
            descents = len(self._problem.seeds) + 2
            most = self._settings.iterations * descents + self._settings.homing + descents
            history = np.empty((most, self.model.nq + 1))
        code, iterations, restarts, written = _kernels.kinematics_inverse_solve(self._solver, q, gaps, history)
        if code == len(REASONS):
            self._refuse(gaps)
        return Solution(
            q=q,
            converged=code == 0,
            errors=tuple([GoalError(*gap) for gap in gaps.tolist()]),
            iterations=iterations,
            restarts=restarts,
            reason=REASONS[code],
            iterates=history[:written, :-1],
            costs=history[:written, -1],
        )

    def _refuse(self, gaps: Array) -> None:
        """Say which task has a goal that is none."""
        index = int(np.flatnonzero(~(gaps <= FARTHEST).all(axis=1))[0])
        name, gap = self.tasks[index].name, float(gaps[index].max())
        what = f"more than {FARTHEST:g} m away" if gap > FARTHEST else "at values that are no numbers"
        raise BadGoal(f"the goal of task '{name}' is {what} (error {gap:g}); set another goal")

    # --- what was asked for ------------------------------------------------------------------------

    def _home(self, home: str | npt.ArrayLike | None) -> Array:
        """The home posture as a configuration."""
        if home is None:
            return self.model.neutral()
        if isinstance(home, str):
            return self.model.posture(home)
        q = self.model.neutral()
        joints = np.asarray(home, np.float64)
        if joints.shape not in ((len(self.model.joint_names),), q.shape) or not np.isfinite(joints).all():
            raise BadState(f"home must be {len(self.model.joint_names)} joint positions, not {joints}")
        q[len(q) - len(joints) :] = joints
        return q

    def _start(self, start: npt.ArrayLike) -> Array:
        q = np.array(start, dtype=np.float64)
        if q.shape != (self.model.nq,) or not np.isfinite(q).all():
            return np.array(self.model.at(q).q)  # refuses, and says what is wrong
        if self.model.floating:
            length = float(np.linalg.norm(q[3:7]))
            if abs(length - 1.0) > 1e-3:
                self.model.at(q)
            q[3:7] /= length
        return q


def goals_of(model: Model, tasks: Sequence[Task]) -> list[list[int]]:
    """Of each row of each task, METRES or RADIANS; BadGoal if a task does not say where something is to be."""
    if not tasks:
        raise BadGoal("there are no tasks: give at least one")
    names = [task.name for task in tasks]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BadGoal(f"the name '{twice}' is there twice; tasks need names of their own")
    return [_units(model, task) for task in tasks]


def _units(model: Model, task: Task) -> list[int]:
    told = task.describe(model)
    match told.kind:
        case kinds.POSITION | kinds.CENTER_OF_MASS:
            return [METRES] * told.mask.bit_count()
        case kinds.ORIENTATION_2D | kinds.ORIENTATION_3D:
            return [RADIANS] * task.count_rows()
        case kinds.POSE:
            return [METRES] * 3 + [RADIANS] * 3
        case kinds.CUSTOM:
            return [METRES] * task.count_rows()
    if isinstance(task, JointPositionTask):
        joints = [model.robot.joint(name) for name in task.joints or model.joint_names]
        return [METRES if joint.kind == "prismatic" else RADIANS for joint in joints]
    raise BadGoal(
        f"task '{task.name}': a {type(task).__name__} does not say where something is to be, so it is no goal of "
        "inverse kinematics; joint limits always hold there"
    )


def weights_of(tasks: Sequence[Task], units: Sequence[Sequence[int]], weights: Weights) -> Array:
    """The weight of each row."""
    for name in weights:
        if name not in {task.name for task in tasks}:
            raise UnknownName("task", name, [task.name for task in tasks])
    rows: list[float] = []
    for task, each in zip(tasks, units, strict=True):
        given = np.asarray(weights.get(task.name, 1.0), np.float64)
        if given.shape not in ((), (len(each),)) or not (np.isfinite(given) & (given > 0)).all():
            raise BadGoal(
                f"the weight of task '{task.name}' is {given}; it must be a number above 0, or {len(each)} of them, "
                "one for each row, or leave the task out"
            )
        rows += np.broadcast_to(given, len(each)).tolist()
    return np.array(rows)


class OwnTasks:
    """Users' own tasks, which the kernel has evaluated at each configuration that it looks at."""

    def __init__(self, model: Model, tasks: Sequence[Task], task_of_row: Integers) -> None:
        self.model = model
        self.tasks = [
            (task, np.flatnonzero(task_of_row == index))
            for index, task in enumerate(tasks)
            if task.describe(model).kind == kinds.CUSTOM
        ]
        self.q = np.zeros(model.nq)
        self.error = np.zeros(len(task_of_row))
        self.jacobian = np.zeros((model.nv, len(task_of_row)))

    def evaluate(self) -> None:
        """Write errors and transposed Jacobians at q."""
        snapshot = self.model.at(self.q)
        for task, rows in self.tasks:
            error, jacobian = np.asarray(task.error(snapshot)), np.asarray(task.jacobian(snapshot))
            if error.shape != (len(rows),) or jacobian.shape != (len(rows), self.model.nv):
                raise BadTask(
                    f"task '{task.name}': error {error.shape} and Jacobian {jacobian.shape} are not of "
                    f"{len(rows)} rows and {self.model.nv} columns"
                )
            self.error[rows], self.jacobian[:, rows] = error, jacobian.T
