"""Recovery steps: which foot to put where, at once, when no push of the ground under the feet would help."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from wholebody.locomotion.estimates import Estimates
from wholebody.locomotion.footsteps import OTHER, OUTWARD, Feet, Footstep, Place, Side
from wholebody.locomotion.gait import Gait


def hasty(gait: Gait) -> Gait:
    """The gait of a recovery step: at once and short, the weight at the inner edge of the foot that stays.

    There the robot falls sideways so slowly that no time is lost to shift its weight before.
    """
    inward = 0.3 * gait.limits.spacing
    return replace(gait, begin=0.1, step_time=0.55 * gait.step_time, double_support=0.1 * gait.step_time, inward=inward)


def capture_steps(feet: Feet, estimates: Estimates, gait: Gait) -> tuple[tuple[Footstep, ...], Gait]:
    """A step to where the divergent component will be when the foot lands, and one to put the feet side by side."""
    quick = hasty(gait)
    dcm = estimates.dcm(gait.omega)
    side = _foot_that_steps(feet, dcm)
    time = quick.begin + quick.single_support
    stays = feet.of(OTHER[side])
    lands = _kept_in_reach(_captured(feet, dcm, gait.omega, time), stays, side, gait)
    steps = (Footstep(side, lands), Footstep(OTHER[side], lands.beside(0.0, -OUTWARD[side] * gait.limits.spacing)))
    return steps, quick


def _foot_that_steps(feet: Feet, dcm: np.ndarray) -> Side:
    """The one on the side to which the robot falls."""
    across = Place(float(dcm[0]), float(dcm[1]), 0.0).seen_from(feet.middle).y
    return "left" if across > 0 else "right"


def _captured(feet: Feet, dcm: np.ndarray, omega: float, time: float) -> Place:
    """Where ξ will be after a time, if the ground pushes under the point of the feet's line nearest to it."""
    seen = Place(float(dcm[0]), float(dcm[1]), 0.0).seen_from(feet.middle)
    forward = seen.x * math.exp(omega * time) * 0.6
    return feet.middle.beside(forward, seen.y)


def _kept_in_reach(place: Place, stays: Place, side: Side, gait: Gait) -> Place:
    forward, leftward, _ = place.seen_from(stays)
    limits = gait.limits
    aside = min(max(OUTWARD[side] * leftward, limits.spacing), limits.widest)
    forward = min(max(forward, -limits.length), limits.length)
    return stays.beside(forward, OUTWARD[side] * aside)
