"""Estimate: from what a robot measured to q and v of the model: joints by name, and the base where it is known."""

from __future__ import annotations

import math
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from wholebody.drivers import RobotInterface
from wholebody.errors import BadProblem, UnknownName
from wholebody.messages import Dtype, Reference, State, labels, offset
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model
from wholebody.robots.robot import Robot
from wholebody.rotations import quaternion_of_matrix

WELL = ""
NOT_FINITE = "the state has a number that is none"
BASE_UNKNOWN = (
    "nobody says where the floating base is: the state's base is not known; run an estimator before this loop"
)
NO_TURN = "the quaternion of the base is not of unit length"


class Estimate:
    """q and v of a model, taken from the state of a robot, which may have more joints than the model.

        estimate = Estimate(model, robot.state_dtype())
        robot.read(estimate.state)
        trouble = estimate.update()     # "" if all is well; else q and v stay as they were
        model.at(estimate.q, estimate.v)

    The base of a floating robot comes from state.base, which has it in the order and axes of the model. Whoever
    estimates it otherwise (from feet and an IMU) writes it there.
    """

    def __init__(self, model: Model, layout: Dtype) -> None:
        self.model = model
        memory = np.zeros(1, State.of(layout))
        self.state: State = memory[0]
        self.raw: npt.NDArray[np.uint8] = memory.view(np.uint8)  # the same as bytes
        self.position, self.velocity = self.state.position, self.state.velocity  # of all joints of the robot
        self.joints = columns(model, layout)
        self.q = model.neutral()
        self.v = np.zeros(model.nv)
        joints = len(model.joint_names)
        self._q_joints, self._v_joints = self.q[-joints:], self.v[-joints:]
        self._base_record, self._base = self.state.base, _numbers_of_base(self.raw, layout)
        self._turn = self._base[3:7]

    @property
    def time(self) -> float:
        """When the state was measured."""
        return self.state.time

    def update(self) -> str:
        """Take q and v from the state; what is wrong with it, if anything is: then they stay as they were."""
        total = self.position.sum() + self.velocity.sum()
        if self.model.floating:
            if not self._base_record.known:
                return BASE_UNKNOWN
            total += self._base.sum()
        if not math.isfinite(total):
            return NOT_FINITE
        if self.model.floating:
            if abs(self._turn @ self._turn - 1.0) > 1e-3:
                return NO_TURN
            self.q[:7], self.v[:6] = self._base[:7], self._base[7:]
        self.position.take(self.joints, out=self._q_joints, mode="clip")
        self.velocity.take(self.joints, out=self._v_joints, mode="clip")
        return WELL


def columns(model: Model, layout: Dtype) -> Integers:
    """Where each joint of the model stands among those of a record."""
    names = labels(layout)
    index = {name: column for column, name in enumerate(names)}
    for name in model.joint_names:
        if name not in index:
            raise UnknownName("joint of the robot", name, names)
    return np.array([index[name] for name in model.joint_names], np.int64)


def _numbers_of_base(raw: npt.NDArray[np.uint8], layout: Dtype) -> Array:
    """Position, quaternion, linear and angular velocity of the base: they lie one behind the other."""
    first = offset(layout, "base")
    numbers: Array = raw[first : first + 8 * 13].view(np.float64)
    return numbers


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

    def read(self, state: State) -> None:
        """Fill in what was measured last, and the base; if a number is none, the base is not known."""
        self.robot.read(state)
        base = state.base
        if base.known and self._trusting:
            return
        base.known = False
        q, v = state.position[self._columns], state.velocity[self._columns]
        if not math.isfinite(q.sum() + v.sum()):
            return
        self._q[7:], self._v[6:] = q, v
        snapshot = self.model.at(self._q, self._v)
        self._base_to_world = self._foot_to_world @ _inverse(snapshot.placement(self._frame))
        jacobian = snapshot.jacobian(self._frame)
        velocity = np.linalg.solve(jacobian[:, :6], -jacobian[:, 6:] @ v)
        base.position[:] = self._base_to_world[:3, 3]
        base.orientation[:] = quaternion_of_matrix(self._base_to_world[:3, :3])
        base.linear_velocity[:], base.angular_velocity[:] = velocity[:3], velocity[3:]
        base.known = self._found = True

    def write(self, reference: Reference) -> None:
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
