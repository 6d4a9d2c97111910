"""Put a robot on the ground: joints where a posture says, soles flat, the lowest point touching exactly."""

from __future__ import annotations

import mujoco
import numpy as np
import numpy.typing as npt

from wholebody.errors import BadPosture
from wholebody.robots.robot import Array, Robot
from wholebody.simulation.world import World

LIMIT_TOLERANCE = 1e-6
CLEARANCE = 0.05
"""Under the feet of a robot whose root is bolted to the world, in metres."""


def joint_positions(robot: Robot, posture: str | npt.ArrayLike | None) -> Array:
    """The positions of a named posture or of a vector, checked; without one "stand", or all joints at zero."""
    if posture is None:
        posture = "stand" if "stand" in robot.postures else _neutral(robot)
    try:
        positions = robot.posture(posture) if isinstance(posture, str) else np.array(posture, np.float64)
    except (TypeError, ValueError) as error:
        raise BadPosture(f"{posture!r} is no posture; give a name, or a number for each joint") from error
    name = f"posture '{posture}'" if isinstance(posture, str) else "the posture"
    if positions.shape != (len(robot.moving),):
        raise BadPosture(f"{name} has shape {positions.shape}; '{robot.name}' has {len(robot.moving)} joints")
    for joint, position in zip(robot.moving, positions, strict=True):
        if not joint.lower - LIMIT_TOLERANCE <= position <= joint.upper + LIMIT_TOLERANCE:
            raise BadPosture(
                f"{name} has joint '{joint.name}' at {position:.4f}, "
                f"outside its limits {joint.lower:.4f} … {joint.upper:.4f}"
            )
    return positions


def _neutral(robot: Robot) -> Array:
    return np.array([np.clip(0.0, joint.lower, joint.upper) for joint in robot.moving])


def set_joints(world: World, positions: Array) -> None:
    """Set the joints, and with them those that follow."""
    at = world.at
    world.data.qpos[at.positions] = at.follow @ positions + at.offset


def set_base(world: World, position: Array, rotation: Array) -> None:
    """Set the pose of a floating base in the world; one that is bolted stays where it is."""
    start = world.at.base_position
    if start is not None:
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, rotation.ravel())
        world.data.qpos[start : start + 3] = position
        world.data.qpos[start + 3 : start + 7] = quaternion


def place(world: World, positions: Array, base_to_world: Array | None) -> None:
    """Reset the world and put the robot on the ground, or its base to a pose, at rest."""
    mujoco.mj_resetData(world.model, world.data)
    if base_to_world is None:
        stand(world, positions)
    else:
        set_joints(world, positions)
        set_base(world, base_to_world[:3, 3], base_to_world[:3, :3])


def stand(world: World, positions: Array) -> Array:
    """Set joints and base so that the robot stands: its soles level on average, the ground's origin between them.

    Returns the base's pose in the world. A robot without soles stands upright on its lowest point.
    """
    set_joints(world, positions)
    set_base(world, np.zeros(3), np.eye(3))
    mujoco.mj_kinematics(world.model, world.data)
    base_to_ground = np.eye(4)
    frames = [pose(world, sole.body) @ sole.frame_in_body for sole in world.at.soles]
    if frames:
        up, forward = np.mean([frame[:3, 2] for frame in frames], 0), np.mean([frame[:3, 0] for frame in frames], 0)
        z = up / np.linalg.norm(up)
        x = forward - forward @ z * z
        x /= np.linalg.norm(x)
        base_to_ground[:3, :3] = np.array([x, np.cross(z, x), z])
        base_to_ground[:3, 3] = -base_to_ground[:3, :3] @ np.mean([frame[:3, 3] for frame in frames], 0)
    return drop(world, world.ground_to_world @ base_to_ground)


def drop(world: World, base_to_world: Array) -> Array:
    """Move the base along the ground's normal until the robot's lowest point touches; returns its pose."""
    set_base(world, base_to_world[:3, 3], base_to_world[:3, :3])
    mujoco.mj_kinematics(world.model, world.data)
    placed = base_to_world.copy()
    if world.at.base_position is not None:
        placed[:3, 3] -= lowest(world) * world.ground_to_world[:3, 2]
        set_base(world, placed[:3, 3], placed[:3, :3])
        mujoco.mj_kinematics(world.model, world.data)
    return pose(world, world.at.root)


def depth_of_a_bolted_robot(world: World) -> float:
    """How far under the origin the scene must lie for a robot whose root is bolted there to hang clear of it."""
    if world.at.base_position is not None:
        return 0.0
    below = -lowest(world)
    return below + CLEARANCE if below > CLEARANCE else 0.0


def pose(world: World, body: int) -> Array:
    """The 4 × 4 frame of a body in the world."""
    frame = np.eye(4)
    frame[:3, :3] = world.data.xmat[body].reshape(3, 3)
    frame[:3, 3] = world.data.xpos[body]
    return frame


def lowest(world: World) -> float:
    """Height over the ground's plane of the lowest point of all that collides."""
    model, data = world.model, world.data
    up, origin = world.ground_to_world[:3, 2], world.ground_to_world[:3, 3]
    heights = [
        float(up @ (data.geom_xpos[geom] - origin)) - _reach(world, geom, up)
        for geom in range(model.ngeom)
        if int(model.geom_bodyid[geom]) in world.links and model.geom_contype[geom]
    ]
    return min(heights, default=0.0)


def _reach(world: World, geom: int, up: Array) -> float:
    """How far a geom reaches down from its origin."""
    model, kinds = world.model, mujoco.mjtGeom
    size = model.geom_size[geom]
    along = world.data.geom_xmat[geom].reshape(3, 3).T @ up  # up, in the axes of the geom
    match int(model.geom_type[geom]):
        case kinds.mjGEOM_BOX:
            return float(size @ abs(along))
        case kinds.mjGEOM_SPHERE:
            return float(size[0])
        case kinds.mjGEOM_CAPSULE:
            return float(size[0] + size[1] * abs(along[2]))
        case kinds.mjGEOM_CYLINDER:
            return float(size[0] * np.hypot(along[0], along[1]) + size[1] * abs(along[2]))
        case kinds.mjGEOM_MESH:
            mesh = int(model.geom_dataid[geom])
            first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
            return float(-(model.mesh_vert[first : first + count] @ along).min())
    return 0.0
