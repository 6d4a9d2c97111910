"""What a virtual robot that crawls knows of the ground: all of it, or what its camera sees on its way."""

from __future__ import annotations

import math

import numpy as np

from wholebody.hardware import Record
from wholebody.locomotion.crawling.crawler import Crawler
from wholebody.locomotion.crawling.footholds import RoughGround, WatchedGround
from wholebody.locomotion.crawling.ground_mapper import EVEN, GroundMapper
from wholebody.perception.height_map import HeightMap
from wholebody.perception.lens import Lens
from wholebody.robots.robot import Robot
from wholebody.simulation import Simulation
from wholebody.simulation.scenes import boxes

REACH = (-1.5, 6.0), (-1.6, 1.6)
"""m: from where to where maps go, x and y."""
LENS = Lens(320, 240, math.radians(45.0), baseline=0.07, scatter=0.1, bias=0.03)
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

    def look(self, state: Record, reference: Record) -> None:
        """One cycle, after the crawler's: the head nods at first; a picture now and then."""
        time = float(state["time"])
        self._began = min(self._began, time)
        since = time - self._began
        reference["position"][self._neck] += NOD * max(0.0, min(since / NODS, 1.0, NODDING - since))
        if time >= self._next:
            self._next = time + PERIOD
            depth = self._simulation.depth(self.mapper.camera.name, LENS.width, LENS.height)
            self.mapper.see(LENS.as_measured(depth, self._bias, self._random), state)


def _nodding(robot: Robot) -> list[int]:
    """Joints of the head that look down."""
    names = [name for name in robot.groups.get("head", ()) if robot.joint(name).axis[1] > 0.9]
    return [robot.joint_names.index(name) for name in names]
