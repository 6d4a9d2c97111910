"""Reaching: both arms of a robot that stands or walks: hands go to points, close, open, carry, and come back.

reaching = Reaching(robots.load("hubo2plus"))
reaching.reach("right", (0.3, -0.2, 0.1), standoff=0.08)
...
reaching.cycle(state, reference)     # every period; it moves the arms that it was told to move, and no other joints
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from wholebody.behaviors.arms import Arm, Reach, hand_links, palms
from wholebody.errors import BadRobot, BadState, UnknownName
from wholebody.kinematics.collision import Collisions
from wholebody.messages import Mode, Reference, State
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.robots.robot import Robot

SPEED = 0.5
"""rad/s. The fastest that a joint of the arm goes, on the average of a way."""
QUICKEST = 0.6
"""s. No way takes less."""
CLOSING = 0.8
"""s that fingers take to close or open."""
OPEN, CLOSED = 0.05, 0.95
"""Shares of their range."""
SMOOTH = 0.2
"""s over which the pull on a wrist is averaged."""
QUICKLY = 0.1
"""s, the same while it presses on something."""
PRESSING = 0.03
"""m/s of a palm that presses on something."""
DEEP = 0.05
"""m beyond a point that is pressed on where the palm gives up."""


@dataclass
class _Side:
    """An arm that is moved: where it was taken from, and the way it is on."""

    arm: Arm
    home: Array  # of arm and fingers, where they were before
    way: CubicSpline
    begin: float
    seconds: float
    leaves: bool = False  # whether it is nobody's at the end of the way
    most: float = math.inf  # N that the wrist may feel more than at the beginning; then the way ends
    before: Array | None = None  # N that it felt at the beginning
    felt: float = math.nan  # N, the most that it felt more than that: a body gives way to what it presses on

    def at(self, time: float) -> Array:
        """Where its joints shall be: along the way by s = 10 τ³ − 15 τ⁴ + 6 τ⁵, from rest to rest."""
        tau = min(1.0, max(0.0, (time - self.begin) / self.seconds))
        return np.asarray(self.way(tau**3 * (10.0 - 15.0 * tau + 6.0 * tau**2)))

    def done(self, time: float) -> bool:
        """Whether it has come to the end of its way."""
        return time >= self.begin + self.seconds

    def hold(self, time: float) -> None:
        """End the way here."""
        here = self.at(time)
        self.way, self.begin, self.most = _spline(np.array([here, here])), time, math.inf
        self.seconds = QUICKEST


class Reaching:
    """A robot with arms; what it is told needs the last state, so it has seen one before."""

    def __init__(self, robot: Robot) -> None:
        model = Model(robot)
        sides = palms(robot)
        if not sides:
            raise BadRobot(f"'{robot.name}' has no hand: no surface left_palm at the end of a group left_arm")
        collisions = _collisions(model, sides)
        self.robot, self.arms = robot, {side: Arm(model, side, collisions) for side in sides}
        self._numbers = {
            side: [robot.index[name] for name in (*arm.joints, *arm.fingers)] for side, arm in self.arms.items()
        }
        self._now: dict[str, _Side] = {}
        self._sensors = {side: _wrist(robot, side) for side in sides}
        self._loads: dict[str, Array] = {}
        self._pressed: dict[str, Array] = {}
        self._positions: Array | None = None
        self._time = 0.0

    # What one tells it.

    def reach(self, side: str, point_in_base: Sequence[float], standoff: float = 0.0) -> None:
        """Bring the palm straight to that far (m) beside a point, facing it; OutOfReach if it cannot come there."""
        arm = self._arm(side)
        self._go(side, arm.way(self._told(side), arm.palm_at(point_in_base, standoff)))

    def press(self, side: str, point_in_base: Sequence[float], force: float) -> None:
        """Bring the palm slowly to a point, and beyond, until the wrist feels so much more than before, N."""
        arm, told = self._arm(side), self._told(side)
        palm = arm.palm_at(point_in_base, -DEEP)
        far = float(np.linalg.norm(palm[:3, 3] - arm.palm(told)[:3, 3]))
        self._go(side, arm.way(told, palm), max(QUICKEST, far / PRESSING))
        each = self._now[side]
        each.most, each.before, each.felt = force, self._loads.get(side), 0.0 if side in self._loads else math.nan

    def carry(self, side: str) -> None:
        """Bring the hand before the body, where it is out of the way."""
        arm = self._arm(side)
        self._go(side, arm.way(self._told(side), arm.palm_at(arm.carrying)))

    def close(self, side: str) -> None:
        """Close the hand."""
        self._fingers(side, CLOSED)

    def open(self, side: str) -> None:
        """Open it."""
        self._fingers(side, OPEN)

    def rest(self, side: str) -> None:
        """Bring the arm back to where it was taken from, and leave it to others."""
        side_ = self._taken(side)
        self._move(side, np.array([side_.at(self._time), side_.home]), leaves=True)

    def stop(self, side: str = "") -> None:
        """Hold the arms where they are, or one of them."""
        for each in [each for each in self._now if side in ("", each)]:
            here = self._taken(each).at(self._time)
            self._move(each, np.array([here, here]))

    # What it does.

    def cycle(self, state: State, reference: Reference) -> None:
        """One period: fill in the joints of the arms that are moved, and nothing else."""
        elapsed, self._time = state.time - self._time, state.time
        self._positions = np.array(state.position)
        self._weigh(state, self._loads, min(1.0, max(0.0, elapsed / SMOOTH)))
        self._weigh(state, self._pressed, min(1.0, max(0.0, elapsed / QUICKLY)))
        for side, each in self._now.items():
            if each.before is not None:
                each.felt = max(each.felt, float(np.linalg.norm(self._pressed[side] - each.before)))
            if each.felt >= each.most:
                each.hold(self._time)
        for side in [side for side, each in self._now.items() if each.leaves and each.done(self._time)]:
            del self._now[side]
        reference.mask[:] = False
        for side, each in self._now.items():
            numbers = self._numbers[side]
            reference.position[numbers], reference.mask[numbers] = each.at(self._time), True
            reference.mode[numbers] = Mode.POSITION

    @property
    def moves(self) -> bool:
        """Whether any joint is its own."""
        return bool(self._now)

    def takes(self, side: str) -> bool:
        """Whether an arm is its own."""
        return side in self._now

    def busy(self, side: str) -> bool:
        """Whether an arm is on its way."""
        return side in self._now and not self._now[side].done(self._time)

    def load(self, side: str) -> float:
        """How strongly the wrist is pulled, N, on the average of the last moments; NaN if nothing measures it."""
        return float(np.linalg.norm(self._loads[side])) if side in self._loads else math.nan

    def pressed(self, side: str) -> float:
        """How much more a wrist felt at most since it began to press, N; NaN if it does not, or nothing feels it."""
        return self._now[side].felt if side in self._now else math.nan

    def left(self, side: str) -> float:
        """Seconds until an arm is at the end of its way; 0 if it is on none."""
        each = self._now.get(side)
        return 0.0 if each is None else max(0.0, each.begin + each.seconds - self._time)

    def reachable(self, side: str, point_in_base: Sequence[float]) -> Reach:
        """How well an arm would reach a point."""
        return self._arm(side).reach(self._told(side), point_in_base)

    # How.

    def _weigh(self, state: State, loads: dict[str, Array], share: float) -> None:
        for side, sensor in self._sensors.items():
            if sensor is not None:
                pull = np.array(state.force_torque[sensor].force)
                before = loads.get(side, pull)
                loads[side] = before + share * (pull - before) if np.isfinite(pull).all() else before

    def _arm(self, side: str) -> Arm:
        if side not in self.arms:
            raise UnknownName("arm", side, self.arms)
        return self.arms[side]

    def _told(self, side: str) -> Array:
        """All joints as measured, those of this arm as told."""
        if self._positions is None:
            raise BadState("no state has come yet: nobody knows where the arms are")
        positions = np.nan_to_num(self._positions)
        if side in self._now:
            positions[self._numbers[side]] = self._now[side].at(self._time)
        return positions

    def _taken(self, side: str) -> _Side:
        """The arm as one that is moved, from now on if it was not."""
        arm = self._arm(side)
        if side not in self._now:
            here = self._told(side)[self._numbers[side]]
            self._now[side] = _Side(arm, here, _spline(np.array([here, here])), self._time, QUICKEST)
        return self._now[side]

    def _go(self, side: str, rows: Array, seconds: float = 0.0) -> None:
        """Send the arm along a way, with the fingers as they are."""
        fingers = self._taken(side).at(self._time)[rows.shape[1] :]
        self._move(side, np.hstack([rows, np.tile(fingers, (len(rows), 1))]), seconds)

    def _fingers(self, side: str, share: float) -> None:
        if not self._arm(side).fingers:
            raise BadRobot(f"the {side} hand of '{self.robot.name}' has no fingers: no group {side}_hand of joints")
        each = self._taken(side)
        here = each.at(self._time)
        goal = here.copy()
        joints = [self.robot.joint(name) for name in each.arm.fingers]
        goal[len(each.arm.joints) :] = [(1 - share) * joint.lower + share * joint.upper for joint in joints]
        self._move(side, np.array([here, goal]), CLOSING)

    def _move(self, side: str, rows: Array, seconds: float = 0.0, leaves: bool = False) -> None:
        each = self._taken(side)
        length = float(np.abs(np.diff(rows, axis=0)).sum(axis=0).max())
        each.way, each.begin = _spline(rows), self._time
        each.seconds, each.leaves = seconds or max(QUICKEST, length / SPEED), leaves
        each.most, each.before, each.felt = math.inf, None, math.nan


def _collisions(model: Model, sides: Sequence[str]) -> Collisions:
    """Of all links but those of a hand, which meet as it closes, those next but one in an arm, whose shapes meet where
    joints have ends, and those that are in each other as it stands.
    """
    robot = model.robot
    within = [pair for side in sides for pair in itertools.combinations(hand_links(robot, side), 2)]
    within += [pair for side in sides for pair in _near(robot, robot.groups[f"{side}_arm"])]
    found = Collisions(model, 0.0, ignore=within)
    if "stand" not in robot.postures:
        return found
    stands = [(touch.one, touch.other) for touch in found.check(model.posture("stand"))]
    return Collisions(model, 0.0, ignore=[*within, *stands]) if stands else found


def _near(robot: Robot, arm: Sequence[str]) -> list[tuple[str, str]]:
    """Links of an arm between which there are two of its joints."""
    between = {robot.joint(arm[0]).child: 0}
    for joint in robot.joints:
        if joint.parent in between:
            between.setdefault(joint.child, between[joint.parent] + (joint.name in arm))
    return [
        (one, other) for one, other in itertools.combinations(between, 2) if abs(between[one] - between[other]) == 2
    ]


def _spline(rows: Array) -> CubicSpline:
    """Through the rows, each its share of the way by how far joints go, from 0 to 1."""
    steps = np.maximum(np.abs(np.diff(rows, axis=0)).max(axis=1), 1e-6)
    knots = np.concatenate([[0.0], np.cumsum(steps)])
    return CubicSpline(knots / knots[-1], rows, bc_type="natural" if len(rows) > 2 else "not-a-knot")


def _wrist(robot: Robot, side: str) -> int | None:
    """Which force-torque sensor is in a wrist."""
    links = [sensor.link for sensor in robot.sensors_of("force_torque")]
    palm = robot.surface(f"{side}_palm").link
    return links.index(palm) if palm in links else None
