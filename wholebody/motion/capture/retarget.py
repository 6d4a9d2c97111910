"""Retargeting: a captured gait, or a whole captured motion, on a robot with limbs of its own.

gait = CapturedGait.of(Capture.read("crawl.bvh"))
imitation = imitate(gait, Model(robots.load("atlas")))
print(imitation.quality.table())
imitation.key_frames().write("crawl.yaml")
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from wholebody.errors import CannotImitate
from wholebody.model.model import Model
from wholebody.motion.capture.capture import Capture
from wholebody.motion.capture.crawling_posture import on_wrists_and_knees
from wholebody.motion.capture.gait import ROOTS, CapturedGait, Flags, bearing, facing, supporting_limbs
from wholebody.motion.capture.gait_plan import SLOWEST, GaitPlan, Stance, planned
from wholebody.motion.capture.imitation import Imitation
from wholebody.motion.capture.imitator import Imitator, Progress
from wholebody.motion.capture.limbs import ImitatingLimb, limbs_of, scale_of
from wholebody.motion.static_poses import efforts_at_rest, hardest
from wholebody.motion.trajectory import Array
from wholebody.robots import geometry

REACHED = 0.01  # m: a stride is taken if all limbs come this near to their places
HELD = 0.8  # and all joints can hold it with this share of their efforts
QUICK = 0.8  # and move with this share of their speeds
SHARES = (1.0, 0.9, 0.8, 0.7, 0.55, 0.4)  # of the person's stride, tried one after the other
LIKENESS = (0.5, 0.25, 0.0)  # tried one after the other for each stride
TRIAL = 48  # instants of a cycle, when a stride is tried
SMOOTHING = 0.04  # s
SETTLING = 20  # solutions on the way from the robot's own posture into the stance


def imitate(
    gait: CapturedGait,
    model: Model,
    *,
    supports: int | None = None,
    margin: float = 0.03,
    stride: float | None = None,
    slower: float = 1.5,
    likeness: float | None = None,
    with_com: bool = True,
    period: float = 0.01,
    progress: Progress | None = None,
) -> Imitation:
    """One cycle of the gait on a robot; CannotImitate if it lacks limbs, cannot reach, or would take too long.

    supports   limbs on the ground at any time: all but one, unless told
    margin     metres by which the centre of mass is to be inside of what bears
    stride     metres of a cycle; else the person's, scaled by the legs, or as much of it as limbs reach
               and joints can hold
    slower     how many times longer swings take than the person's
    likeness   1: limbs bear where the person's did, scaled; 0: where they do in the robot's own posture, or in
               one that is found; if not told, as near to the person's as joints can hold
    with_com   keep the centre of mass there; without, the trunk goes along as the person's did
    period     seconds from row to row, about
    progress   called with the share that is done, 0 to 1
    """
    limbs = limbs_of(model, gait.limbs)
    scales = [scale_of(limb, gait.capture) for limb in limbs]
    imitator = Imitator(model, limbs, _home(model, limbs))
    needed = len(limbs) - 1 if supports is None else supports
    wanted = _leg_scale(limbs, scales) * gait.stride
    stances = [_stance(imitator, gait.reach, scales, each) for each in (LIKENESS if likeness is None else [likeness])]
    refused: list[CannotImitate] = []

    def trials() -> Iterator[Trial]:
        for length in [share * wanted for share in SHARES] if stride is None else [stride]:
            for stance in stances:
                try:
                    plan = planned(gait, stance, length, scales, supports=needed, margin=margin, slower=slower)
                except CannotImitate as error:  # a shorter stride may take less time
                    refused.append(error)
                else:
                    yield _tried(imitator, plan)

    best = _best(model, trials())
    if best is None:
        raise refused[-1]
    follower = imitator if with_com else Imitator(model, limbs, imitator.home, with_com=False)
    return _slowed(_looped(follower, best.plan, with_com, period, progress))


def imitate_clip(
    capture: Capture, model: Model, *, likeness: float = 0.5, progress: Progress | None = None
) -> Imitation:
    """All of a captured motion, frame by frame in the person's own time; its quality says what does not fit.

    Limbs that bear stay where they are and on the ground. Nothing is done for balance.
    """
    parts = supporting_limbs(capture)
    limbs, flags = limbs_of(model, parts), bearing(capture, parts)
    scales = [scale_of(limb, capture) for limb in limbs]
    imitator = Imitator(model, limbs, _home(model, limbs), with_com=False)
    clip = scaled_places(capture, parts, flags, scales, _leg_scale(limbs, scales))
    stance = _stance(imitator, clip.reach, scales, likeness)
    shift = stance.places - clip.neutral
    trunk = clip.trunk + stance.com[:2]
    places = clip.places + shift
    first = np.zeros(SETTLING, int)
    q = imitator.follow(stance.q, places[first], flags[first], trunk[first])[-1]
    found = imitator.follow(q, places, flags, trunk, progress)
    found = imitator.smoothed(found, places, flags, trunk, SMOOTHING / capture.frame_time, 0.0)
    targets = np.array([imitator.targets(*each) for each in zip(places, found, strict=True)])
    return Imitation(model, limbs, capture.frame_time, found, flags, targets, 0.0, 1.0, capture.source)


def _leg_scale(limbs: tuple[ImitatingLimb, ...], scales: list[float]) -> float:
    return float(np.mean([s for limb, s in zip(limbs, scales, strict=True) if not limb.part.endswith("wrist")]))


def _home(model: Model, limbs: tuple[ImitatingLimb, ...]) -> Array:
    """Where to begin: the robot's own posture on those limbs, or one that is found."""
    posture = "crawl" if len(limbs) > 2 else "stand"
    if posture not in model.robot.postures:
        return on_wrists_and_knees(model, limbs) if posture == "crawl" else model.neutral()
    q, base = model.posture(posture), geometry.standing(model.robot, posture)
    q[:3], q[3:7] = base[:3, 3], Rotation.from_matrix(base[:3, :3]).as_quat()
    return q


def _stance(imitator: Imitator, reach: Array, scales: list[float], likeness: float) -> Stance:
    """The neutral stance, between the person's, scaled, from hips and shoulders, and the robot's own."""
    model = imitator.model
    at = model.at(imitator.home)
    places = np.zeros((len(scales), 3))
    for index, (limb, scale) in enumerate(zip(imitator.limbs, scales, strict=True)):
        theirs = at.position(model.frame(limb.root))[:2] + scale * reach[index, :2]
        places[index, :2] = likeness * theirs + (1 - likeness) * at.position(model.frame(limb.frame))[:2]
    q = imitator.home
    for _ in range(SETTLING):
        q = imitator.solve(q, places, (True,) * len(places), at.com_in_world[:2])
    return Stance(places, model.at(q).com_in_world.copy(), q)


def _rows(plan: GaitPlan, times: Array, with_com: bool) -> tuple[Array, Flags, Array]:
    """Places of limbs, which bear, and the centre of mass, at times."""
    places = np.array([[plan.limb(limb, time) for limb in range(len(plan.order))] for time in times])
    flags = np.array([plan.bearing(time) for time in times])
    com = np.array([plan.com_at(time) if with_com else plan.captured_com_at(time) for time in times])
    return places, flags, com


@dataclass(frozen=True, eq=False)
class Trial:
    """A plan, looked at in a few instants: the limb that is farthest from its place, when, and how hard it is.

    hardship   what the hardest joint needs of HELD, or the fastest of QUICK; 1 is just enough
    """

    plan: GaitPlan
    gap: float
    limb: str
    time: float
    hardship: float


def _tried(imitator: Imitator, plan: GaitPlan) -> Trial:
    model, times = imitator.model, np.linspace(0.0, plan.period, TRIAL).repeat(2)  # the second time, tilts are known
    places, flags, com = _rows(plan, times, with_com=True)
    found = imitator.follow(plan.stance.q, places, flags, com)
    frames = [model.frame(limb.frame) for limb in imitator.limbs]
    there = np.array([[model.at(each).position(frame) for frame in frames] for each in found])
    wanted = np.array([imitator.targets(*each) for each in zip(places, found, strict=True)])
    gaps = np.linalg.norm(there - wanted, axis=2)
    gaps[::2] = 0.0
    row, limb = np.unravel_index(int(gaps.argmax()), gaps.shape)
    names = [limb.frame for limb in imitator.limbs]
    _, effort = hardest(model, efforts_at_rest(model, names, found[1::2], flags[1::2]))
    turned = np.abs(np.diff(found[1::2, model.nq - len(model.joint_names) :], axis=0)).max(axis=0)
    speed = float((turned / [joint.velocity for joint in model.robot.moving]).max()) * (TRIAL - 1) / plan.period
    hardship = max(effort / HELD, speed / QUICK)
    return Trial(plan, float(gaps.max()), imitator.limbs[limb].part, float(times[row]), hardship)


def _best(model: Model, trials: Iterable[Trial]) -> Trial | None:
    """The first that limbs reach and joints can do, or the one they reach and do most easily; None of none."""
    trial: Trial | None = None
    reached = []
    for trial in trials:
        if trial.gap <= REACHED and trial.hardship <= 1.0:
            return trial
        if trial.gap <= REACHED:
            reached.append(trial)
    if trial is not None and not reached:
        raise CannotImitate(
            f"{model.robot.name} cannot reach: at {trial.time:.2f} s of a cycle with a stride of "
            f"{trial.plan.stride:.2f} m its {trial.limb} is {trial.gap:.3f} m from where it should be; "
            "tell a shorter stride"
        )
    return min(reached, key=lambda each: each.hardship, default=None)


def _looped(imitator: Imitator, plan: GaitPlan, with_com: bool, period: float, progress: Progress | None) -> Imitation:
    """One cycle that closes: the second of two, smoothed across its ends."""
    count = int(np.ceil(plan.period / period)) + 1
    times = np.linspace(0.0, plan.period, count)
    places, flags, com = _rows(plan, times, with_com)
    first = imitator.follow(plan.stance.q, places, flags, com, progress and (lambda share: progress(share / 2)))
    start = first[-1] - np.eye(imitator.model.nq)[0] * plan.stride
    second = imitator.follow(start, places, flags, com, progress and (lambda share: progress((1 + share) / 2)))
    smooth = imitator.smoothed(second, places, flags, com, SMOOTHING / times[1], plan.stride)
    smooth[-1, 7:] = smooth[0, 7:]
    targets = np.array([imitator.targets(*each) for each in zip(places, smooth, strict=True)])
    return Imitation(
        imitator.model, imitator.limbs, float(times[1]), smooth, flags, targets, plan.stride, plan.slow_down,
        plan.gait.capture.source, plan,
    )  # fmt: skip


def _slowed(imitation: Imitation) -> Imitation:
    """The same, so much slower that all joints are quick enough, if that is not too slow."""
    slower = imitation.quality.speed[1] / QUICK
    if not 1.0 < slower <= SLOWEST / imitation.slow_down:
        return imitation
    return replace(imitation, period=slower * imitation.period, slow_down=slower * imitation.slow_down)


@dataclass(frozen=True, eq=False)
class Clip:
    """Places of limbs over the ground (frames × limbs × 3), x along where the person faces; the trunk's way.

    neutral are the limbs' mean places under the trunk, from which a robot's own may differ; reach the mean way from
    hip or shoulder, in the person's metres.
    """

    places: Array
    trunk: Array
    neutral: Array
    reach: Array


def scaled_places(capture: Capture, parts: Sequence[str], flags: Flags, scales: Sequence[float], leg: float) -> Clip:
    """The clip of a captured motion."""
    ahead = np.sum(capture.turn("pelvis")[:, :2, 0], axis=0)  # where the pelvis faces, the more the more level it is
    turn = facing(float(np.arctan2(ahead[1], ahead[0])))
    pelvis = capture.part("pelvis") @ turn.T
    places, reach = [], []
    for part, flag, scale in zip(parts, flags.T, scales, strict=True):
        side, kind = part.split("_")
        used = flag if flag.any() else np.ones(len(flag), bool)
        place = capture.part(part) @ turn.T
        reach.append((place - capture.part(f"{side}_{ROOTS[kind]}") @ turn.T)[used].mean(axis=0))
        place -= (*pelvis[0, :2], 0.0)
        ground = float(np.median(place[flag, 2])) if flag.any() else float(place[:, 2].min())
        place[:, 2] = np.maximum(scale * (place[:, 2] - ground), 0.0)
        place[:, :2] *= leg
        places.append(grounded(place, flag))
    trunk = leg * (pelvis[:, :2] - pelvis[0, :2])
    stacked = np.stack(places, axis=1)
    neutral = np.zeros((len(parts), 3))
    for index, flag in enumerate(flags.T):
        used = flag if flag.any() else np.ones(len(flag), bool)
        neutral[index, :2] = (stacked[used, index, :2] - trunk[used]).mean(axis=0)
    return Clip(stacked, trunk, neutral, np.array(reach))


def grounded(path: Array, flag: Flags) -> Array:
    """A limb's path that stands still, at height 0, wherever the limb bears; what is between is shifted to fit."""
    edges = np.flatnonzero(np.diff(flag.astype(np.int8))) + 1
    parts = [part for part in np.split(np.arange(len(path)), edges) if flag[part[0]]]
    if not parts:
        return path
    places = [np.array([*path[part, :2].mean(axis=0), 0.0]) for part in parts]
    shifts = {
        row: place - path[row] for part, place in zip(parts, places, strict=True) for row in part[[0, -1]].tolist()
    }
    every = np.arange(len(path))
    moved = path + np.column_stack([np.interp(every, list(shifts), axis) for axis in np.array([*shifts.values()]).T])
    for part, place in zip(parts, places, strict=True):
        moved[part] = place
    moved[:, 2] = np.maximum(moved[:, 2], 0.0)
    return np.asarray(moved)
