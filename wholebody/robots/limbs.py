"""Limbs of a robot by its tree and its symmetry: which are legs and arms, where left, ahead and up are; no names."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from wholebody.robots.robot import Array, Joint
from wholebody.robots.soles import cloud
from wholebody.robots.tree import Limb, Tree

FEWEST = 3
"""Joints of a limb at least: fewer are eyes, fingers or grippers."""
UNEVEN = 0.05
"""Of a limb's length: how far mirrored joints may stand from where their mirror images are."""
HANGS, LEVEL = -0.4, 0.12
"""Of a leg's length: the height of a foot above its hip at most; how much two ends on one level differ."""
NEAR = math.radians(30.0)
EXACT = math.radians(2.0)


class NotTwoLegs(Exception):
    """Why a robot's tree has not two legs, in a sentence."""


class Pair(NamedTuple):
    """Two limbs that mirror each other, and how far they are from doing so exactly, as a share of their length."""

    one: Limb
    other: Limb
    normal: Array  # of the plane between them, a unit vector in the root's axes
    offset: float  # of that plane from the root's origin, m
    error: float


@dataclass(frozen=True)
class Body:
    """A robot's two legs, its other limbs that come in pairs, and its axes (columns: ahead, left, up; in the root's).

    `votes` are what ahead was concluded from, each with its weight: negative ones speak for the other way.
    """

    legs: tuple[Limb, Limb]  # left, right
    arms: tuple[tuple[Limb, Limb], ...]
    axes: Array
    error: float
    votes: dict[str, float]
    up_from: str

    @property
    def ahead(self) -> Array:
        """Where it looks, in the root's axes."""
        return self.axes[:, 0]

    @property
    def left(self) -> Array:
        """Where its left is."""
        return self.axes[:, 1]

    @property
    def up(self) -> Array:
        """Where its head is."""
        return self.axes[:, 2]


def find_body(tree: Tree) -> Body:
    """Find legs, arms and axes; NotTwoLegs says in a sentence why there are none."""
    pairs = _of_one_plane(tree, list(_mirrored(tree)))
    if not pairs:
        raise NotTwoLegs(_why_no_pair(tree))
    legs, up = _legs(tree, pairs)
    _refuse_more_legs(tree, pairs, legs, up)
    normal = _snapped(legs.normal)
    up, up_from = _exact_up(tree, normal, up)
    ahead = np.cross(normal, up)
    votes = _votes(tree, legs, ahead, up, normal)
    if sum(votes.values()) < 0:
        ahead, votes = -ahead, {what: -weight for what, weight in votes.items()}
    axes = np.column_stack([ahead, np.cross(up, ahead), up])
    axes = np.where(np.abs(axes) < 1e-12, 0.0, axes)
    sided = [_left_first(tree, pair, axes[:, 1]) for pair in pairs if pair is not legs]
    return Body(_left_first(tree, legs, axes[:, 1]), tuple(sided), axes, legs.error, votes, up_from)


# --- symmetry --------------------------------------------------------------------------------------


def _mirrored(tree: Tree) -> Iterator[Pair]:
    """Pairs of limbs of as many joints that branch off the same body and mirror each other in some plane."""
    for joints in tree.below.values():
        limbs = [limb for limb in map(tree.limb, joints) if len(limb.joints) >= FEWEST]
        for one, other in itertools.combinations(limbs, 2):
            if len(one.joints) == len(other.joints):
                pair = _pair(tree, one, other)
                if pair is not None:
                    yield pair


def _pair(tree: Tree, one: Limb, other: Limb) -> Pair | None:
    a, b = tree.points(one), tree.points(other)
    apart = (a - b)[:-1]
    length = tree.length(one)
    total = apart.sum(axis=0)
    if length <= 0 or np.linalg.norm(apart, axis=1).max() < 0.02 * length:
        return None
    normal = total / np.linalg.norm(total)
    across, middles = apart - np.outer(apart @ normal, normal), (a + b)[:-1] / 2 @ normal
    error = max(float(np.linalg.norm(across, axis=1).max()), float(np.ptp(middles))) / length
    turned = [
        abs(_reflected(tree.axis(i), normal) @ tree.axis(j)) for i, j in zip(one.joints, other.joints, strict=True)
    ]
    if error > UNEVEN or min(turned) < 0.95 or (apart @ normal).min() < -UNEVEN * length:
        return None
    return Pair(one, other, normal, float(middles.mean()), error)


def _reflected(vector: Array, normal: Array) -> Array:
    return np.asarray(vector - 2 * (vector @ normal) * normal)


def _of_one_plane(tree: Tree, pairs: list[Pair]) -> list[Pair]:
    """Those pairs that share the plane with most joints."""

    def alike(one: Pair, other: Pair) -> bool:
        near = abs(one.offset - other.offset * np.sign(one.normal @ other.normal)) < UNEVEN / 2 * tree.length(one.one)
        return bool(abs(one.normal @ other.normal) > math.cos(4 * EXACT) and near)

    groups = [[other for other in pairs if alike(pair, other)] for pair in pairs]
    return max(groups, key=lambda group: sum(len(pair.one.joints) for pair in group), default=[])


def _why_no_pair(tree: Tree) -> str:
    forks = [joints for body, joints in tree.below.items() if len(joints) != 1 or body == tree.robot.root]
    limbs = [limb for joints in forks for limb in map(tree.limb, joints) if len(limb.joints) >= FEWEST]
    if not limbs:
        return f"no limb of {FEWEST} joints or more: nothing that could be a leg"
    if len(limbs) == 1:
        return (
            f"one limb only, from '{limbs[0].joints[0].name}' to '{limbs[0].joints[-1].name}': to walk takes two legs"
        )
    names = ", ".join(f"'{limb.joints[0].name}'" for limb in limbs[:4])
    return f"no two limbs mirror each other; limbs begin with {names}"


# --- legs, and where up is -------------------------------------------------------------------------


def _legs(tree: Tree, pairs: list[Pair]) -> tuple[Pair, Array]:
    """The pair that hangs below all others, and roughly where up is."""
    best: tuple[float, Pair, Array] | None = None
    for pair in pairs:
        hip, foot = _ends(tree, pair)
        others = [_ends(tree, each)[0] for each in pairs if each is not pair]
        up = np.mean(others, axis=0) - hip if others else hip - foot
        up = up - (up @ pair.normal) * pair.normal
        if np.linalg.norm(up) < 1e-6:
            continue
        up = up / np.linalg.norm(up)
        hangs = float((foot - hip) @ up) / tree.length(pair.one)
        if best is None or hangs < best[0]:
            best = hangs, pair, up
    if best is None or best[0] > HANGS:
        if len(pairs) > 1:
            count = len({limb.joints[0].name for pair in pairs for limb in pair[:2]})
            raise NotTwoLegs(f"{count} limbs that hang side by side: four legs or more, and this walks on two")
        raise NotTwoLegs(f"its pair of limbs, {_named(pairs[0])}, hangs below nothing: arms, and no legs")
    if len(pairs) == 1 and len(best[1].one.joints) > 6:
        raise NotTwoLegs(f"its only pair of limbs, {_named(best[1])}, has {len(best[1].one.joints)} joints each: arms")
    _refuse_arms(tree, best[1], best[2])
    return best[1], best[2]


def _ends(tree: Tree, pair: Pair) -> tuple[Array, Array]:
    """The middles between both beginnings, and between both ends."""
    one, other = tree.points(pair.one), tree.points(pair.other)
    return (one[0] + other[0]) / 2, (one[-1] + other[-1]) / 2


def _refuse_arms(tree: Tree, legs: Pair, up: Array) -> None:
    """Legs end lower than all else."""
    low, length = float(_ends(tree, legs)[1] @ up), tree.length(legs.one)
    own = {joint.child for limb in legs[:2] for joint in limb.joints}
    for body in tree.below:
        if body not in own and float(tree.middle(body) @ up) < low - LEVEL * length:
            raise NotTwoLegs(f"'{body}' is lower than the ends of {_named(legs)}: those are arms, and no legs")


def _refuse_more_legs(tree: Tree, pairs: list[Pair], legs: Pair, up: Array) -> None:
    """Only two limbs come down to the ground."""
    length, low = tree.length(legs.one), float(_ends(tree, legs)[1] @ up)
    for pair in pairs:
        hip, foot = (float(end @ up) for end in _ends(tree, pair))
        alike = abs(tree.length(pair.one) - length) < 0.4 * length and hip - foot > 0.5 * length
        if pair is not legs and alike and foot - low < LEVEL * length:
            raise NotTwoLegs(f"four limbs come down as low, {_named(legs)} and {_named(pair)}: four legs, not two")
    own = {joint.name for limb in legs[:2] for joint in limb.joints}
    for joint in tree.below[legs.one.base]:
        limb = tree.limb(joint)
        if joint.name not in own and len(limb.joints) >= FEWEST:
            foot = float(tree.points(limb)[-1] @ up)
            if abs(foot - low) < LEVEL * length:
                raise NotTwoLegs(f"three limbs come down as low, {_named(legs)} and '{joint.name}': not two legs")


def _named(pair: Pair) -> str:
    return f"'{pair.one.joints[0].name}' and '{pair.other.joints[0].name}'"


def _snapped(direction: Array) -> Array:
    """The nearest of the root's axes, if it is very near."""
    index = int(np.abs(direction).argmax())
    if abs(direction[index]) < math.cos(EXACT):
        return direction
    return np.asarray(np.eye(3)[index] * np.sign(direction[index]))


def _exact_up(tree: Tree, normal: Array, roughly: Array) -> tuple[Array, str]:
    """Up in the plane of symmetry: near where limbs say, the axis that most joints turn about, or one of the root."""
    candidates = [(axis, "an axis of the root", 0.5) for axis in (*np.eye(3), *-np.eye(3))]
    for joint in tree.robot.moving:
        candidates += [(sign * tree.axis(joint), f"the axis of '{joint.name}'", 0.0) for sign in (1.0, -1.0)]
    near = [
        (sum(abs(axis @ tree.axis(j)) > math.cos(EXACT) for j in tree.robot.moving) + more, axis, what)
        for axis, what, more in candidates
        if abs(axis @ normal) < math.sin(EXACT) and axis @ roughly > math.cos(NEAR)
    ]
    if near:
        _, axis, what = max(near, key=lambda each: each[0])
        exact = axis - (axis @ normal) * normal
        return exact / np.linalg.norm(exact), what
    exact = roughly - (roughly @ normal) * normal
    return exact / np.linalg.norm(exact), "from hips to shoulders"


# --- ahead and left --------------------------------------------------------------------------------


def _votes(tree: Tree, legs: Pair, ahead: Array, up: Array, normal: Array) -> dict[str, float]:
    """What speaks for a direction ahead: feet reach ahead of ankles, knees bend backward, the root's x points ahead."""
    toes = knees = 0.0
    for limb in legs[:2]:
        ankle = tree.origin(limb.joints[-1])
        reach = float((foot_middle(tree, limb.tip, up) - ankle) @ ahead)
        toes += math.tanh(reach / (0.02 * tree.length(limb)))
        knees += _knee(tree, limb, ahead, up, normal)
    votes = {"feet": toes, "knees": knees}
    along = float(ahead[0])
    if abs(along) > math.cos(EXACT):
        votes["x axis of the root"] = 0.5 * along
    return votes


def foot_middle(tree: Tree, body: str, up: Array) -> Array:
    """The middle of a body's lower half, of its shapes' frames; of a body without any its centre of mass."""
    points, radii = cloud(tree, body)
    if not len(points):
        return tree.middle(body)
    heights = points @ up - radii
    low = points[heights < heights.min() + 0.3 * max(float(np.ptp(heights)), 1e-3) + 1e-9]
    return np.asarray((low.min(axis=0) + low.max(axis=0)) / 2)


def _knee(tree: Tree, limb: Limb, ahead: Array, up: Array, normal: Array) -> float:
    """How surely the middle joint bends the leg backward: −1 to 1."""
    found = knee_of(tree, limb.joints, normal)
    if found is None:
        return 0.0
    spread = found.upper - found.lower
    if not math.isfinite(spread):
        return 0.0
    swings = np.cross(tree.axis(found), -up) @ ahead  # of the foot, for a positive turn
    return float(-swings * (found.upper + found.lower) / spread)


def knee_of(tree: Tree, joints: Sequence[Joint], normal: Array) -> Joint | None:
    """Of the joints about the lateral axis, the one with most of the leg on its shorter side."""
    start, end = tree.origin(joints[0]), tree.origin(joints[-1])
    lateral = [joint for joint in joints if joint.kind != "prismatic" and abs(tree.axis(joint) @ normal) > 0.8]

    def shorter(joint: Joint) -> float:
        at = tree.origin(joint)
        return min(float(np.linalg.norm(at - start)), float(np.linalg.norm(at - end)))

    best = max(lateral, key=shorter, default=None)
    return best if best is not None and shorter(best) > 0 else None


def _left_first(tree: Tree, pair: Pair, left: Array) -> tuple[Limb, Limb]:
    one, other = tree.points(pair.one).mean(axis=0) @ left, tree.points(pair.other).mean(axis=0) @ left
    return (pair.one, pair.other) if one > other else (pair.other, pair.one)
