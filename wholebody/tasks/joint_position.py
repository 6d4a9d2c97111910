"""Joint position: hold or move joints, all of them or some: the posture below everything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from wholebody.errors import BadTask
from wholebody.model.model import Model
from wholebody.parameters import Unit
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
        """A row for each joint."""
        return len(self.goal)

    def describe(self, model: Model) -> Description:
        """The columns of the joints."""
        names = model.joint_names if self.joints is None else self.joints
        if len(names) != self.count_rows():
            raise BadTask(
                f"task '{self.name}': {self.count_rows()} goals, but {model.robot.name} has {len(names)} joints; "
                "name the joints that are meant, or give a goal for each"
            )
        return Description(kinds.JOINT_POSITION, joints=tuple(model.column(name) for name in names))
