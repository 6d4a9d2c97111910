"""Walker: one whole cycle of walking and balance: state in, joint positions out.

walker = Walker(robots.load("hubo2plus"))
walker.pattern.follow(steps, time)
walker.cycle(state, reference)
"""

from __future__ import annotations

import math

import numpy as np

from wholebody import _kernels
from wholebody.errors import BadGait, SensorLost
from wholebody.estimation import AnkleSpring, Balance, BalanceEstimator, SupportNoise
from wholebody.locomotion.balance.recovery import capture_steps, closing_step
from wholebody.locomotion.balance.stabilizers import Command, Stabilizer, as_planned, stabilizer_named
from wholebody.locomotion.walking.footsteps import OUTWARD, SLACK, Feet, Place, beside_body
from wholebody.locomotion.walking.gait import SOLES, Gait, gait_of, standing
from wholebody.locomotion.walking.ground_adaptation import (
    GroundAdaptation,
    GroundAdaptationGains,
    SoleCompliance,
    SwingLevelling,
)
from wholebody.locomotion.walking.legs import Legs, ServoFeedForward
from wholebody.locomotion.walking.pattern import Pattern, Target
from wholebody.locomotion.walking.swing import FootPoint
from wholebody.messages import MeasuredMotion, Mode, Reference, State
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.robots.robot import Robot

LATE = 2.0
"""Periods by which joints are told ahead of time: one until a reference acts, half of that in which it holds, and half
of that over which velocities are differences. A foot that is later than planned is still on its way when it lands. Who
stands has no plan to be late for, and its answer to a push is not to be led; nor is who walks blind, on soft ankles, or
with feet that feel the ground."""
GYRO = int(MeasuredMotion.ANGULAR_VELOCITY_X | MeasuredMotion.ANGULAR_VELOCITY_Y)


class Walker:
    """Estimator, pattern, stabilizer and legs of one robot, in the order in which they work.

    The world begins between the feet as they stand at the start. `tasks` are what the legs do in this cycle: the
    poses of the soles, the orientation of the pelvis, and the centre of mass with its velocity.
    """

    def __init__(
        self,
        robot: Robot,
        gait: Gait | None = None,
        stabilizer: str | Stabilizer = "dcm",
        ankles: AnkleSpring | None = None,
        period: float = 0.005,
        noise: SupportNoise | None = None,
    ) -> None:
        """`ankles` says how soft they are, if they are.

        `noise` is what the estimator believes of sensors and ground; by default what suits the stabilizer.
        """
        if not robot.sensors_of("imu"):
            raise BadGait(f"'{robot.name}' has no IMU: nothing would tell whether it falls")
        self.robot, self.period = robot, period
        self.model = Model(robot, watch=SOLES)
        self.gait = gait or gait_of(self.model)
        self.legs = Legs(self.model)
        self.tasks = self.legs.tasks
        self.stabilizer = stabilizer_named(stabilizer, self.model) if isinstance(stabilizer, str) else stabilizer
        believed = noise or self.stabilizer.believes
        self.estimator = BalanceEstimator(self.model, spring=ankles, noise=believed, feet=SOLES)
        self._anchoring = Anchoring(self.estimator.balance)
        self.levelling, self.compliance = SwingLevelling(), SoleCompliance(self.model)
        gains = GroundAdaptationGains() if ankles is None else GroundAdaptationGains(give=0.0)  # soft ankles yield
        self.ground = GroundAdaptation(self.model, gains)
        self.feed_forward = ServoFeedForward(self.model, self._softness(ankles))
        self._late = 0.0 if self.stabilizer.feels_ground or ankles is not None else LATE * period
        self.pattern = Pattern(self.gait, self._feet_at_the_start())
        self.target: Target | None = None  # as planned, whatever the ground is like
        self.balance: Balance | None = None
        self.command: Command | None = None
        self._before = np.zeros(0)
        self._last: float | None = None
        self._recovering = False

    def _feet_at_the_start(self) -> Feet:
        """As in the posture "stand", seen from between them; side by side where that is too narrow to walk."""
        feet, _ = standing(self.model)
        limits, middle = self.gait.limits, feet.middle
        if feet.left.seen_from(feet.right).y < limits.narrowest - SLACK:
            return Feet(*(beside_body(Place(0.0, 0.0, 0.0), side, limits.spacing).at for side in OUTWARD))
        return Feet(*(place.seen_from(middle) for place in feet))

    def cycle(self, state: State, reference: Reference) -> None:
        """Take a state, and say where all joints are to be."""
        time = state.time
        target = planned = self.pattern.at(time)
        seen = self._estimate(state)
        elapsed, feels = self._elapsed(time), self.stabilizer.feels_ground
        if feels:
            target = self.ground.feel(target, seen, elapsed, self.compliance.ground)
            if self.ground.early:
                self.pattern.land_early(time)
        balance = self._anchoring.update(target.left, target.right)
        command = self.stabilizer.correct(target, balance, elapsed)
        if feels:
            self.compliance.correct(command, balance, elapsed, self.ground.uneven)
            self.ground.heights += self.compliance.rises
        if command.level_swing and self._recovering:
            self.levelling.correct(command, target, balance, elapsed)
        self._step(command, target.divergent(balance.com_in_world, balance.com_velocity), time)
        late = self._late if math.isfinite(target.phase_left) else 0.0
        reference.position[:] = self.joints(command, target, elapsed, late)
        reference.mode[:], reference.mask[:] = Mode.POSITION, True
        self.target, self.balance, self.command = planned, balance, command

    def sense(self, state: State, target: Target) -> Balance:
        """How the robot stands and moves, in the world of its footsteps; SensorLost if a sensor says nonsense."""
        self._estimate(state)
        return self._anchoring.update(target.left, target.right)

    def _estimate(self, state: State) -> Balance:
        if state.imu[0].measured & GYRO != GYRO:
            raise SensorLost("the IMU does not measure angular velocity any more")
        faults = self.estimator.faults
        not_finite, frozen = faults.not_finite, faults.frozen
        seen = self.estimator.update(state)
        if faults.not_finite != not_finite:
            raise SensorLost(f"{faults.last} reads what is no number")
        if faults.frozen != frozen:
            raise SensorLost(f"{faults.last} reads the same to the last bit while the robot moves: it is frozen")
        return seen

    def cycle_blind(self, time: float, reference: Reference) -> None:
        """The same without sensors: what is planned, led by what the servos need."""
        elapsed = self._elapsed(time)
        target = self.ground.feel_nothing(self.pattern.at(time), elapsed, self.compliance.ground)
        command = as_planned(target)
        command.feed_forward = True
        self.compliance.hold(command)
        reference.position[:] = self.joints(command, target, elapsed)
        reference.mode[:], reference.mask[:] = Mode.POSITION, True

    def adopt(self, gait: Gait, time: float, keep: int) -> None:
        """Walk otherwise after the first so many steps to come; with another height only before the robot stands."""
        if gait.height == self.gait.height:
            self.pattern.adopt(gait, time, keep)
        else:
            self.pattern = Pattern(gait, self.pattern.feet)
        self.gait = gait

    def begin_anew(self) -> None:
        """Forget what was, before the robot is balanced from rest."""
        self.stabilizer.reset()
        self.estimator.start()
        self._anchoring.reset()
        for each in (self.levelling, self.ground, self.compliance):
            each.reset()
        self._before, self._last, self._recovering = np.zeros(0), None, False

    def _softness(self, ankles: AnkleSpring | None) -> Array:
        """What the last two joints of each leg, which turn its foot, yield beside their servos, rad/(N·m)."""
        softness = np.zeros(len(self.robot.moving))
        if ankles is not None:
            for columns in self.legs.columns:
                softness[columns[-2:]] = 1.0 / ankles.stiffness
        return softness

    def _elapsed(self, time: float) -> float:
        """Seconds since the last cycle; one that was missed counts, but no long silence."""
        since = self.period if self._last is None else time - self._last
        self._last = time
        return min(max(since, 0.2 * self.period), 5.0 * self.period)

    def joints(self, command: Command, target: Target, elapsed: float, late: float = 0.0) -> Array:
        """The joints that do what is commanded, led by what their servos need if asked, which act so much later.

        Arms that swing take the centre of mass along: the legs put it where it shall be with the arms where they are.
        """
        if len(command.others):
            self.legs.swing(command.others)
        snapshot = self.legs.balance(command.com, command.rotation, command.soles)
        self.tasks.com.goal_velocity[:2] = command.com_velocity
        joints = self.legs.joints
        if len(self._before) == 0:
            self._before = joints.copy()
        velocities = (joints - self._before) / elapsed
        self._before[:] = joints
        if command.feed_forward:
            acceleration = target.omega**2 * (command.com[:2] - command.zmp + target.pull)
            joints = self.feed_forward.positions(
                snapshot,
                joints,
                velocities,
                acceleration,
                command.rotation,
                command.soles,
                command.zmp,
                command.left_share,
                late,
            )
        return joints

    def stance(self, time: float = 0.0) -> Array:
        """The joints in which the robot stands before its first step, whatever sensors say."""
        target = self.pattern.at(time)
        command = as_planned(target)
        for _ in range(3):  # the legs may come from far away
            self.joints(command, target, self.period)
        command.feed_forward = True
        stance = self.joints(command, target, self.period).copy()
        self._before = np.zeros(0)
        return stance

    def _step(self, command: Command, dcm: Array, time: float) -> None:
        """Do what the stabilizer wants of the feet."""
        if command.landing is not None:
            self.pattern.redirect(command.landing, time)
        if command.falling and self.pattern.settled and self.ground.landed:
            steps, gait = capture_steps(self.pattern.feet, dcm, self.gait)
            self.pattern.follow(steps, time, gait=gait)
            self._recovering = True
        elif self._recovering and self.pattern.standing:
            self._recovering = False
            self.pattern.follow(closing_step(self.pattern.feet, self.gait), time)


class Anchoring:
    """Turns and moves a Balance about the vertical so that its feet are where they are thought to stand.

    Heading is that of the foot that bears more; place and height are of both, as much as each bears.
    """

    def __init__(self, balance: Balance) -> None:
        """`balance` is what an estimator of the left and the right sole fills in, cycle by cycle."""
        moved = np.zeros((5, 3))
        self.anchored = balance._replace(
            orientation=balance.orientation.copy(),
            com_velocity=moved[0],
            base_in_world=moved[1],
            com_in_world=moved[2],
            capture_point=moved[3],
            cop_in_world=moved[4],
            sole_to_world=balance.sole_to_world.copy(),
        )
        self._share = np.full(1, 0.5)  # of the weight on the left foot, smoothed
        self._handle = _kernels.locomotion_anchoring(
            *(balance.wrench_in_sole, balance.contact),
            *(balance.com_velocity, balance.base_in_world, balance.com_in_world),
            *(balance.capture_point, balance.cop_in_world, balance.sole_to_world, balance.orientation),
            *(self._share, moved, self.anchored.sole_to_world, self.anchored.orientation),
        )

    def reset(self) -> None:
        """Forget which foot bears."""
        self._share[0] = 0.5

    def update(self, left: FootPoint, right: FootPoint) -> Balance:
        """The balance as it is now; overwritten by the next."""
        _kernels.locomotion_anchor(self._handle, *left.place, left.height, *right.place, right.height)
        return self.anchored
