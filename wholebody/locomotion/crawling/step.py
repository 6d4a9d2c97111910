"""CrawlStep: one step of a crawl: the centre of mass leans, then a limb swings. CrawlTarget: an instant of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from wholebody.locomotion.crawling.footholds import Ground, beside
from wholebody.locomotion.crawling.gait import CrawlGait
from wholebody.locomotion.walking.footsteps import Place, Velocity
from wholebody.locomotion.walking.pendulum import GRAVITY
from wholebody.model.layout import Array
from wholebody.model.support import SupportPolygon
from wholebody.motion.capture.gait import CRAWLING
from wholebody.motion.capture.gait_plan import PEAK, minimum_jerk
from wholebody.motion.capture.imitator import within


@dataclass(frozen=True, eq=False)
class CrawlTarget:
    """Where all is to be at an instant, in world.

    places    4 × 3, limbs in world
    ground    of each limb, how high it is put; in the air, on the straight way between what it left and will be put on
    behind    of each limb, how much higher than it a foot behind it is carried, because the ground there is higher
    bearing   which limbs are on the ground
    load      of each limb, 0 to 1: how far it may bear
    com       x y
    body      the place between the limbs
    """

    places: Array
    ground: Array
    behind: Array
    bearing: tuple[bool, ...]
    load: Array
    com: Array
    body: Place


@dataclass(frozen=True, eq=False)
class CrawlStep:
    """From `begin` on the centre of mass leans, until `leant`; from `lift` to `end` a limb swings, or none.

    places and velocity are those at the begin, goal is where the limb comes down, x y z, and bow how far off a
    straight way it is in the middle, x y z; behind (2 × 4) is how much higher than limbs feet are carried, at the begin
    and at the end; lean (2 × 2) is from where to where the centre of mass leans, x y in world, from its place beside
    the body.
    """

    begin: float
    leant: float
    lift: float
    end: float
    limb: int | None
    places: Array
    goal: Array
    bow: Array
    behind: Array
    lean: Array
    body: tuple[Place, Place]
    velocity: tuple[Velocity, Velocity]

    @property
    def duration(self) -> float:
        """Seconds."""
        return self.end - self.begin

    def body_at(self, time: float) -> Place:
        """The body's way: a cubic that begins and ends with the velocities at its ends."""
        s = min(max((time - self.begin) / self.duration, 0.0), 1.0)
        (start, end), T = self.body, self.duration
        v0, v1 = (_in_world(place, v) for place, v in zip(self.body, self.velocity, strict=True))
        h = s * s * (3 - 2 * s)
        k0, k1 = T * s * (1 - s) ** 2, T * s * s * (s - 1)
        return Place(*(a + h * (b - a) + k0 * u + k1 * w for a, b, u, w in zip(start, end, v0, v1, strict=True)))

    def lean_at(self, time: float) -> Array:
        """From the neutral place of the centre of mass, x y in world."""
        share = minimum_jerk((time - self.begin) / (self.leant - self.begin))
        return np.asarray(self.lean[0] + share * (self.lean[1] - self.lean[0]))

    def behind_at(self, time: float) -> Array:
        """How much higher than limbs feet are carried, m."""
        share = minimum_jerk((time - self.begin) / self.duration)
        return np.asarray(self.behind[0] + share * (self.behind[1] - self.behind[0]))


def bump(phase: float | Array) -> Array:
    """How far a limb has risen in its swing: from 0 to 1, in the middle, and back, at rest at both ends."""
    return np.asarray(16 * phase**2 * (1 - phase) ** 2)


def _in_world(body: Place, velocity: Velocity) -> tuple[float, float, float]:
    """A velocity in the axes of the body, in world."""
    x, y, _ = Place(0.0, 0.0, body.yaw).beside(velocity.forward, velocity.leftward)
    return x, y, velocity.turn


KNEES = tuple(limb for limb, part in enumerate(CRAWLING) if part.endswith("knee"))
PHASES = np.linspace(0.25, 0.75, 11)
"""Of a swing: instants at which the limb is over the ground. Before and after, it is about where it was and will be."""
HIGH = 0.06
"""m from which on a way up or down is a climb."""
DEEP = 0.9
"""m from which on it does not matter how high or low the ground is."""
SHARES = np.array([minimum_jerk(phase) for phase in PHASES])


def foothold_of(gait: CrawlGait, ground: Ground, limb: int, body: Place) -> Array:
    """Where a limb is put that belongs to a body."""
    shin = _shin(gait, body.yaw) if limb in KNEES else None
    return ground.foothold(beside(body, gait.places[limb]), shin)


def bow_of(gait: CrawlGait, ground: Ground, limb: int, ends: tuple[Array, Array], yaw: float) -> Array:
    """How far off a straight way a limb goes in the middle, x y z: a knee outward, and over all that is on its way.

    lift + max (h(s) − z(s)) / b(s) over instants s, where z is the straight way, and b is how far it has risen. A knee
    that passes below its hip, a thigh's length above, lifts the hip with it: so no higher than needed, and beside the
    hip rather than below it.
    """
    start, goal = ends
    aside = math.copysign(gait.outward, gait.places[limb, 1]) if limb in KNEES else 0.0
    bow = np.array([*beside(Place(0.0, 0.0, yaw), np.array([0.0, aside])), 0.0])
    way = start + SHARES[:, None] * (goal - start) + bump(PHASES)[:, None] * bow
    over = (ground.highest_at(way[:, :2]) - way[:, 2]) / bump(PHASES)
    bow[2] = gait.lift * gait.heights[limb] + max(0.0, float(over.max()))
    return bow


def behind_of(gait: CrawlGait, ground: Ground, places: Array, yaw: float) -> Array:
    """How much higher than limbs that stand at places feet have to be carried."""
    result = np.zeros(4)
    for knee in KNEES:
        toes = places[knee, :2] + _shin(gait, yaw)
        over = ground.highest_between(places[knee], toes) - float(places[knee, 2])
        result[knee] = max(0.0, over) + gait.toes
    return result


def climb_of(limb: int, places: Array, goal: Array) -> float:
    """How much higher than a knee its goal or the other knee is; of a hand, how much one knee is above the other.

    Nothing, if it is little.
    """
    knees = places[list(KNEES), 2]
    up = max(knees.max(), goal[2]) - places[limb, 2] if limb in KNEES else np.ptp(knees)
    return float(up) if up > HIGH else 0.0


def objection_to(gait: CrawlGait, ground: Ground, limb: int, ends: tuple[Array, Array], seen: bool) -> str:
    """Why a limb is not to go from where it is to a goal, if so; seen says whether somebody has to have seen it."""
    there, uneven = f"the ground where the {CRAWLING[limb]} would come down", ground.roughness(*ends)
    if math.isinf(uneven):
        return f"nobody has seen {there}" if seen else ""
    much = "a metre or more" if uneven > DEEP else f"{100 * uneven:.1f} cm"
    return (
        f"heights of {there} differ by {much}, and it climbs {100 * gait.climb:.1f} cm" if uneven > gait.climb else ""
    )


def _shin(gait: CrawlGait, yaw: float) -> Array:
    """From a knee back to the toes, x y."""
    return np.array([-math.cos(yaw), -math.sin(yaw)]) * gait.shin


LOOKS, SLOWING = 8, 0.6
"""Instants at which a limb may lift: from this share of a lean on, in which it slows down, to its end."""


BACK, ASIDE, SURER = 0.7, 0.37, 0.3
"""For each m that a knee climbs: m that the centre of mass stays back, and leans more, so that the hips need not roll
so far, and m that it is farther inside."""


def lean_of(
    gait: CrawlGait, limb: int, places: Array, goal: Array, way: tuple[Place, Place], most: float, share: float
) -> Array:
    """How far from its place beside the body the centre of mass leans, x y: away from the limb, and back.

    Where a knee climbs it stays back, and is inside of what bears already when the limb lifts, not just at the end
    of the body's way: the limb swings during a share of the step.
    """
    others, climb = np.delete(places, limb, axis=0), climb_of(limb, places, goal)
    start, end = (beside(body, gait.com) for body in way)
    aside = -math.copysign(most + ASIDE * climb, gait.places[limb, 1])
    lean = within(others, beside(way[1], gait.com + np.array([-BACK * climb, aside])), gait.margin) - end
    if climb > 0.0:
        lifting = end - share * (end - start)
        lean = within(others, lifting + lean, gait.margin + SURER * climb) - lifting
    return np.asarray(lean)


def seconds_of(gait: CrawlGait, way: Array, sway: float) -> float:
    """T of (z/g) · 5.77 d/T² = sway: how long the centre of mass needs for a way, x y."""
    return math.sqrt(gait.height / GRAVITY * PEAK * float(np.linalg.norm(way)) / sway)


def safe_lift(gait: CrawlGait, step: CrawlStep, others: Array) -> float:
    """When the limb may lift: the earliest instant after the middle of the lean with the margin inside of others."""
    polygon = SupportPolygon.of(others)
    for time in np.linspace(step.begin + SLOWING * (step.leant - step.begin), step.leant, LOOKS):
        com = beside(step.body_at(time), gait.com) + step.lean_at(time)
        if polygon.margin((*com, 0.0)) >= gait.margin:
            return float(time)
    return step.leant
