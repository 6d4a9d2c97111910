"""Estimates: what balance needs to know, and the simplest way to know it: the foot that bears stays where it is.

Another estimator (a filter of gyro, accelerometer and kinematics) takes the place of this one if its `update` returns
the same record.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from wholebody.errors import BadGait, SensorLost
from wholebody.hardware import Record
from wholebody.locomotion import estimate_kernels as at
from wholebody.locomotion.gait import SOLES
from wholebody.locomotion.pattern import Target
from wholebody.locomotion.pendulum import GRAVITY
from wholebody.messages import MeasuredMotion, labels
from wholebody.model.layout import Array
from wholebody.model.model import Model

TOUCHING = 0.05
"""A foot with more than this share of the weight on it touches the ground."""
WANTED = int(MeasuredMotion.ROLL_AND_PITCH | MeasuredMotion.ANGULAR_VELOCITY_X | MeasuredMotion.ANGULAR_VELOCITY_Y)


@dataclass(frozen=True, slots=True)
class FootForce:
    """What the ground does to a foot: the vertical force, and where in the sole it acts."""

    vertical: float  # N
    center: Array  # centre of pressure in the axes of the sole, m; zero without contact
    touches: bool


@dataclass(frozen=True, slots=True)
class Estimates:
    """What the sensors say of the robot's balance, in world: the one in which the footsteps are."""

    time: float
    rotation: Array  # of the pelvis, 3 × 3
    angular_velocity: Array  # of the pelvis
    com: Array
    com_velocity: Array
    left: FootForce
    right: FootForce
    zmp: Array  # where the ground pushes, x and y; below the centre of mass if no foot touches
    left_share: float  # of the vertical force

    @property
    def in_air(self) -> bool:
        """Whether no foot touches."""
        return not (self.left.touches or self.right.touches)

    def dcm(self, omega: float) -> Array:
        """ξ = c + ċ / ω, x and y: where the robot would have to step to come to rest."""
        return self.com[:2] + self.com_velocity[:2] / omega

    @property
    def tilt(self) -> float:
        """Of the pelvis against the vertical, rad."""
        return math.acos(min(1.0, max(-1.0, float(self.rotation[2, 2]))))


class Estimator(Protocol):
    """Whatever turns states into estimates; the target tells where the feet are thought to stand."""

    def update(self, state: Record, target: Target) -> Estimates:
        """The estimates of one state; SensorLost if a sensor says nothing, or nonsense."""
        ...


class FootAnchored:
    """Attitude as the IMU tells it, heading and position by the feet, as much as each bears, through the joints.

    It needs an IMU that measures roll, pitch and angular velocity, and a force-torque sensor in each foot.
    """

    def __init__(self, model: Model) -> None:
        robot = model.robot
        imus, forces = labels(robot.state_dtype(), "imus"), labels(robot.state_dtype(), "force_torques")
        in_foot = {each.link: each.name for each in robot.sensors_of("force_torque")}
        feet = [robot.surface(sole).link for sole in SOLES]
        if not imus:
            raise BadGait(f"'{robot.name}' has no IMU: nothing would tell whether it falls")
        if any(link not in in_foot for link in feet):
            raise BadGait(f"'{robot.name}' has no force-torque sensor in both feet: nothing would tell what bears it")
        sensors = [in_foot[link] for link in feet]
        self.model = model
        self._numbers = [forces.index(name) for name in sensors]
        self._frames = np.array(
            [model.sensor(imus[0]), *(model.surface(sole) for sole in SOLES), *(model.sensor(name) for name in sensors)]
        )
        self._q, self._v = model.neutral(), np.zeros(model.nv)
        self._q[:7] = (0, 0, 0, 0, 0, 0, 1)
        self._least = TOUCHING * model.total_mass * GRAVITY
        self._forces, self._torques, self._feet = np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 4))
        self._answer = np.zeros(at.SIZE)
        self._answer[at.SHARE] = 0.5

    def update(self, state: Record, target: Target) -> Estimates:
        """One state."""
        self._take(state, target)
        snapshot = self.model.at(self._q, self._v)  # seen from the pelvis
        imu = state["imu"][0]
        numbers = self._answer
        at.anchored(
            self.model.integers,
            snapshot.storage,
            self._frames,
            imu["orientation"],
            imu["angular_velocity"],
            self._forces,
            self._torques,
            self._feet,
            self._least,
            numbers,
        )
        seen = numbers.copy()
        return Estimates(
            float(state["time"]),
            seen[at.ROTATION : at.TURNING].reshape(3, 3),
            seen[at.TURNING : at.COM],
            seen[at.COM : at.COM_VELOCITY],
            seen[at.COM_VELOCITY : at.FEET],
            self._foot(seen[at.FEET : at.FEET + 3]),
            self._foot(seen[at.FEET + 3 : at.ZMP]),
            seen[at.ZMP : at.SHARE],
            float(seen[at.SHARE]),
        )

    def _foot(self, numbers: Array) -> FootForce:
        vertical = float(numbers[0])
        return FootForce(vertical, numbers[1:], vertical > self._least)

    def _take(self, state: Record, target: Target) -> None:
        """Copy what is needed, and refuse what is no number."""
        imu, forces = state["imu"][0], state["force_torque"]
        if int(imu["measured"]) & WANTED != WANTED:
            raise SensorLost("the IMU does not measure roll, pitch and angular velocity any more")
        if not math.isfinite(imu["orientation"].sum() + imu["angular_velocity"].sum()):
            raise SensorLost(f"the IMU reads {imu['orientation']}, {imu['angular_velocity']}")
        self._q[7:], self._v[6:] = state["position"], state["velocity"]
        if not math.isfinite(self._q.sum() + self._v.sum()):
            raise SensorLost("an encoder reads what is no number")
        for side, number in enumerate(self._numbers):
            self._forces[side], self._torques[side] = forces["force"][number], forces["torque"][number]
        if not math.isfinite(self._forces.sum() + self._torques.sum()):
            raise SensorLost(f"a force-torque sensor of the feet reads {self._forces.tolist()}")
        for row, foot in zip(self._feet, (target.left, target.right), strict=True):
            row[:] = foot.place.x, foot.place.y, foot.height, foot.place.yaw
