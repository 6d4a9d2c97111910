"""Pattern: from footsteps to where the feet, the zero moment point and the centre of mass are at every instant.

It is made while walking: steps may be added, replaced and led elsewhere, and what has begun goes on smoothly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from wholebody.locomotion.balance.support_area import nearest_inside
from wholebody.locomotion.walking.footsteps import OTHER, Feet, Footstep, Place, Side, Support
from wholebody.locomotion.walking.gait import Gait, Phase, Planned, between, timetable, under
from wholebody.locomotion.walking.pendulum import ORDERS, ZmpPath
from wholebody.locomotion.walking.swing import FootPoint, Swing, from_rest_to_rest
from wholebody.model.layout import Array


@dataclass(frozen=True, slots=True)
class Target:
    """Where all is to be at an instant, in world."""

    time: float
    support: Support
    left: FootPoint
    right: FootPoint
    zmp: Array  # where the ground pushes
    dcm: Array
    com: Array
    com_velocity: Array
    height: float  # of the centre of mass
    omega: float
    left_share: float  # of the weight
    phase_left: float  # s, to the end of the phase
    landing: Place | None  # where the foot that swings will be put
    dcm_shift: float  # m, by which the divergent component then goes along with a landing that is put a metre further
    pull: Array = field(default_factory=lambda: np.zeros(2))  # from the pendulum's zero moment point to the ground's
    ground: float = 0.0  # m: of the ground under the body, above that at the start

    def divergent(self, com: Array, velocity: Array) -> Array:
        """ξ = c + ċ / ω of a centre of mass that moves so, x and y."""
        return np.asarray(com[:2] + velocity[:2] / self.omega)

    def left_share_at(self, zmp: Array) -> float:
        """Of the weight, if the ground pushes there instead: another than planned only of a robot that stands."""
        if not math.isinf(self.phase_left) or self.support != "both":
            return self.left_share
        return borne_by_left(zmp, np.array(self.left.place[:2]), np.array(self.right.place[:2]))

    def foot(self, side: Side) -> FootPoint:
        """One of the feet."""
        return self.left if side == "left" else self.right

    @property
    def body(self) -> Place:
        """Between the feet."""
        return Feet(self.left.place, self.right.place).middle


FACTORIALS: Array = np.array([math.factorial(order) for order in range(ORDERS)], dtype=float)


def borne_by_left(point: Array, left: Array, right: Array) -> float:
    """Of the weight, if the ground pushes at a point: (p − r) · (l − r) / |l − r|², of feet that push at l and r."""
    (px, py), (lx, ly), (rx, ry) = point.tolist(), left.tolist(), right.tolist()
    x, y = lx - rx, ly - ry
    share: float = ((px - rx) * x + (py - ry) * y) / max(x * x + y * y, 1e-9)
    return min(max(share, 0.0), 1.0)


def sum_of(feet: Feet) -> Array:
    """Of their places, x and y."""
    return np.array([feet.left.x + feet.right.x, feet.left.y + feet.right.y])


def swung(before: Feet, after: Feet, duration: float) -> Array:
    """The sum of both feet's places and its derivatives when one of them begins to swing, if any: 6 × 2."""
    derivatives = from_rest_to_rest(sum_of(after) - sum_of(before), duration)
    derivatives[0] += sum_of(before)
    return derivatives


def later(derivatives: Array, duration: float) -> Array:
    """Those of the same polynomial some time later: its Taylor series."""
    terms = duration ** np.arange(ORDERS) / FACTORIALS
    return np.array([terms[: ORDERS - order] @ derivatives[order:] for order in range(ORDERS)])


_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(8)


SHARES: Array = 0.5 * (1.0 + _POINTS)
"""Of the time of a swing: where it is looked at to integrate over it (Gauss and Legendre)."""


WAYS: Array = 0.5 * _WEIGHTS * SHARES**3 * (10.0 - 15.0 * SHARES + 6.0 * SHARES**2)


LEAST = 0.25
"""Smallest allowed ratio of capture by a step with heavy legs to capture by weight shift alone."""


def dcm_shift(omega: float, leg_share: float, left: float, double_support: float, then: float) -> float:
    """Δξ / d of the plan when a foot lands that is put further by d, in `left` seconds, as is all that follows.

    ξ(t) of a pendulum is ω ∫ eᵚ⁽ᵗ⁻ˢ⁾ z(s) ds over all that comes. The weight goes over to the foot in the time T of
    double support: (1 − e⁻ᵚᵀ) / ωT. But the legs that go further, this one and the other in its swing of `then` seconds
    (none if 0), put z back by leg_share of their ways, see Pattern.
    """
    slow = omega * double_support
    weight = -math.expm1(-slow) / slow
    legs = math.exp(omega * left) * _way_to_come(omega, left)
    if then > 0.0:
        legs += math.exp(-slow) * _way_to_come(omega, then)
    return max(weight - leg_share * legs, LEAST * weight)


def _way_to_come(omega: float, duration: float) -> float:
    """ω ∫ e⁻ᵚᵗ x(t) dt of a foot that goes a metre in that time, and stays there."""
    total = float(WAYS @ np.exp(-omega * duration * SHARES))
    return omega * duration * total + math.exp(-omega * duration)


SHIFT = 0.1
"""s in which the weight of a robot that is told to stop goes to where it brakes."""
BRAKES = 0.6
"""Share of the way from the middle of a sole to its edge that the weight may go to brake."""
BACK = 0.5
"""Of the time to settle: that in which the weight comes back from where it is caught. In less of it, it is caught
further ahead, and the centre of mass goes less far past its rest: 40 mm from a walk at 0.25 m/s, and 55 mm with 1."""


class Pattern:
    """The walk as it is planned now.

    The zero moment point rests under the foot that supports, and goes in a straight line to the other while both do;
    the centre of mass follows in closed form (see ZmpPath). A pendulum has no legs. With them,

        p = c − c̈ / ω₀² + w (ẍ − u c̈) / ω₀²,   so   c̈ = ω² (c − p) + k ẍ,   k = w / (1 + u w),   ω² = ω₀² / (1 + u w),

    where ω₀² = g / height, w is the gait's swing_share, u is UNDER_BODY, k its leg_share, and x the sum of both feet's
    places. So the body b = c − k x without its legs is a pendulum, b̈ = ω² (b − z), over z = p − k x: what is laid here.
    """

    def __init__(self, gait: Gait, feet: Feet, time: float = 0.0) -> None:
        """Stand on these feet."""
        self.gait = gait  # of all that is planned from now on
        self.feet = feet  # where they stand, or stood last
        self.swing = Swing  # how they go from place to place
        self._phases: list[Phase] = []
        self._swing: Swing | None = None
        self._stand(time)

    def _stand(self, time: float) -> None:
        """Rest between the feet; legs of another weight, of another gait, count no sooner."""
        self._leg_share = self.gait.leg_share
        body = between(self.feet, self.gait) - self._leg_share * sum_of(self.feet)
        self._path = ZmpPath([time, time + 0.01], [body, body], self.gait.omega, body)

    # What is to come.

    @property
    def steps(self) -> tuple[Footstep, ...]:
        """The steps still to be done, the one that is under way first."""
        return tuple(phase.step for phase in self._phases if phase.step is not None)

    @property
    def standing(self) -> bool:
        """Whether all steps are done, and the weight is between the feet."""
        return not self._phases

    @property
    def ends(self) -> float:
        """When all that is planned is done, s; long ago if it stands."""
        return self._phases[-1].end if self._phases else -np.inf

    @property
    def settled(self) -> bool:
        """Whether there is no step to do any more, though the weight may still be on its way to between the feet."""
        return not self.steps

    def feet_after(self, count: int) -> Feet:
        """Where the feet will stand after so many of the steps."""
        feet = self.feet
        for step in self.steps[:count]:
            feet = feet.after(step)
        return feet

    def follow(self, steps: Sequence[Footstep], time: float, keep: int = 0, gait: Gait | None = None) -> None:
        """Keep the first so many steps to come, at least the one that is under way, and go on with these.

        A gait for this occasion is forgotten when the first step is done.
        """
        under_way = bool(self._phases) and self._phases[0].step is not None
        kept = self._planned[: max(keep, 1 if under_way else 0)]
        gaits = [gait or self.gait, *[self.gait] * len(steps)]
        todo = [*kept, *(Planned(step, how) for step, how in zip(steps, gaits, strict=False))]
        if not todo:
            return
        gaits[0].limits.check(steps, self.feet_after(len(kept)))
        self._plan(todo, time)

    def adopt(self, gait: Gait, time: float, keep: int) -> None:
        """Walk otherwise from now on; the first so many steps to come stay as they are, the others are timed anew."""
        self.gait, planned = gait, self._planned
        if len(planned) > keep:
            self._plan([*planned[:keep], *(each._replace(gait=gait) for each in planned[keep:])], time)

    def redirect(self, place: Place, time: float) -> None:
        """Put the foot that swings elsewhere, as near as it can be, and all that follows as far from it as it was."""
        phase = self._phases[0] if self._phases else None
        if phase is None or phase.step is None or self._swing is None:
            return
        was = phase.step.at
        wanted = Footstep(phase.step.side, place)
        self._swing.redirect(time, phase.gait.limits.kept(wanted, self.feet.of(OTHER[wanted.side])).at)
        self._move(was, self._swing.goal, time)

    def _move(self, was: Place, place: Place, time: float) -> None:
        """Plan all steps to come anew, as if what was there were at another place."""
        moved = [
            Planned(Footstep(step.side, place.beside(*step.at.seen_from(was))), gait) for step, gait in self._planned
        ]
        self._plan(moved, time)

    def land_early(self, time: float) -> None:
        """The foot that swings is on the ground before its time: it stays, and all that follows is as far from it."""
        phase = self._phases[0] if self._phases else None
        if phase is None or phase.step is None or self._swing is None:
            return
        place = self._swing.at(time).place
        self._swing = Swing(place, place, time, max(phase.end, time + 1e-3), 0.0)
        self._move(phase.step.at, place, time)

    def halt(self, time: float, area_of: Callable[[Support, Feet], Array]) -> None:
        """Do no step but one that is under way, or has no time to be called off; rest on both feet where they are then.

        The divergent component, which is linear in where the weight is, goes on from where it is. While one foot bears,
        the weight goes to the point of its sole from which it would be caught between the feet, or nearly so; then it
        is caught at the point of the area that both span, or at the nearest one inside, and goes to between them.
        """
        if self.settled:
            return
        gait, old = self.gait, self._path.at(time)
        kept = self._phases[: self._too_late_for(time)]
        feet, landing = (kept[-1].feet, kept[-1].end) if kept else (self.feet, time)
        caught, middle = landing + gait.double_support, between(feet, self.gait)
        back, at_rest = caught + BACK * gait.settle, caught + (BACK + 0.5) * gait.settle

        def lay(weight: Array, braking: Array | None = None) -> Array:
            self._phases = [
                *(phase if braking is None else phase._replace(weight=braking, shift=SHIFT) for phase in kept),
                Phase(landing, caught, "both", None, feet, weight, gait),
                Phase(caught, back, "both", None, feet, middle, gait),
                Phase(back, at_rest, "both", None, feet, middle, gait),  # the centre of mass comes last
            ]
            self._lay_path(time, old.zmp, old.com)
            return self._path.at(time).dcm

        braking = None
        if kept and landing - time > SHIFT:
            under = kept[-1].weight
            best = _root(lambda point: lay(middle, point) - old.dcm, under)
            braking = under + BRAKES * (nearest_inside(area_of(kept[-1].support, feet), best) - under)
        lay(nearest_inside(area_of("both", feet), _root(lambda point: lay(point, braking) - old.dcm, middle)), braking)

    def _too_late_for(self, time: float) -> int:
        """How many phases cannot be called off: a step under way; a step to which most of the weight has gone over."""
        now = self._phases[0]
        if now.step is not None:
            return 1
        return 2 if now.end - time < 0.7 * self.gait.double_support else 0

    # What is now.

    def at(self, time: float) -> Target:
        """Go on to a time, never back, and say where all is to be."""
        while self._phases and time >= self._phases[0].end:
            done = self._phases.pop(0)
            self.feet, self._swing = done.feet, None
        phase = self._phases[0] if self._phases else None
        left, right = FootPoint(self.feet.left, 0.0), FootPoint(self.feet.right, 0.0)
        if phase is not None and phase.step is not None:
            if self._swing is None:
                self._swing = self._new_swing(phase)
            point = self._swing.at(time)
            left, right = (point, right) if phase.step.side == "left" else (left, point)
        body, omega, legs = self._path.at(time), self._path.omega, self._leg_share
        way, speed, acceleration = legs * self._of_feet(time)[:3]
        zmp, com, velocity = body.zmp + way, body.com + way, body.com_velocity + speed
        support: Support = "both" if phase is None else phase.support
        return Target(
            time,
            support,
            left,
            right,
            zmp,
            com + velocity / omega,
            com,
            velocity,
            self.gait.height,
            omega,
            self._share(support, zmp, self.gait if phase is None else phase.gait),
            np.inf if phase is None else phase.end - time,
            None if phase is None or phase.step is None else phase.step.at,
            self._dcm_shift(time),
            acceleration / omega**2,
        )

    def _of_feet(self, time: float) -> Array:
        """The sum of both feet's places and its derivatives: 6 × 2."""
        if self._swing is None:
            derivatives: Array = np.zeros((ORDERS, 2))
            derivatives[0] = sum_of(self.feet)
        else:
            assert self._phases[0].step is not None
            derivatives = self._swing.derivatives(time)[:, :2]
            derivatives[0] += self.feet.of(OTHER[self._phases[0].step.side])[:2]
        return derivatives

    def _dcm_shift(self, time: float) -> float:
        if not self._phases or self._phases[0].step is None:
            return 0.0
        left, then = self._phases[0].end - time, 0.0
        if len(self._phases) > 2 and self._phases[2].step is not None:
            then = self._phases[2].end - self._phases[2].begin
        return dcm_shift(self._path.omega, self._leg_share, left, self.gait.double_support, then)

    def _new_swing(self, phase: Phase) -> Swing:
        assert phase.step is not None
        start = self.feet.of(phase.step.side)
        gait, times = phase.gait, (phase.begin, phase.end)
        return self.swing(start, phase.step.at, *times, gait.lift, gait.via, gently=gait.gently)

    def _share(self, support: Support, zmp: Array, gait: Gait) -> float:
        if support != "both":
            return 1.0 if support == "left" else 0.0
        return borne_by_left(zmp, under(self.feet, "left", gait), under(self.feet, "right", gait))

    @property
    def _planned(self) -> list[Planned]:
        return [Planned(phase.step, phase.gait) for phase in self._phases if phase.step is not None]

    def _plan(self, todo: Sequence[Planned], time: float) -> None:
        """Make these the steps to come, from what is now."""
        if self.standing and self._leg_share != self.gait.leg_share:
            self._stand(time)
        old, now = self._path.at(time), None if self.settled else self._phases[0]
        self._phases = timetable(self.feet, now, todo, self.gait, time)
        self._lay_path(time, old.zmp, old.com)

    def _lay_path(self, time: float, zmp: Array, com: Array) -> None:
        """From here on; both are the body's, on the path that was laid before."""
        feet, legs = self._of_feet(time), self._leg_share
        times, ground, ways = [time], [zmp + legs * feet[0]], [feet]
        stood = self.feet
        for phase in self._phases:
            if phase.end > time + 1e-6:
                if self._swing is None or phase is not self._phases[0]:
                    ways[-1] = swung(stood, phase.feet, phase.end - times[-1])
                if times[-1] + phase.shift < phase.end:
                    times.append(times[-1] + phase.shift)
                    ground.append(phase.weight)
                    ways.append(later(ways[-1], phase.shift))
                times.append(phase.end)
                ground.append(phase.weight)
                ways.append(swung(phase.feet, phase.feet, 1.0))
            stood = phase.feet
        if len(times) == 1:
            times, ground, ways = [time, time + 0.01], 2 * ground, 2 * ways
        self._path = ZmpPath(times, ground, self._path.omega, com, -legs * np.array(ways))


def _root(of: Callable[[Array], Array], near: Array) -> Array:
    """Where a function of a point is zero that is linear, and the same in both directions."""
    there = of(near)
    per_metre = float((of(near + np.array([1.0, 0.0])) - there)[0])
    return near - there / per_metre
