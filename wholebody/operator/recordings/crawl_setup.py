"""What a virtual robot that crawls knows of the ground: all of it, or what its camera sees on its way."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from wholebody.behaviors.crawling import Crawling
from wholebody.behaviors.lying_motions import ONTO_LIMBS, KeyFrameMotions
from wholebody.locomotion.crawling.crawler import Crawler
from wholebody.locomotion.crawling.footholds import EVEN, GroundMapper, RoughGround, WatchedGround
from wholebody.messages import Reference, State
from wholebody.model import Model
from wholebody.model.layout import Array
from wholebody.motion import files
from wholebody.perception.camera_model import CameraModel
from wholebody.perception.height_map import HeightMap
from wholebody.robots import geometry
from wholebody.robots.robot import Placement, Robot
from wholebody.simulation import Simulation
from wholebody.simulation.scenes import boxes

REACH = (-1.5, 6.0), (-1.6, 1.6)
"""m: from where to where maps go, x and y."""
LENS = CameraModel(320, 240, math.radians(45.0), baseline=0.07, scatter=0.1, bias=0.03)
"""A pair of cameras whose pictures of 1024 pixels are matched to a quarter pixel, shown in 320."""
PERIOD = 0.25
"""s from picture to picture."""
NOD, NODS, NODDING = 0.7, 0.25, 2.0
"""rad by which the head looks down at first, to see what is before the hands; s in which it does, and is back again."""
ON_GROUND = 0.01
"""m: boxes that begin lower stand on the ground."""


def known_heights(scene: str) -> HeightMap:
    """A map of all boxes of a scene that stand on the ground."""
    heights = HeightMap.over(*REACH)
    standing = ((*box.footprint[1:], box.top) for box in boxes(scene) if box.bottom < ON_GROUND)
    heights.put_boxes(standing)
    return heights


def known_ground(scene: str) -> RoughGround:
    """A scene's ground."""
    return RoughGround(known_heights(scene))


class Eye:
    """The robot's own camera, whose depth has errors; maps the ground while the robot crawls over it.

    watches: the ground should be level, and the robot crawls as if it were; the map is to find out where it is not.
    """

    def __init__(self, crawler: Crawler, simulation: Simulation, seed: int = 0, *, watches: bool = False) -> None:
        heights = HeightMap.over(*REACH)
        ground = WatchedGround(heights) if watches else RoughGround(heights, tolerance=EVEN)
        self.mapper = GroundMapper(crawler, ground, LENS)
        (crawler.watch if watches else crawler.crawl_over)(ground)
        self._simulation, self._random = simulation, np.random.default_rng(seed)
        self._bias = LENS.bias * float(self._random.standard_normal())
        self._neck, self._next, self._began = _nodding(crawler.model.robot), 0.0, math.inf

    def look(self, state: State, reference: Reference) -> None:
        """One cycle, after the crawler's: the head nods at first; a picture now and then."""
        time = state.time
        self._began = min(self._began, time)
        since = time - self._began
        reference.position[self._neck] += NOD * max(0.0, min(since / NODS, 1.0, NODDING - since))
        if time >= self._next:
            self._next = time + PERIOD
            depth = self._simulation.depth(self.mapper.camera.name, LENS.width, LENS.height)
            self.mapper.see(LENS.as_measured(depth, self._bias, self._random), state)


def _nodding(robot: Robot) -> list[int]:
    """Joints of the head that look down."""
    names = [name for name in robot.groups.get("head", ()) if robot.joint(name).axis[1] > 0.9]
    return [robot.joint_names.index(name) for name in names]


Controller = Callable[[State, Reference], bool]
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
    if lying is Lying.no or not files.names(model.robot):
        return Beginning(q[7:].copy(), base_of(model, q), ())
    motions = MOTIONS[lying]
    joints = files.key_frames(model.robot, motions[0]).frames[0].position
    return Beginning(joints, Placement.of(geometry.lying(model.robot, joints, PITCH[lying])), motions)


def played(robot: Robot, name: str) -> Controller:
    """A controller that plays a ready motion and holds its end for a while."""
    motion = KeyFrameMotions(robot, [name])
    ended: list[float] = []

    def controller(state: State, reference: Reference) -> bool:
        if motion.cycle(state, reference) and not ended:
            ended.append(state.time)
        return not ended or state.time - ended[0] < SETTLE

    return controller


def base_of(model: Model, q: Array) -> Placement:
    """Where the base is in a configuration."""
    return Placement.of(model.at(q).placement(model.frame(model.robot.root)))
