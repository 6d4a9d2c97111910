"""Iterative inverse kinematics of whole robots: any set of goals, joint limits, a choice of what stands still."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wholebody import _kernels
from wholebody.errors import BadGoal, BadState, UnknownName
from wholebody.kinematics.inverse_goals import (
    BASE,
    ComGoal,
    Goal,
    flat_target,
    mobility_of,
    rows_of,
    support_of,
    variables_of,
)
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model

REASONS = ("converged", "the error falls no further", "out of iterations")
"""How an iteration can end, in the order of the kernel's codes."""

METHODS = ("least squares", "transpose")


class Problem(NamedTuple):
    """All that stays the same from one solve to the next; C reads these fields by name (inverse.h)."""

    integers: Integers  # of the model
    numbers: Array
    frame: Integers  # of each goal, −1 for the centre of mass
    tolerance: Array  # of each goal: m, rad; infinite for what it does not ask for
    axes: Array  # goals × 3: 1 for the axes of the world on which it asks for a position
    row: Integers  # m × 3: goal, what, axis
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


class Settings(NamedTuple):
    """How to iterate."""

    regularisation: float
    locality: float
    stall: float
    patience: int
    iterations: int
    transpose: bool
    homing: int


@dataclass(frozen=True)
class GoalError:
    """How far a goal is from being reached: metres, and radians; 0 for what it does not ask for."""

    position: float
    rotation: float


@dataclass(frozen=True)
class Solution:
    """The best configuration found, and how good it is.

    q            within the limits of the joints
    converged    every goal is within its tolerance
    errors       of each goal, in the order given
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
    """Configurations in which frames and the centre of mass are where goals want them.

        ik = InverseKinematics(model, [PointGoal("left_palm", (0.4, 0.3, 0.2))])
        solution = ik.solve(model.posture("stand"))
        solution.q, solution.converged, solution.errors

    Each step is q ← q ⊕ J♯ e, J♯ = W⁻¹Jᵀ (J W⁻¹Jᵀ + C⁻¹)⁻¹, never longer than the locality threshold and never out of
    the joint limits. C⁻¹ is the regularisation over the weight of the goal; it shrinks with the squared error, and
    grows when a step would raise the error, so that this never rises. A goal that is out of reach gets the
    nearest posture that leads on from the start, and its error.

    fixed            the frame that stays where it is in the world: "base" or the name of the robot's root, any other
                     frame (a support limb, about which the base moves), or None (the base is free, and goals hold it)
    joints           names of joints or groups that may move; all, unless told
    mass_weighting   weigh each joint by the mass that it moves, so that heavy links move less
    joint_weights    factors on the weights of joints, by name: above 1, they move less
    home             a posture to be near, in what the goals leave free: a name, or joint positions
    restarts         how many random postures to try, if the start leads nowhere; the same ones each time
    method           "least squares", or "transpose": steps along W⁻¹Jᵀ e, many but simple

    One solver serves one thread.
    """

    def __init__(
        self,
        model: Model,
        goals: Sequence[Goal],
        fixed: str | None = BASE,
        *,
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
        if not goals:
            raise BadGoal("there are no goals: give at least one")
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
        self.model, self.goals = model, tuple(goals)
        support = support_of(model, fixed)
        variables = variables_of(model, joints, free_base=fixed is None and model.floating)
        rows = [row for index, goal in enumerate(self.goals) for row in rows_of(goal, index)]
        asked = np.zeros((len(self.goals), 2, 3))
        for goal, what, axis, _ in rows:
            asked[goal, what % 2, axis] = 1.0
        tolerance = np.where(asked.any(axis=2), (position_tolerance, rotation_tolerance), np.inf)
        finite = np.nan_to_num(np.stack([variables.lower, variables.upper]), posinf=np.pi, neginf=-np.pi)
        unit = np.random.default_rng(seed).uniform(size=(int(restarts), len(variables.place)))
        self._targets = np.array([flat_target(goal, goal.target) for goal in self.goals])
        self._problem = Problem(
            integers=model.integers,
            numbers=model.numbers,
            frame=np.array([-1 if isinstance(g, ComGoal) else model.frame(g.frame) for g in self.goals], np.int64),
            tolerance=tolerance,
            axes=asked[:, 0].copy(),
            row=np.array([row[:3] for row in rows], np.int64),
            scale=np.array([row[3] for row in rows]),
            variable=variables.variable,
            ratio=variables.ratio,
            place=variables.place,
            lower=variables.lower,
            upper=variables.upper,
            home=self._home(home)[np.maximum(variables.place, 0)],
            mobility=mobility_of(model, variables, mass_weighting, support, joint_weights or {}),
            seeds=finite[0] + unit * (finite[1] - finite[0]),
            support=support,
        )
        self._settings = Settings(
            float(regularisation), float(locality), float(stall), int(patience), int(max_iterations),
            method == "transpose", 0 if home is None else int(max_iterations),
        )  # fmt: skip
        self._solver = _kernels.kinematics_inverse(model.tree, self._problem, self._settings)
        self._nothing = np.empty((0, model.nq + 1))

    def solve(
        self, start: npt.ArrayLike, targets: Sequence[npt.ArrayLike] | None = None, record: bool = False
    ) -> Solution:
        """From a start to the nearest configuration that reaches the goals, or comes as near as it can.

        targets takes the place of the goals' own, in their order; record keeps every iterate. The start is clamped to
        the joint limits first.
        """
        q = self._start(start)
        given = self._targets
        if targets is not None:
            if len(targets) != len(self.goals):
                raise BadGoal(f"{len(targets)} targets for {len(self.goals)} goals; give one for each")
            pairs = zip(self.goals, targets, strict=True)
            given = np.array([flat_target(goal, target) for goal, target in pairs])
        gaps = np.zeros((len(self.goals), 6))
        history = self._nothing
        if record:
            descents = len(self._problem.seeds) + 2
            most = self._settings.iterations * descents + self._settings.homing + descents
            history = np.empty((most, self.model.nq + 1))
        code, iterations, restarts, written = _kernels.kinematics_inverse_solve(self._solver, given, q, gaps, history)
        squares = gaps * gaps
        position = np.sqrt((squares[:, :3] * self._problem.axes).sum(axis=1)).tolist()
        rotation = np.sqrt(squares[:, 3:].sum(axis=1)).tolist()
        return Solution(
            q=q,
            converged=code == 0,
            errors=tuple(map(GoalError, position, rotation)),
            iterations=iterations,
            restarts=restarts,
            reason=REASONS[code],
            iterates=history[:written, :-1],
            costs=history[:written, -1],
        )

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
