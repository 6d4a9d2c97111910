"""Crawler: joints of a robot on wrists and knees, cycle by cycle, so that limbs and centre of mass follow a pattern.

Commands lead the joints by what servos give way under the efforts of the motion (CrawlEfforts). Three objects are fed
back. Stiff limbs share the weight as their heights say, to a millimetre; so heights are twisted until the diagonals
bear what they should. The centre of mass is led back to where it should be. And the plan waits for a limb that came
down and is not felt yet; for ground that is not there it does not wait long.
"""

from __future__ import annotations

import math

import numpy as np

from wholebody import messages
from wholebody.errors import BadGait, GroundMissing, SensorLost
from wholebody.estimation.limb_loads import LimbLoads
from wholebody.locomotion.crawling.footholds import DriftedGround, Ground
from wholebody.locomotion.crawling.gait import CrawlGait, crawl_gait_of, home_of, on_ground
from wholebody.locomotion.crawling.joints import CrawlEfforts, CrawlJoints
from wholebody.locomotion.crawling.landing import Landing
from wholebody.locomotion.crawling.odometry import CrawlOdometry, Root, desired, heading
from wholebody.locomotion.crawling.pattern import ORIGIN, CrawlPattern
from wholebody.locomotion.crawling.step import CrawlTarget
from wholebody.locomotion.walking.footsteps import Place, Velocity
from wholebody.locomotion.walking.pendulum import GRAVITY
from wholebody.messages import Mode, Reference, State
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.motion.capture.gait import CRAWLING
from wholebody.motion.capture.limbs import limbs_of
from wholebody.motion.keyframes import KeyFrame, KeyFrames
from wholebody.robots.robot import Robot
from wholebody.rotations import matrix_of_quaternion

SETTLING = 200
"""Solutions from the robot's own posture into the stance."""
TWIST = np.array([1.0, -1.0, -1.0, 1.0])
"""The heights of limbs that change which diagonal bears, and nothing else."""
SOFTNESS, SLOWER, MOST_TWIST = 6e-5, 2e-5, 0.03
"""m/s for each N that a diagonal bears too much, and on rough ground, where limbs at different heights roll the hips:
with more, diagonals that bore in turns shook the robot at 10 Hz until a hand gave way; and at most so many m."""
LEADING, MOST_LEAD = 0.5, 0.04
"""1/s: how fast the centre of mass is led back, and at most by so many m."""
FELT, SLOWS = 0.04, 0.05
"""The share of the weight from which on a limb is felt to bear, and the seconds in which the plan comes to a stop."""
TILTED = 0.2
"""rad by which the trunk may lean off its plan."""


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
        self.root: Root = desired
        self.landing = Landing(FELT * self.model.total_mass * GRAVITY, period)
        self.begin_anew(0.0)

    def begin_anew(self, time: float) -> None:
        """On wrists and knees at rest, at the origin, from a time on."""
        self.pattern = CrawlPattern(self.gait, time, ground=self.pattern.ground)
        self._time = self._plan_time = time
        self._rate = 1.0
        self.landing.reset()
        self.q, self.twist, self.lead = on_ground(self.model), 0.0, np.zeros(2)
        self.loads.reset()
        self.efforts.reset()
        for _ in range(SETTLING):
            self.target = self.pattern.at(time)
            self.command = self._solved(self.target)
        self.odometry = CrawlOdometry(self._planned_trunk)

    def cycle(self, state: State, reference: Reference) -> None:
        """One period: fill the reference."""
        time = state.time
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
        self.pattern.ground = DriftedGround(ground, self.drift)
        self.joints.bend_less()
        self.landing.mapped = True

    def watch(self, ground: Ground) -> None:
        """Crawl as on level ground, which hands have to prove, but put no limb where a map of it says otherwise."""
        self.pattern.ground = DriftedGround(ground, self.drift)

    def drift(self) -> Place:
        """Where the plan's origin is by now: as limbs that bear are placed in the plan, and as odometry has them."""
        if not self.odometry.begun:
            return ORIGIN
        load, turn = self.target.load, math.remainder(self.odometry.trunk.yaw - self._planned_trunk.yaw, math.tau)
        c, s = math.cos(turn), math.sin(turn)
        off = self.odometry.limbs - self.target.places[:, :2] @ np.array([[c, s], [-s, c]])
        x, y = load @ off / load.sum()
        return Place(float(x), float(y), turn)

    def adopt(self, gait: CrawlGait) -> None:
        """Crawl otherwise from the next step on; the trunk's pitch stays, because it would jump."""
        if gait.pitch != self.gait.pitch:
            raise BadGait("the pitch of the trunk cannot change while it is on its limbs; say it from the start")
        self.gait = self.pattern.gait = gait

    def retreat(self) -> None:
        """Take the limb that found no ground back to where it came from, and rest there, for good."""
        self.landing.give_up()
        self.pattern.retreat(self._plan_time)

    def _go_on(self, time: float) -> None:
        """The plan's time goes on like the robot's, or slower as the plan says; not while what landed bears nothing."""
        change, wanted = self.period / SLOWS, 0.0 if self.landing.late else self.pattern.haste(self._plan_time)
        self._rate += min(max(wanted - self._rate, -change), change)
        self._plan_time += self._rate * min(time - self._time, self.period)
        self._time = time

    def hold(self, reference: Reference) -> None:
        """The last command again."""
        reference.position[:], reference.mode[:], reference.mask[:] = self.command, Mode.POSITION, True

    @property
    def body(self) -> Place:
        """Where the body is, as IMU and limbs have it, in the world in which it began at the origin."""
        return self.odometry.trunk.beside(*self.target.body.seen_from(self._planned_trunk))

    @property
    def _planned_trunk(self) -> Place:
        return Place(float(self.q[0]), float(self.q[1]), heading(self._planned_rotation))

    def _feel(self, state: State) -> None:
        """What limbs bear and where the centre of mass is, and what to do about it."""
        target = self.target
        q = self.q.copy()
        q[3:7], q[7:] = state.imu[0].orientation, state.position
        if not np.isfinite(q).all():
            raise SensorLost("an encoder or the IMU reads what is no number")
        at = self.model.at(q)
        forces = self.loads.update(at, np.asarray(state.effort), self.efforts.inertial)
        if all(target.bearing):
            limb = self.pattern.landed
            bears, planned = float(forces[limb, 2]), float(self.efforts.forces[limb, 2])
            self.landing.bears(limb, bears, planned, target, self.pattern.landed_ahead)
        else:
            self.landing.swings(target.bearing.index(False), target, self.pattern.ahead)
        down = self._load(target)
        if all(target.bearing):
            unlike = float(TWIST @ (forces[:, 2] - self.efforts.forces[:, 2]))
            softness = SLOWER if self.landing.mapped else SOFTNESS
            self.twist += self.period * softness * float(down.min()) * unlike
            self.twist = min(max(self.twist, -MOST_TWIST), MOST_TWIST)
        there = np.array([at.position(frame) for frame in self._frames])
        turned = at.rotation(self._root)
        self._look_whether_it_leans(turned)
        self.odometry.update(turned, (there - q[:3]) @ turned, np.maximum(forces[:, 2], 0.0) * down)
        root = self.root(down, forces[:, 2])
        com = self._com_in_plan(at.com_in_world - q[:3], there - q[:3], heading(turned), root)
        off = target.com + self.landing.refuge - com if self.joints.modulates else np.zeros(2)
        self.lead = np.clip(self.lead + self.period * LEADING * off, -MOST_LEAD, MOST_LEAD)

    def _look_whether_it_leans(self, rotation: Array) -> None:
        """The angle between up as the IMU has it and as planned, both seen from the trunk."""
        lean = math.acos(min(1.0, float(self._planned_rotation[2] @ rotation[2])))
        if lean > TILTED:
            raise GroundMissing(f"the trunk leans by {math.degrees(lean):.0f}° off its plan: the ground is not flat")

    def _com_in_plan(self, com: Array, limbs: Array, yaw: float, root: Array) -> Array:
        """The centre of mass (x y) in the world of the plan, in which limbs, weighted, are at their places."""
        turn = self._planned_trunk.yaw - yaw
        c, s = math.cos(turn), math.sin(turn)
        seen = (com - limbs)[:, :2] @ np.array([[c, s], [-s, c]])
        return np.asarray(root @ (self.target.places[:, :2] + seen) / root.sum())

    def _load(self, target: CrawlTarget) -> Array:
        """How far limbs may bear, 0 to 1: the one that came down last, as far as its ground is proved."""
        load, limb = target.load.copy(), self.pattern.landed
        load[limb] = min(load[limb], self.landing.trust)
        return load

    def _solved(self, target: CrawlTarget) -> Array:
        places = target.places.copy()
        places[:, 2] += self.twist * TWIST - self.landing.pressed
        self.q = self.joints.solve(
            self.q, places, target.ground, target.com + self.lead + self.landing.refuge, target.body.yaw, target.behind
        )
        self._planned_rotation[:] = matrix_of_quaternion(self.q[3:7])
        lead = self.efforts.lead(self.q, self.joints.step, self._load(target))
        return np.asarray(np.clip(self.q[7:] + lead, self._lower, self._upper))


APART = 0.15
"""s: at most from one frame to the next."""
LONGEST = 60.0
"""s of a gait, after which it does not come to rest any more."""
DIGITS = 4
"""Of joint positions in the file."""


def crawl_frames(robot: Robot, velocity: Velocity, cycles: float) -> KeyFrames:
    """Crawl at a velocity (m/s, m/s, rad/s) for so many cycles, each four steps."""
    if not all(map(math.isfinite, (*velocity, cycles))) or cycles <= 0 or not any(velocity):
        raise BadGait(f"{cycles} cycles at {tuple(velocity)} are no crawl; give a velocity, and a number above zero")
    crawler = Crawler(robot)
    crawler.feedback = False
    state, reference = messages.new(robot.state_dtype()), messages.new(robot.reference_dtype())
    crawler.pattern.velocity = velocity
    frames = [_frame(crawler, 2.0, "rest")]
    time, since, bearing = 0.0, 0.0, crawler.target.bearing
    while time < LONGEST:
        time += crawler.period
        state.time = time
        crawler.cycle(state, reference)
        if crawler.pattern.steps >= 4 * cycles:
            crawler.pattern.velocity = Velocity()
        done = crawler.pattern.steps >= 4 * cycles and crawler.pattern.standing
        if done or crawler.target.bearing != bearing or time - since > APART - crawler.period / 2:
            frames.append(_frame(crawler, time - since, "rest" if done else _phase(crawler, bearing)))
            since, bearing = time, crawler.target.bearing
        if done:
            return KeyFrames(robot, tuple(frames), "the crawl", "monotone")
    raise BadGait(f"at {tuple(velocity)} the robot does not come to rest within {LONGEST:.0f} s; crawl fewer cycles")


def _frame(crawler: Crawler, duration: float, name: str) -> KeyFrame:
    limbs = zip(crawler.limbs, crawler.target.bearing, strict=True)
    contacts = tuple(limb.frame for limb, bears in limbs if bears)
    moving = crawler.model.robot.moving
    lower, upper = (np.array([getattr(joint, end) for joint in moving]) for end in ("lower", "upper"))
    position = np.clip(np.round(crawler.command, DIGITS), lower, upper)
    return KeyFrame(position, round(duration, DIGITS), name, contacts)


def _phase(crawler: Crawler, before: tuple[bool, ...]) -> str:
    """What happens at a frame: which limb lifts, swings or comes down; the centre of mass leans, if none does."""
    for limb, was, bears in zip(crawler.limbs, before, crawler.target.bearing, strict=True):
        if not bears:
            return f"{limb.part} lifts" if was else f"{limb.part} swings"
        if not was:
            return f"{limb.part} comes down"
    return "leans"
