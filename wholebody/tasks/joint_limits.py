"""Joint limits: push joints back that come near the end of their range."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from wholebody.errors import BadTask
from wholebody.model.compiled import inlined
from wholebody.model.layout import Array, Integers, Values
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Bounds, Unit
from wholebody.tasks import kinds
from wholebody.tasks.kinds import Columns, Description
from wholebody.tasks.task import Gain, Task


@dataclass(eq=False, repr=False)
class JointLimitTask(Task):
    """Keep joints off their limits: e = (upper − margin) − q beyond upper − margin, likewise below, and no row else.

    It belongs at the top. A row comes and goes with its activation, which grows from 0 where the margin begins to 1 at
    the limit: in between the levels below have their share of the joint. `JointLimitTask.of(model)` takes the robot's
    own limits.

    lower   the least position of each joint
    upper   the greatest
    margin  how far before a limit a joint is pushed back
    """

    joints: Sequence[str]
    lower: Annotated[Gain, Unit("rad")]
    upper: Annotated[Gain, Unit("rad")]
    margin: Annotated[float, Unit("rad"), Bounds(0, 1)] = 0.1

    @classmethod
    def of(
        cls, model: Model, name: str = "joint_limits", joints: Iterable[str] | None = None, margin: float = 0.1
    ) -> JointLimitTask:
        """Keep off the robot's own limits: all joints that have some, or those named."""
        names = model.joint_names if joints is None else joints
        limited = [model.robot.joint(each) for each in names]
        limited = [each for each in limited if math.isfinite(each.lower) and math.isfinite(each.upper)]
        return cls(
            name,
            [each.name for each in limited],
            np.array([each.lower for each in limited]),
            np.array([each.upper for each in limited]),
            margin,
        )

    def prepare(self) -> None:
        """Joints as a tuple, with room between their margins."""
        self.joints = tuple(self.joints)
        if not self.joints:
            raise BadTask(f"task '{self.name}': none of the joints has limits")
        room = np.asarray(self.upper) - np.asarray(self.lower)
        if np.any(room <= 2 * self.margin):
            narrow = self.joints[int(np.argmin(np.broadcast_to(room, len(self.joints))))]
            raise BadTask(f"task '{self.name}': margins of {self.margin} leave no room to joint '{narrow}'")

    def count_rows(self) -> int:
        """At most a row for each joint."""
        return len(self.joints)

    def describe(self, model: Model) -> Description:
        """The columns of the joints."""
        return Description(kinds.JOINT_LIMITS, joints=tuple(model.column(name) for name in self.joints))

    def selected(self, snapshot: Snapshot) -> Integers:
        """The joints within the margin."""
        return np.flatnonzero(self._beyond(snapshot))

    def error(self, snapshot: Snapshot) -> Array:
        """How far back it is to where the margin begins."""
        beyond = self._beyond(snapshot)
        return beyond[np.flatnonzero(beyond)]

    def activation(self, snapshot: Snapshot) -> Array:
        """How far the joints are on their way from where the margin begins to the limit."""
        depth = np.abs(self.error(snapshot))
        active: Array = np.minimum(depth / self.margin, 1.0) if self.margin > 0 else np.ones(len(depth))
        return active

    def jacobian(self, snapshot: Snapshot) -> Array:
        """Rows of the unit matrix."""
        columns = np.array(self.describe(snapshot.model).joints)[self.selected(snapshot)]
        jacobian: Array = np.eye(snapshot.model.nv)[columns]
        return jacobian

    def _beyond(self, snapshot: Snapshot) -> Array:
        columns = np.array(self.describe(snapshot.model).joints)
        q = snapshot.q[columns + int(snapshot.model.floating)]
        back: Array = np.minimum(self.upper - self.margin - q, 0) + np.maximum(self.lower + self.margin - q, 0)
        return back


@inlined
def limits_back(q: float, lower: float, upper: float, margin: float) -> float:
    """How far back a joint must go to leave the margin; 0 if it is not in it."""
    return min(upper - margin - q, 0.0) + max(lower + margin - q, 0.0)


@inlined
def count_limits(now: Values, joints: Integers, numbers: Array) -> int:
    """How many joints are within their margin."""
    count, shift = len(joints), len(now.q) - len(now.v)
    found = 0
    for i in range(count):
        if limits_back(now.q[joints[i] + shift], numbers[i], numbers[count + i], numbers[2 * count]) != 0.0:
            found += 1
    return found


@inlined
def fill_joint_limits(now: Values, joints: Integers, numbers: Array, out: Columns, first: int) -> int:
    """A row for each joint within its margin; numbers are lower and upper limits, and the margin."""
    count, shift = len(joints), len(now.q) - len(now.v)
    at, margin = first, numbers[2 * count]
    for i in range(count):
        column = joints[i]
        back = limits_back(now.q[column + shift], numbers[i], numbers[count + i], numbers[2 * count])
        if back != 0.0:
            out.J[column, at] = 1.0
            out.error[at], out.velocity[at], out.bias[at], out.source[at] = back, now.v[column], 0.0, i
            out.activation[at] = min(abs(back) / margin, 1.0) if margin > 0.0 else 1.0
            at += 1
    return at - first
