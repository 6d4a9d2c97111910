"""Crawler: joints of a robot on wrists and knees, cycle by cycle, so that limbs and centre of mass follow a pattern.

Commands lead the joints by what servos give way under the efforts of the motion (CrawlEfforts). Three things are fed
back. Stiff limbs share the weight as their heights say, to a millimetre; so heights are twisted until the diagonals
bear what they should. The centre of mass is led back to where it should be. And the plan waits for a limb that came
down and is not felt yet; for ground that is not there it does not wait long.
"""

from __future__ import annotations

import math

import numpy as np

from wholebody.errors import BadGait, GroundMissing, SensorLost
from wholebody.estimation.limb_loads import LimbLoads
from wholebody.estimation.rotations import matrix_of
from wholebody.hardware import Record
from wholebody.locomotion.crawling.efforts import CrawlEfforts
from wholebody.locomotion.crawling.footholds import DriftedGround, Ground
from wholebody.locomotion.crawling.gait import CrawlGait, crawl_gait_of, home_of, on_ground
from wholebody.locomotion.crawling.joints import CrawlJoints
from wholebody.locomotion.crawling.odometry import CrawlOdometry, heading
from wholebody.locomotion.crawling.pattern import CrawlPattern, CrawlTarget
from wholebody.locomotion.footsteps import Place
from wholebody.locomotion.pendulum import GRAVITY
from wholebody.messages import Mode
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.motion.captured_gait import CRAWLING
from wholebody.motion.imitating_limbs import limbs_of
from wholebody.robots.robot import Robot

SETTLING = 200
"""Solutions from the robot's own posture into the stance."""
TWIST = np.array([1.0, -1.0, -1.0, 1.0])
"""The heights of limbs that change which diagonal bears, and nothing else."""
SOFTNESS, MOST_TWIST = 6e-5, 0.03
"""m/s for each N that a diagonal bears too much; and at most so many m."""
LEADING, MOST_LEAD = 0.5, 0.04
"""1/s: how fast the centre of mass is led back, and at most by so many m."""
FELT, SLOWS = 0.04, 0.05
"""The share of the weight from which on a limb is felt to bear, and the seconds in which the plan comes to a stop."""
NO_GROUND, TILTED = 1.0, 0.2
"""s that a limb may be without ground where there should be some; and rad by which the trunk may lean off its plan."""


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
        self.efforts = CrawlEfforts(self.model, self._frames, period)
        self._lower, self._upper = (
            np.array([getattr(joint, end) for joint in robot.moving]) for end in ("lower", "upper")
        )
        self._planned_rotation = np.eye(3)  # of the trunk
        self.feedback = True
        self.begin_anew(0.0)

    def begin_anew(self, time: float) -> None:
        """On wrists and knees at rest, at the origin, from a time on."""
        self.pattern = CrawlPattern(self.gait, time, ground=self.pattern.ground)
        self._time = self._plan_time = time
        self._rate, self._waited = 1.0, 0.0
        self.q, self.twist, self.lead = on_ground(self.model), 0.0, np.zeros(2)
        self.loads.reset()
        self.efforts.reset()
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
        self._go_on(time)
        self.target = self.pattern.at(self._plan_time)
        self.command = self._solved(self.target)
        self.hold(reference)

    def crawl_over(self, ground: Ground) -> None:
        """Put limbs on known ground, in the world in which it began at the origin, wherever the plan drifts to."""
        self.pattern.ground = DriftedGround(ground, self._drift)
        self.joints.bend_less()

    def _drift(self) -> Place:
        """Where the plan's origin is by now: as limbs that bear are placed in the plan, and as odometry has them."""
        load, turn = self.target.load, self.odometry.trunk.yaw - self._planned_trunk.yaw
        c, s = math.cos(turn), math.sin(turn)
        off = self.odometry.limbs - self.target.places[:, :2] @ np.array([[c, s], [-s, c]])
        x, y = load @ off / load.sum()
        return Place(float(x), float(y), turn)

    def adopt(self, gait: CrawlGait) -> None:
        """Crawl otherwise from the next step on; the trunk's pitch stays, because it would jump."""
        if gait.pitch != self.gait.pitch:
            raise BadGait("the pitch of the trunk cannot change while it is on its limbs; say it from the start")
        self.gait = self.pattern.gait = gait

    def _go_on(self, time: float) -> None:
        """The plan's time goes on like the robot's, unless the limb that came down last bears nothing yet."""
        late = False
        if self.feedback and self.pattern.steps and all(self.target.bearing):
            limb, least = self.pattern.landed, FELT * self.model.total_mass * GRAVITY
            late = bool(self.loads.forces[limb, 2] < min(least, self.efforts.forces[limb, 2] / 2))
        change = self.period / SLOWS
        self._rate += min(max((not late) - self._rate, -change), change)
        self._plan_time += self._rate * (time - self._time)
        self._waited = self._waited + time - self._time if late else 0.0
        self._time = time
        if self._waited > NO_GROUND:
            raise GroundMissing(f"the {CRAWLING[self.pattern.landed]} came down and bears nothing: no ground is there")

    def hold(self, reference: Record) -> None:
        """The last command again."""
        reference["position"], reference["mode"], reference["mask"] = self.command, Mode.POSITION, True

    @property
    def body(self) -> Place:
        """Where the body is, as IMU and limbs have it, in the world in which it began at the origin."""
        return self.odometry.trunk.beside(*self.target.body.seen_from(self._planned_trunk))

    @property
    def _planned_trunk(self) -> Place:
        return Place(float(self.q[0]), float(self.q[1]), heading(self._planned_rotation))

    def _feel(self, state: Record) -> None:
        """What limbs bear and where the centre of mass is, and what to do about it."""
        target = self.target
        q = self.q.copy()
        q[3:7], q[7:] = state["imu"][0]["orientation"], state["position"]
        if not np.isfinite(q).all():
            raise SensorLost("an encoder or the IMU reads what is no number")
        at = self.model.at(q)
        forces = self.loads.update(at, np.asarray(state["effort"]), self.efforts.inertial)
        down = target.load
        if all(target.bearing):
            off = float(TWIST @ (forces[:, 2] - self.efforts.forces[:, 2]))
            self.twist += self.period * SOFTNESS * float(down.min()) * off
            self.twist = min(max(self.twist, -MOST_TWIST), MOST_TWIST)
        there = np.array([at.position(frame) for frame in self._frames])
        turned = at.rotation(self._root)
        self._look_whether_it_leans(turned)
        self.odometry.update(turned, (there - q[:3]) @ turned, np.maximum(forces[:, 2], 0.0) * down)
        com = self._com_in_plan(at.com_in_world - q[:3], there - q[:3], heading(turned), down)
        self.lead = np.clip(self.lead + self.period * LEADING * (target.com - com), -MOST_LEAD, MOST_LEAD)

    def _look_whether_it_leans(self, rotation: Array) -> None:
        """The angle between up as the IMU has it and as planned, both seen from the trunk."""
        lean = math.acos(min(1.0, float(self._planned_rotation[2] @ rotation[2])))
        if lean > TILTED:
            raise GroundMissing(f"the trunk leans by {math.degrees(lean):.0f}° off its plan: the ground is not flat")

    def _com_in_plan(self, com: Array, limbs: Array, yaw: float, load: Array) -> Array:
        """The centre of mass (x y) in the world of the plan, in which the limbs that bear are at their places."""
        turn = self._planned_trunk.yaw - yaw
        c, s = math.cos(turn), math.sin(turn)
        seen = (com - limbs)[:, :2] @ np.array([[c, s], [-s, c]])
        return np.asarray(load @ (self.target.places[:, :2] + seen) / load.sum())

    def _solved(self, target: CrawlTarget) -> Array:
        places = target.places.copy()
        places[:, 2] += self.twist * TWIST
        self.q = self.joints.solve(
            self.q, places, target.ground, target.com + self.lead, target.body.yaw, target.behind
        )
        matrix_of(self.q[3:7], self._planned_rotation)
        lead = self.efforts.lead(self.q, self.joints.step, target.load)
        return np.asarray(np.clip(self.q[7:] + lead, self._lower, self._upper))
