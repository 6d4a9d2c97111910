"""BaseOnFoot: where the floating base is, by the joints alone, as long as one foot lies flat and stays where it is.

base_to_world = foot_to_world · (foot_to_base)⁻¹, and from J_base v_base + J_joints v_joints = 0 of the foot, v_base.
"""

from __future__ import annotations

import math
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from wholebody.control.estimate import columns
from wholebody.errors import BadProblem
from wholebody.hardware import Record, RobotInterface
from wholebody.model.model import Model
from wholebody.robots.robot import Robot
from wholebody.rotations import quaternion_of_matrix


class BaseOnFoot:
    """A robot whose state says where its base is, though nothing measures it: a foot bears it.

        robot = BaseOnFoot(robot, model, "left_sole")
        Servo(robot, clock, ...)

    It is the robot's interface in all else. The world begins at the foot, and has its axes. `foot` may be set to
    another one while both lie on the ground. A foot that slips or rocks is not noticed: an IMU would tell.

    description   the robot behind the interface, if it has more joints than the model
    trusting      whether a base that the state knows already, as a simulator's does, is left as it is
    """

    def __init__(
        self,
        robot: RobotInterface,
        model: Model,
        foot: str,
        description: Robot | None = None,
        *,
        trusting: bool = True,
    ) -> None:
        if not model.floating:
            raise BadProblem(f"{model.robot.name} has no floating base that could stand on a foot")
        self.robot, self.model, self._trusting = robot, model, trusting
        self._columns = columns(model, (description or model.robot).state_dtype())
        self._q, self._v = model.neutral(), np.zeros(model.nv)
        self._q[:7] = (0, 0, 0, 0, 0, 0, 1)
        self._frame = model.frame(foot)
        self._foot_to_world = np.eye(4)
        self._base_to_world = np.eye(4)
        self._foot, self._found = foot, False

    @property
    def foot(self) -> str:
        """The surface that bears the robot."""
        return self._foot

    @foot.setter
    def foot(self, name: str) -> None:
        frame = self.model.frame(name)
        if self._found:
            self._foot_to_world = self._base_to_world @ self.model.at(self._q).placement(frame)
        self._foot, self._frame = name, frame

    def read(self, state: Record) -> None:
        """Fill in what was measured last, and the base; if a number is none, the base is not known."""
        self.robot.read(state)
        base = state["base"]
        if base["known"] and self._trusting:
            return
        base["known"] = False
        q, v = state["position"][self._columns], state["velocity"][self._columns]
        if not math.isfinite(q.sum() + v.sum()):
            return
        self._q[7:], self._v[6:] = q, v
        snapshot = self.model.at(self._q, self._v)
        self._base_to_world = self._foot_to_world @ _inverse(snapshot.placement(self._frame))
        jacobian = snapshot.jacobian(self._frame)
        velocity = np.linalg.solve(jacobian[:, :6], -jacobian[:, 6:] @ v)
        base["position"] = self._base_to_world[:3, 3]
        base["orientation"] = quaternion_of_matrix(self._base_to_world[:3, :3])
        base["linear_velocity"], base["angular_velocity"] = velocity[:3], velocity[3:]
        base["known"] = self._found = True

    def write(self, reference: Record) -> None:
        """Command the joints of the reference's mask."""
        self.robot.write(reference)

    def stop(self) -> None:
        """Hold every joint where it is."""
        self.robot.stop()

    def __enter__(self) -> Self:
        """Take the robot."""
        self.robot.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it and let it go."""
        self.robot.__exit__(kind, error, trace)


def _inverse(transform: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Of a 4 × 4 transform."""
    inverse = np.eye(4)
    inverse[:3, :3] = transform[:3, :3].T
    inverse[:3, 3] = -inverse[:3, :3] @ transform[:3, 3]
    return inverse
