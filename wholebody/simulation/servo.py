"""Servo: what a reference asks of each joint, as one affine actuator per joint with gains that follow its mode.

force = ctrl − kp q − kd q̇,   ctrl = kp q* + kd q̇* + τ*

mode        kp         kd        q*         q̇*         τ*
position    robot's    robot's   position   0          0
velocity    0          robot's   –          velocity   0
effort      0          0         –          –          effort
impedance   stiffness  damping   position   velocity   effort
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wholebody.errors import BadReference, WrongRecord
from wholebody.messages import Integers, Mode, Reference, labels
from wholebody.robots.robot import Array, Gain, Joint, Robot
from wholebody.simulation.world import Addresses

FIELDS = ("position", "velocity", "effort", "stiffness", "damping")
# By mode: what of the reference counts, and what of the robot's own stiffness and damping.
_FOLLOWED = np.array(
    [
        [1, 0, 0, 1],  # position
        [0, 1, 0, 1],  # velocity
        [0, 0, 1, 1],  # effort
        [0, 0, 0, 1],  # stiffness
        [0, 0, 0, 1],  # damping
    ],
    float,
)
_OWN = np.array([[1, 0, 0, 0], [1, 1, 0, 0]], float)


def servo_gain(robot: Robot, joint: Joint) -> Gain:
    """The robot's own gain; without one, full effort at an error of 0.05, and damping a fiftieth of stiffness."""
    if joint.name in robot.gains:
        return robot.gains[joint.name]
    effort = joint.effort if np.isfinite(joint.effort) and joint.effort > 0 else robot.mass * 9.81 * 0.5
    return Gain(effort / 0.05, effort / 0.05 / 50)


class Servo:
    """The references in force, joint by joint in the order of the robot's joints."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._layout = robot.reference_dtype()
        self._accepted: np.dtype[Any] = self._layout
        gains = [servo_gain(robot, joint) for joint in robot.moving]
        self._own = np.array([[gain.stiffness for gain in gains], [gain.damping for gain in gains]])
        self._names = robot.joint_names
        self._n = n = len(gains)
        offsets = [self._layout.fields[field][1] for field in FIELDS] if self._layout.fields else []
        assert offsets == [offsets[0] + 8 * n * i for i in range(5)]  # they are read as one block
        self._offset = int(offsets[0])
        self._modes = bytes(n)
        self._all = np.ones(n, bool).tobytes()
        self._values: Array = np.zeros((5, n))
        self.position, self.velocity = self._values[:2]  # in the references in force
        self.mode = np.zeros(n, np.uint8)
        self._changed = self._other_gains = self.only_positions = True
        self._stiffness, self._damping = self._own.copy()
        self._velocity_gain, self._effort_gain = np.zeros(n), np.zeros(n)

    def hold(self, positions: Array) -> None:
        """Command every joint to hold a position."""
        self._values[:] = 0.0
        self._values[0] = positions
        self._take_modes(np.zeros(self._n, np.uint8))
        self._changed = True

    def take(self, reference: Reference) -> None:
        """Take what the reference says of the joints in its mask, once it is known that all of it makes sense."""
        if reference.dtype is not self._accepted:
            check_layout(reference.dtype, self._layout, "reference", self._robot)
            self._accepted = reference.dtype
        mask, mode = reference.mask, reference.mode
        values = np.frombuffer(reference, np.float64, 5 * self._n, self._offset).reshape(5, self._n)
        if mask.tobytes() != self._all:
            mode = np.where(mask, mode, self.mode)
            values = np.where(mask, values, self._values)
        if not math.isfinite(values.sum()):
            self._refuse(values)
        if mode.tobytes() != self._modes:
            self._take_modes(mode)
        self._values[:] = values
        self._changed = True

    def _take_modes(self, mode: Integers) -> None:
        """What each joint follows from now on."""
        for joint in np.flatnonzero(mode > Mode.IMPEDANCE):
            raise BadReference(
                f"joint '{self._names[joint]}': {mode[joint]} is no mode; give one of messages.Mode. "
                "The joints keep what they had"
            )
        self.mode[:] = mode
        self._modes = mode.tobytes()
        self.only_positions = not mode.any()
        self._other_gains = True

    def apply(self, model: Any, data: Any, at: Addresses) -> None:
        """Set MuJoCo's actuators accordingly; as long as no gain changes, only what they aim at."""
        if not self._changed:
            return
        if self._other_gains:
            self._set_gains(model, at)
        control = self._stiffness * self._values[0]
        if not self.only_positions:
            control += self._velocity_gain * self._values[1] + self._effort_gain * self._values[2]
        data.ctrl[at.motor] = control[at.actuated]
        self._changed = False

    def _set_gains(self, model: Any, at: Addresses) -> None:
        own, followed = self._own * _OWN[:, self.mode], _FOLLOWED[:, self.mode]
        self._stiffness, self._damping = own + followed[3:] * self._values[3:]
        self._velocity_gain, self._effort_gain = followed[1] * self._damping, followed[2]
        model.actuator_biasprm[at.motor, 1] = -self._stiffness[at.actuated]
        model.actuator_biasprm[at.motor, 2] = -self._damping[at.actuated]
        self._other_gains = bool((self.mode == Mode.IMPEDANCE).any())  # theirs may change with every reference

    def forget_model(self) -> None:
        """Set the actuators anew at the next apply(): the model is another one."""
        self._changed = self._other_gains = True

    def _refuse(self, values: Array) -> None:
        """Name the first joint and what is wrong with it."""
        keep = "the joints keep what they had"
        for field, joint in np.argwhere(~np.isfinite(values)):
            raise BadReference(
                f"joint '{self._names[joint]}': {FIELDS[field]} is {values[field, joint]} in the reference, {keep}; "
                "command a finite number, or leave the joint out of the mask"
            )
        raise BadReference(f"the numbers in the reference are too large to be added up, {keep}; give SI units")


def check_layout(dtype: np.dtype[Any], layout: np.dtype[Any], what: str, robot: Robot) -> None:
    """Refuse a record that is another robot's or another kind's; the text says where they differ."""
    ours, theirs = labels(layout), labels(dtype)
    make = f"make it with robot.{what}_dtype()"
    if dtype.names != layout.names:
        raise WrongRecord(f"this record is no {what}: it has the fields {dtype.names}; {make}")
    if ours != theirs:
        pairs = [(one, other) for one, other in zip(ours, theirs, strict=False) if one != other]
        where = (
            f"'{pairs[0][1]}' stands where '{pairs[0][0]}' should"
            if pairs
            else f"{len(theirs)} joints, not {len(ours)}"
        )
        raise WrongRecord(f"this {what} is of another robot than '{robot.name}': {where}; {make}")
    if dtype != layout or dtype.metadata != layout.metadata:
        raise WrongRecord(f"this {what} has other sensors or another layout than that of '{robot.name}'; {make}")
