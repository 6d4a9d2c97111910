"""Joint position: hold or move joints, all of them or some: the posture below everything else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from wholebody.errors import BadTask
from wholebody.model.model import Model
from wholebody.parameters import Bounds, Unit
from wholebody.tasks import kinds
from wholebody.tasks.kinds import Description
from wholebody.tasks.task import Gain, Task


@dataclass(eq=False, repr=False)
class JointPositionTask(Task):
    """Bring joints to positions: e = q* − q.

        JointPositionTask("posture", robot.posture("stand"))
        JointPositionTask("torso", [0.1], ["torso_yaw"])

    `joints` are names; without them, all joints of the robot in its order. Radians, or metres where they slide.

    goal  where each joint shall be
    """

    goal: Annotated[Gain, Unit("rad")]
    joints: Sequence[str] | None = None

    def prepare(self) -> None:
        """Joints as a tuple, each once, as many as goals."""
        if self.joints is not None:
            self.joints = tuple(self.joints)
            if len(set(self.joints)) < len(self.joints):
                raise BadTask(f"task '{self.name}': a joint is named twice: {', '.join(self.joints)}")
            if np.ndim(self.goal) == 0:
                self.goal = np.full(len(self.joints), self.goal)
            if np.shape(self.goal) != (len(self.joints),):
                raise BadTask(
                    f"task '{self.name}': {len(self.joints)} joints, but goals of shape {np.shape(self.goal)}"
                )
        if np.ndim(self.goal) != 1 or not len(self.goal):
            raise BadTask(f"task '{self.name}': the goal must be one position for each joint, not {self.goal!r}")

    def count_rows(self) -> int:
        return len(self.goal)

    def describe(self, model: Model) -> Description:
        names = model.joint_names if self.joints is None else self.joints
        if len(names) != self.count_rows():
            raise BadTask(
                f"task '{self.name}': {self.count_rows()} goals, but {model.robot.name} has {len(names)} joints; "
                "name the joints that are meant, or give a goal for each"
            )
        return Description(kinds.JOINT_POSITION, joints=tuple(model.column(name) for name in names))


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
    goals: ClassVar[dict[str, Any]] = {}

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
        return len(self.joints)

    def describe(self, model: Model) -> Description:
        return Description(kinds.JOINT_LIMITS, joints=tuple(model.column(name) for name in self.joints))
