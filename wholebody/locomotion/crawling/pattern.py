"""CrawlPattern: where limbs and centre of mass are to be while a robot crawls, planned step by step as velocity says.

The body B is a place on the ground that moves at the velocity wanted. In a step the centre of mass leans away from the
limb that is to swing, to where the three others bear it, and the limb swings as soon as this is safe: the centre of
mass is inside their triangle by the margin, and slows down, which takes the zero-moment point deeper inside. The limb
comes down at its neutral place beside where the body will be half a cycle later, so that it bears as long before the
body as behind. Whatever the velocity becomes, it counts from the next step on. At rest, limbs that are not at
their places step there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from wholebody.locomotion.crawling.footholds import Ground, LevelGround, beside
from wholebody.locomotion.crawling.gait import FORWARD, CrawlGait
from wholebody.locomotion.footsteps import Place, Velocity
from wholebody.locomotion.pendulum import GRAVITY
from wholebody.model.layout import Array
from wholebody.model.support import SupportPolygon
from wholebody.motion.captured_gait import CRAWLING
from wholebody.motion.gait_plan import PEAK, minimum_jerk
from wholebody.motion.support_target import within

AT_PLACE = 0.02
"""m. Nearer to its place a limb need not step."""
REST, ORIGIN = Velocity(), Place(0.0, 0.0, 0.0)
HAND_OVER = 0.06
"""s. In which a limb gives away what it bears before it lifts, and takes it up after it came down."""
ALONG = 0.3
"""The share of the longest stride above which it goes forward or backward, and does not just turn."""
KNEES = tuple(limb for limb, part in enumerate(CRAWLING) if part.endswith("knee"))
LOOKS, SLOWING = 8, 0.6
"""Instants at which a limb may lift: from this share of a lean on, in which it slows down, to its end."""


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

    places and velocity are those at the begin, goal is where the limb comes down, x y z, and rise how much higher than
    a straight way it goes; behind (2 × 4) is how much higher than limbs feet are carried, at the begin and at the
    end; lean (2 × 2) is from where to where the centre of mass leans, x y in
    world, from its place beside the body.
    """

    begin: float
    leant: float
    lift: float
    end: float
    limb: int | None
    places: Array
    goal: Array
    rise: float
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


class CrawlPattern:
    """An endless plan; `velocity` and `gait` may be set at any time, and count from the next step on.

    At the same velocity, a slower pace of the gait makes longer steps.
    """

    def __init__(self, gait: CrawlGait, time: float = 0.0, body: Place = ORIGIN, ground: Ground | None = None) -> None:
        self.gait, self.velocity = gait, REST
        self.ground = ground or LevelGround()
        self.steps = 0
        self._last = FORWARD[-1]
        self._durations = np.full(4, gait.swing + 2 * gait.briefest)
        self._step = self._resting(time, gait_places(gait, body), np.zeros(4), np.zeros(2), body, REST)

    @property
    def period(self) -> float:
        """Seconds of a cycle, as the last four steps were."""
        return float(self._durations.sum())

    @property
    def landed(self) -> int:
        """The limb that came down last."""
        return self._last

    @property
    def body(self) -> Place:
        """Where the body is to be at the end of the step."""
        return self._step.body[1]

    @property
    def standing(self) -> bool:
        """Whether all limbs are on the ground at their places, and nothing more is wanted."""
        return self._step.limb is None and self.velocity == REST and self._away(self._step.places).max() < AT_PLACE

    def at(self, time: float) -> CrawlTarget:
        """The target at a time; times never go back."""
        while time >= self._step.end:
            self._step = self._next(self._step)
        step = self._step
        body = step.body_at(time)
        places, load = step.places.copy(), np.ones(4)
        ground = places[:, 2].copy()
        load[self._last] = min(1.0, (time - step.begin) / HAND_OVER)
        flies = step.limb is not None and time > step.lift
        if step.limb is not None:
            load[step.limb] = min(load[step.limb], max(0.0, (step.lift - time) / HAND_OVER))
        if flies:
            phase = (time - step.lift) / (step.end - step.lift)
            places[step.limb] += minimum_jerk(phase) * (step.goal - places[step.limb])
            ground[step.limb] = places[step.limb, 2]
            places[step.limb, 2] += step.rise * 16 * phase**2 * (1 - phase) ** 2
        bearing = tuple(not (flies and limb == step.limb) for limb in range(4))
        com = beside(body, self.gait.com) + step.lean_at(time)
        return CrawlTarget(places, ground, step.behind_at(time), bearing, load, com, body)

    # --- step by step ------------------------------------------------------------------------------

    def _next(self, done: CrawlStep) -> CrawlStep:
        places = done.places.copy()
        if done.limb is not None:
            places[done.limb] = done.goal
            self._last = done.limb
            self.steps += 1
        limb, start, before = self._chosen(places), done.body[1], done.velocity[1]
        if limb is None:
            return self._resting(done.end, places, done.behind[1], done.lean[1], start, before)
        gait, velocity = self.gait, self.gait.clamped(self.velocity, self.period)
        mean = Velocity(*((a + b) / 2 for a, b in zip(before, velocity, strict=True)))
        body = start.moved(mean, float(self._durations[limb]))
        goal = self._foothold(body.moved(velocity, (self.period - gait.swing) / 2), limb)
        others = np.delete(places, limb, axis=0)
        neutral = beside(body, gait.com)
        aside = -math.copysign(self._most[0], gait.places[limb, 1])
        lean = within(others, beside(body, gait.com + np.array([0.0, aside])), gait.margin) - neutral
        leant = done.end + max(self._wait(done.lean[1], lean), gait.briefest) / gait.pace
        swing = gait.swing_of(limb, float(np.linalg.norm((goal - places[limb])[:2])))
        planned = CrawlStep(
            done.end, leant, leant, leant + swing, limb, places, goal, self._rise(places[limb], goal),
            np.array([done.behind[1], self._behind(places, limb, goal, body.yaw)]),
            np.array([done.lean[1], lean]), (start, body), (before, velocity),
        )  # fmt: skip
        lift = max(self._safe(planned, others), done.end + gait.briefest / gait.pace)
        self._durations[limb] = lift + swing - done.end
        return replace(planned, lift=lift, end=lift + swing)

    def _rise(self, start: Array, goal: Array) -> float:
        """How much higher than a straight way a limb has to go to get over what is on it."""
        over = self.ground.highest_between(start, goal) - float(min(start[2], goal[2]))
        return self.gait.lift + max(0.0, over)

    def _shin(self, yaw: float) -> Array:
        """From a knee back to the toes, x y."""
        return np.array([-math.cos(yaw), -math.sin(yaw)]) * self.gait.shin

    def _foothold(self, body: Place, limb: int) -> Array:
        """Where a limb is put that belongs to a body."""
        shin = self._shin(body.yaw) if limb in KNEES else None
        return self.ground.foothold(beside(body, self.gait.places[limb]), shin)

    def _behind(self, before: Array, limb: int, goal: Array, yaw: float) -> Array:
        """How much higher than limbs feet have to be carried, once a limb has come to its goal."""
        places, result = before.copy(), np.zeros(4)
        places[limb] = goal
        for knee in KNEES:
            toes = places[knee, :2] + self._shin(yaw)
            over = self.ground.highest_between(places[knee], toes) - float(places[knee, 2])
            result[knee] = max(0.0, over) + self.gait.toes
        return result

    def _safe(self, step: CrawlStep, others: Array) -> float:
        """When the limb may lift: the earliest instant after the middle of the lean with the margin."""
        polygon = SupportPolygon.of(others)
        for time in np.linspace(step.begin + SLOWING * (step.leant - step.begin), step.leant, LOOKS):
            com = beside(step.body_at(time), self.gait.com) + step.lean_at(time)
            if polygon.margin((*com, 0.0)) >= self.gait.margin:
                return float(time)
        return step.leant

    def _resting(
        self, time: float, places: Array, behind: Array, lean: Array, body: Place, before: Velocity
    ) -> CrawlStep:
        """All limbs on the ground, the centre of mass goes to the middle and stays."""
        end = time + max(self._wait(lean, np.zeros(2)), self.gait.briefest)
        stop = body.moved(Velocity(*(value / 2 for value in before)), end - time)
        leans, behinds = np.array([lean, np.zeros(2)]), np.array([behind, behind])
        return CrawlStep(
            time, end, end, end, None, places, np.zeros(3), 0.0, behinds, leans, (body, stop), (before, REST)
        )  # fmt: skip

    def _wait(self, start: Array, end: Array) -> float:
        """T of (z/g) · 5.77 d/T² = sway: how long the centre of mass needs."""
        way = float(np.linalg.norm(end - start))
        return math.sqrt(self.gait.height / GRAVITY * PEAK * way / self._most[1])

    @property
    def _most(self) -> tuple[float, float]:
        """Lean and sway: careful ones, unless it goes forward."""
        gait = self.gait
        return (gait.lean, gait.sway) if self._along > ALONG else (gait.careful_lean, gait.careful_sway)

    @property
    def _along(self) -> float:
        """How much of the longest stride is wanted, forward."""
        return self.velocity.forward * self.period / self.gait.forward

    def _chosen(self, places: Array) -> int | None:
        """The limb to swing: the next in order while there is a velocity, else the next that is away from its place."""
        order = FORWARD if self._along > -ALONG else FORWARD[::-1]
        after = order.index(self._last) + 1
        following = (*order[after:], *order[:after])
        if self.velocity != REST:
            return following[0]
        away = self._away(places)
        return next((limb for limb in following if away[limb] > AT_PLACE), None)

    def _away(self, places: Array) -> Array:
        """How far limbs are from their places beside the body."""
        body = self._step.body[1]
        neutral = np.array([self._foothold(body, limb) for limb in range(4)])
        return np.asarray(np.linalg.norm((places - neutral)[:, :2], axis=1))


def gait_places(gait: CrawlGait, body: Place) -> Array:
    """Neutral places of the limbs (4 × 3) beside a body."""
    return np.array([[*beside(body, place), 0.0] for place in gait.places])


def _in_world(body: Place, velocity: Velocity) -> tuple[float, float, float]:
    """A velocity in the axes of the body, in world."""
    x, y, _ = Place(0.0, 0.0, body.yaw).beside(velocity.forward, velocity.leftward)
    return x, y, velocity.turn
