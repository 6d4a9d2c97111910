"""captured_crawl_gait_of: a captured crawl as a gait of a robot that crawls by feel.

What is taken from the plan of an imitation: the order of limbs, how long each swings and rests before, how high it is
lifted, and the stride. Limbs bear between where they do best and where the person's did, scaled. How far the centre
of mass leans for each swing, and when it is safe to lift, is left to the CrawlPattern, and what is felt to the Crawler.
In another order than the robot's own it leans more carefully.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wholebody.errors import CannotImitate
from wholebody.locomotion.crawling.gait import FORWARD, POSTURE, CrawlGait, crawl_gait_of
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.motion.captured_gait import CRAWLING
from wholebody.motion.gait_plan import GaitPlan
from wholebody.motion.imitating_limbs import limbs_of, scale_of
from wholebody.motion.imitation import Imitation

LIKENESS = 0.25
"""How far towards where the person's limbs bore the robot's do. At 0.4, with knees nearer to each other and hands
nearer to the body, Atlas strayed; at 0.5 it tipped over when a knee lifted (one run each)."""
HIGHEST = 0.1
"""Of the length of a thigh: no limb is lifted more, because one that swings turns the body."""

LEAN, SWAY, BRIEFEST = 0.133, 0.053, 0.4
"""Of the length of a thigh, and s: a gait in another order than the robot's own, in which the centre of mass goes
farther aside, leans and sways less, and takes more time between swings."""


def crawls_by_feel(model: Model) -> bool:
    """Whether a robot has a posture of its own on wrists and knees, on which all of its crawling builds."""
    return POSTURE in model.robot.postures


def captured_crawl_gait_of(model: Model, plan: GaitPlan) -> CrawlGait:
    """The gait; CannotImitate unless the person is on wrists and knees."""
    captured = plan.gait
    if captured.limbs != CRAWLING:
        raise CannotImitate(f"{captured.capture.source} is a gait on {', '.join(captured.limbs)}, and no crawl")
    own, thigh, order = crawl_gait_of(model), limbs_of(model, CRAWLING)[2].length, list(plan.order)
    swings, lifts, pauses = np.zeros(4), np.zeros(4), np.zeros(4)
    swings[order], lifts[order] = plan.downs - plan.lifts, np.minimum(plan.heights.max(axis=1), HIGHEST * thigh)
    pauses[order] = captured.pauses * swings[order] / captured.durations
    if not _is_usual(plan.order):
        own = replace(own, lean=LEAN * thigh, sway=SWAY * thigh, briefest=BRIEFEST)
    return replace(
        own,
        places=own.places + LIKENESS * (scaled_reach(model, plan) - own.places),
        forward=plan.stride,
        order=plan.order,
        rhythm=tuple(swings / [own.hand_swing, own.hand_swing, own.swing, own.swing]),
        heights=tuple(lifts / own.lift),
        pauses=tuple(pauses),
    )


def _is_usual(order: tuple[int, ...]) -> bool:
    """Whether limbs follow each other as in the robot's own gait; else the centre of mass goes farther aside."""
    first = FORWARD.index(order[0])
    return order == FORWARD[first:] + FORWARD[:first]


def scaled_reach(model: Model, plan: GaitPlan) -> Array:
    """Where the person's limbs bore, scaled, below hips and shoulders of the robot: 4 × 2, from its centre of mass."""
    limbs, at = limbs_of(model, CRAWLING), model.at(plan.stance.q)
    roots = np.array([at.position(model.frame(limb.root)) for limb in limbs])
    scales = np.array([scale_of(limb, plan.gait.capture) for limb in limbs])
    places = (roots - at.com_in_world + scales[:, None] * plan.gait.reach)[:, :2]
    return np.asarray((places + places[[1, 0, 3, 2]] * (1.0, -1.0)) / 2)  # both sides alike


def changes_of(imitation: Imitation) -> str:
    """What the robot does otherwise than the person, scaled: where its limbs bear, and how high they go."""
    model, plan = imitation.model, imitation.plan
    if plan is None:
        return ""
    gait, theirs = captured_crawl_gait_of(model, plan), scaled_reach(model, plan)
    (x, y), (a, b) = gait.places[0], theirs[0]
    hands = f"hands bear {x:.2f} m before its centre of mass and {y:.2f} m aside (person, scaled: {a:.2f}, {b:.2f})"
    (x, y), (a, b) = gait.places[2], theirs[2]
    knees = f"knees {-x:.2f} m behind it and {y:.2f} m aside ({-a:.2f}, {b:.2f})"
    lifts = f"limbs are lifted by {gait.lift * max(gait.heights):.2f} m at most ({plan.heights.max():.2f})"
    return f"Its {hands}, {knees}; {lifts}."
