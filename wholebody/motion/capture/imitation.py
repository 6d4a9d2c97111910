"""Imitation: the motion of a robot that imitates a person's, as key frames or a table of joints, and its quality."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation

from wholebody.model.model import Model
from wholebody.model.support import Contacts
from wholebody.motion.capture.gait import Flags
from wholebody.motion.capture.gait_plan import GaitPlan
from wholebody.motion.capture.limbs import ImitatingLimb
from wholebody.motion.joint_table import JointTable
from wholebody.motion.keyframes import KeyFrame, KeyFrames
from wholebody.motion.limits import Limits
from wholebody.motion.static_poses import efforts_at_rest, hardest
from wholebody.motion.trajectory import Array
from wholebody.robots import geometry

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
        return judged(self)

    def contacts(self, row: int) -> tuple[str, ...]:
        """The surfaces or links that bear."""
        return tuple(limb.frame for limb, bears in zip(self.limbs, self.bearing[row], strict=True) if bears)

    @property
    def joints(self) -> Array:
        """The joints alone, rows × joints."""
        return self.q[:, self.model.nq - len(self.model.joint_names) :]

    @cached_property
    def efforts(self) -> Array:
        """What joints hold at rest, rows × joints."""
        return efforts_at_rest(self.model, [limb.frame for limb in self.limbs], self.q, self.bearing)

    @cached_property
    def commands(self) -> Array:
        """Positions to command so that joints that give way are where they should be, at rest: q + τ/k.

        k is the stiffness of the robot's servos, τ what they hold at rest, smoothed where loads are handed over.
        """
        efforts = self.efforts
        if self.stride:
            efforts = np.vstack([gaussian_filter1d(efforts[:-1], HAND_OVER / self.period, axis=0, mode="wrap")] * 2)
        else:
            efforts = gaussian_filter1d(efforts, HAND_OVER / self.period, axis=0)
        gains = self.model.robot.gains
        give = [1 / gains[name].stiffness if name in gains else 0.0 for name in self.model.joint_names]
        limits = Limits.of(self.model.robot)
        return np.clip(self.joints + efforts[: len(self.q)] * give, limits.lower, limits.upper)

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


REACH = 0.01  # m: farther from its target a limb is out of reach
LOOKS = 30  # postures in which the whole robot is looked at
SLIDES, SINKS, LOWEST = 0.005, 0.005, 0.01  # m: what of a motion that fits may slide, sink, or be below the ground


@dataclass(frozen=True)
class Gap:
    """A limb that does not get to where it should be: metres, and how much of the time it is out of reach."""

    limb: str
    worst: float
    time: float
    share: float


@dataclass(frozen=True)
class Quality:
    """How good a motion is, before it is played. Metres and seconds.

    slide         how far a limb gets, at most, while it bears
    penetration   how deep a limb's surface sinks into the ground, at most
    lowest        the lowest point of the whole robot over the ground
    limits        joints that stand at their limits, and for which share of the time
    gaps          of each limb
    margin        of the centre of mass inside what bears: least, and on average
    inside        the share of the time in which it is inside
    speed         the fastest joint, as a share of its limit
    effort        the hardest joint at rest, contacts only pushing up, as a share of its limit
    slow_down     how many times longer it takes than the person's
    """

    slide: float
    penetration: float
    lowest: float
    limits: Mapping[str, float]
    gaps: tuple[Gap, ...]
    margin: float
    mean_margin: float
    inside: float
    speed: tuple[str, float]
    effort: tuple[str, float]
    slow_down: float

    @property
    def unreachable(self) -> tuple[Gap, ...]:
        """The limbs that are out of reach at some time."""
        return tuple(gap for gap in self.gaps if gap.worst > REACH)

    @property
    def misfits(self) -> tuple[str, ...]:
        """What keeps the robot from doing it, as far as is known beforehand; the worst first."""
        measures = [
            (self.speed[1], f"{self.speed[0]} would need {self.speed[1]:.0%} of its speed limit"),
            (self.effort[1], f"{self.effort[0]} would need {self.effort[1]:.0%} of its effort limit"),
            (self.slide / SLIDES, f"limbs that bear slide by {1000 * self.slide:.0f} mm"),
            (self.penetration / SINKS, f"limbs sink {1000 * self.penetration:.0f} mm into the ground"),
            (-self.lowest / LOWEST, f"the robot gets {-1000 * self.lowest:.0f} mm into the ground"),
            *((gap.worst / REACH, f"{gap.limb} is {gap.worst:.3f} m out of reach") for gap in self.unreachable),
        ]
        if self.inside < 1.0:
            measures.append((1 / max(self.inside, 0.01), f"it would tip over {1 - self.inside:.0%} of the time"))
        return tuple(text for over, text in sorted(measures, reverse=True) if over > 1.0)

    @property
    def verdict(self) -> str:
        """Whether the robot can do it, and if not, why."""
        return "fits" if not self.misfits else f"does not fit: {'; '.join(self.misfits)}"

    def table(self) -> str:
        """All of it, in lines to read."""
        at_limits = ", ".join(f"{joint} {share:.0%}" for joint, share in self.limits.items()) or "none"
        worst = max(self.gaps, key=lambda gap: gap.worst)
        missed = "; ".join(
            f"{gap.limb} by {gap.worst:.3f} m at {gap.time:.2f} s, {gap.share:.0%} of the time"
            for gap in self.unreachable
        )
        rows = {
            "slide while bearing": f"{1000 * self.slide:.2f} mm",
            "limbs sink": f"{1000 * self.penetration:.1f} mm",
            "lowest point of the robot": f"{1000 * self.lowest:.1f} mm",
            "joints at their limits": at_limits,
            "out of reach": missed or f"nothing (worst: {worst.limb}, {1000 * worst.worst:.2f} mm)",
            "support margin": f"{1000 * self.margin:.0f} mm at least, {1000 * self.mean_margin:.0f} mm on average",
            "centre of mass inside": f"{self.inside:.1%} of the time",
            "fastest joint": f"{self.speed[0]}, {self.speed[1]:.0%} of its limit",
            "hardest joint at rest": f"{self.effort[0]}, {self.effort[1]:.0%} of its limit",
            "slow-down": f"{self.slow_down:.2f} ×",
            "verdict": self.verdict,
        }
        return "\n".join(f"{what:28s}{value}" for what, value in rows.items())


def judged(motion: Imitation) -> Quality:
    """Judge rows of configurations."""
    model, period, bearing, joints = motion.model, motion.period, motion.bearing, motion.joints
    places, depths, margins = _looked_at(motion)
    gaps = np.linalg.norm(places - motion.targets, axis=2)
    limits = Limits.of(model.robot)
    stopped = ((joints <= limits.lower + 1e-6) | (joints >= limits.upper - 1e-6)).mean(axis=0)
    stopped[np.ptp(joints, axis=0) < 1e-9] = 0.0  # those that never move are where they are commanded to be
    speeds = np.abs(np.diff(joints, axis=0)).max(axis=0, initial=0.0) / period / limits.velocity
    looks = np.unique(np.linspace(0, len(motion.q) - 1, LOOKS).astype(int))
    return Quality(
        slide=_slide(places, bearing),
        penetration=float(max(0.0, -depths.min())),
        lowest=min(_lowest(model, motion.q[row]) for row in looks),
        limits={model.joint_names[i]: float(stopped[i]) for i in np.flatnonzero(stopped)},
        gaps=tuple(
            Gap(limb.part, float(gap.max()), float(gap.argmax() * period), float((gap > REACH).mean()))
            for limb, gap in zip(motion.limbs, gaps.T, strict=True)
        ),
        margin=float(margins.min()),
        mean_margin=float(margins[np.isfinite(margins)].mean()) if np.isfinite(margins).any() else -np.inf,
        inside=float((margins > 0).mean()),
        speed=(model.joint_names[int(speeds.argmax())], float(speeds.max())),
        effort=hardest(model, motion.efforts),
        slow_down=motion.slow_down,
    )


def _looked_at(motion: Imitation) -> tuple[Array, Array, Array]:
    """Of each row: where limbs are, how high the lowest corner of each is, and the support margin."""
    model, limbs, rows = motion.model, motion.limbs, len(motion.q)
    frames, corners = [model.frame(limb.frame) for limb in limbs], [np.array(limb.points) for limb in limbs]
    contacts: dict[tuple[str, ...], Contacts] = {}
    places, depths, margins = np.empty((rows, len(limbs), 3)), np.empty((rows, len(limbs))), np.empty(rows)
    for row, configuration in enumerate(motion.q):
        at, bears = model.at(configuration), motion.contacts(row)
        if bears not in contacts:
            contacts[bears] = Contacts(model, list(bears))
        for index, frame in enumerate(frames):
            places[row, index] = at.position(frame)
            depths[row, index] = places[row, index, 2] + (corners[index] @ at.rotation(frame)[2]).min()
        margins[row] = contacts[bears].margin(at)
    return places, depths, margins


def _slide(places: Array, bearing: Flags) -> float:
    """How far any limb gets from where it came down, while it bears."""
    worst = 0.0
    for limb in range(places.shape[1]):
        edges = np.flatnonzero(np.diff(bearing[:, limb].astype(np.int8))) + 1
        for part in np.split(np.arange(len(places)), edges):
            if bearing[part[0], limb]:
                away = places[part, limb, :2] - places[part[0], limb, :2]
                worst = max(worst, float(np.linalg.norm(away, axis=1).max()))
    return worst


def _lowest(model: Model, q: Array) -> float:
    base = np.eye(4)
    base[:3, :3], base[:3, 3] = Rotation.from_quat(q[3:7]).as_matrix(), q[:3]
    return float(geometry.extent(model.robot, q[7:], base)[0][2])
