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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from wholebody import _kernels
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.motion.capture.limbs import ImitatingLimb, moving_joints
from wholebody.parameters import Unit
from wholebody.tasks import CartesianPositionTask, CenterOfMassTask, Orientation3DTask, Task, kinds
from wholebody.tasks.vectors import Vector2

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


@dataclass(eq=False, repr=False)
class FootBehindKneeTask(Task):
    """Keep a foot straight behind its knee: e = a · (p_knee − p_foot).

    aside  a: x and y in world, to the left of the body
    """

    foot: int
    knee: int
    aside: Annotated[Vector2, Unit("1")] = 0.0
    row_count = 1
    goals: ClassVar[dict[str, Any]] = {}

    def error(self, snapshot: Snapshot) -> Array:
        """How far to the right of its place the foot is."""
        return np.array([self.aside @ (snapshot.position(self.knee) - snapshot.position(self.foot))[:2]])

    def jacobian(self, snapshot: Snapshot) -> Array:
        """a · (J_foot − J_knee)."""
        row: Array = self.aside @ (snapshot.jacobian(self.foot)[:2] - snapshot.jacobian(self.knee)[:2])
        return row[None]


@dataclass(eq=False, repr=False)
class PalmFlatTask(Task):
    """Let a palm lie flat: e = n × z of its normal n, about x and y of the world."""

    palm: int
    row_count = 2
    goals: ClassVar[dict[str, Any]] = {}

    def error(self, snapshot: Snapshot) -> Array:
        """(n_y, −n_x)."""
        normal = snapshot.rotation(self.palm)[:, 2]
        return np.array([normal[1], -normal[0]])

    def jacobian(self, snapshot: Snapshot) -> Array:
        """Of its rotation about x and y."""
        return snapshot.jacobian(self.palm)[3:5]


class WeightedTasks:
    """Tasks with weights as one least-squares problem: columns √w Jᵀ and errors √w e."""

    def __init__(self, model: Model, weights: Mapping[Task, float]) -> None:
        self.model, self._parts, count = model, list[_Part](), 0
        at = model.at(model.neutral())
        for task in weights:
            own = task.describe(model).kind == kinds.CUSTOM
            rows = slice(count, count + len(task.error(at)))
            most, count = task.count_rows(), rows.stop
            self._parts.append(_Part(task, own, rows, np.zeros((model.nv, most)), np.zeros((5, most))))
        self.columns, self.errors, self._scales = np.zeros((model.nv, count)), np.zeros(count), np.zeros(count)
        for task, weight in weights.items():
            self.weigh(task, weight)

    def rows_of(self, task: Task) -> slice:
        """Which rows are those of a task."""
        return next(part.rows for part in self._parts if part.task is task)

    def weigh(self, task: Task, weight: float) -> None:
        """Give a task another weight."""
        self._scales[self.rows_of(task)] = math.sqrt(weight)

    def evaluate(self, at: Snapshot) -> None:
        """Fill in columns and errors."""
        columns, errors = self.columns, self.errors
        for task, own, rows, jacobian, values in self._parts:
            if own:
                columns[:, rows], errors[rows] = task.jacobian(at).T, task.error(at)
            else:
                _kernels.tasks_rows(task.handle(self.model), self.model.tree, at.handle, jacobian, values)
                count = rows.stop - rows.start
                columns[:, rows], errors[rows] = jacobian[:, :count], values[0, :count]
        columns *= self._scales
        errors *= self._scales


class _Part(NamedTuple):
    """Where the rows of a task go."""

    task: Task
    own: bool  # evaluated in Python
    rows: slice
    jacobian: Array  # nv × the most rows that it can have
    values: Array


class CrawlJoints:
    """Solves one cycle after the other; feet are as high as in a stance on the ground, joints stay near home.

    `tasks` are those that inverse kinematics takes too: places of the limbs, the centre of mass, how the trunk is
    turned, palms, and heights and places of the feet that are carried behind knees.
    """

    def __init__(
        self, model: Model, limbs: tuple[ImitatingLimb, ...], stance: Array, home: Array, pitch: float
    ) -> None:
        self.model, self.limbs, self.home, self._pitch = model, limbs, home, pitch
        at = model.at(stance)
        self.frames = [model.frame(limb.frame) for limb in limbs]
        self._clearances = [limb.clearance - (FIRM_KNEES if limb.behind else 0.0) for limb in limbs]
        self._outlines = [np.array(limb.outline) for limb in limbs]
        self._feet = [
            (index, model.frame(limb.behind), float(at.position(model.frame(limb.behind))[2]) + OFF_GROUND)
            for index, limb in enumerate(limbs)
            if limb.behind
        ]
        self._limbs = [CartesianPositionTask(limb.part, limb.frame, 0.0) for limb in limbs]
        self._com: CenterOfMassTask | CartesianPositionTask = CenterOfMassTask("com", 0.0, axes="xy")
        self._from_com: Array | None = None
        self._heights = [
            CartesianPositionTask(f"{limb.part}_foot", limb.behind, 0.0, axes="z") for limb in limbs if limb.behind
        ]
        self._behind = [FootBehindKneeTask(f"{f}_behind", f, self.frames[index]) for index, f, _ in self._feet]
        self._trunk = Orientation3DTask("trunk", model.robot.root, (0.0, 0.0, 0.0, 1.0))
        self._trunk_scales = np.sqrt([ROLL, TRUNK, TRUNK])  # along the axes of the body
        self._lowest = -math.inf  # m, of how far knees are over the ground, as their feet follow them
        moving = set(moving_joints(model.robot, limbs)) | {name for limb in limbs for name in limb.joints}
        weights = [BASE] * 6 + [HOME + STEADY + SLOW if name in moving else STILL for name in model.joint_names]
        self._mobility, self._preferred = 1 / np.array(weights), np.zeros(model.nv)
        self._lower, self._upper = (
            np.array([getattr(joint, end) for joint in model.robot.moving]) for end in ("lower", "upper")
        )
        self._low, self._high = np.full(model.nv, -np.inf), np.full(model.nv, np.inf)
        self._stopped, self.step = np.zeros(model.nv, np.int64), np.zeros(model.nv)
        self._weigh()

    def _weigh(self) -> None:
        """Lay out the rows of all tasks."""
        weights: dict[Task, float] = dict.fromkeys(self._limbs, LIMB) | {self._com: COM}
        for height, behind in zip(self._heights, self._behind, strict=True):
            weights |= {height: FOOT, behind: BEHIND}
        palms = [frame for frame, limb in zip(self.frames, self.limbs, strict=True) if not limb.behind]
        weights |= {self._trunk: 1.0} | {PalmFlatTask(f"palm {frame}", frame): PALM for frame in palms}
        self.tasks, self._rows = tuple(weights), WeightedTasks(self.model, weights)
        count = len(self._rows.errors)
        self._A, self._y, self._trunk_rows = np.zeros((count, count)), np.zeros(count), self._rows.rows_of(self._trunk)

    def solve(
        self, q: Array, places: Array, ground: Array, com: Array, yaw: float, behind: Array = NOT_HIGHER
    ) -> Array:
        """The configuration after q, with limbs at places over ground of some height, com x y, and the trunk turned.

        behind is how much higher than a limb the ground behind it is, below its shin.
        """
        at, rows = self.model.at(q), self._rows
        self._aim(at, places, ground, behind, com, yaw)
        rows.evaluate(at)
        c, s, trunk = math.cos(yaw), math.sin(yaw), self._trunk_rows
        along = self._trunk_scales[:, None] * np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        rows.columns[:, trunk], rows.errors[trunk] = rows.columns[:, trunk] @ along.T, along @ rows.errors[trunk]
        self._preferred[6:] = (HOME * (self.home - q[7:]) + STEADY * self.step[6:]) / (HOME + STEADY + SLOW)
        self._low[6:], self._high[6:] = NEARING * (self._lower - q[7:]), NEARING * (self._upper - q[7:])
        _kernels.kinematics_boxed_step(
            rows.columns, rows.errors, self._mobility, self._preferred, 1.0, self._low, self._high, self._stopped,
            self._A, self._y, self.step,
        )  # fmt: skip
        return self.model.integrate(q, self.step, 1.0)

    def _aim(self, at: Snapshot, places: Array, ground: Array, behind: Array, com: Array, yaw: float) -> None:
        """Set the goals of all tasks."""
        for task, place in zip(self._limbs, self.frames_on(at, places), strict=True):
            task.goal[:] = place
        self._com.goal[:2] = com if self._from_com is None else com + self._from_com
        aside = (-math.sin(yaw), math.cos(yaw))
        for (index, _, height), foot, straight in zip(self._feet, self._heights, self._behind, strict=True):
            lift = max(self._lowest, float(places[index, 2] - ground[index]))
            foot.goal[2] = height + (ground[index] + behind[index]) + lift + min(FOLDED * lift, MOST_FOLDED)
            straight.aside[:] = aside
        (sz, cz), (sy, cy) = ((math.sin(half), math.cos(half)) for half in (yaw / 2, self._pitch / 2))
        self._trunk.goal[:] = -sz * sy, cz * sy, sz * cy, cz * cy  # pitched, then turned

    def without_com(self, q: Array) -> None:
        """From now on the trunk goes where the centre of mass would, as far from it as it is at q: a control arm."""
        at, root = self.model.at(q), self.model.robot.root
        self._com = CartesianPositionTask("trunk_place", root, 0.0, axes="xy")
        self._from_com = at.position(self.model.frame(root))[:2] - at.com_in_world[:2]
        self._weigh()

    @property
    def modulates(self) -> bool:
        """Whether a task holds the centre of mass."""
        return self._from_com is None

    def bend_less(self) -> None:
        """Keep torso, trunk and feet nearer to how they are on level ground, though limbs are at different heights.

        A torso that bends hits the pelvis. A trunk that pitches to put a hand down lower bends the other arm, whose
        elbow bears more the more it is bent. Feet stay as high as they are carried, also when a knee is pressed down to
        find its ground: else they find it first.
        """
        robot = self.model.robot
        self._trunk_scales[1], self._lowest = math.sqrt(LEVEL), 0.0
        for height in self._heights:
            self._rows.weigh(height, CARRIED)
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
