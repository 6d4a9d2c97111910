"""The kernel that makes a Balance of what the filter says: base, centre of mass, capture point, centre of pressure."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wholebody.estimation.rotations import matrix_of, quaternion_of
from wholebody.estimation.support_cycle import Filter, Legs
from wholebody.estimation.support_kernels import BODY_STATE, FOOT_STATE
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array, Integers, values

GRAVITY = 9.81
LEAST_HEIGHT = 0.02
"""m: a centre of mass that is lower above the ground has fallen, and is no pendulum."""


class Balance(NamedTuple):
    """How the robot stands and moves, by its sensors alone; filled in anew each cycle, so copy what is to be kept.

    The world's origin was between the soles at the start, its x axis where the IMU looked, its z axis up. Yaw and place
    are by odometry and drift slowly. Feet are in the order of `BalanceEstimator.feet`.
    """

    orientation: Array  # of the base: quaternion x y z w
    angular_velocity: Array  # of the base, in its own axes, rad/s
    base_in_world: Array
    base_velocity: Array  # linear, in the axes of the base, m/s
    com_in_world: Array
    com_velocity: Array  # in world
    capture_point: Array  # c + ċ / √(g / height), at the height of the centre of pressure: also called DCM
    cop_in_world: Array  # centre of pressure of all feet (ZMP); the last one, while nothing bears the robot
    contact: npt.NDArray[np.bool_]  # per foot
    probability: Array  # per foot: of contact
    wrench_in_sole: Array  # f × 6: force and torque of the ground at the middle of the sole, in its axes
    cop_in_sole: Array  # f × 2: zero if the foot is in the air
    sole_to_world: Array  # f × 4 × 4
    flexion: Array  # f × 2: roll and pitch of the ankle's spring, rad
    flexion_rate: Array  # f × 2

    @property
    def lean(self) -> Array:
        """Where the upright axis of the base points, x and y in world: the sines of its tilt."""
        x, y, z, w = self.orientation.tolist()
        return np.array([2 * (x * z + w * y), 2 * (y * z - w * x)])

    @property
    def tilt(self) -> float:
        """Of the base against the vertical, rad."""
        x, y, _, _ = self.orientation.tolist()
        return 2.0 * math.asin(min(1.0, math.hypot(x, y)))

    @property
    def turning(self) -> Array:
        """The angular velocity of the base in world, rad/s."""
        R = np.empty((3, 3))
        matrix_of(self.orientation, R)
        return np.asarray(R @ self.angular_velocity)


class Odometry(NamedTuple):
    """Where the IMU is, and where the ankles are that stand."""

    place: Array  # 3, in world
    anchors: Array  # f × 3: ankles in world
    stands: Array  # f: whether the foot had an anchor in the last cycle
    frames: Integers  # of the model: base, IMU
    sole_from_ankle: Array  # f × 3
    lean: Array  # f × 2: horizontal over vertical force of a pendulum with this centre of mass, in the axes of a sole


@compiled
def show(
    integers: Integers, storage: Array, filter: Filter, legs: Legs, gyro: Array, probability: Array, least: float,
    odometry: Odometry, dt: float, balance: Balance, R: Array,
) -> None:  # fmt: skip
    """Fill in a balance, whose wrenches are there already; `least` N bear, R is 6 × 3 scratch."""
    move(filter, legs, balance.wrench_in_sole, odometry, dt, R[:3])
    for foot in range(len(legs.contact)):
        balance.contact[foot] = legs.contact[foot] != 0.0
        balance.probability[foot] = probability[foot]
        at = BODY_STATE + FOOT_STATE * foot
        for axis in range(2):
            balance.flexion[foot, axis], balance.flexion_rate[foot, axis] = filter.x[at + axis], filter.x[at + 2 + axis]
    place_soles(filter, legs, odometry, balance.sole_to_world, R[:3])
    press(balance, least)
    sway(integers, storage, filter, gyro, odometry, balance, R)


@compiled
def move(filter: Filter, legs: Legs, wrench: Array, odometry: Odometry, dt: float, R: Array) -> None:
    """Move the IMU's place with its velocity, or to where ankles that stand firmly say it is, by the load they bear.

    place = Σ load (anchor − R p) / Σ load; a foot whose sole has come to lie flat gets its anchor where it is by then.
    """
    x, place = filter.x, odometry.place
    matrix_of(x[:4], R)
    for i in range(3):
        place[i] += dt * (R[i, 0] * x[7] + R[i, 1] * x[8] + R[i, 2] * x[9])
    loads = 0.0
    mx, my, mz = 0.0, 0.0, 0.0
    for foot in range(len(legs.contact)):
        if legs.firm[foot] == 0.0 or odometry.stands[foot] == 0.0:
            continue
        load, p, anchor = max(1.0, wrench[foot, 2]), legs.p[foot], odometry.anchors[foot]
        loads += load
        mx += load * (anchor[0] - (R[0, 0] * p[0] + R[0, 1] * p[1] + R[0, 2] * p[2]))
        my += load * (anchor[1] - (R[1, 0] * p[0] + R[1, 1] * p[1] + R[1, 2] * p[2]))
        mz += load * (anchor[2] - (R[2, 0] * p[0] + R[2, 1] * p[1] + R[2, 2] * p[2]))
    if loads > 0.0:
        place[0], place[1], place[2] = mx / loads, my / loads, mz / loads
    for foot in range(len(legs.contact)):
        if legs.firm[foot] != 0.0 and odometry.stands[foot] == 0.0:
            anchor_foot(odometry, legs.p[foot], foot, R)
        odometry.stands[foot] = legs.firm[foot]


@compiled
def anchor_foot(odometry: Odometry, p: Array, foot: int, R: Array) -> None:
    """The ankle is where it is now."""
    for i in range(3):
        odometry.anchors[foot, i] = odometry.place[i] + R[i, 0] * p[0] + R[i, 1] * p[1] + R[i, 2] * p[2]


@compiled
def place_soles(filter: Filter, legs: Legs, odometry: Odometry, soles: Array, R: Array) -> None:
    """Where the soles are, bent ankles included: R E X(q) turns a sole into the world."""
    x = filter.x
    matrix_of(x[:4], R)
    for foot in range(len(soles)):
        at, p, E = BODY_STATE + FOOT_STATE * foot, legs.p[foot], legs.E[foot]
        far, sole = odometry.sole_from_ankle[foot], soles[foot]
        cr, sr, cp, sp = math.cos(x[at]), math.sin(x[at]), math.cos(x[at + 1]), math.sin(x[at + 1])
        for i in range(3):
            a = R[i, 0] * E[0, 0] + R[i, 1] * E[1, 0] + R[i, 2] * E[2, 0]
            b = R[i, 0] * E[0, 1] + R[i, 1] * E[1, 1] + R[i, 2] * E[2, 1]
            c = R[i, 0] * E[0, 2] + R[i, 1] * E[1, 2] + R[i, 2] * E[2, 2]
            b, c = b * cr + c * sr, c * cr - b * sr
            sole[i, 0], sole[i, 1], sole[i, 2] = a * cp - c * sp, b, a * sp + c * cp
            ankle = odometry.place[i] + R[i, 0] * p[0] + R[i, 1] * p[1] + R[i, 2] * p[2]
            sole[i, 3] = ankle + sole[i, 0] * far[0] + sole[i, 1] * far[1] + sole[i, 2] * far[2]
        sole[3, 3] = 1.0


@compiled
def press(balance: Balance, least: float) -> None:
    """Centres of pressure: (−m_y, m_x) / f_z in each sole, and of all, by their forces, in world; `least` N bear."""
    total, x, y, z = 0.0, 0.0, 0.0, 0.0
    for foot in range(len(balance.contact)):
        wrench, cop, sole = balance.wrench_in_sole[foot], balance.cop_in_sole[foot], balance.sole_to_world[foot]
        cop[0], cop[1] = 0.0, 0.0
        if not balance.contact[foot] or wrench[2] < least:
            continue
        cop[0], cop[1] = -wrench[4] / wrench[2], wrench[3] / wrench[2]
        total += wrench[2]
        x += wrench[2] * (sole[0, 3] + sole[0, 0] * cop[0] + sole[0, 1] * cop[1])
        y += wrench[2] * (sole[1, 3] + sole[1, 0] * cop[0] + sole[1, 1] * cop[1])
        z += wrench[2] * (sole[2, 3] + sole[2, 0] * cop[0] + sole[2, 1] * cop[1])
    if total > 0.0:
        balance.cop_in_world[0], balance.cop_in_world[1], balance.cop_in_world[2] = x / total, y / total, z / total


@compiled
def sway(
    integers: Integers, storage: Array, filter: Filter, gyro: Array, odometry: Odometry, balance: Balance, R: Array
) -> None:
    """Base, centre of mass and capture point, from the IMU's attitude, velocity and place; R is 6 × 3 scratch."""
    now, x = values(integers, storage), filter.x
    imu = now.placement[odometry.frames[1]]
    relative = now.velocity[odometry.frames[1]]
    R_imu, R_base = R[:3], R[3:]
    matrix_of(x[:4], R_imu)
    w, v = balance.angular_velocity, balance.base_velocity
    for i in range(3):
        for k in range(3):
            R_base[i, k] = R_imu[i, 0] * imu[k, 0] + R_imu[i, 1] * imu[k, 1] + R_imu[i, 2] * imu[k, 2]
        w[i] = (
            imu[i, 0] * (gyro[0] - x[4]) + imu[i, 1] * (gyro[1] - x[5]) + imu[i, 2] * (gyro[2] - x[6]) - relative[3 + i]
        )
        v[i] = imu[i, 0] * x[7] + imu[i, 1] * x[8] + imu[i, 2] * x[9] - relative[i]
    px, py, pz = imu[0, 3], imu[1, 3], imu[2, 3]
    v[0] -= w[1] * pz - w[2] * py
    v[1] -= w[2] * px - w[0] * pz
    v[2] -= w[0] * py - w[1] * px
    cx, cy, cz = now.com[0], now.com[1], now.com[2]
    ux = v[0] + now.com_velocity[0] + w[1] * cz - w[2] * cy
    uy = v[1] + now.com_velocity[1] + w[2] * cx - w[0] * cz
    uz = v[2] + now.com_velocity[2] + w[0] * cy - w[1] * cx
    for i in range(3):
        a, b, c = R_base[i, 0], R_base[i, 1], R_base[i, 2]
        balance.base_in_world[i] = odometry.place[i] - (a * px + b * py + c * pz)
        balance.com_in_world[i] = balance.base_in_world[i] + a * cx + b * cy + c * cz
        balance.com_velocity[i] = a * ux + b * uy + c * uz
    quaternion_of(R_base, balance.orientation)
    height = max(LEAST_HEIGHT, balance.com_in_world[2] - balance.cop_in_world[2])
    fall = math.sqrt(height / GRAVITY)
    balance.capture_point[0] = balance.com_in_world[0] + fall * balance.com_velocity[0]
    balance.capture_point[1] = balance.com_in_world[1] + fall * balance.com_velocity[1]
    balance.capture_point[2] = balance.cop_in_world[2]
    dx = (balance.com_in_world[0] - balance.cop_in_world[0]) / height
    dy = (balance.com_in_world[1] - balance.cop_in_world[1]) / height
    for foot in range(len(odometry.lean)):
        sole = balance.sole_to_world[foot]
        odometry.lean[foot, 0] = sole[0, 0] * dx + sole[1, 0] * dy
        odometry.lean[foot, 1] = sole[0, 1] * dx + sole[1, 1] * dy
