"""Where the parts of a robot are in a posture, as plain geometry: enough to stand it on a floor and to measure it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from wholebody.robots.robot import Array, Link, Robot, Shape


def placements(robot: Robot, positions: Array) -> dict[str, Array]:
    """Every link's frame in that of the root, 4 × 4, at the positions of the moving joints."""
    value = dict(zip(robot.joint_names, positions, strict=True))
    found = {robot.root: np.eye(4)}
    for joint in robot.joints:
        position = value.get(joint.name, 0.0)
        if joint.mimic is not None:
            position = joint.mimic.ratio * value[joint.mimic.of] + joint.mimic.offset
        found[joint.child] = found[joint.parent] @ joint.at.matrix @ joint.motion(position)
    return found


def com(robot: Robot, positions: Array) -> Array:
    """Centre of mass in the frame of the root."""
    where = placements(robot, positions)
    moments = [link.mass * (where[link.name] @ [*link.com, 1.0])[:3] for link in robot.links]
    return np.asarray(np.sum(moments, axis=0) / robot.mass)


def extent(robot: Robot, positions: Array, root_to_world: Array | None = None) -> tuple[Array, Array]:
    """The lowest and highest x, y, z that the robot's primitives reach; meshes are not looked into."""
    start = np.eye(4) if root_to_world is None else root_to_world
    where = placements(robot, positions)
    found = [points(link, start @ where[link.name]) for link in robot.links]
    corners = np.vstack([np.empty((0, 3)), *found]) if any(map(len, found)) else np.zeros((1, 3))
    return corners.min(axis=0), corners.max(axis=0)


def points(link: Link, link_to_world: Array) -> Array:
    """Points (k × 3) that span a link's primitives in the world; of round ones, how far they reach along its axes."""
    found = [np.empty((0, 3))]
    for shape in link.shapes:
        if corners := _corners(shape):
            tips, reaches = (np.array(each) for each in zip(*corners, strict=True))
            shape_to_world = link_to_world @ shape.at.matrix
            found.append(tips @ shape_to_world[:3, :3].T + shape_to_world[:3, 3] + reaches)
    return np.vstack(found)


def standing(robot: Robot, posture: str = "stand", on: Sequence[str] = ()) -> Array:
    """The root's 4 × 4 placement in the world when the robot stands in a posture on some of its surfaces.

    They lie in z = 0, their middle at x = y = 0, the root's x axis towards +x. Without a word about them these are the
    soles, for a posture "crawl" knees and palms; a robot that has none stands on its lowest shape.
    """
    positions = robot.posture(posture)
    kinds = ("knee", "palm") if posture == "crawl" else ("sole",)
    names = on or [each.name for each in robot.surfaces if each.name.endswith(kinds)]
    root_to_world = np.eye(4)
    if not names:
        root_to_world[2, 3] = -extent(robot, positions)[0][2]
        return root_to_world
    where = placements(robot, positions)
    surfaces = [robot.surface(name) for name in names]
    frames = [where[surface.link] @ surface.at.matrix for surface in surfaces]
    middles = np.array([frame[:3, 3] for frame in frames])
    z = np.mean([frame[:3, 2] for frame in frames], axis=0)
    if len(frames) > 2:  # the plane through them, on the side of their mean normal
        normal = np.linalg.svd(middles - middles.mean(axis=0))[2][2]
        z = normal * np.sign(normal @ z)
    z = z / np.linalg.norm(z)
    x = np.eye(3)[0] - z[0] * z
    x /= np.linalg.norm(x)
    root_to_world[:3, :3] = np.array([x, np.cross(z, x), z])
    root_to_world[:3, 3] = -root_to_world[:3, :3] @ middles.mean(axis=0)
    return root_to_world


def lying(robot: Robot, positions: Array, pitch: float, yaw: float = 0.0) -> Array:
    """The root's 4 × 4 placement in the world when its lowest point is on the ground, pitched (90°: on its belly)."""
    cp, sp, cy, sy = math.cos(pitch), math.sin(pitch), math.cos(yaw), math.sin(yaw)
    root_to_world = np.eye(4)
    root_to_world[:3, :3] = np.array([[cy * cp, -sy, cy * sp], [sy * cp, cy, sy * sp], [-sp, 0.0, cp]])
    root_to_world[2, 3] = -extent(robot, positions, root_to_world)[0][2]
    return root_to_world


def height(robot: Robot) -> float:
    """From the lowest to the highest point of the robot's primitives, standing in its home posture."""
    posture = "home" if "home" in robot.postures else next(iter(robot.postures), None)
    if posture is None:
        lowest, highest = extent(robot, np.array([np.clip(0.0, j.lower, j.upper) for j in robot.moving]))
    else:
        lowest, highest = extent(robot, robot.posture(posture), standing(robot, posture))
    return float(highest[2] - lowest[2])


def _corners(shape: Shape) -> list[tuple[Array, Array]]:
    """Points of a primitive that span it, each with how far it reaches along the world's axes from there."""
    none = np.zeros(3)
    match shape.kind, shape.size:
        case "box", (x, y, z):
            return [(np.array(s) * (x, y, z) / 2, none) for s in itertools.product((-1, 1), repeat=3)]
        case "sphere", (r,):
            return [(none, s * r * np.ones(3)) for s in (-1, 1)]
        case "capsule", (r, h):
            return [(np.array([0, 0, end * h / 2]), s * r * np.ones(3)) for end in (-1, 1) for s in (-1, 1)]
        case "cylinder", (r, h):
            circle = [(r * np.cos(a), r * np.sin(a)) for a in np.linspace(0, 2 * np.pi, 16, endpoint=False)]
            return [(np.array([x, y, end * h / 2]), none) for x, y in circle for end in (-1, 1)]
    return []
