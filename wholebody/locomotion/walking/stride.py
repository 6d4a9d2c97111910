"""Stride: the longest steps that a robot's joints are fast enough for; legs that stretch out would need any speed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wholebody.locomotion.balance.stabilizers import as_planned
from wholebody.locomotion.walking.footsteps import Feet, Place, to_place
from wholebody.locomotion.walking.gait import Gait
from wholebody.locomotion.walking.legs import Legs
from wholebody.locomotion.walking.pattern import Pattern
from wholebody.locomotion.walking.walker import Walker

STEPS = 3
INTERVAL = 0.01
"""s from one look at the joints to the next."""
SHARE = 0.85
"""Of the velocity that joints can have; the rest is for balance."""
SHORTEST = 0.2
"""Of the length that was asked for: a robot that cannot do that much walks so, and its joints lag."""
ROUNDS = 5
"""Of halving the interval in which the longest step is."""


def fit(walker: Walker) -> None:
    """Shorten the steps of a robot's gait, at leisure and in need, to what its joints can follow."""
    gait, legs = walker.gait, Legs(walker.model)
    if needed_speed(legs, gait, walker.pattern.feet, gait.limits.length) <= SHARE:
        return
    share, too_much = SHORTEST, 1.0
    for _ in range(ROUNDS):
        half = (share + too_much) / 2
        fits = needed_speed(legs, gait, walker.pattern.feet, gait.limits.length * half) <= SHARE
        share, too_much = (half, too_much) if fits else (share, half)
    limits = replace(gait.limits, length=gait.limits.length * share, in_need=gait.limits.in_need * share)
    walker.gait = replace(gait, limits=limits)
    walker.pattern = Pattern(walker.gait, walker.pattern.feet)


def needed_speed(legs: Legs, gait: Gait, feet: Feet, length: float) -> float:
    """The greatest share of its velocity limit that a joint of the legs needs in some steps of a length, as planned."""
    pattern = Pattern(gait, feet)
    pattern.follow(to_place(feet, Place(STEPS * length, 0.0, 0.0), replace(gait.limits, length=length)), 0.0)
    columns = np.concatenate(legs.columns)
    limits = np.array([legs.model.robot.moving[column].velocity for column in columns])
    most, before = 0.0, None
    for time in np.arange(0.0, gait.begin + (STEPS + 1) * gait.step_time, INTERVAL):
        command = as_planned(pattern.at(float(time)))
        legs.balance(command.com, command.rotation, command.soles)
        joints = legs.joints[columns]
        if before is not None and time > 0.1:
            most = max(most, float(np.max(np.abs(joints - before) / limits)) / INTERVAL)
        before = joints
    return most
