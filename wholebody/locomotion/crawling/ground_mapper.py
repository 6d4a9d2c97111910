"""GroundMapper: a map of the ground that a crawling robot makes of what a depth camera of its own sees on its way.

ground = RoughGround(heights, tolerance=EVEN)    # or, where it should be level, WatchedGround(heights)
crawler.crawl_over(ground)                       # crawler.watch(ground)
mapper = GroundMapper(crawler, ground, lens)
mapper.see(depth, state)                         # now and then

Where the camera is, follows from odometry, IMU and encoders, and from limbs that stand on ground of known height.
"""

from __future__ import annotations

import math

import numpy as np

from wholebody.errors import BadGoal
from wholebody.locomotion.crawling.crawler import Crawler
from wholebody.locomotion.crawling.footholds import MappedGround
from wholebody.locomotion.crawling.odometry import heading
from wholebody.messages import State
from wholebody.model.layout import Array
from wholebody.model.snapshot import Snapshot
from wholebody.perception.camera_model import Lens, Picture

FARTHEST = 2.0
"""m: what is farther away, a pair of cameras measures too coarsely."""
EVEN = 0.015
"""m by which heights of a flat place differ in a map of noisy pictures."""
AHEAD, BESIDE = 0.05, 0.3
"""m: ground that is known from the start, before hands and knees and beside them."""
AROUND = 1.2
"""m around the robot that are always on the map: it moves along."""


class GroundMapper:
    """Adds what is seen to the map of a ground over which the crawler crawls, or which it watches."""

    def __init__(self, crawler: Crawler, ground: MappedGround, lens: Lens) -> None:
        robot = crawler.model.robot
        cameras = robot.sensors_of("camera")
        if not cameras:
            raise BadGoal(f"{robot.name} has no camera to see the ground with; give a map of it")
        self.crawler, self.ground, self.heights, self.lens = crawler, ground, ground.heights, lens
        self.camera = cameras[0]
        arms = [joint for name, joints in robot.groups.items() if "arm" in name for joint in joints]
        self._own = [crawler.model.frame(robot.joint(joint).child) for joint in arms]
        low, high = crawler.gait.places.min(axis=0), crawler.gait.places.max(axis=0)
        self.heights.put_level((low[0] - crawler.gait.shin, high[0] + AHEAD), (low[1] - BESIDE, high[1] + BESIDE))
        ground.look_again()

    def see(self, depth: Picture, state: State) -> None:
        """Take in a picture of depth, and the state in which it was taken."""
        crawler = self.crawler
        q = crawler.q.copy()
        q[:3], q[3:7], q[7:] = 0.0, state.imu[0].orientation, state.position
        at = crawler.model.at(q)
        trunk_to_world = self._trunk_to_world(at)
        camera = np.eye(4)
        link = crawler.model.frame(self.camera.link)
        camera[:3, :3], camera[:3, 3] = at.rotation(link), at.position(link)
        own = np.array([at.position(frame) for frame in self._own])
        self.heights.keep_inside(*crawler.odometry.trunk[:2], AROUND)
        self.heights.see(
            depth, self.lens, trunk_to_world @ camera @ self.camera.at.matrix, FARTHEST,
            own @ trunk_to_world[:3, :3].T + trunk_to_world[:3, 3],
        )  # fmt: skip
        self.ground.look_again()

    def _trunk_to_world(self, at: Snapshot) -> Array:
        """From the IMU's axes at the trunk to the world of the map."""
        crawler = self.crawler
        trunk, load = crawler.odometry.trunk, crawler.target.load
        turn = trunk.yaw - heading(at.rotation(crawler.model.frame(crawler.model.robot.root)))
        limbs = np.array([at.position(frame) for frame in crawler.joints.frames])
        up = load @ (crawler.joints.frames_on(at, crawler.target.places) - limbs)[:, 2] / load.sum()
        c, s = math.cos(turn), math.sin(turn)
        return np.array([[c, -s, 0.0, trunk.x], [s, c, 0.0, trunk.y], [0.0, 0.0, 1.0, up], [0.0, 0.0, 0.0, 1.0]])
