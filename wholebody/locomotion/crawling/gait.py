"""CrawlGait: how a robot crawls on wrists and knees, in time and in size."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from scipy.spatial.transform import Rotation

from wholebody.errors import BadGait, CannotImitate
from wholebody.locomotion.walking.footsteps import Velocity
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.motion.capture.gait import CRAWLING
from wholebody.motion.capture.gait_plan import GaitPlan
from wholebody.motion.capture.imitation import Imitation
from wholebody.motion.capture.limbs import limbs_of, scale_of
from wholebody.parameters import Bounds, Unit
from wholebody.robots import geometry

POSTURE, HOME = "crawl", "crawling"
"""Postures of a robot: on the ground, and where its joints tend to while it crawls, if that is another."""
FORWARD = tuple(CRAWLING.index(part) for part in ("left_knee", "left_wrist", "right_knee", "right_wrist"))
"""The order of swings in which the centre of mass has to go the shortest way aside; backward, it is reversed."""
AHEAD, HANDS = 0.364, 0.2925
"""Of the length of an arm: how far hands are before the centre of mass, and to its side."""
BEHIND, KNEES = 0.745, 0.4
"""Of the length of a thigh: how far knees are behind the centre of mass, and to its side.

Found by search: where joints have the least efforts over a cycle.
"""
ALIKE = (1.0, 1.0, 1.0, 1.0)
"""Of each limb as of the others."""


@dataclass(frozen=True, eq=False)
class CrawlGait:
    """One limb in the air, three on the ground; the centre of mass is inside of what bears by a margin.

    places are the four limbs' neutral ones (4 × 2, in the order of CRAWLING) and com that of the centre of mass, both
    seen from the body: x forward, y left, the origin between the limbs.

    height        of the centre of mass
    swing         of a knee over the longest step
    hand_swing    of a hand over the longest step; it is lighter
    brisk         the shortest swing, as a share of the longest; on the spot all are as long
    pace          how fast steps follow each other; at the same velocity, slower ones are longer; above 1.1 Atlas falls
    briefest      all limbs on the ground, between two swings
    lift          how high a limb that swings is lifted
    outward       how far aside a knee that swings goes, away from the body: its hip rises over it more slowly
    margin        of the centre of mass, inside of what bears while a limb swings
    sway          of the zero-moment point about the centre of mass while it leans
    forward       the farthest that a cycle goes forward
    backward      the farthest that a cycle goes backward
    aside         the farthest that a cycle goes aside
    turn          the farthest that a cycle turns
    lean          of the centre of mass, away from a limb that swings
    careful_sway  sway when it goes slowly, backward or in an arc, or turns on the spot
    careful_lean  lean when it does
    slow_hands    how many times longer hands swing when it does
    pitch         of the trunk's root, forward; it does not change while it is on its limbs
    shin          from a knee back to the toes
    toes          how much higher than on level ground feet are carried
    climb         the farthest that a limb goes up or down, as far as the ground is known
    order         of the limbs that swing, forward
    rhythm        of each limb, how many times longer than usual it swings
    heights       of each limb, how many times higher than usual it is lifted
    pauses        of each limb, s, all limbs on the ground before it swings, at least
    """

    places: Array
    com: Array
    height: Annotated[float, Unit("m"), Bounds(0.05, 3.0)]
    swing: Annotated[float, Unit("s"), Bounds(0.1, 5.0)] = 0.56
    hand_swing: Annotated[float, Unit("s"), Bounds(0.1, 5.0)] = 0.42
    brisk: Annotated[float, Unit("1"), Bounds(0.1, 1.0)] = 0.65
    pace: Annotated[float, Unit("1"), Bounds(0.2, 1.1)] = 1.0
    briefest: Annotated[float, Unit("s"), Bounds(0.02, 5.0)] = 0.14
    lift: Annotated[float, Unit("m"), Bounds(0.0, 0.5)] = 0.05
    outward: Annotated[float, Unit("m"), Bounds(0.0, 0.5)] = 0.0
    margin: Annotated[float, Unit("m"), Bounds(0.0, 0.5)] = 0.04
    sway: Annotated[float, Unit("m"), Bounds(0.001, 0.5)] = 0.06
    forward: Annotated[float, Unit("m"), Bounds(0.01, 2.0)] = 0.4
    backward: Annotated[float, Unit("m"), Bounds(0.01, 2.0)] = 0.35
    aside: Annotated[float, Unit("m"), Bounds(0.01, 2.0)] = 0.12
    turn: Annotated[float, Unit("rad"), Bounds(0.01, 2.0)] = 0.47
    lean: Annotated[float, Unit("m"), Bounds(0.0, 0.5)] = 0.07
    careful_sway: Annotated[float, Unit("m"), Bounds(0.001, 0.5)] = 0.056
    careful_lean: Annotated[float, Unit("m"), Bounds(0.0, 0.5)] = 0.05
    slow_hands: Annotated[float, Unit("1"), Bounds(0.5, 3.0)] = 1.2
    pitch: Annotated[float, Unit("rad"), Bounds(0.0, 1.6)] = 0.754
    shin: Annotated[float, Unit("m"), Bounds(0.0, 2.0)] = 0.6
    toes: Annotated[float, Unit("m"), Bounds(0.0, 0.5)] = 0.0
    climb: Annotated[float, Unit("m"), Bounds(0.0, 1.0)] = 0.04
    order: tuple[int, ...] = FORWARD
    rhythm: tuple[float, ...] = ALIKE
    heights: tuple[float, ...] = ALIKE
    pauses: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Refuse limbs that are not one at each corner."""
        signs = np.sign(self.places)
        if self.places.shape != (4, 2) or (signs != [[1, 1], [1, -1], [-1, 1], [-1, -1]]).any():
            raise BadGait(f"hands before the body and knees behind, left and right, are needed; not {self.places}")

    def swing_of(self, limb: int, step: float, *, careful: bool = False, hurried: bool = True) -> float:
        """Seconds of a limb's swing over so many metres: as the root of them, so that accelerations are alike.

        Who does not hurry takes as long for a short step as for the longest.
        """
        hand = self.hand_swing * (self.slow_hands if careful else 1.0)
        longest = self.rhythm[limb] * (self.swing if CRAWLING[limb].endswith("knee") else hand)
        return longest * max(self.brisk if hurried else 1.0, math.sqrt(step / self.forward)) / self.pace

    def clamped(self, velocity: Velocity, period: float) -> Velocity:
        """The nearest velocity, in the same proportions, whose cycle of so many seconds is within reach."""
        ahead = self.forward if velocity.forward > 0 else self.backward
        pairs = ((velocity.forward, ahead), (velocity.leftward, self.aside), (velocity.turn, self.turn))
        share = sum(abs(value) * period / most for value, most in pairs)
        return velocity if share <= 1.0 else Velocity(*(value / share for value in velocity))


def on_ground(model: Model, posture: str = POSTURE) -> Array:
    """The configuration in a posture, put on the ground."""
    if posture not in model.robot.postures:
        raise BadGait(f"'{model.robot.name}' has no posture '{posture}', which says how it is on wrists and knees")
    q, base = model.posture(posture), geometry.standing(model.robot, posture)
    q[:3], q[3:7] = base[:3, 3], Rotation.from_matrix(base[:3, :3]).as_quat()
    return q


def home_of(model: Model) -> Array:
    """Joint positions near to which a robot crawls."""
    robot = model.robot
    return robot.posture(HOME if HOME in robot.postures else POSTURE)


def crawl_gait_of(model: Model, **changes: float) -> CrawlGait:
    """A gait that suits a robot's size: places and reach by the lengths of its arms and thighs."""
    limbs, at = limbs_of(model, CRAWLING), model.at(on_ground(model))
    arm, thigh = limbs[0].length, limbs[2].length
    hand, knee = (AHEAD * arm, HANDS * arm), (-BEHIND * thigh, KNEES * thigh)
    places = np.array([hand, hand, knee, knee]) * [(1, 1), (1, -1), (1, 1), (1, -1)]
    sizes: dict[str, Any] = {
        "lift": 0.05 * thigh, "outward": 0.21 * thigh, "margin": 0.111 * thigh,
        "sway": 0.24 * thigh, "lean": 0.16 * thigh, "careful_sway": 0.116 * thigh, "careful_lean": 0.158 * thigh,
        "forward": 1.06 * thigh, "backward": 1.0 * thigh, "aside": 0.3 * thigh, "shin": 1.6 * thigh,
        "climb": 0.106 * thigh,
    }  # fmt: skip
    return CrawlGait(places, np.zeros(2), float(at.com_in_world[2]), **(sizes | changes))


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


TIMES = {"swing": 1.2, "hand_swing": 0.9, "briefest": 0.3, "brisk": 0.9}
"""s, and a share of them."""
SIZES = {
    "lift": 0.09, "outward": 0.265, "margin": 0.13, "lean": 0.093, "careful_lean": 0.16, "sway": 0.08,
    "careful_sway": 0.08, "forward": 0.8, "backward": 0.95, "toes": 0.055, "climb": 0.36,
}  # fmt: skip
"""In lengths of a thigh."""


def rough_gait_of(model: Model, **changes: float) -> CrawlGait:
    """A gait for rough ground that suits a robot's size."""
    knee = next(limb for limb in limbs_of(model, CRAWLING) if limb.part.endswith("knee"))
    sizes = {name: share * knee.length for name, share in SIZES.items()}
    return crawl_gait_of(model, **(TIMES | sizes | changes))
