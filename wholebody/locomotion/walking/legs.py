"""Legs: joint angles that put both soles, and the pelvis or the centre of mass, where they are to be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from wholebody import _kernels
from wholebody.errors import BadGoal, BadTask, NoClosedForm
from wholebody.kinematics import ClosedForm, InverseKinematics, chains
from wholebody.locomotion.walking.gait import SOLES, Gait
from wholebody.locomotion.walking.pendulum import GRAVITY
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.robots.robot import Joint, Robot
from wholebody.rotations import matrix_of_quaternion, quaternion_of_matrix
from wholebody.tasks import CenterOfMassTask, Orientation3DTask, PoseTask, Task

ARRIVED, MOST_ITERATIONS = 1e-6, 30
"""m, rad: when legs by iteration have reached a goal; and after how many rounds they are as near as they come."""
BEND = 0.15
"""rad: legs by iteration start with knees bent so far at least; a straight one, once there, would never bend again."""
TILTED = math.radians(2.0)
"""A sole that is turned by more stands on its edge."""
TURNS = 0.01
"""Of a leg with fewer than six joints, the weight of a radian against that of a metre."""
BENT = 0.02  # rad: less is a straight leg, which may bend either way


class LegTasks(NamedTuple):
    """What legs do, as the tasks that inverse kinematics and whole-body controllers take too: goals in world."""

    left: PoseTask
    right: PoseTask
    pelvis: Orientation3DTask
    com: CenterOfMassTask

    @classmethod
    def of(cls, robot: Robot) -> LegTasks:
        """New ones, of a robot's soles and root."""
        left, right = (PoseTask(sole, sole, 0.0) for sole in SOLES)
        return cls(
            left, right, Orientation3DTask("pelvis", robot.root, (0.0, 0.0, 0.0, 1.0)), CenterOfMassTask("com", 0.0)
        )

    @classmethod
    def among(cls, model: Model, tasks: Sequence[Task]) -> LegTasks:
        """These four, in whichever order; BadTask if one is missing, or there is another."""
        kinds_of = {each.name: (type(each), each.describe(model)) for each in cls.of(model.robot)}
        found = {(type(each), each.describe(model)): each for each in tasks}
        if len(tasks) != len(found) or set(found) != set(kinds_of.values()):
            raise BadTask(
                f"legs take a PoseTask of {SOLES[0]} and of {SOLES[1]}, an Orientation3DTask of "
                f"{model.robot.root} and a CenterOfMassTask, all in world, and not "
                f"{', '.join(map(repr, tasks)) or 'none'}; other tasks are for inverse kinematics or a controller"
            )
        return cls(*(found[kind] for kind in kinds_of.values()))  # type: ignore[arg-type]


class Legs:
    """Both legs of a robot; `joints` are those of the model, without its base.

        legs.tasks.com.goal = (0.0, 0.05, 0.58)
        legs.solve()

    Legs of six joints with a spherical hip are solved in closed form, all others by iteration (`closed` says which).
    `reach` is how far, in m, a sole stayed from where it was to be at the last call.
    """

    def __init__(self, model: Model, tasks: Sequence[Task] | None = None) -> None:
        """`tasks` are those of LegTasks, whose goals are read at each `solve`; its own, unless told."""
        robot = model.robot
        self.model = model
        self.tasks = LegTasks.of(robot) if tasks is None else LegTasks.among(model, tasks)
        self.columns = leg_columns(robot)
        self._q = model.posture("stand")
        self._q[:7] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
        self.joints = self._q[7:]
        self._posture = self.joints.copy()
        self.knees = np.array([knee_of(columns, self._posture) for columns in self.columns], np.int64)
        self._others = np.ones(len(self.joints), bool)
        self._others[np.concatenate(self.columns)] = False
        self._free = self._others.copy()  # those that nobody else has
        self.reach = 0.0
        try:
            self._solver: ClosedLegs | IteratedLegs = ClosedLegs(model, self.tasks, self.columns, self.joints)
        except NoClosedForm:
            self._solver = IteratedLegs(model, self.tasks, self.columns, self.joints)
        self._seen: Snapshot | None = None  # with the joints as they are

    @property
    def closed(self) -> bool:
        """Whether the legs have a closed form."""
        return isinstance(self._solver, ClosedLegs)

    def balance(
        self, com_in_world: Array, rotation: Array, soles_to_world: tuple[Array, Array], rounds: int = 2
    ) -> Snapshot:
        """Give the tasks these goals, `rotation` of the pelvis, and solve."""
        self._solver.aim(com_in_world, rotation, soles_to_world)
        return self.solve(rounds)

    def solve(self, rounds: int = 2) -> Snapshot:
        """Put the centre of mass, the pelvis and the soles to the tasks' goals; what the robot then looks like.

        The centre of mass moves by little against the pelvis from one instant to the next, so in closed form it is
        found by putting the pelvis where it would be right if the joints stayed as they were, and once more. The joints
        beside the legs stay as they are.
        """
        before = self._seen or self.seen_from_pelvis()
        self.reach, self._seen = 0.0, None
        self.reach = self._solver.put(before, rounds)
        self._seen = self.seen_from_pelvis()
        return self._seen

    def take(self, columns: Integers, positions: Array) -> None:
        """Count with these joints where somebody else has them, and with all others beside the legs in the posture."""
        wanted = self._posture.copy()
        wanted[columns] = positions[columns]
        self.joints[self._others] = wanted[self._others]
        self._free = self._others.copy()
        self._free[columns] = False
        self._seen = None

    def swing(self, offsets: Array) -> None:
        """Move joints beside the legs so far from the posture; those that somebody else has stay where he has them."""
        wanted = self._posture + offsets
        if (np.abs(wanted - self.joints)[self._free] > 1e-9).any():
            self.joints[self._free] = wanted[self._free]
            self._seen = None

    def seen_from_pelvis(self) -> Snapshot:
        """The robot with the joints as they are, its pelvis at the origin."""
        return self.model.at(self._q)


class ClosedLegs:
    """Legs in closed form: every pose of a sole to the joints that reach it, in a kernel; NoClosedForm says why not."""

    def __init__(self, model: Model, tasks: LegTasks, columns: tuple[Integers, ...], joints: Array) -> None:
        robot = model.robot
        self._model, self._tasks = model, tasks
        left, right = (leg(robot, sole) for sole in SOLES)
        first, second, pelvis, com = (task.handle(model) for task in tasks)
        tasks_of_legs = (first, second, pelvis, com)
        self._handle = _kernels.locomotion_legs(
            left.handle, right.handle, columns[0], columns[1], joints, tasks_of_legs
        )

    def aim(self, com: Array, rotation: Array, soles: tuple[Array, Array]) -> None:
        """Set the goals of the tasks."""
        _kernels.locomotion_aim_legs(self._handle, com, rotation, *soles)

    def put(self, before: Snapshot, rounds: int) -> float:
        """Move the joints to the goals; how far a sole stays away, m."""
        reach = _kernels.locomotion_put_legs(self._handle, self._model.tree, before.handle, rounds)
        if reach < 0.0:
            raise _no_pose(self._tasks)
        return float(reach)


class IteratedLegs:
    """Legs of any kind by iterative inverse kinematics of the four tasks, from where the joints are.

    A leg of fewer than six joints cannot turn its sole at will: there the place of the sole counts TURNS times as much
    as how it is turned.
    """

    def __init__(self, model: Model, tasks: LegTasks, columns: tuple[Integers, ...], joints: Array) -> None:
        self._tasks, self._joints = tasks, joints
        robot = knees_as_in_stand(model.robot)
        names = [robot.joint_names[column] for column in np.concatenate(columns)]
        few = min(map(len, columns)) < 6
        sole = (1.0, 1.0, 1.0, TURNS, TURNS, TURNS) if few else (1.0,) * 6
        self._inverse = InverseKinematics(
            Model(robot), tasks, None, joints=names, weights={SOLES[0]: sole, SOLES[1]: sole},
            position_tolerance=ARRIVED, rotation_tolerance=ARRIVED, max_iterations=MOST_ITERATIONS,
        )  # fmt: skip
        self._base: Array | None = None
        stand = model.posture("stand")[7:]
        self._knees = np.array([knee_of(each, stand) for each in columns])
        self._bent = np.sign(stand[self._knees])

    def _start(self) -> Array:
        """The joints as they are, knees bent a little: one that is straight would not shorten the leg at first."""
        start = self._joints.copy()
        bend = np.maximum(self._bent * start[self._knees], BEND)
        start[self._knees] = np.where(self._bent, self._bent * bend, start[self._knees])
        return start

    def aim(self, com: Array, rotation: Array, soles: tuple[Array, Array]) -> None:
        """Set the goals of the tasks."""
        left, right, pelvis, middle = self._tasks
        middle.goal[:], pelvis.goal[:] = com, quaternion_of_matrix(rotation)
        for task, sole in zip((left, right), soles, strict=True):
            task.goal_position[:], task.goal_orientation[:] = sole[:3, 3], quaternion_of_matrix(sole[:3, :3])

    def put(self, before: Snapshot, rounds: int) -> float:
        """Move the joints to the goals; how far a sole stays away, m."""
        if self._base is None:
            turned = matrix_of_quaternion(self._tasks.pelvis.goal)
            self._base = np.concatenate([self._tasks.com.goal - turned @ before.com_in_world, self._tasks.pelvis.goal])
        try:
            found = self._inverse.solve(np.concatenate([self._base, self._start()]))
        except BadGoal:
            raise _no_pose(self._tasks) from None
        self._base, self._joints[:] = found.q[:7], found.q[7:]
        return max(error.position for error in found.errors[:2])


def _no_pose(tasks: LegTasks) -> BadGoal:
    feet = f"{tasks.left.goal_position} and {tasks.right.goal_position}"
    return BadGoal(f"soles cannot be put to {feet} below a centre of mass at {tasks.com.goal}")


def leg_columns(robot: Robot) -> tuple[Integers, ...]:
    """Of the left and the right leg, where its joints are among the robot's, from hip to foot."""
    return tuple(np.array([robot.index[name] for name in names], np.int64) for names in leg_joints(robot))


def leg_joints(robot: Robot) -> tuple[tuple[str, ...], ...]:
    """The joints of the left and of the right leg, from hip to foot.

    Joints that both soles hang from, such as a waist between trunk and hips, are of neither leg.
    """
    ways = [_joints_above(robot, robot.surface(sole).link) for sole in SOLES]
    shared = set(ways[0]) & set(ways[1])
    return tuple(tuple(name for name in way if name not in shared) for way in ways)


def _joints_above(robot: Robot, link: str) -> list[str]:
    """The joints between the root and a link that move by themselves."""
    above, found = {joint.child: joint for joint in robot.joints}, list[str]()
    while link in above:
        found.insert(0, above[link].name)
        link = above[link].parent
    return [name for name in found if name in robot.index]


def knees_as_in_stand(robot: Robot) -> Robot:
    """The robot with knees that bend only the way they do in the posture "stand".

    The other way may be within the knee's range and keep an ankle within its own, but a knee cannot leap there. In a
    leg that stands on a level sole below an upright trunk, the knee is bent as far as hip and ankle together.
    """
    stand, kept = robot.posture("stand"), dict[str, Joint]()
    for columns in leg_columns(robot):
        knee = knee_of(columns, stand)
        joint = robot.moving[knee]
        if stand[knee] > BENT:
            kept[joint.name] = replace(joint, lower=max(joint.lower, 0.0))
        elif stand[knee] < -BENT:
            kept[joint.name] = replace(joint, upper=min(joint.upper, 0.0))
    named = {name: {j: at for j, at in each.items() if j not in kept} for name, each in robot.postures.items()}
    joints = tuple(kept.get(joint.name, joint) for joint in robot.joints)
    return replace(robot, joints=joints, postures={**named, "stand": robot.postures["stand"]})


def knee_of(columns: Integers, stand: Array) -> int:
    """Of a leg's joints, the one that is bent most as it stands."""
    return int(columns[int(np.abs(stand[columns]).argmax())])


def leg(robot: Robot, sole: str) -> ClosedForm:
    """A leg in closed form whose knee bends only the way it does in the posture "stand"."""
    return ClosedForm(chains.chain(knees_as_in_stand(robot), robot.root, sole))


def under(com_in_world: Array, rotation: Array, com_in_pelvis: Array) -> Array:
    """Where the pelvis is, from where the centre of mass is to be."""
    return com_in_world - rotation @ com_in_pelvis


class Load(NamedTuple):
    """The joint that is loaded most, and the share of its effort limit; and how far the sole is from level, rad."""

    joint: str
    share: float
    tilt: float


def load_on_one_leg(model: Model, gait: Gait) -> Load:
    """What the robot needs to stand on its left leg with the right foot lifted, as in the middle of a step.

    τ = g(q) − Jᵀ w, with the ground's push w at the sole, right below the centre of mass.
    """
    legs, soles = Legs(model), (np.eye(4), np.eye(4))
    soles[0][1, 3], soles[1][1, 3] = gait.limits.spacing / 2, -gait.limits.spacing / 2
    soles[1][2, 3] = gait.lift
    com = np.array([gait.forward, gait.limits.spacing / 2 - gait.inward, gait.height])
    seen = legs.balance(com, np.eye(3), soles, rounds=10)
    foot = model.surface(SOLES[0])
    push = np.array([0.0, 0.0, model.total_mass * GRAVITY])
    lever = seen.com_in_world - seen.position(foot)
    effort = (seen.g - seen.jacobian(foot).T @ np.concatenate([push, np.cross(lever, push)]))[6:]
    shares = {j.name: abs(float(tau)) / j.effort for j, tau in zip(model.robot.moving, effort, strict=True) if j.effort}
    worst = max(shares, key=lambda name: shares[name])
    return Load(worst, shares[worst], math.acos(min(1.0, float(seen.rotation(foot)[2, 2]))))


def trouble_on_one_leg(model: Model, gait: Gait) -> str:
    """Why it cannot stand on one leg, as in the middle of a step; nothing if it can."""
    load = load_on_one_leg(model, gait)
    if load.tilt > TILTED:
        few = min(map(len, leg_joints(model.robot)))
        why = f", as its legs have {few} joints" if few < 6 else ""
        return f"on one leg its sole is turned by {math.degrees(load.tilt):.0f}°{why}"
    if load.share <= 1.0:
        return ""
    most = model.robot.joint(load.joint).effort
    return f"on one leg '{load.joint}' needs {load.share * most:.0f} N·m, and has {most:.0f} N·m at most"


class ServoFeedForward:
    """For robots whose servo gains are known; joints without one are told where they shall be."""

    def __init__(self, model: Model, softness: Array | None = None) -> None:
        """`softness` is what the springs under joints that turn the feet yield, rad/(N·m), one for each joint."""
        robot = model.robot
        gains = [robot.gains.get(joint.name) for joint in robot.moving]
        self.model = model
        stiff = [gain if gain and gain.stiffness > 0 else None for gain in gains]
        places = [robot.surface(sole).at.matrix for sole in SOLES]
        self._servos = _kernels.locomotion_servos(
            model.tree,
            np.array([model.surface(sole) for sole in SOLES], np.int64),
            np.array([1.0 / gain.stiffness if gain else 0.0 for gain in stiff]),
            np.array([gain.damping / gain.stiffness if gain else 0.0 for gain in stiff]),
            np.zeros(len(gains)) if softness is None else softness,
            np.array([place[:3, :3].T @ place[:3, 3] for place in places]),  # from spring to sole, in its axes
            model.total_mass,
        )
        self._told, self._follows = np.zeros(len(gains)), np.array([gain is not None for gain in stiff])

    def positions(
        self,
        snapshot: Snapshot,
        joints: Array,
        velocities: Array,
        acceleration: Array,
        rotation: Array,
        soles: tuple[Array, Array],
        zmp: Array,
        left_share: float,
        late: float = 0.0,
    ) -> Array:
        """The joints to command; `late` is how many seconds after the instant it is made for this will act.

        snapshot: the robot with these joints, seen from the pelvis; acceleration: of the centre of mass along x and y;
        rotation, soles and zmp: of the pelvis, of the soles, and where the ground pushes, in world.
        """
        _kernels.locomotion_lead_servos(
            *(self._servos, self.model.tree, snapshot.handle, joints, velocities, acceleration, rotation),
            *(*soles, zmp, left_share, self._told),
        )
        if late:
            self._told += late * self._follows * velocities
        return self._told
