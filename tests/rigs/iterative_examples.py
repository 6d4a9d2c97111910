"""The robots and tasks that iterative inverse kinematics is tested on, and what Pinocchio says of an answer."""

import numpy as np
import pinocchio as pin

from wholebody.model import Model
from wholebody.robots import Joint, Link, Placement, Robot
from wholebody.rotations import matrix_of_quaternion
from wholebody.tasks import CartesianPositionTask, CenterOfMassTask, Orientation3DTask, PoseTask

LIMBS = ("left_sole", "right_sole", "left_palm", "right_palm")


def limits(model):
    return np.array([(joint.lower, joint.upper) for joint in model.robot.moving]).T


def near(model, q, rng, reach=0.5):
    """A posture near another, within the limits, with the base where it was."""
    q = np.array(q)
    lower, upper = limits(model)
    n = len(lower)
    q[-n:] = np.clip(q[-n:] + rng.uniform(-reach, reach, n), lower, upper)
    return q


def pinocchio_placement(model, q, name):
    """Where a frame is, by Pinocchio's own forward kinematics of the link it is fixed to."""
    robot = model.robot
    surfaces = {surface.name: surface for surface in robot.surfaces}
    link, there = (surfaces[name].link, surfaces[name].at.matrix) if name in surfaces else (name, np.eye(4))
    data = model.pinocchio.createData()
    pin.framesForwardKinematics(model.pinocchio, data, model.to_pinocchio(q))
    return data.oMf[model.pinocchio.getFrameId(link)].homogeneous @ there


def pinocchio_com(model, q):
    return pin.centerOfMass(model.pinocchio, model.pinocchio.createData(), model.to_pinocchio(q))


def point(frame, goal, axes="xyz"):
    """The origin of a frame at a place, as a task that is called as its frame."""
    return CartesianPositionTask(frame, frame, goal, axes=axes)


def pose(frame, placement):
    """A frame at a 4 × 4 placement."""
    return PoseTask(frame, frame, placement[:3, 3], placement[:3, :3])


def goals_at(model, q, kind):
    at = model.at(q)
    placement = {name: at.placement(model.frame(name)).copy() for name in LIMBS}
    return {
        "points": [point(name, placement[name][:3, 3]) for name in LIMBS],
        "poses": [pose(name, placement[name]) for name in LIMBS],
        "orientations": [Orientation3DTask(name, name, placement[name][:3, :3]) for name in LIMBS],
        "com": [pose(LIMBS[0], placement[LIMBS[0]]), CenterOfMassTask("com", at.com_in_world)],
        "mixed": [
            pose(LIMBS[0], placement[LIMBS[0]]),
            point(LIMBS[1], placement[LIMBS[1]][:3, 3], axes="xz"),
            Orientation3DTask(LIMBS[2], LIMBS[2], placement[LIMBS[2]][:3, :3]),
            CenterOfMassTask("com", at.com_in_world, axes="xy"),
        ],
    }[kind]


def weights_of(kind):
    """The weights of these tasks."""
    return {LIMBS[1]: 5.0, LIMBS[2]: 0.1} if kind == "mixed" else {}


def pinocchio_error(model, q, task):
    """How far off a task is, (m, rad), by Pinocchio."""
    if isinstance(task, CenterOfMassTask):
        gap = pinocchio_com(model, q) - task.goal
        return float(np.linalg.norm([gap["xyz".index(axis)] for axis in task.axes])), 0.0
    at = pinocchio_placement(model, q, task.frame)
    if isinstance(task, CartesianPositionTask):
        gap = at[:3, 3] - task.goal
        return float(np.linalg.norm([gap["xyz".index(axis)] for axis in task.axes])), 0.0
    poses = isinstance(task, PoseTask)
    wanted = matrix_of_quaternion(task.goal_orientation if poses else task.goal)
    turn = float(np.linalg.norm(pin.log3(at[:3, :3].T @ wanted)))
    return float(np.linalg.norm(at[:3, 3] - task.goal_position)) if poses else 0.0, turn


def stand(model, q, frame, placement):
    """The same posture with a frame at a placement."""
    base = pin.XYZQUATToSE3(q[:7])
    now = pin.SE3(np.array(model.at(q).placement(model.frame(frame))))
    q = q.copy()
    q[:7] = pin.SE3ToXYZQUAT(pin.SE3(np.array(placement)) * now.inverse() * base)
    return q


def coupled(model, q):
    """The posture with joints of one motor where their master leaves them, all within the limits."""
    q = q.copy()
    lower, upper = limits(model)
    offset = model.nq - model.nv
    for coupling in model.robot.couplings:
        master, slave = model.column(coupling.master), model.column(coupling.slave)
        index = slave - (model.nv - len(lower))
        ends = sorted((lower[index] / coupling.ratio, upper[index] / coupling.ratio))
        q[master + offset] = np.clip(q[master + offset], *ends)
        q[slave + offset] = coupling.ratio * q[master + offset]
    return q


def arm(couplings=(), floating=False, reach=3.0):
    """Two links of 1 m and 0.5 m that turn about z, heavy near the root."""
    solid = {"inertia": (0.1, 0.1, 0.1, 0.0, 0.0, 0.0)}
    links = (Link("root", 5.0, **solid), Link("upper", 4.0, **solid), Link("fore", 1.0, **solid), Link("hand"))
    joints = (
        Joint("shoulder", "revolute", "root", "upper", lower=-reach, upper=reach),
        Joint("elbow", "revolute", "upper", "fore", Placement((1.0, 0.0, 0.0)), lower=-reach, upper=reach),
        Joint("wrist", "fixed", "fore", "hand", Placement((0.5, 0.0, 0.0))),
    )
    return Model(Robot("arm", links, joints, floating=floating, couplings=couplings))
