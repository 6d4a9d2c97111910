"""Estimate: from what a robot measured to q and v of the model: joints by name, and the base where it is known."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from wholebody.errors import UnknownName
from wholebody.hardware import Record
from wholebody.messages import Dtype, labels
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model

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

    The base of a floating robot comes from state["base"], which has it in the order and axes of the model. Whoever
    estimates it otherwise (from feet and an IMU) writes it there.
    """

    def __init__(self, model: Model, layout: Dtype) -> None:
        self.model = model
        self._memory = np.zeros(1, layout)
        self.state: Record = self._memory[0]
        self.raw: npt.NDArray[np.uint8] = self._memory.view(np.uint8)  # the same as bytes
        self.position: Array = self._memory["position"][0]  # of all joints of the robot
        self.velocity: Array = self._memory["velocity"][0]
        self.joints = columns(model, layout)
        self.q = model.neutral()
        self.v = np.zeros(model.nv)
        joints = len(model.joint_names)
        self._q_joints, self._v_joints = self.q[-joints:], self.v[-joints:]
        self._known = self._memory["base"]["known"]
        self._base = _numbers_of_base(self._memory)
        self._turn = self._base[3:7]

    @property
    def time(self) -> float:
        """When the state was measured."""
        return float(self._memory["time"][0])

    def update(self) -> str:
        """Take q and v from the state; what is wrong with it, if anything is: then they stay as they were."""
        total = self.position.sum() + self.velocity.sum()
        if self.model.floating:
            if not self._known[0]:
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


def _numbers_of_base(memory: npt.NDArray[np.void]) -> Array:
    """Position, quaternion, linear and angular velocity of the base: they lie one behind the other."""
    assert memory.dtype.fields is not None
    first = memory.dtype.fields["base"][1]
    numbers: Array = memory.view(np.uint8)[first : first + 8 * 13].view(np.float64)
    return numbers
