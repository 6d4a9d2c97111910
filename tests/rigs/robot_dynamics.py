"""Mass, centre of mass and M(q) of a robot, by Pinocchio and by MuJoCo, in our order and frames."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin

from wholebody.robots.formats.urdf import write_urdf
from wholebody.robots.robot import Robot


@dataclass
class Dynamics:
    mass: float
    com: np.ndarray
    M: np.ndarray


def example_robot(path: str) -> Path:
    """A file of the package example-robot-data, which ships data beside Pinocchio's own."""
    for parent in Path(pin.__file__).parents:
        found = parent / "share" / "example-robot-data" / "robots" / path
        if found.is_file():
            return found
    raise FileNotFoundError(f"{path}: install the test dependency example-robot-data")


def movable(robot: Robot) -> list[str]:
    """Every joint that MuJoCo and Pinocchio have, followers too."""
    return [joint.name for joint in robot.joints if joint.kind != "fixed"]


def random_state(robot: Robot, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
    """A base position, its quaternion x y z w, and joint positions within the limits."""
    quaternion = generator.normal(size=4)
    low = {joint.name: max(joint.lower, -2.0) for joint in robot.joints}
    high = {joint.name: min(joint.upper, 2.0) for joint in robot.joints}
    joints = {name: float(generator.uniform(low[name], high[name])) for name in movable(robot)}
    return generator.normal(size=3), quaternion / np.linalg.norm(quaternion), joints


def by_pinocchio(robot: Robot, state: tuple) -> Dynamics:
    """From the URDF that we write; rotor inertia, which URDF lacks, is added on the diagonal.

    A bolted robot is given a base that floats and stays at the origin, or Pinocchio would forget the root's mass.
    """
    position, quaternion, joints = state
    model = pin.buildModelFromXML(write_urdf(robot), pin.JointModelFreeFlyer())
    data = model.createData()
    q = pin.neutral(model)
    if robot.floating:
        q[:3], q[3:7] = position, quaternion
    order = list(range(6)) if robot.floating else []
    for name in movable(robot):
        joint = model.joints[model.getJointId(name)]
        value = joints[name]
        q[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else (np.cos(value), np.sin(value))
        order.append(joint.idx_v)
    full = pin.crba(model, data, q)
    full = np.triu(full) + np.triu(full, 1).T
    rotor = [robot.joint(name).rotor_inertia for name in movable(robot)]
    M = full[np.ix_(order, order)] + np.diag([0.0] * (len(order) - len(rotor)) + rotor)
    return Dynamics(pin.computeTotalMass(model), pin.centerOfMass(model, data, q), M)


def by_mujoco(model: mujoco.MjModel, robot: Robot, state: tuple) -> Dynamics:
    """M with the base's velocity in its own axes; MuJoCo has the linear part in those of the world."""
    position, quaternion, joints = state
    data = mujoco.MjData(model)
    rotation = np.eye(3)
    order = list(range(6)) if robot.floating else []
    if robot.floating:
        data.qpos[:3], data.qpos[3:7] = position, np.roll(quaternion, 1)
        rotation = pin.Quaternion(quaternion).toRotationMatrix()
    for name in movable(robot):
        joint = model.joint(name)
        data.qpos[joint.qposadr[0]] = joints[name]
        order.append(joint.dofadr[0])
    mujoco.mj_forward(model, data)
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, full)
    axes = np.eye(model.nv)
    if robot.floating:
        axes[:3, :3] = rotation
    M = (axes.T @ full @ axes)[np.ix_(order, order)]
    com = (data.xipos * model.body_mass[:, None]).sum(axis=0) / model.body_mass.sum()
    return Dynamics(float(model.body_mass.sum()), com, M)


def assert_equal(one: Dynamics, other: Dynamics, tolerance: float = 1e-9) -> None:
    """Both agree, M relative to its largest entry."""
    assert abs(one.mass - other.mass) < tolerance * max(1.0, one.mass)
    assert np.abs(one.com - other.com).max() < tolerance
    assert np.abs(one.M - other.M).max() < tolerance * max(1.0, np.abs(one.M).max())
