"""timetable: which feet bear when, and where the weight is meanwhile, for steps that are to be done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wholebody.locomotion.walking.footsteps import OTHER, OUTWARD, Feet, Footstep, Side, Support
from wholebody.locomotion.walking.gait import Gait
from wholebody.model.layout import Array


class Planned(NamedTuple):
    """A step to come, and how it will be made."""

    step: Footstep
    gait: Gait


class Phase(NamedTuple):
    """A time in which the same feet support: what swings meanwhile, and where the weight is when it ends."""

    begin: float
    end: float
    support: Support
    step: Footstep | None  # in single support
    feet: Feet  # at its end
    weight: Array  # zero moment point at its end
    gait: Gait
    shift: float = np.inf  # s in which it gets there, if that is sooner


def timetable(feet: Feet, now: Phase | None, todo: Sequence[Planned], rest: Gait, time: float) -> list[Phase]:
    """The phases of steps from feet that stand so, or stood last; the one that is under way keeps its times.

    While the weight goes from a step to the next, the gait is that of the next; after the last it is `rest`.
    """
    (first, gait), phases = todo[0], list[Phase]()
    weight = under(feet, OTHER[first.side], gait)
    if now is None:
        clock = time + gait.begin
        phases.append(Phase(time, clock, "both", None, feet, weight, gait))
    elif now.step is None:
        clock = now.end
        phases.append(now._replace(weight=weight, gait=gait))
    else:
        clock = now.begin
    for number, (step, gait) in enumerate(todo):
        support = OTHER[step.side]
        feet = feet.after(step)
        end = now.end if now is not None and now.step is not None and number == 0 else clock + gait.single_support
        phases.append(Phase(clock, end, support, step, feet, under(feet, support, gait), gait))
        last = number == len(todo) - 1
        then = rest if last else todo[number + 1].gait
        clock = end + (then.settle if last else then.double_support)
        weight = between(feet, rest) if last else under(feet, step.side, then)
        phases.append(Phase(end, clock, "both", None, feet, weight, then))
    return phases


def under(feet: Feet, side: Side, gait: Gait) -> Array:
    """Where the weight is when only this foot supports."""
    place = feet.of(side).beside(gait.forward, -OUTWARD[side] * gait.inward)
    return np.array(place[:2])


def between(feet: Feet, gait: Gait) -> Array:
    """Where it is when both do."""
    return (under(feet, "left", gait) + under(feet, "right", gait)) / 2
