"""Atlas on all fours, for the experiments of Crawl, Chapter 4: its limbs, its stance and a cycle of 13 poses.

The document's poses are not in its text, so the 13 poses are ours: one cycle of crawling from the `crawl` posture,
hands 20 cm forward and thighs 0.3 rad (a knee can only be on the sphere about its hip). Positions are of palms and
knees, in the pelvis; its Atlas was lighter (82 kg; ours 148 kg) and had other limits.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wholebody import robots
from wholebody.kinematics.inverse import InverseKinematics
from wholebody.kinematics.inverse_variables import moved_mass
from wholebody.model import Model
from wholebody.tasks import CartesianPositionTask

LIMBS = ("left_knee", "right_knee", "left_palm", "right_palm")
RESULTS = Path(__file__).parent / "results"

Array = np.ndarray


@dataclass(frozen=True)
class Atlas:
    """The robot, and what the tables need of it at a posture."""

    model: Model

    @classmethod
    def make(cls) -> Atlas:
        """The robot of the package."""
        return cls(Model(robots.load("atlas")))

    @property
    def stance(self) -> Array:
        """The four-point stance."""
        return self.model.posture("crawl")[7:]

    @property
    def crucified(self) -> Array:
        """Arms stretched out sideways, legs straight: far from the stance, and singular."""
        return self.model.neutral()[7:]

    @property
    def inverse_mass(self) -> Array:
        """W⁻¹ of mean 1."""
        mobility = 1 / moved_mass(self.model)[6:]
        return mobility / mobility.mean()

    def look(self, joints: Array) -> tuple[Array, Array]:
        """Positions of the limbs, 4 × 3, and their Jacobian, 12 × 28."""
        at = self.model.at(self.whole(joints))
        frames = [self.model.frame(limb) for limb in LIMBS]
        return np.array([at.position(f) for f in frames]), np.vstack([at.jacobian(f)[:3, 6:] for f in frames])

    def com(self, joints: Array) -> tuple[Array, Array]:
        """The centre of mass, 1 × 3, and its Jacobian."""
        at = self.model.at(self.whole(joints))
        return at.com_in_world[None].copy(), at.com_jacobian[:, 6:].copy()

    def whole(self, joints: Array) -> Array:
        """The configuration with the pelvis at the origin."""
        return np.concatenate([self.model.neutral()[:7], joints])

    def poses(self) -> list[Array]:
        """The 13 poses: the stance; then each limb lifts, lands ahead, and all push back a quarter of its step."""
        stance, _ = self.look(self.stance)
        poses, ahead = [stance], np.zeros(4)  # how far along its step each limb is
        thighs = [self.model.column(joint) - 6 for joint in ("l_leg_hpy", "r_leg_hpy")]
        for limb in (2, 1, 3, 0):
            for lift, forward, back in ((1.0, 0.5, 0.0), (0.0, 0.5, 0.0), (0.0, 0.0, 0.25)):
                ahead[limb] += forward
                ahead -= back
                joints = self.stance
                joints[thighs] -= 0.3 * ahead[:2] + 0.1 * lift * (limb == np.arange(2))
                pose, _ = self.look(joints)
                pose[2:] = stance[2:]
                pose[2:, 0] += 0.20 * ahead[2:]
                pose[2:, 2] += 0.08 * lift * (limb == np.arange(2, 4))
                poses.append(pose)
        return poses

    def solver(self, home: bool = False, mass: bool = False, regularisation: float = 1e-3) -> InverseKinematics:
        """Ours, for the four limbs."""
        return InverseKinematics(
            self.model, [CartesianPositionTask(limb, limb, 0.0) for limb in LIMBS], regularisation=regularisation,
            home="crawl" if home else None, mass_weighting=mass, restarts=0,
        )  # fmt: skip

    def reached(self, solver: InverseKinematics, q: Array, pose: Array) -> Array:
        """From a configuration to one with the four limbs at a pose."""
        for task, place in zip(solver.tasks, pose, strict=True):
            task.goal = place  # type: ignore[attr-defined]
        return solver.solve(q).q

    @property
    def what(self) -> str:
        """The robot in a few words, for the head of a table."""
        joints, effort = self.model.robot.moving, max(joint.effort for joint in self.model.robot.moving)
        return (
            f"Atlas, {len(joints)} joints, {self.model.robot.mass:.0f} kg, peak effort {effort:.0f} N·m "
            "(document: 28 joints, 82 kg)"
        )
