"""Carrying: hold an object with two hands, and go where the one who holds its other end pulls it.

carrying = Carrying(Walking(robots.load("hubo2plus")))
carrying.walking.stand()
...
carrying.cycle(state, reference)     # every period, instead of walking.cycle
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from wholebody.behaviors.arms import holding_posture
from wholebody.behaviors.closed_chain import ClosedChain
from wholebody.behaviors.walking import Walking
from wholebody.errors import BadGait
from wholebody.locomotion.balance.stabilizers import upright
from wholebody.locomotion.walking.footsteps import Velocity
from wholebody.locomotion.walking.gait import SOLES
from wholebody.locomotion.walking.legs import under
from wholebody.locomotion.walking.walker import Walker
from wholebody.messages import Reference, State
from wholebody.model.layout import Array
from wholebody.parameters import Bounds, Unit

LEVER = 0.5
"""m. A moment counts from this times the threshold of forces on."""
SLOWEST = Velocity(0.03, 0.03, 0.05)
"""m/s, m/s, rad/s. A walk as slow as that is not begun, and one that has become so ends."""
CHANGE = 0.02
"""m/s and rad/s. A velocity that differs by less from how it walks changes nothing."""


@dataclass
class CarryingGains:
    """How it yields to the partner.

    speed       how fast it walks for each newton beyond the threshold
    turning     how fast it turns for each newton metre beyond the threshold
    threshold   a pull so weak is none
    yielding    how far the arms give way for each newton
    farthest    how far they give way at most
    reach       how far the arms move it from its place before the body at most, along and across
    following   how long the object takes to follow feet and pull
    smoothing   how long a pull is averaged; steps shake the object
    patience    how long there is no pull until it stops
    """

    speed: Annotated[float, Unit("m/(N s)"), Bounds(0, 1)] = 0.008
    turning: Annotated[float, Unit("rad/(N m s)"), Bounds(0, 1)] = 0.01
    threshold: Annotated[float, Unit("N"), Bounds(0, 50)] = 5.0
    yielding: Annotated[float, Unit("m/N"), Bounds(0, 0.1)] = 0.001
    farthest: Annotated[float, Unit("m"), Bounds(0, 0.3)] = 0.05
    reach: Annotated[float, Unit("m"), Bounds(0, 0.3)] = 0.06
    following: Annotated[float, Unit("s"), Bounds(0.01, 5)] = 0.2
    smoothing: Annotated[float, Unit("s"), Bounds(0.01, 5)] = 0.3
    patience: Annotated[float, Unit("s"), Bounds(0, 10)] = 0.5


@dataclass(frozen=True)
class Pull:
    """What the object does to the hands, in the heading of the body: N, N, N·m about the body's vertical axis."""

    forward: float
    leftward: float
    turn: float


class Carrying:
    """Two arms as a closed chain on a robot that walks; wrist sensors say where the partner wants to go.

    The pull f is averaged; beyond a threshold the base walks with v = speed · f, and the arms give way by
    yielding · f at once, which the walk then takes over.
    """

    def __init__(self, walking: Walking, gains: CarryingGains | None = None) -> None:
        self.walking, self.gains = walking, gains or CarryingGains()
        model = walking.walker.model
        robot = model.robot
        sensors = [sensor.name for sensor in robot.sensors_of("force_torque")]
        hands = [f"{side}_hand" for side in ("left", "right")]
        if not set(hands) <= set(sensors):
            raise BadGait(f"'{robot.name}' has no force sensors {' and '.join(hands)}: it would not feel a partner")
        self._sensors = [sensors.index(hand) for hand in hands]
        self._frames = [model.sensor(hand) for hand in hands]
        self.chain = ClosedChain(model, holding_posture(model), virtual=False)
        self._columns = np.array([robot.index[name] for name in self.chain.names])
        self._q = model.neutral()
        self._pull, self._given = np.zeros(3), np.zeros(2)
        self._way: Array | None = None  # x, y, yaw of the body, smoothed
        self._goal: Array | None = None
        self._last: float | None = None
        self._quiet = 0.0
        self._take_arms()
        self._home = self._held_above_feet()

    @property
    def pull(self) -> Pull:
        """What the partner does, averaged."""
        return Pull(*(float(value) for value in self._pull))

    @property
    def posture(self) -> Array:
        """All joints as the robot begins: standing, hands where they hold."""
        walker = self.walking.walker
        walker.stance()
        return walker.legs.joints.copy()  # without what leads the servos against the load

    def cycle(self, state: State, reference: Reference) -> None:
        """One period: feel, give way, and walk."""
        time = state.time
        period = 0.0 if self._last is None else min(max(time - self._last, 0.0), 0.05)
        self._last = time
        if self.walking.up and period > 0.0:
            self._feel(state, period)
            self._give_way(period)
            self._go(period)
        self.walking.cycle(state, reference)

    def _feel(self, state: State, period: float) -> None:
        """Average the horizontal pull of both hands; a reading that is no number counts as the average."""
        self._q[7:] = state.position
        snapshot = self.walking.walker.model.at(self._q)
        felt = np.zeros(3)
        for sensor, frame in zip(self._sensors, self._frames, strict=True):
            reading, R = state.force_torque[sensor], snapshot.rotation(frame)
            force, torque = R @ np.asarray(reading.force), R @ np.asarray(reading.torque)
            at = snapshot.position(frame)
            felt += (force[0], force[1], torque[2] + at[0] * force[1] - at[1] * force[0])
        if np.isfinite(felt).all():
            self._pull += min(1.0, period / self.gains.smoothing) * (felt - self._pull)

    def _give_way(self, period: float) -> None:
        """Keep the object on the way that the feet make, however the body sways, and give way to the pull."""
        gains, walker = self.gains, self.walking.walker
        if walker.command is None or walker.target is None:
            return
        self.chain.put_base(pelvis_to_world(walker))
        body = walker.target.body
        now = np.array([body.x, body.y, body.yaw])
        self._way = now if self._way is None else self._way
        step = (now - self._way) * min(1.0, period / gains.following)
        self._way = self._way + step
        wanted = gains.yielding * self._pull[:2]
        wanted *= min(1.0, gains.farthest / max(float(np.linalg.norm(wanted)), 1e-9))
        self._given = self._given + (wanted - self._given) * min(1.0, period / gains.following)
        goal = self._within_reach(placed(*self._way) @ shifted(self._home, self._given))
        self._goal = goal if self._goal is None else self._goal
        velocity = np.zeros(6)
        velocity[:3], velocity[5] = (goal[:3, 3] - self._goal[:3, 3]) / period, step[2] / period
        self._goal = goal
        self.chain.step(goal, velocity, period)
        self._take_arms()

    def _within_reach(self, goal: Array) -> Array:
        """The goal, or as near to it as the object may be from its place before the body, which sways."""
        pelvis = self.chain.q[:2]
        yaw = self._way[2] if self._way is not None else 0.0
        level = placed(float(pelvis[0]), float(pelvis[1]), float(yaw))
        seen = np.linalg.inv(level) @ goal
        away = seen[:2, 3] - self._before_body
        seen[:2, 3] = self._before_body + np.clip(away, -self.gains.reach, self.gains.reach)
        return np.asarray(level @ seen)

    def _held_above_feet(self) -> Array:
        """The object as it is held while standing, seen from between the feet."""
        model = self.walking.walker.model
        q = model.neutral()
        q[7:] = self.posture
        seen = model.at(q)
        soles = np.mean([seen.position(model.surface(sole)) for sole in SOLES], axis=0)
        self.chain.q[:] = q
        self._before_body = self.chain.object_to_world[:2, 3] - q[:2]
        return shifted(self.chain.object_to_world, -soles)

    def _take_arms(self) -> None:
        """The arms are the walker's from now on: it counts where their weight is."""
        self.walking.walker.legs.take(self._columns, self.chain.q[7:])

    def _go(self, period: float) -> None:
        """Walk as pulled; stop when there was hardly a pull for a while."""
        gains, walking = self.gains, self.walking
        size = float(np.linalg.norm(self._pull[:2]))
        along = gains.speed * max(0.0, size - gains.threshold) / max(size, 1e-9) * self._pull[:2]
        moment = math.copysign(max(0.0, abs(self._pull[2]) - LEVER * gains.threshold), self._pull[2])
        wanted = Velocity(float(along[0]), float(along[1]), gains.turning * moment)
        slow = all(abs(value) <= least for value, least in zip(wanted, SLOWEST, strict=True))
        self._quiet = self._quiet + period if slow else 0.0
        before = walking.velocity
        if before is None:
            if not slow and walking.standing:
                walking.walk(velocity=self._possible(wanted))
        elif self._quiet > gains.patience:
            walking.finish()
        elif max(abs(a - b) for a, b in zip(wanted, before, strict=True)) > CHANGE:
            walking.walk(velocity=self._possible(wanted))

    def _possible(self, wanted: Velocity) -> Velocity:
        gait = self.walking.gait
        return gait.limits.clamped(wanted, gait.step_time)


def pelvis_to_world(walker: Walker) -> Array:
    """Where the walker has the pelvis now, in the world of its footsteps."""
    command = walker.command
    pose = np.eye(4)
    if command is not None:
        pose[:3, :3] = command.rotation
        pose[:3, 3] = under(command.com, command.rotation, walker.legs.seen_from_pelvis().com_in_world)
    return pose


def placed(x: float, y: float, yaw: float) -> Array:
    """A pose on the ground."""
    pose = np.eye(4)
    pose[:3, :3], pose[:2, 3] = upright(yaw), (x, y)
    return pose


def shifted(pose: Array, by: Array) -> Array:
    """A pose with its origin moved, on as many axes as are told."""
    moved = pose.copy()
    moved[: len(by), 3] += by
    return moved
