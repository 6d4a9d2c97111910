"""Sharing: who accelerates what, so that the ground pushes where it shall (Stabilizer, 5.6, derived anew).

The ground under a robot whose centre of mass c is at height h pushes at

    z = c − (h ṗ + L̇*) / (m g),   L̇* = (L̇_y, −L̇_x),

with its linear momentum p and its angular momentum L about c. Three can change them: the legs, which carry all of it
with an acceleration a; the joints of the arms, θ̈; and the trunk, which the legs turn about the centre of mass, φ̈*:

    ṗ / m = a + A θ̈,   L̇* = B θ̈ + I φ̈*.

A and B are columns of the momentum matrix, I is the inertia of what turns with the pelvis while soles and centre of
mass stay. For a wanted pair (ṗ / m, L̇*) the weighted pseudo-inverse has each do what it does easily: that with the
least Σ (u / u_easy)². All is along x and y of the body; a star says that turning forward counts along x.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wholebody.locomotion.balance.support_area import Soles
from wholebody.locomotion.gait import SOLES
from wholebody.locomotion.pendulum import GRAVITY
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.robots.robot import Robot

ARMS = ("left_arm", "right_arm")
STRONG = 0.5
"""Joints of an arm that move less than this share of what its strongest does are left alone."""
STAR: Array = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
"""Angular (x, y, z) to (y, −x)."""


class Sharing:
    """The matrices of a robot, in its posture "stand"; a robot without arms has none to swing.

    joints   of the arms, by number
    linear   A, 2 × joints, m
    angular  B, 2 × joints, kg m²
    inertia  I, 2 × 2, kg m²
    """

    def __init__(self, model: Model) -> None:
        robot = model.robot
        seen = model.at(model.posture("stand"))
        momentum = seen.momentum_matrix
        self.joints: list[int] = []
        for name in ARMS:
            group = list(robot.group(name)) if robot.groups.get(name) else []
            moved = np.linalg.norm(momentum[:2, [6 + joint for joint in group]], axis=0)
            self.joints += [joint for joint, size in zip(group, moved, strict=True) if size > STRONG * moved.max()]
        columns = [6 + joint for joint in self.joints]
        self.linear = momentum[:2, columns] / model.total_mass
        self.angular = STAR @ momentum[3:, columns]
        self.inertia = turning(model)
        outline = np.array(Soles(robot).outlines[0])
        ground = min(float(seen.position(model.surface(sole))[2]) for sole in SOLES)
        half, height = np.ptp(outline, axis=0) / 2, float(seen.com_in_world[2] - ground)
        self._legs = GRAVITY / height * half  # m/s²: with the ground pushing at the edge of a foot
        self._trunk = model.total_mass * GRAVITY * half / np.diag(self.inertia)  # rad/s²: the same
        effort = np.array([robot.moving[joint].effort for joint in self.joints])
        self._arms = effort / np.diag(seen.M)[columns]  # rad/s²: with all they have
        self._easy, self._inverse = -1.0, np.zeros((len(self.joints), 4))

    def arms(self, acceleration: Array, moment: Array, easy: float) -> Array:
        """θ̈ for a wanted ṗ / m and L̇*; `easy` is the share of their effort that arms give easily.

        u = E² Jᵀ (J E² Jᵀ)⁻¹ (ṗ / m, L̇*), of which legs and trunk do what limits of the arms leave.
        """
        if easy != self._easy:
            self._easy, self._inverse = easy, self._arms_of_inverse(easy)
        return np.asarray(self._inverse @ np.concatenate((acceleration, moment)))

    def _arms_of_inverse(self, easy: float) -> Array:
        count = len(self.joints)
        jacobian = np.zeros((4, 4 + count))
        jacobian[:2, :2], jacobian[:2, 4:] = np.eye(2), self.linear
        jacobian[2:, 2:4], jacobian[2:, 4:] = self.inertia, self.angular
        squares = np.concatenate((self._legs, self._trunk, easy * self._arms)) ** 2
        inverse = (squares[:, None] * jacobian.T) @ np.linalg.inv((jacobian * squares) @ jacobian.T)
        return np.asarray(inverse[4:])


def room(robot: Robot, joints: Sequence[int], farthest: float) -> tuple[Array, Array]:
    """How far joints can go back and on from the posture "stand": within their limits, and no farther than so, rad."""
    stand = robot.posture("stand")
    lower = [max(robot.moving[joint].lower - stand[joint], -farthest) for joint in joints]
    upper = [min(robot.moving[joint].upper - stand[joint], farthest) for joint in joints]
    return np.array(lower), np.array(upper)


def turning(model: Model) -> Array:
    """L* when the pelvis turns forward and to the right at 1 rad/s, and soles and centre of mass stay where they are.

    The soles' Jacobians and the centre of mass's say how the legs have to move for that, by least squares.
    """
    seen, robot = model.at(model.posture("stand")), model.robot
    legs = [6 + robot.index[name] for group in ("left_leg", "right_leg") for name in robot.groups[group]]
    free = [0, 1, 2, *legs]
    held = np.vstack([seen.com_jacobian, *(seen.jacobian(model.surface(sole)) for sole in SOLES)])
    inertia = np.zeros((2, 2))
    for number, axis in enumerate((4, 3)):  # about y, and about −x
        v = np.zeros(model.nv)
        v[axis] = 1.0 if number == 0 else -1.0
        v[free] = -np.linalg.lstsq(held[:, free], held @ v, rcond=None)[0]
        inertia[:, number] = STAR @ (seen.momentum_matrix[3:] @ v)
    return inertia
