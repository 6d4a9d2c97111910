"""Task: an error, a Jacobian, and the law that makes an acceleration of them.

Your own task is one class:

    @dataclass(eq=False, repr=False)
    class HandsLevel(Task):
        \"\"\"Keep both hands at the same height.\"\"\"

        left: int
        right: int
        row_count = 1

        def error(self, snapshot):
            return snapshot.position(self.left)[2:] - snapshot.position(self.right)[2:]

        def jacobian(self, snapshot):
            return snapshot.jacobian(self.right)[2:3] - snapshot.jacobian(self.left)[2:3]

        def bias(self, snapshot):
            return snapshot.bias(self.right)[2:3] - snapshot.bias(self.left)[2:3]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from wholebody import _kernels
from wholebody.errors import BadTask
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Bounds, OneForEachRow, Packed, Unit
from wholebody.tasks import kinds
from wholebody.tasks.kinds import UNLIMITED, Description

Gain = Annotated[Any, OneForEachRow()]
"""Given as one number for all rows, or one for each; kept as an array."""

GREATEST_GAIN = 1e6
LIMIT_BOUNDS = Bounds(1e-6, UNLIMITED)


@dataclass(frozen=True)
class TaskRows:
    """What a task asks for at one instant: jacobian · v̇ + bias = desired, one row for each number.

    A task that exerts a force has it in `force`: what is desired is then more by Λ⁻¹ · force, where Λ⁻¹ is what the
    constraints and motors leave of J M⁻¹ Jᵀ.
    """

    jacobian: Array
    bias: Array
    desired: Array
    force: Array | None = None


@dataclass(frozen=True)
class Evaluated:
    """The rows of a task at one instant, as the kernels of controllers fill them."""

    jacobian: Array
    error: Array
    velocity: Array
    bias: Array
    activation: Array
    source: Integers  # which of its rows each is


@dataclass(frozen=True)
class ForceRows:
    """What a task asks of the wrenches of contacts: Σ matrices[i] · wrench_i = target, wrenches in the world's axes."""

    matrices: tuple[Array, ...]
    target: Array


@dataclass(eq=False, repr=False, kw_only=True)
class Task(Packed):
    """One object the robot should do: an error to bring to zero, and the Jacobian of what it is an error of.

    It asks for ẍ* = kp e + kd (ẋ* − ẋ) + ki ∫e dt + ẍff, in as many rows as the error has. Without a damping given,
    kd = 2 √kp, critically damped, also when the stiffness is set anew. A gain is one number for all rows, or one for
    each. A task can be enabled, disabled, or sensing: then its error is computed, and nothing is done about it.

    stiffness          kp, of the error
    damping            kd, of the velocity
    integral_gain      ki, of the accumulated error
    integral_limit     how large the accumulated error may grow, in each row
    error_limit        the error for which the task pulls hardest: in the direction in which it is most mobile; in the
                       others less, in proportion to their mobility Λ⁻¹ (`WBOSC`). Without one, the law is linear
    goal_velocity      ẋ*, in the unit of the error per second
    goal_acceleration  ẍff, in the unit of the error per second squared
    accumulated        ∫e dt, which the controller keeps
    """

    integral_limit: Annotated[float, Unit("1"), Bounds(0, UNLIMITED)] = UNLIMITED  # of ∫e dt, in each row
    error_limit: Annotated[float, Unit("1"), LIMIT_BOUNDS] = UNLIMITED
    stiffness: Annotated[Gain, Unit("1/s²"), Bounds(0, GREATEST_GAIN)] = 100.0
    damping: Annotated[Gain, Unit("1/s"), Bounds(0, GREATEST_GAIN)] = None
    integral_gain: Annotated[Gain, Unit("1/s³"), Bounds(0, GREATEST_GAIN)] = 0.0
    goal_velocity: Annotated[Gain, Unit("1/s")] = 0.0
    goal_acceleration: Annotated[Gain, Unit("1/s²")] = 0.0
    accumulated: Annotated[Gain, Unit("s")] = field(default=0.0, init=False)

    goals: ClassVar[Mapping[str, Any]] = {"goal": 0.0}
    """The parameters that a configuration may give as "here", each with its value until the loop begins."""

    def __post_init__(self) -> None:
        """Fill in the damping, if none is given."""
        follows = self.damping is None
        if follows:
            self.__dict__["damping"] = 0.0
        super().__post_init__()
        self.__dict__["_damping_follows"] = follows
        if follows:
            self.damping[:] = 2 * np.sqrt(self.stiffness)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a parameter; damping follows stiffness until it is set itself."""
        super().__setattr__(name, value)
        if name == "stiffness" and self.__dict__.get("_damping_follows"):
            self.damping[:] = 2 * np.sqrt(self.stiffness)
        elif name == "damping" and "_damping_follows" in self.__dict__:
            self.__dict__["_damping_follows"] = False

    def __reduce__(self) -> Any:
        """Copy and pickle; a damping that follows goes on to do so."""
        again, (kind, values) = super().__reduce__()
        return again, (kind, values | {"damping": None} if self.__dict__["_damping_follows"] else values)

    # --- what a task is --------------------------------------------------------------------------

    def error(self, snapshot: Snapshot) -> Array:
        """Goal minus what is: what an acceleration along the rows of the Jacobian takes away."""
        return self._evaluated(snapshot, "error").error

    def jacobian(self, snapshot: Snapshot) -> Array:
        """J, with ẋ = J v."""
        return self._evaluated(snapshot, "jacobian").jacobian

    def bias(self, snapshot: Snapshot) -> Array:
        """J̇ v: ẍ at v̇ = 0. Of your own task zero, unless told: right for Jacobians that never change, and near rest."""
        if self._is_own(snapshot.model):
            return np.zeros(len(self.jacobian(snapshot)))
        return self._evaluated(snapshot, "bias").bias

    def velocity(self, snapshot: Snapshot) -> Array:
        """ẋ = J v."""
        velocity: Array = self.jacobian(snapshot) @ snapshot.v
        return velocity

    def selected(self, snapshot: Snapshot) -> Any:
        """Which of its rows the task has at this instant: an index into what it has for each row."""
        return slice(None) if self._is_own(snapshot.model) else self._evaluated(snapshot, "selected").source

    def activation(self, snapshot: Snapshot) -> Array:
        """How much each row counts, from 0 to 1: in full, unless it is on its way in or out."""
        if self._is_own(snapshot.model):
            return np.ones(len(self.jacobian(snapshot)))
        return self._evaluated(snapshot, "activation").activation

    def spring(self, snapshot: Snapshot) -> Array:
        """kp e + ki ∫e dt: what the error asks for."""
        at = self.selected(snapshot)
        spring: Array = self.stiffness[at] * self.error(snapshot) + self.integral_gain[at] * self.accumulated[at]
        return spring

    def desired(self, snapshot: Snapshot) -> Array:
        """ẍ* = kp e + kd (ẋ* − ẋ) + ki ∫e dt + ẍff."""
        at = self.selected(snapshot)
        rate = self.goal_velocity[at] - self.velocity(snapshot)
        desired: Array = self.spring(snapshot) + self.damping[at] * rate + self.goal_acceleration[at]
        return desired

    def rows(self, snapshot: Snapshot) -> TaskRows:
        """What the task asks for: J v̇ + J̇ v = ẍ*."""
        return TaskRows(self.jacobian(snapshot), self.bias(snapshot), self.desired(snapshot))

    def goal_here(self, snapshot: Snapshot) -> dict[str, Any]:
        """The goals with which there is no error at this state: of `goal`, goal − e, as e is goal minus what is.

        A task whose error is another difference, or whose goal has another name or size, says so itself.
        """
        goal, error, at = np.array(self.goal, ndmin=1), self.error(snapshot), self.selected(snapshot)  # type: ignore[attr-defined]
        if goal[at].shape != error.shape:
            raise BadTask(
                f"task '{self.name}': its goal has {goal.size} numbers and its error {error.size}, so the goal that is "
                f'"here" is not known; give {type(self).__name__} a method goal_here(self, snapshot)'
            )
        goal[at] -= error
        return {"goal": goal if np.ndim(self.goal) else float(goal[0])}  # type: ignore[attr-defined]

    # --- for controllers -------------------------------------------------------------------------

    def describe(self, model: Model) -> Description:
        """Look up everything that has a name; UnknownName if the robot does not have it."""
        return Description(kinds.CUSTOM)

    def handle(self, model: Model) -> _kernels.Task:
        """The task for the kernels: what describes it, and where its parameters are."""
        return self._known(model)[1]

    def _known(self, model: Model) -> tuple[Model, _kernels.Task, int]:
        known: tuple[Model, _kernels.Task, int] | None = self.__dict__.get("_handle")
        if known is None or known[0] is not model:
            told, rows = self.describe(model), self.count_rows()
            fixed = np.array([told.kind, told.frame, told.reference, told.mask, rows, *told.joints], np.int64)
            known = self.__dict__["_handle"] = (model, _kernels.tasks_task(fixed, self.numbers), told.kind)
        return known

    def _is_own(self, model: Model) -> bool:
        """Whether it is a user's own task."""
        return self._known(model)[2] == kinds.CUSTOM

    def _evaluated(self, snapshot: Snapshot, method: str) -> Evaluated:
        """Its rows by the kernels; NotImplementedError for a user's own task, which needs that method."""
        model, rows = snapshot.model, self.count_rows()
        _, handle, kind = self._known(model)
        if kind == kinds.CUSTOM or kind >= kinds.FIRST_OF_CONTACTS:
            raise NotImplementedError(f"{type(self).__name__} needs a method {method}(self, snapshot)")
        jacobian, values = np.empty((model.nv, rows)), np.empty((5, rows))
        count = _kernels.tasks_rows(handle, model.tree, snapshot.handle, jacobian, values)
        error, velocity, bias, activation, source = values[:, :count]
        return Evaluated(jacobian[:, :count].T, error, velocity, bias, activation, source.astype(np.int64))

    def axes_of(self, axes: str) -> str:
        """Check a choice of axes."""
        if not isinstance(axes, str) or not kinds.axes_mask(axes):
            raise BadTask(f"task '{self.name}': axes must be some of 'xyz', not {axes!r}")
        return axes
