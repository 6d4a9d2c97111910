"""Recovery steps: which foot to put where, at once, when no push of the ground under the feet would help."""

from __future__ import annotations

import math
from dataclasses import replace

from wholebody.locomotion.walking.footsteps import OTHER, OUTWARD, Feet, Footstep, Place, Side
from wholebody.locomotion.walking.gait import Gait
from wholebody.locomotion.walking.pattern import Target
from wholebody.model.layout import Array

RUNS_AWAY = 0.6
"""Of what the divergent component would grow to ahead if the ground pushed under the ankles alone."""


def landing_instead(target: Target, off: Array, shift: Array, threshold: float) -> Place | None:
    """Where to put the foot that swings, if ξ will be off by more than a threshold when it lands.

    With the ground pushing `shift` away from where it was to push, ξ − ξ_ref grows to shift + (off − shift) eᵚᵗ; what
    will have come back by then needs no step. A step further by one takes only `target.dcm_shift` of that.
    """
    goal = target.landing
    if goal is None:
        return None
    grows, then = math.exp(target.omega * target.phase_left), [0.0, 0.0]
    for i, (is_off, shifts) in enumerate(zip(off.tolist(), shift.tolist(), strict=True)):
        will_be = shifts + (is_off - shifts) * grows
        if will_be * is_off > 0.0:
            then[i] = will_be / target.dcm_shift
    if math.hypot(*then) < threshold:
        return None
    return Place(goal.x + then[0], goal.y + then[1], goal.yaw)


def hasty(gait: Gait) -> Gait:
    """The gait of a recovery step: at once and short, the weight at the inner edge of the foot that stays.

    There the robot falls sideways so slowly that no time is lost to shift its weight before.
    """
    inward = 0.3 * gait.limits.spacing
    longest = 1.3 * gait.limits.in_need
    limits = replace(gait.limits, length=longest, in_need=longest)
    return replace(
        gait,
        begin=0.08,
        step_time=1.35 / gait.omega,
        double_support=0.24 / gait.omega,
        inward=inward,
        limits=limits,
    )


def capture_steps(feet: Feet, dcm: Array, gait: Gait) -> tuple[tuple[Footstep, ...], Gait]:
    """A step to where the divergent component will be when the foot lands, and one to put the feet side by side.

    `dcm` is c + ċ / ω, x and y, by the ω of the gait (Target.divergent): of a robot whose legs go along, only that
    one grows as eᵚᵗ while both feet rest.
    """
    quick = hasty(gait)
    side = _foot_that_steps(feet, dcm)
    time = quick.begin + quick.single_support
    lands = quick.limits.kept(Footstep(side, _captured(feet, dcm, gait.omega, time)), feet.of(OTHER[side])).at
    steps = (Footstep(side, lands), Footstep(OTHER[side], lands.beside(0.0, -OUTWARD[side] * gait.limits.spacing)))
    return steps, quick


def closing_step(feet: Feet, gait: Gait) -> tuple[Footstep, ...]:
    """The step that puts the feet side by side again, if they are not."""
    spread = feet.left.seen_from(feet.right)
    if abs(spread.x) < 0.02 and abs(spread.y - gait.limits.spacing) < 0.02:
        return ()
    side: Side = "left" if spread.x < 0 else "right"  # the one behind
    stays = feet.of(OTHER[side])
    return (Footstep(side, stays.beside(0.0, OUTWARD[side] * gait.limits.spacing)),)


def _foot_that_steps(feet: Feet, dcm: Array) -> Side:
    """The one on the side to which the robot falls."""
    across = Place(float(dcm[0]), float(dcm[1]), 0.0).seen_from(feet.middle).y
    return "left" if across > 0 else "right"


def _captured(feet: Feet, dcm: Array, omega: float, time: float) -> Place:
    """Where ξ will be after a time: aside it stays, as the ground pushes below it; ahead it grows, by RUNS_AWAY eᵚᵗ.

    A first guess, as the stabilizer leads the foot elsewhere while it swings.
    """
    seen = Place(float(dcm[0]), float(dcm[1]), feet.middle.yaw).seen_from(feet.middle)
    forward = seen.x * math.exp(omega * time) * RUNS_AWAY
    return feet.middle.beside(forward, seen.y)
