"""Leaning: how far the centre of mass goes away from a limb that is to swing, for how long, and when that may lift."""

from __future__ import annotations

import math

import numpy as np

from wholebody.locomotion.crawling.footholds import beside
from wholebody.locomotion.crawling.gait import CrawlGait
from wholebody.locomotion.crawling.limb_ways import climb_of
from wholebody.locomotion.crawling.step import CrawlStep
from wholebody.locomotion.footsteps import Place
from wholebody.locomotion.pendulum import GRAVITY
from wholebody.model.layout import Array
from wholebody.model.support import SupportPolygon
from wholebody.motion.gait_plan import PEAK
from wholebody.motion.support_target import within

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
