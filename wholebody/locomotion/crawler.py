"""Crawler: joints of a robot on wrists and knees, cycle by cycle, so that limbs and centre of mass follow a pattern.

Commands are q + τ/k: servos give way under load, and τ is what holds the robot at rest on the limbs that bear. Two
things are fed back. Stiff limbs share the weight as their heights say, to a millimetre; so heights are twisted until
the diagonals bear what they should. And the centre of mass is led back to where it should be.
"""

from __future__ import annotations

import math

import numpy as np

from wholebody.errors import SensorLost
from wholebody.estimation.limb_loads import LimbLoads
from wholebody.hardware import Record
from wholebody.locomotion.crawl_gait import CrawlGait, crawl_gait_of, home_of, on_ground
from wholebody.locomotion.crawl_joints import CrawlJoints
from wholebody.locomotion.crawl_odometry import CrawlOdometry, heading
from wholebody.locomotion.crawl_pattern import CrawlPattern, CrawlTarget
from wholebody.locomotion.footsteps import Place
from wholebody.locomotion.pendulum import GRAVITY
from wholebody.messages import Mode
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.motion.captured_gait import CRAWLING
from wholebody.motion.imitating_limbs import limbs_of
from wholebody.robots.robot import Robot

SETTLING = 40
"""Solutions from the robot's own posture into the stance."""
LEAST_LOAD = 1e-4
TWIST = np.array([1.0, -1.0, -1.0, 1.0])
"""The heights of limbs that change which diagonal bears, and nothing else."""
SOFTNESS, MOST_TWIST = 6e-5, 0.03
"""m/s for each N that a diagonal bears too much; and at most so many m."""
LEADING, MOST_LEAD = 0.5, 0.04
"""1/s: how fast the centre of mass is led back, and at most by so many m."""


class Crawler:
    """A robot that crawls as `pattern` says; set its velocity at any time."""

    def __init__(self, robot: Robot, gait: CrawlGait | None = None, period: float = 0.005) -> None:
        self.model, self.period = Model(robot), period
        self.gait = gait or crawl_gait_of(self.model)
        self.pattern = CrawlPattern(self.gait)
        self.limbs = limbs_of(self.model, CRAWLING)
        self.joints = CrawlJoints(self.model, self.limbs, on_ground(self.model), home_of(self.model), self.gait.pitch)
        self._frames, self._root = self.joints.frames, self.model.frame(robot.root)
        self.loads = LimbLoads(self.model, self._frames, period=period)
        gains = robot.gains
        self._give = np.array([1 / gains[name].stiffness if name in gains else 0.0 for name in robot.joint_names])
        self._lower, self._upper = (
            np.array([getattr(joint, end) for joint in robot.moving]) for end in ("lower", "upper")
        )
        self.feedback = True
        self.begin_anew(0.0)

    def begin_anew(self, time: float) -> None:
        """On wrists and knees at rest, at the origin, from a time on."""
        self.pattern = CrawlPattern(self.gait, time, ground=self.pattern.ground)
        self.q, self.twist, self.lead = on_ground(self.model), 0.0, np.zeros(2)
        self.loads.reset()
        for _ in range(SETTLING):
            self.target = self.pattern.at(time)
            self.command = self._solved(self.target)
        self.odometry = CrawlOdometry(self._planned_trunk)

    def cycle(self, state: Record, reference: Record) -> None:
        """One period: fill the reference."""
        time = float(state["time"])
        if not math.isfinite(time):
            raise SensorLost("the state has no time")
        if self.feedback:
            self._feel(state)
        self.target = self.pattern.at(time)
        self.command = self._solved(self.target)
        self.hold(reference)

    def hold(self, reference: Record) -> None:
        """The last command again."""
        reference["position"], reference["mode"], reference["mask"] = self.command, Mode.POSITION, True

    @property
    def body(self) -> Place:
        """Where the body is, as IMU and limbs have it, in the world in which it began at the origin."""
        return self.odometry.trunk.beside(*self.target.body.seen_from(self._planned_trunk))

    @property
    def _planned_trunk(self) -> Place:
        return Place(float(self.q[0]), float(self.q[1]), self._yaw)

    def _feel(self, state: Record) -> None:
        """What limbs bear and where the centre of mass is, and what to do about it."""
        target = self.target
        q = self.q.copy()
        q[3:7], q[7:] = state["imu"][0]["orientation"], state["position"]
        if not np.isfinite(q).all():
            raise SensorLost("an encoder or the IMU reads what is no number")
        at = self.model.at(q)
        forces = self.loads.update(at, np.asarray(state["effort"]))
        down = target.load
        if all(target.bearing):
            off = float(TWIST @ (forces[:, 2] - self.forces))
            self.twist += self.period * SOFTNESS * float(down.min()) * off
            self.twist = min(max(self.twist, -MOST_TWIST), MOST_TWIST)
        there = np.array([at.position(frame) for frame in self._frames])
        turned = at.rotation(self._root)
        self.odometry.update(turned, (there - q[:3]) @ turned, np.maximum(forces[:, 2], 0.0) * down)
        com = self._com_in_plan(at.com_in_world - q[:3], there - q[:3], heading(turned), down)
        self.lead = np.clip(self.lead + self.period * LEADING * (target.com - com), -MOST_LEAD, MOST_LEAD)

    def _com_in_plan(self, com: Array, limbs: Array, yaw: float, load: Array) -> Array:
        """The centre of mass (x y) in the world of the plan, in which the limbs that bear are at their places."""
        turn = self._planned_trunk.yaw - yaw
        c, s = math.cos(turn), math.sin(turn)
        seen = (com - limbs)[:, :2] @ np.array([[c, s], [-s, c]])
        return np.asarray(load @ (self.target.places[:, :2] + seen) / load.sum())

    def _solved(self, target: CrawlTarget) -> Array:
        places = target.places.copy()
        places[:, 2] += self.twist * TWIST
        self.q = self.joints.solve(self.q, places, target.ground, target.com + self.lead, target.body.yaw)
        efforts = self._efforts(target.load)
        return np.asarray(np.clip(self.q[7:] + efforts * self._give, self._lower, self._upper))

    def _efforts(self, load: Array) -> Array:
        """τ = g − Σ Jᵢᵀ fᵢ with Σf = W, Σ f p = W c, of least Σ fᵢ²/aᵢ: aᵢ, the load, says how far a limb may bear."""
        at = self.model.at(self.q)
        points = np.array([at.position(frame) for frame in self._frames])
        matrix = np.vstack([np.ones(4), points[:, 0], points[:, 1]])
        x, y, _ = at.com_in_world
        weighted = matrix * np.maximum(load, LEAST_LOAD)
        weight = self.model.total_mass * GRAVITY
        self.forces = weighted.T @ np.linalg.solve(weighted @ matrix.T, weight * np.array([1.0, x, y]))
        self._yaw = heading(at.rotation(self._root))
        rest = at.g.copy()
        for frame, force in zip(self._frames, self.forces, strict=True):
            rest -= at.jacobian(frame)[2] * force
        return np.asarray(rest[6:])
