"""What touches what: contacts with their forces, and collisions that should not be."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from wholebody.errors import RobotWarning
from wholebody.robots.robot import Array, Robot
from wholebody.simulation.ground import joint_positions, stand
from wholebody.simulation.world import World

COLLISION_DEPTH = 1e-4
"""What counts as a collision, in metres; soles that rest on the floor are in it by less."""


@dataclass(frozen=True)
class Touch:
    """A contact of a link with another link or with something of the scene; the force is what acts on the link."""

    link: str
    other: str
    point_in_world: Array
    force_in_world: Array


@dataclass(frozen=True)
class Collision:
    """Two links, or a link and something of the scene, that are in each other by a depth in metres."""

    link: str
    other: str
    depth: float


def touches(world: World) -> list[Touch]:
    """All contacts of the robot that carry a force.

    A step ends with the contacts of the new state, whose forces MuJoCo finds only in the next one: they are found here,
    in a copy, so that who looks changes nothing.
    """
    model, data = world.model, copy(world.data)
    mujoco.mj_fwdActuation(model, data)
    mujoco.mj_fwdAcceleration(model, data)
    mujoco.mj_fwdConstraint(model, data)
    found, wrench = [], np.zeros(6)
    for number in range(data.ncon):
        contact = data.contact[number]
        sides = _sides(world, contact.geom)
        mujoco.mj_contactForce(model, data, number, wrench)
        if sides is None or not wrench.any():
            continue
        on_second = contact.frame.reshape(3, 3).T @ wrench[:3]
        force = on_second if sides[0] == contact.geom[1] else -on_second
        found.append(Touch(_thing(world, sides[0]), _thing(world, sides[1]), contact.pos.copy(), force))
    return found


def collisions(world: World) -> list[Collision]:
    """Pairs that are in each other, the deepest first; links that share a joint or may touch are left out by MuJoCo."""
    contact = world.data.contact
    if world.data.ncon == 0:
        return []
    worst: dict[tuple[str, str], float] = {}
    for number in np.flatnonzero(contact.dist < -COLLISION_DEPTH):
        sides = _sides(world, contact.geom[number])
        if sides is not None:
            pair = _thing(world, sides[0]), _thing(world, sides[1])
            worst[pair] = max(worst.get(pair, 0.0), -float(contact.dist[number]))
    found = [Collision(link, other, depth) for (link, other), depth in worst.items()]
    return sorted(found, key=lambda each: -each.depth)


def tolerant(world: World) -> Robot:
    """The robot with all pairs of links allowed to touch that are in each other as it stands, which cannot be meant.

    Shapes of robots from files, above all hulls of meshes, overlap where links meet; physics would tear them apart.
    """
    robot = world.robot
    stand(world, joint_positions(robot, None))
    mujoco.mj_collision(world.model, world.data)
    links = {link.name for link in robot.links}
    pairs = {frozenset((each.link, each.other)) for each in collisions(world) if each.other in links}
    if not pairs:
        return robot
    some = ", ".join(" and ".join(sorted(pair)) for pair in sorted(pairs, key=sorted)[:4])
    warnings.warn(
        f"'{robot.name}' has links that are in each other as it stands; their contacts are left out: {some}"
        + (f" and {len(pairs) - 4} more" if len(pairs) > 4 else ""),
        RobotWarning,
        stacklevel=3,
    )
    return replace(robot, may_touch=robot.may_touch | pairs)


def _sides(world: World, geoms: Sequence[int]) -> tuple[int, int] | None:
    """The two geoms of a contact, one of the robot's first; nothing if neither is."""
    one, other = int(geoms[0]), int(geoms[1])
    if int(world.model.geom_bodyid[other]) in world.links:
        return other, one
    return (one, other) if int(world.model.geom_bodyid[one]) in world.links else None


def _thing(world: World, geom: int) -> str:
    """The body's name, or for what belongs to the world the geom's."""
    body = int(world.model.geom_bodyid[geom])
    return str(world.model.body(body).name) if body else str(world.model.geom(geom).name)
