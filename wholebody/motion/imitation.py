"""Imitation: the motion of a robot that imitates a person's, as key frames or a table of joints, and its quality."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.ndimage import gaussian_filter1d

from wholebody.model.model import Model
from wholebody.motion.captured_gait import Flags
from wholebody.motion.gait_plan import GaitPlan
from wholebody.motion.imitating_limbs import ImitatingLimb
from wholebody.motion.keyframes import KeyFrame, KeyFrames
from wholebody.motion.quality import Quality, judged
from wholebody.motion.rest_efforts import efforts_at_rest
from wholebody.motion.table import JointTable
from wholebody.motion.trajectory import Array

HAND_OVER = 0.1
"""Seconds over which loads are handed from limb to limb."""


@dataclass(frozen=True, eq=False)
class Imitation:
    """A motion of a robot, one row for each period.

    q          rows × nq, base in world and joints
    bearing    rows × limbs
    targets    rows × limbs × 3: where the frames of the limbs were to be
    stride     metres along x after which it begins anew, if it is one cycle of a gait; else 0
    slow_down  how many times longer it takes than the person's
    plan       of which it is a cycle, if it is one
    """

    model: Model
    limbs: tuple[ImitatingLimb, ...]
    period: float
    q: Array
    bearing: Flags
    targets: Array
    stride: float
    slow_down: float
    source: str
    plan: GaitPlan | None = None

    @property
    def duration(self) -> float:
        """Seconds."""
        return (len(self.q) - 1) * self.period

    @cached_property
    def quality(self) -> Quality:
        """How good it is."""
        return judged(self.model, self.limbs, self.period, self.q, self.bearing, self.targets, self.slow_down)

    def contacts(self, row: int) -> tuple[str, ...]:
        """The surfaces or links that bear."""
        return tuple(limb.frame for limb, bears in zip(self.limbs, self.bearing[row], strict=True) if bears)

    @property
    def joints(self) -> Array:
        """The joints alone, rows × joints."""
        return self.q[:, self.model.nq - len(self.model.joint_names) :]

    @cached_property
    def commands(self) -> Array:
        """Positions to command so that joints that give way are where they should be, at rest: q + τ/k.

        k is the stiffness of the robot's servos, τ what they hold at rest, smoothed where loads are handed over.
        """
        frames = [limb.frame for limb in self.limbs]
        efforts = efforts_at_rest(self.model, frames, self.q, self.bearing)
        if self.stride:
            efforts = np.vstack([gaussian_filter1d(efforts[:-1], HAND_OVER / self.period, axis=0, mode="wrap")] * 2)
        else:
            efforts = gaussian_filter1d(efforts, HAND_OVER / self.period, axis=0)
        gains = self.model.robot.gains
        give = [1 / gains[name].stiffness if name in gains else 0.0 for name in self.model.joint_names]
        lower, upper = (np.array([getattr(j, end) for j in self.model.robot.moving]) for end in ("lower", "upper"))
        return np.clip(self.joints + efforts[: len(self.q)] * give, lower, upper)

    def table(self, cycles: int = 1) -> JointTable:
        """The commands, row by row, so many cycles after each other."""
        joints = self.commands
        rows = np.vstack([joints, *[joints[1:]] * (cycles - 1)])
        return JointTable(
            self.model.joint_names, self.period, rows, f"imitation of {self.source}", self.model.robot.name
        )

    def key_frames(self, every: float = 0.05) -> KeyFrames:
        """Key frames: at every change of contacts, and between them at least so often, in seconds."""
        changes = np.flatnonzero((self.bearing[1:] != self.bearing[:-1]).any(axis=1)) + 1
        marks = sorted({0, *changes.tolist(), len(self.q) - 1})
        rows = [0]
        for before, after in pairwise(marks):
            parts = max(1, round((after - before) * self.period / every))
            rows += sorted({round(before + (after - before) * part / parts) for part in range(1, parts + 1)})
        joints = self.joints
        frames = tuple(
            KeyFrame(joints[row], (row - before) * self.period, contacts=self.contacts(row))
            for before, row in zip([0, *rows], rows, strict=False)
        )
        return KeyFrames(self.model.robot, frames, f"imitation of {self.source}", spline="monotone")
