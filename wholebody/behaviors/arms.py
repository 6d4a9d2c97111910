"""Arm: how a hand comes to a point: poses of its palm, joints that put it there, and how well it can move there.

The palm faces sideways, its fingers forward and a little down, turned towards the point as seen from the shoulder. All
points are in the axes of the base.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation, Slerp

from wholebody.errors import BadGoal, OutOfReach
from wholebody.kinematics.collision import Collisions
from wholebody.kinematics.inverse import InverseKinematics, Solution
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.robots.robot import Robot
from wholebody.tasks import CartesianPositionTask, PoseTask

SIDES = ("left", "right")
RAISED = math.radians(80.0)
"""How far the palm is turned up from where it hangs, fingers down."""
SOFTLY = 0.001
"""What an orientation error of 1 rad weighs against a position error of 1 m: the hand may be turned otherwise."""
NEAR_ENOUGH = 0.006
"""m. How exactly a palm comes to a point that counts as reached."""
ELBOW_ROOM = 0.1
"""m"""
WAYPOINT = 0.02
"""m between two postures on a straight way."""
TURNED_OVER = math.radians(60.0)
"""How far no joint goes from one to the next: then the arm would swing round, and come back otherwise than it went."""


@dataclass(frozen=True)
class Reach:
    """How well an arm reaches a point.

    miss             m, how far the palm stays away; 0 if it is there
    margin           rad, how far the nearest joint is from its limit
    manipulability   m³, √det(J Jᵀ) of the palm's position
    """

    side: str
    miss: float
    margin: float
    manipulability: float
    collides: bool

    @property
    def possible(self) -> bool:
        """Whether the hand gets there."""
        return self.miss <= NEAR_ENOUGH and not self.collides

    @property
    def quality(self) -> str:
        """How well, in words."""
        limit = f"{math.degrees(self.margin):.0f}° from a joint limit"
        return f"{limit}, room to move {self.manipulability * 1000:.1f} dm³"

    def __str__(self) -> str:
        """In words."""
        if not self.possible:
            why = "collides with the robot" if self.collides else f"is {self.miss * 1000:.0f} mm short"
            return f"{self.side}_arm {why}"
        return f"{self.side}_arm reaches it, {self.quality}"


class Arm:
    """One arm of a robot: joints `left_arm`, palm `left_palm`."""

    def __init__(self, model: Model, side: str, collisions: Collisions) -> None:
        robot = model.robot
        self.model, self.side, self._collisions = model, side, collisions
        self.joints = tuple(robot.groups[f"{side}_arm"])
        self.fingers = tuple(robot.groups.get(f"{side}_hand", ()))
        self._numbers = [robot.index[name] for name in self.joints]
        self._columns = [model.column(name) for name in self.joints]
        self._palm = model.surface(f"{side}_palm")
        neutral = model.at(model.neutral())
        self._hanging = neutral.rotation(self._palm)
        shoulder = neutral.position(model.frame(robot.joint(self.joints[0]).child))
        self._shoulder = np.array([shoulder[0], neutral.position(self._palm)[1], shoulder[2]])  # over the hanging palm
        self._length = float(np.linalg.norm(neutral.position(self._palm) - self._shoulder))
        limits = [robot.joint(name) for name in self.joints]
        self._lower, self._upper = np.array([j.lower for j in limits]), np.array([j.upper for j in limits])
        self._goal = PoseTask(f"{side}_palm", f"{side}_palm", 0.0)
        weights = {f"{side}_palm": [1.0, 1.0, 1.0, SOFTLY, SOFTLY, SOFTLY]}
        self._ik = InverseKinematics(
            model, [self._goal], weights=weights, joints=[f"{side}_arm"], position_tolerance=5e-4
        )

    @property
    def outward(self) -> float:
        """+1 for a left arm, −1 for a right one."""
        return float(np.sign(self._shoulder[1]))

    @property
    def sweet_spot(self) -> Array:
        """Where, x and y, the arm handles objects best: ahead of the shoulder, two thirds of its length away."""
        return np.array([self._shoulder[0] + 0.68 * self._length, 0.85 * self._shoulder[1]])

    @property
    def pressing_spot(self) -> Array:
        """Where, x and y, it presses inwards best: further out, so that the elbow stays away from the body."""
        x, y = self.sweet_spot
        return np.array([x, y + ELBOW_ROOM * self.outward])

    @property
    def carrying(self) -> Array:
        """Where a hand carries objects: before the body, aside, a little under the shoulder."""
        x, y = self.sweet_spot
        return np.array([0.8 * x, 1.2 * y, self._shoulder[2] - 0.08 * self._length])

    def palm_at(self, point_in_base: npt.ArrayLike, standoff: float = 0.0) -> Array:
        """The palm's 4 × 4 frame when it is that far (m) beside a point, facing it."""
        point = np.asarray(point_in_base, float)
        yaw = math.atan2(point[1] - self._shoulder[1], max(point[0] - self._shoulder[0], 0.05))
        (cz, sz), (cy, sy) = (math.cos(yaw), math.sin(yaw)), (math.cos(-RAISED), math.sin(-RAISED))
        turn = np.array([[cz, -sz, 0.0], [sz, cz, 0.0], [0.0, 0.0, 1.0]])
        raised = np.array([[cy, 0.0, sy], [0.0, 1.0, 0.0], [-sy, 0.0, cy]])
        frame = np.eye(4)
        frame[:3, :3] = turn @ raised @ self._hanging
        frame[:3, 3] = point + standoff * frame[:3, 2]  # z points from what is touched into the hand
        return frame

    def palm(self, positions: Array) -> Array:
        """The palm's 4 × 4 frame, with all joints of the robot at these positions."""
        return np.array(self.model.at(self._configuration(positions)).placement(self._palm))

    def reach(self, positions: Array, point_in_base: npt.ArrayLike, standoff: float = 0.0) -> Reach:
        """How well it reaches a point, from these joint positions on."""
        q = self._solve(self._configuration(positions), self.palm_at(point_in_base, standoff))
        snapshot = self.model.at(q.q)
        J = snapshot.jacobian(self._palm)[:3, self._columns]
        joints = q.q[-len(positions) :][self._numbers]
        margin = float(np.minimum(joints - self._lower, self._upper - joints).min())
        manipulability = math.sqrt(max(0.0, float(np.linalg.det(J @ J.T))))
        return Reach(self.side, q.errors[0].position, margin, manipulability, self._collisions.collides(snapshot))

    def way(self, positions: Array, palm_in_base: Array, *, steadily: bool = False) -> Array:
        """Joint positions of the arm on a straight way of the palm, row by row; OutOfReach if there is none.

        A hand that is empty may turn over on its way; one that goes steadily may not.
        """
        begin, rows = self.palm(positions), [positions[self._numbers]]
        far = float(np.linalg.norm(palm_in_base[:3, 3] - begin[:3, 3]))
        count = max(2, math.ceil(far / WAYPOINT))
        turns = Slerp([0.0, 1.0], Rotation.from_matrix([begin[:3, :3], palm_in_base[:3, :3]]))
        q = self._configuration(positions)
        for share in np.linspace(0.0, 1.0, count + 1)[1:]:
            goal = np.eye(4)
            goal[:3, 3] = (1 - share) * begin[:3, 3] + share * palm_in_base[:3, 3]
            goal[:3, :3] = turns(share).as_matrix()
            solution = self._solve(q, goal)
            q = solution.q
            if share == 1.0 and solution.errors[0].position > NEAR_ENOUGH:
                short = solution.errors[0].position * 1000
                raise OutOfReach(f"the {self.side} hand stays {short:.0f} mm short of where it shall go; come nearer")
            if touches := self._collisions.check(q):
                pair = f"{touches[0].one} and {touches[0].other}"
                raise OutOfReach(f"on its way the {self.side} arm would collide: {pair}; stand otherwise")
            rows.append(q[-len(positions) :][self._numbers])
        if steadily and np.abs(np.diff(rows, axis=0)).max() > TURNED_OVER:
            raise OutOfReach(f"on its way the {self.side} arm would have to turn over; stand otherwise")
        return np.array(rows)

    def moved(self, positions: Array, palm_in_base: Array) -> Array:
        """All joints of the robot at the end of such a way."""
        there = np.array(positions)
        there[self._numbers] = self.way(positions, palm_in_base)[-1]
        return there

    def _solve(self, q: Array, palm_in_base: Array) -> Solution:
        """From a configuration to one with the palm at a 4 × 4 frame."""
        self._goal.goal_position, self._goal.goal_orientation = palm_in_base[:3, 3], palm_in_base[:3, :3]
        return self._ik.solve(q)

    def _configuration(self, positions: Array) -> Array:
        q = self.model.neutral()
        q[-len(positions) :] = positions
        return q


def palms(robot: Robot) -> list[str]:
    """The sides on which a robot has a palm at the end of an arm, and so can reach."""
    known = {surface.name for surface in robot.surfaces}
    return [side for side in SIDES if f"{side}_palm" in known and robot.groups.get(f"{side}_arm")]


def hands(robot: Robot) -> list[str]:
    """The sides on which it has fingers too, a group of joints, and so can grasp."""
    return [side for side in palms(robot) if robot.groups.get(f"{side}_hand")]


def hand_links(robot: Robot, side: str) -> tuple[str, ...]:
    """The link of a palm and all that hangs on it."""
    found = [robot.surface(f"{side}_palm").link]
    parents = {joint.child: joint.parent for joint in robot.joints}
    for link in robot.links:
        if _hangs_on(link.name, found[0], parents):
            found.append(link.name)
    return tuple(found)


def _hangs_on(link: str, ancestor: str, parents: Mapping[str, str]) -> bool:
    while link in parents:
        link = parents[link]
        if link == ancestor:
            return True
    return False


ARMS = ("left_arm", "right_arm")


TRIES = 30
"""Arms from which the search for a posture begins, at random but the same each time."""


def hand_of(model: Model, arm: str) -> int:
    """The frame that holds: the palm, or the last link of the arm if it has none."""
    robot = model.robot
    if not robot.groups.get(arm):
        raise BadGoal(f"'{robot.name}' has no joints '{arm}': it cannot hold with two arms")
    palm = arm.replace("arm", "palm")
    if any(surface.name == palm for surface in robot.surfaces):
        return model.surface(palm)
    return model.frame(robot.joint(robot.groups[arm][-1]).child)


def holding_posture(model: Model, ahead: float = 0.6, below: float = 0.2) -> Array:
    """The robot as it stands, with the hands before the shoulders, or as near to there as the joints allow.

    Of the ways in which an arm can get there, the one that leaves its joints the most room to both sides; the other arm
    does the same in a mirror, as far as it can.

    ahead, below   where the hands are, seen from the shoulders, in lengths of an arm
    """
    stand = model.posture("stand") if "stand" in model.robot.postures else model.neutral()
    left, right = (_ways(model, arm, stand, ahead, below) for arm in ARMS)
    best = max(left, key=lambda way: way.room)
    twin = min(right, key=lambda way: _unlike(best, way))
    posture = best.q.copy()
    posture[twin.places] = twin.q[twin.places]
    return posture


@dataclass(frozen=True)
class _Way:
    """One way to get a hand to its place.

    q, places   a configuration, and where the joints of the arm are in it
    elbow       where it is in world
    hand        rotation of the hand to world
    room        the least share of its range that a joint has left to an end
    """

    q: Array
    places: npt.NDArray[np.int64]
    elbow: Array
    hand: Array
    room: float


def _unlike(left: _Way, right: _Way) -> float:
    """How far two arms are from being mirrored: 0.3 m of the elbow count as a radian of the hand."""
    mirror = np.array([1.0, -1.0, 1.0])
    turned = mirror[:, None] * left.hand * mirror
    return float(np.linalg.norm(right.elbow - mirror * left.elbow) + 0.3 * np.linalg.norm(right.hand - turned))


def _ways(model: Model, arm: str, stand: Array, ahead: float, below: float) -> list[_Way]:
    robot, snapshot = model.robot, model.at(stand)
    hand = hand_of(model, arm)
    group = robot.groups[arm]
    names = [link.name for link in robot.links] + [surface.name for surface in robot.surfaces]
    points = [snapshot.position(model.frame(robot.joint(name).child)) for name in group]
    length = float(np.linalg.norm(np.diff([*points, snapshot.position(hand)], axis=0), axis=1).sum())
    goal = CartesianPositionTask("hand", names[hand], points[0] + np.array([ahead * length, 0.0, -below * length]))
    solver = InverseKinematics(model, [goal], joints=[arm])
    places = np.array([model.column(name) + model.nq - model.nv for name in group])
    lower, upper = np.array([(robot.joint(name).lower, robot.joint(name).upper) for name in group]).T
    elbow, ways = model.frame(robot.joint(group[len(group) // 2]).child), []
    for share in np.random.default_rng(0).uniform(0.2, 0.8, size=(TRIES, len(group))):
        start = stand.copy()
        start[places] = lower + share * (upper - lower)
        found = solver.solve(start)
        q = found.q[places]
        room = float((np.minimum(q - lower, upper - q) / (upper - lower)).min())
        seen = model.at(found.q)
        room -= 100.0 * found.errors[0].position
        ways.append(_Way(found.q, places, np.array(seen.position(elbow)), np.array(seen.rotation(hand)), room))
    return ways
