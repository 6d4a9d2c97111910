"""Legs: joint angles that put both soles, and the pelvis or the centre of mass, where they are to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from wholebody import _kernels
from wholebody.errors import BadGoal, BadTask, NoClosedForm
from wholebody.kinematics import ClosedForm, chains
from wholebody.locomotion.walking.gait import SOLES, Gait
from wholebody.locomotion.walking.pendulum import GRAVITY
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.robots.robot import Robot
from wholebody.tasks import CenterOfMassTask, Orientation3DTask, PoseTask, Task

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
                f"legs in closed form take a PoseTask of {SOLES[0]} and of {SOLES[1]}, an Orientation3DTask of "
                f"{model.robot.root} and a CenterOfMassTask, all in world, and not "
                f"{', '.join(map(repr, tasks)) or 'none'}; other tasks are for inverse kinematics or a controller"
            )
        return cls(*(found[kind] for kind in kinds_of.values()))  # type: ignore[arg-type]


class Legs:
    """Both legs of a robot in closed form; `joints` are those of the model, without its base.

        legs.tasks.com.goal = (0.0, 0.05, 0.58)
        legs.solve()

    `reach` is how far, in m, a sole stayed from where it was to be at the last call.
    """

    def __init__(self, model: Model, tasks: Sequence[Task] | None = None) -> None:
        """`tasks` are those of LegTasks, whose goals are read at each `solve`; its own, unless told."""
        robot = model.robot
        self.model = model
        self.tasks = LegTasks.of(robot) if tasks is None else LegTasks.among(model, tasks)
        self.chains = tuple(leg(robot, sole) for sole in SOLES)
        self.columns = tuple(np.array([robot.index[name] for name in leg.joint_names], np.int64) for leg in self.chains)
        self._q = model.posture("stand")
        self._q[:7] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
        self.joints = self._q[7:]
        self._posture = self.joints.copy()
        self._others = np.ones(len(self.joints), bool)
        self._others[np.concatenate(self.columns)] = False
        self._free = self._others.copy()  # those that nobody else has
        self.reach = 0.0
        (left, right), (left_columns, right_columns) = self.chains, self.columns
        first, second, pelvis, com = (task.handle(model) for task in self.tasks)
        self._handle = _kernels.locomotion_legs(
            left.handle, right.handle, left_columns, right_columns, self.joints, (first, second, pelvis, com)
        )
        self._seen: Snapshot | None = None  # with the joints as they are

    def balance(
        self, com_in_world: Array, rotation: Array, soles_to_world: tuple[Array, Array], rounds: int = 2
    ) -> Snapshot:
        """Give the tasks these goals, `rotation` of the pelvis, and solve."""
        _kernels.locomotion_aim_legs(self._handle, com_in_world, rotation, *soles_to_world)
        return self.solve(rounds)

    def solve(self, rounds: int = 2) -> Snapshot:
        """Put the centre of mass, the pelvis and the soles to the tasks' goals; what the robot then looks like.

        The centre of mass moves by little against the pelvis from one instant to the next, so it is found by putting
        the pelvis where it would be right if the joints stayed as they were, and once more. The joints beside the legs
        stay as they are.
        """
        before = self._seen or self.seen_from_pelvis()
        self.reach, self._seen = 0.0, None
        self.reach = _kernels.locomotion_put_legs(self._handle, self.model.tree, before.handle, rounds)
        if self.reach < 0.0:
            feet = f"{self.tasks.left.goal_position} and {self.tasks.right.goal_position}"
            raise BadGoal(f"soles cannot be put to {feet} below a centre of mass at {self.tasks.com.goal}")
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


def leg(robot: Robot, sole: str) -> ClosedForm:
    """A leg whose knee bends only the way it does in the posture "stand".

    The other way may be within the knee's range and keep an ankle within its own, but a knee cannot leap there. In a
    leg that stands on a level sole below an upright trunk, the knee is bent as far as hip and ankle together.
    """
    chain = chains.chain(robot, robot.root, sole)
    stands = np.array([robot.postures["stand"].get(name, 0.0) for name in chain.joint_names])
    knee = int(np.abs(stands).argmax())
    lower, upper = chain.lower.copy(), chain.upper.copy()
    if stands[knee] > BENT:
        lower[knee] = max(lower[knee], 0.0)
    elif stands[knee] < -BENT:
        upper[knee] = min(upper[knee], 0.0)
    try:
        return ClosedForm(replace(chain, lower=lower, upper=upper))
    except NoClosedForm as error:
        raise NoClosedForm(
            f"'{robot.name}' cannot walk, as the joints of its legs are found in closed form and there is none: {error}"
        ) from error


def under(com_in_world: Array, rotation: Array, com_in_pelvis: Array) -> Array:
    """Where the pelvis is, from where the centre of mass is to be."""
    return com_in_world - rotation @ com_in_pelvis


def trouble_on_one_leg(model: Model, gait: Gait) -> str:
    """Why it cannot stand on its left leg with the right foot lifted, as in the middle of a step; nothing if it can.

    τ = g(q) − Jᵀ w, with the ground's push w at the sole, right below the centre of mass, must be within the efforts.
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
    if shares[worst] <= 1.0:
        return ""
    most = model.robot.joint(worst).effort
    return f"on one leg '{worst}' needs {shares[worst] * most:.0f} N·m, and has {most:.0f} N·m at most"


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
        self._told = np.zeros(len(gains))

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
    ) -> Array:
        """The joints to command.

        snapshot: the robot with these joints, seen from the pelvis; acceleration: of the centre of mass along x and y;
        rotation, soles and zmp: of the pelvis, of the soles, and where the ground pushes, in world.
        """
        _kernels.locomotion_lead_servos(
            *(self._servos, self.model.tree, snapshot.handle, joints, velocities, acceleration, rotation),
            *(*soles, zmp, left_share, self._told),
        )
        return self._told
