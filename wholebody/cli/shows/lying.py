"""How `wholebody crawl` begins: lying, standing, or on wrists and knees, where ready motions bring it otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from wholebody.behaviors.crawling import Crawling
from wholebody.behaviors.lying import ONTO_LIMBS, KeyFrameMotions
from wholebody.hardware import Record
from wholebody.model import Model
from wholebody.model.layout import Array
from wholebody.motion import library
from wholebody.robots import geometry
from wholebody.robots.robot import Placement, Robot

Controller = Callable[[Record, Record], bool]
"""Fills a reference from a state; False when it is done."""

SETTLE = 1.0
"""s that a motion's end is held."""


class Lying(StrEnum):
    """How the robot lies at the beginning, if it does."""

    back = "back"
    belly = "belly"
    standing = "standing"
    no = "no"


MOTIONS = {
    Lying.back: ONTO_LIMBS["back"],
    Lying.belly: ("roll_left", *ONTO_LIMBS["back"]),
    Lying.standing: ONTO_LIMBS["not"],
    Lying.no: ONTO_LIMBS["limbs"],
}
PITCH = {Lying.back: -math.pi / 2, Lying.belly: math.pi / 2, Lying.standing: 0.0}


@dataclass(frozen=True, eq=False)
class Beginning:
    """Where the robot is put, and what it does first."""

    joints: Array
    base: Placement
    motions: tuple[str, ...]


def posture_and_base(crawling: Crawling, lying: Lying) -> Beginning:
    """A robot without ready motions begins on wrists and knees."""
    model, q = crawling.crawler.model, crawling.crawler.q
    if lying is Lying.no or not library.names(model.robot):
        return Beginning(q[7:].copy(), base_of(model, q), ())
    motions = MOTIONS[lying]
    joints = library.key_frames(model.robot, motions[0]).frames[0].position
    return Beginning(joints, Placement.of(geometry.lying(model.robot, joints, PITCH[lying])), motions)


def played(robot: Robot, name: str) -> Controller:
    """A controller that plays a ready motion and holds its end for a while."""
    motion = KeyFrameMotions(robot, [name])
    ended: list[float] = []

    def controller(state: Record, reference: Record) -> bool:
        if motion.cycle(state, reference) and not ended:
            ended.append(float(state["time"]))
        return not ended or float(state["time"]) - ended[0] < SETTLE

    return controller


def base_of(model: Model, q: Array) -> Placement:
    """Where the base is in a configuration."""
    return Placement.of(model.at(q).placement(model.frame(model.robot.root)))
