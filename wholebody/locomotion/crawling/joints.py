"""CrawlJoints: configurations of a robot whose limbs and centre of mass are where a crawl wants them, cycle by cycle.

From one cycle to the next targets move by millimetres, so that one step of the weighted, regularised least squares
(Crawl, Eq. 4.10) is enough:

    v = argmin Σ wᵢ ‖Jᵢ v − eᵢ‖² + Σ ρⱼ (vⱼ − (home − q)ⱼ)²,    q ← q ⊕ v

Goals are the four limbs, the centre of mass in two rows (Eq. 4.12–4.14), how the trunk is turned, palms that lie flat,
and feet that stay off the ground behind their knees. What is soft only shapes what the limbs leave free: weights
are a thousand times apart. Nothing is switched when a limb lifts, so that joints move smoothly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from wholebody import _kernels
from wholebody.kinematics.inverse_rates import rotation_gap
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.motion.capture.limbs import ImitatingLimb, moving_joints

LIMB, COM = 30000.0, 30000.0
"""Weights per m²."""
FOOT, CARRIED, BEHIND = 30.0, 300.0, 10.0
"""Weights per m²: of the heights of feet, the same on rough ground, where hips roll and a foot that meets the ground
before its knee pushes the robot on, and of feet that are not straight behind their knees."""
TRUNK, ROLL, PALM = 1.0, 0.3, 0.05
"""Weights per rad²: of the trunk's yaw and pitch, of its roll, and of palms that are not flat."""
BASE, HOME, STILL = 1e-3, 0.1, 1e6
"""Weights per rad² of the base, of joints that move towards home, and of those that do not move at all."""
STEADY, SLOW = 10.0, 5.0
"""Weights per rad² of a step that is another than the last one, and of any: what goals leave free moves smoothly."""
OFF_GROUND = 0.03
"""m by which feet are higher than in the robot's own posture, so that knees bear."""
FIRM_KNEES = 0.006
"""m by which knees are put lower than the ground, so that they bear as soon as they come down: servos give way."""
NEARING = 0.05
"""The share of what is left to a limit that a joint may go in a cycle: it slows down before it, and does not hit it."""
FOLDED, MOST_FOLDED = 2.0, 0.05
"""How much more than its knee a foot is lifted, and at most, m: the shin folds, and the knee comes off the ground."""
BENT, LEVEL = 0.33, 10.0
"""On rough ground: rad that a joint of the torso may be away from home, and weight per rad² of the trunk's pitch."""
NOT_HIGHER = np.zeros(4)
"""Ground behind limbs that is as high as they are."""


class CrawlJoints:
    """Solves one cycle after the other; feet are as high as in a stance on the ground, joints stay near home."""

    def __init__(
        self, model: Model, limbs: tuple[ImitatingLimb, ...], stance: Array, home: Array, pitch: float
    ) -> None:
        self.model, self.limbs, self.home = model, limbs, home
        at = model.at(stance)
        self.frames = [model.frame(limb.frame) for limb in limbs]
        self._root = model.frame(model.robot.root)
        self._clearances = [limb.clearance - (FIRM_KNEES if limb.behind else 0.0) for limb in limbs]
        self._outlines = [np.array(limb.outline) for limb in limbs]
        self._feet = [
            (index, model.frame(limb.behind), float(at.position(model.frame(limb.behind))[2]) + OFF_GROUND)
            for index, limb in enumerate(limbs)
            if limb.behind
        ]
        self._palms = [index for index, limb in enumerate(limbs) if not limb.behind]
        c, s = math.cos(pitch), math.sin(pitch)
        self._turned = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
        self._wanted, self._trunk, self._foot = np.zeros(12), np.sqrt([ROLL, TRUNK, TRUNK]), math.sqrt(FOOT)
        self._from_com: Array | None = None
        self._lowest = -math.inf  # m, of how far knees are over the ground, as their feet follow them
        moving = set(moving_joints(model.robot, limbs)) | {name for limb in limbs for name in limb.joints}
        weights = [BASE] * 6 + [HOME + STEADY + SLOW if name in moving else STILL for name in model.joint_names]
        self._mobility, self._wish = 1 / np.array(weights), np.zeros(model.nv)
        self._lower, self._upper = (
            np.array([getattr(joint, end) for joint in model.robot.moving]) for end in ("lower", "upper")
        )
        rows = 3 * len(limbs) + 2 + 2 * len(self._feet) + 3 + 2 * len(self._palms)
        self._J, self._e = np.zeros((rows, model.nv)), np.zeros(rows)
        self._low, self._high = np.full(model.nv, -np.inf), np.full(model.nv, np.inf)
        self._A, self._y, self.step = np.zeros((rows, rows)), np.zeros(rows), np.zeros(model.nv)
        self._stopped = np.zeros(model.nv, np.int64)

    def solve(
        self, q: Array, places: Array, ground: Array, com: Array, yaw: float, behind: Array = NOT_HIGHER
    ) -> Array:
        """The configuration after q, with limbs at places over ground of some height, com x y, and the trunk turned.

        behind is how much higher than a limb the ground behind it is, below its shin.
        """
        J, e = self._rows(self.model.at(q), places, ground, behind, com, yaw)
        self._wish[6:] = (HOME * (self.home - q[7:]) + STEADY * self.step[6:]) / (HOME + STEADY + SLOW)
        self._low[6:], self._high[6:] = NEARING * (self._lower - q[7:]), NEARING * (self._upper - q[7:])
        columns = np.ascontiguousarray(J.T)
        _kernels.kinematics_boxed_step(
            columns, e, self._mobility, self._wish, 1.0, self._low, self._high, self._stopped, self._A, self._y,
            self.step,
        )  # fmt: skip
        return self.model.integrate(q, self.step, 1.0)

    def without_com(self, q: Array) -> None:
        """From now on the trunk goes where the centre of mass would, as far from it as it is at q: a control arm."""
        at = self.model.at(q)
        self._from_com = at.position(self._root)[:2] - at.com_in_world[:2]

    @property
    def modulates(self) -> bool:
        """Whether there are rows of the centre of mass."""
        return self._from_com is None

    def bend_less(self) -> None:
        """Keep torso, trunk and feet nearer to how they are on level ground, though limbs are at different heights.

        A torso that bends hits the pelvis. A trunk that pitches to put a hand down lower bends the other arm, whose
        elbow bears more the more it is bent. Feet stay as high as they are carried, also when a knee is pressed down to
        find its ground: else they find it first.
        """
        robot = self.model.robot
        self._trunk[1], self._foot, self._lowest = math.sqrt(LEVEL), math.sqrt(CARRIED), 0.0
        for name in robot.groups.get("torso", ()):
            joint = robot.joint_names.index(name)
            self._lower[joint] = max(self._lower[joint], self.home[joint] - BENT)
            self._upper[joint] = min(self._upper[joint], self.home[joint] + BENT)

    def gaps(self, q: Array, places: Array) -> Array:
        """How far limbs are from their places, m."""
        at = self.model.at(q)
        there = np.array([at.position(frame) for frame in self.frames])
        return np.asarray(np.linalg.norm(self.frames_on(at, places) - there, axis=1))

    def frames_on(self, at: Snapshot, places: Array) -> Array:
        """Where the frames of limbs are that stand on places: a surface that is tilted stands on its lowest corner."""
        result = places.copy()
        for index, (frame, outline) in enumerate(zip(self.frames, self._outlines, strict=True)):
            result[index, 2] += self._clearances[index] - (outline @ at.rotation(frame)[2, :2]).min()
        return np.asarray(result)

    def _rows(
        self, at: Snapshot, places: Array, ground: Array, behind: Array, com: Array, yaw: float
    ) -> tuple[Array, Array]:
        """All rows, times the roots of their weights."""
        J, e, row = self._J, self._e, 0
        targets = self.frames_on(at, places)
        for index, frame in enumerate(self.frames):
            J[row : row + 3] = math.sqrt(LIMB) * at.jacobian(frame)[:3]
            e[row : row + 3] = math.sqrt(LIMB) * (targets[index] - at.position(frame))
            row += 3
        if self._from_com is None:
            J[row : row + 2] = math.sqrt(COM) * at.com_jacobian[:2]
            e[row : row + 2] = math.sqrt(COM) * (com - at.com_in_world[:2])
        else:
            J[row : row + 2] = math.sqrt(COM) * at.jacobian(self._root)[:2]
            e[row : row + 2] = math.sqrt(COM) * (com + self._from_com - at.position(self._root)[:2])
        row += 2
        c, s = math.cos(yaw), math.sin(yaw)
        left = np.array([-s, c])
        for index, foot, height in self._feet:
            lift = max(self._lowest, float(places[index, 2] - ground[index]))
            J[row] = self._foot * at.jacobian(foot)[2]
            e[row] = self._foot * (
                height + (ground[index] + behind[index]) + lift + min(FOLDED * lift, MOST_FOLDED) - at.position(foot)[2]
            )
            row += 1
            knee = self.frames[index]
            J[row] = math.sqrt(BEHIND) * (left @ (at.jacobian(foot)[:2] - at.jacobian(knee)[:2]))
            e[row] = -math.sqrt(BEHIND) * (left @ (at.position(foot)[:2] - at.position(knee)[:2]))
            row += 1
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        self._wanted[:9] = (turn @ self._turned).ravel()
        weights = self._trunk[:, None] * turn.T  # along the axes of the body
        gap = rotation_gap(self._wanted[:9], at.placement(self._root))
        J[row : row + 3], e[row : row + 3] = weights @ at.jacobian(self._root)[3:], weights @ gap
        row += 3
        for index in self._palms:
            normal = at.rotation(self.frames[index])[:, 2]
            J[row : row + 2] = math.sqrt(PALM) * at.jacobian(self.frames[index])[3:5]
            e[row : row + 2] = math.sqrt(PALM) * normal[1], -math.sqrt(PALM) * normal[0]
            row += 2
        return J, e


LEAST_LOAD = 1e-4
FRESH = 0.3
"""The share of a new acceleration in the one that counts: differences of positions are rough."""


class CrawlEfforts:
    """Cycle by cycle, from configurations that follow each other.

    forces      limbs × 3, N, in world: what the ground does to each
    inertial    M a + h − g, generalised forces
    """

    def __init__(self, model: Model, frames: Sequence[int], period: float) -> None:
        self.model, self.period = model, period
        self._frames = tuple(frames)
        gains = [model.robot.gains.get(name) for name in model.robot.joint_names]
        self._give = np.array([1 / gain.stiffness if gain and gain.stiffness > 0 else 0.0 for gain in gains])
        self._damping = np.array([gain.damping if gain else 0.0 for gain in gains])
        self._J = np.zeros((3 * len(self._frames), model.nv))
        self.reset()

    def reset(self) -> None:
        """At rest."""
        self._v, self._a = np.zeros(self.model.nv), np.zeros(self.model.nv)
        self.forces, self.inertial = np.zeros((len(self._frames), 3)), np.zeros(self.model.nv)

    def lead(self, q: Array, step: Array, load: Array) -> Array:
        """How far joints are to be told ahead of q, to which the last step has led; one load for each limb."""
        v = step / self.period
        self._a += FRESH * ((v - self._v) / self.period - self._a)
        self._v = v
        at = self.model.at(q, v)
        need = at.M @ self._a + at.h
        self.inertial = need - at.g
        J = self._J
        for index, frame in enumerate(self._frames):
            J[3 * index : 3 * index + 3] = at.jacobian(frame)[:3]
        G = J[:, :6].T
        weighted = G * np.maximum(np.repeat(load, 3), LEAST_LOAD)
        f = weighted.T @ np.linalg.solve(weighted @ G.T, need[:6])
        self.forces = f.reshape(-1, 3)
        efforts = (need - J.T @ f)[6:]
        return np.asarray((efforts + self._damping * v[6:]) * self._give)
