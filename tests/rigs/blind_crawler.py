"""A robot that crawls without physics: it does at once what it is told."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from wholebody import robots
from wholebody.behaviors.crawling import Crawling

STIFF = 2e4
"""N/m: what a limb bears more when it is pressed on."""


class Blind:
    """A robot that does at once what it is told, without physics; limbs bear as planned, but for one that may not."""

    def __init__(self, gait=None):
        self.robot = robots.load("atlas")
        self.crawling = Crawling(self.robot, gait)
        self.obeys = self.crawling.cycle
        self.state = np.zeros(1, self.robot.state_dtype())[0]
        self.reference = np.zeros(1, self.robot.reference_dtype())[0]
        self.time, self.floats, self.tilt = 0.0, None, None

    def cycle(self, seconds):
        crawler, state = self.crawling.crawler, self.state
        for _ in range(round(seconds / 0.005)):
            state.time = self.time
            state.position[:], state.imu[0].orientation[:] = crawler.q[7:], crawler.q[3:7]
            if self.tilt is not None:
                turned = self.tilt * Rotation.from_quat(crawler.q[3:7])
                state.imu[0].orientation[:] = turned.as_quat()
            state.effort[:] = self.efforts()
            self.obeys(state, self.reference)
            self.time += 0.005

    def efforts(self):
        crawler = self.crawling.crawler
        at = crawler.model.at(crawler.q)
        rest = at.g + crawler.efforts.inertial
        for limb, (frame, force) in enumerate(zip(crawler.joints.frames, crawler.efforts.forces, strict=True)):
            if limb != self.floats:
                pressed = np.array([0.0, 0.0, STIFF * crawler.landing.pressed[limb]])
                rest = rest - at.jacobian(frame)[:3].T @ (force + pressed)
        return rest[6:]
