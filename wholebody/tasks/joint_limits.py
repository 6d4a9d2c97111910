"""Joint limits: push joints back that come near the end of their range."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from wholebody.errors import BadTask
from wholebody.model.model import Model
from wholebody.parameters import Bounds, Unit
from wholebody.tasks import kinds
from wholebody.tasks.kinds import Description
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
