"""CrawlStep: one step of a crawl: the centre of mass leans, then a limb swings. CrawlTarget: an instant of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wholebody.locomotion.walking.footsteps import Place, Velocity
from wholebody.model.layout import Array
from wholebody.motion.capture.gait_plan import minimum_jerk


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
