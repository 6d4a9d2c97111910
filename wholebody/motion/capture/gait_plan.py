"""GaitPlan: a captured gait made fit for a robot: places of its limbs, times, and where its centre of mass goes.

Places. Each limb bears, on average, where the person's did from its hip or shoulder, scaled by the length of the
limb. All limbs make the same step, the stride, which is the person's, scaled by the legs. A limb that bears stays
exactly where it is, at the height of the ground.

Times. Swings keep their order and their durations. If more limbs would fly at once than may, the later one waits, and
also until the centre of mass has come to where the others bear it. At a height z, a minimum-jerk motion over a distance
d in a time T takes the zero-moment point away from the centre of mass by (z/g) · 5.77 d/T² at most, which is to stay
below SWAY; meanwhile more limbs bear than during a swing, and their polygon is wider.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wholebody.errors import CannotImitate
from wholebody.motion.capture.gait import CapturedGait
from wholebody.motion.capture.imitator import within
from wholebody.motion.trajectory import Array

GRAVITY = 9.81
PEAK = 5.7735  # of the acceleration of a minimum-jerk motion: 10/√3 · d/T²
SWAY = 0.025  # m, of the zero-moment point about the centre of mass
SLOWEST = 5.0
CLEARANCE = 0.04  # m, at least, of a limb that flies
BRIEFEST = 0.15  # s, between swings
REMEDY = "Tell a shorter stride, a smaller margin or briefer swings (--stride, --margin, --slower of motion imitate)"
REMEDY_OF_WALKS = (
    "On two feet the weight has to come to rest above one before the other lifts, and a walk leaves no time for it: "
    "imitate one who crawls, or all of this in the person's own time, without balance (motion imitate --whole)"
)


@dataclass(frozen=True, eq=False)
class Stance:
    """How a robot is on its limbs: their neutral places (limbs × 3), its centre of mass, and its configuration.

    Limbs count as points, the middles of their surfaces: which corner of a tilted one bears is not known before.
    """

    places: Array
    com: Array
    q: Array


@dataclass(frozen=True, eq=False)
class GaitPlan:
    """One cycle, from the first lift; after `period` seconds all is the same, a stride further along x.

    order      the limb of each swing
    lifts      when each begins, in s
    downs      when each ends
    before     limbs × 3: where each limb is before its swing
    com        swings × 2: where the centre of mass is during each swing
    stance     in the middle of the cycle
    """

    gait: CapturedGait
    stride: float
    period: float
    order: tuple[int, ...]
    lifts: Array
    downs: Array
    before: Array
    heights: Array  # of each swing, samples over its ground
    com: Array
    stance: Stance

    @property
    def slow_down(self) -> float:
        """How many times longer than the person's cycle."""
        return self.period / self.gait.period

    def bearing(self, time: float) -> tuple[bool, ...]:
        """Which limbs bear at a time."""
        now = time % self.period
        flying = {limb for limb, up, down in zip(self.order, self.lifts, self.downs, strict=True) if up < now < down}
        return tuple(limb not in flying for limb in range(len(self.order)))

    def along(self, strides: float) -> Array:
        """So many strides, x y z."""
        return np.array([strides * self.stride, 0.0, 0.0])

    def limb(self, limb: int, time: float) -> Array:
        """Where a limb is to be, x y z over the ground."""
        cycles, now = divmod(time, self.period)
        k = self.order.index(limb)
        place = self.before[limb] + self.along(cycles)
        if now >= self.downs[k]:
            return np.asarray(place + self.along(1.0))
        if now <= self.lifts[k]:
            return np.asarray(place)
        share = minimum_jerk((now - self.lifts[k]) / (self.downs[k] - self.lifts[k]))
        swing = self.gait.swings[k]
        even = np.linspace(0.0, 1.0, len(swing.along))
        forward, up = np.interp(share, even, swing.along), np.interp(share, even, self.heights[k])
        return np.asarray(place + self.along(forward) + np.array([0.0, 0.0, up]))

    def com_at(self, time: float) -> Array:
        """Where the centre of mass is to be, x y: still during a swing, and on its way between two."""
        cycles, now = divmod(time, self.period)
        k = int(np.searchsorted(self.lifts, now, side="right")) - 1
        ahead = self.along(cycles)[:2]
        if now <= self.downs[k]:
            return np.asarray(self.com[k] + ahead)
        last = k + 1 == len(self.com)
        until = self.period if last else self.lifts[k + 1]
        goal = self.com[0] + self.along(1.0)[:2] if last else self.com[k + 1]
        share = minimum_jerk((now - self.downs[k]) / (until - self.downs[k]))
        return np.asarray(self.com[k] + share * (goal - self.com[k]) + ahead)

    def captured_com_at(self, time: float) -> Array:
        """Where the centre of mass would be, x y, if it went along as the person's pelvis did."""
        cycles, now = divmod(time, self.period)
        way = self.gait.trunk
        there = np.interp(self.phase(now) * (len(way) - 1), np.arange(len(way)), way[:, 0])
        aside = np.interp(self.phase(now) * (len(way) - 1), np.arange(len(way)), way[:, 1])
        return np.asarray(self.stance.com[:2] + self.stride * (np.array([cycles + there, aside]) - self._mean_trunk))

    def phase(self, time: float) -> float:
        """The share of the person's cycle at a time of ours: lifts and touchdowns fall together."""
        swings, frames = self.gait.swings, self.gait.period / self.gait.capture.frame_time
        theirs = np.array([event for swing in swings for event in (swing.lift, swing.touchdown)]) - swings[0].lift
        theirs = np.minimum(np.maximum.accumulate(theirs) / frames, 1.0)
        ours = np.column_stack([self.lifts, self.downs]).ravel()
        return float(np.interp(time, [*ours, self.period], [*theirs, 1.0]))

    @cached_property
    def _mean_trunk(self) -> Array:
        """Of the person's trunk over our cycle, in strides."""
        way = self.gait.trunk
        phases = np.array([self.phase(time) for time in np.linspace(0.0, self.period, 200)]) * (len(way) - 1)
        return np.array([np.interp(phases, np.arange(len(way)), axis).mean() for axis in way.T])


def minimum_jerk(share: float) -> float:
    """From 0 to 1, at rest at both ends."""
    x = min(max(share, 0.0), 1.0)
    return x * x * x * (10 - 15 * x + 6 * x * x)


def planned(
    gait: CapturedGait,
    stance: Stance,
    stride: float,
    lift_scales: Sequence[float],
    *,
    supports: int,
    margin: float,
    slower: float = 1.0,
) -> GaitPlan:
    """Plan a cycle; CannotImitate if it would take more than five times as long as the person's."""
    count = len(gait.swings)
    if not 1 <= supports < count:
        raise CannotImitate(
            f"{supports} limbs are to bear, of {count}; at least one must bear, and one be free to move"
        )
    order = tuple(swing.limb for swing in gait.swings)
    phases = (np.arange(count) + 0.5) / count
    before = stance.places.copy()
    for phase, limb in zip(phases, order, strict=True):
        before[limb, 0] += stride * (phase - 1.0)
    com = _com_targets(stance, before, order, stride, phases, margin)
    durations = slower * gait.durations
    steps = np.linalg.norm(np.vstack([np.diff(com, axis=0), com[:1] + np.array([stride, 0.0]) - com[-1:]]), axis=1)
    waits = np.sqrt(stance.com[2] / GRAVITY * PEAK * steps / SWAY)
    lifts, downs, period = _timed(gait, durations, np.maximum(waits, BRIEFEST), count - supports, slower)
    if period > SLOWEST * gait.period:
        raise CannotImitate(
            f"{gait.capture.source} cannot be re-sequenced so that {supports} of {', '.join(gait.limbs)} bear at any "
            f"time: with {margin:.3f} m of margin a cycle of {stride:.2f} m would take {period:.1f} s, "
            f"{period / gait.period:.1f} times the person's {gait.period:.1f} s; at most {SLOWEST:g} times. "
            + (REMEDY if count > 2 else REMEDY_OF_WALKS)
        )
    heights = np.array([_lifted(lift_scales[swing.limb] * swing.height) for swing in gait.swings])
    return GaitPlan(gait, stride, period, order, lifts, downs, before, heights, com, stance)


def _lifted(height: Array) -> Array:
    """Heights of a swing that reach the clearance: what is missing comes as a bump, 16 x² (1 − x)²."""
    x = np.linspace(0.0, 1.0, len(height))
    return np.asarray(height + max(0.0, CLEARANCE - float(height.max())) * 16 * x**2 * (1 - x) ** 2)


def _com_targets(
    stance: Stance, before: Array, order: Sequence[int], stride: float, phases: Array, margin: float
) -> Array:
    """Where the centre of mass is during each swing: inside what then bears, nearest to where it would be anyway."""
    places, targets = before.copy(), []
    for phase, limb in zip(phases, order, strict=True):
        points = [places[other] for other in range(len(order)) if other != limb]
        requested = stance.com[:2] + np.array([stride * (phase - 0.5), 0.0])
        targets.append(within(points, requested, margin))
        places[limb, 0] += stride
    return np.array(targets)


def _timed(
    gait: CapturedGait, durations: Array, waits: Array, flying: int, slower: float
) -> tuple[Array, Array, float]:
    """Lifts, touchdowns and the period: as the person's, or later where too many would fly or the CoM is not there."""
    rate = slower * gait.capture.frame_time
    theirs = np.array([swing.lift - gait.swings[0].lift for swing in gait.swings]) * rate
    lifts, downs = np.zeros(len(theirs)), np.zeros(len(theirs))
    for k in range(len(theirs)):
        if k:
            free = downs[k - flying] + waits[k - 1] if k >= flying else 0.0
            lifts[k] = max(theirs[k], free, lifts[k - 1])
        downs[k] = lifts[k] + durations[k]
    period = max(slower * gait.period, max(downs) + waits[-1])
    return lifts, downs, float(period)
