"""Forces on the robot: contacts, collisions that should not be, and pushes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from wholebody.errors import BadSimulation
from wholebody.robots.robot import Array, Vector
from wholebody.simulation.ground import joint_positions, stand
from wholebody.simulation.world import World, check_finite

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
        found.append(Touch(_name(world, sides[0]), _name(world, sides[1]), contact.pos.copy(), force))
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
            pair = _name(world, sides[0]), _name(world, sides[1])
            worst[pair] = max(worst.get(pair, 0.0), -float(contact.dist[number]))
    found = [Collision(link, other, depth) for (link, other), depth in worst.items()]
    return sorted(found, key=lambda each: -each.depth)


def overlapping(world: World) -> frozenset[frozenset[str]]:
    """Pairs of links that are in each other as the robot stands, which cannot be meant."""
    stand(world, joint_positions(world.robot, None))
    mujoco.mj_collision(world.model, world.data)
    links = {link.name for link in world.robot.links}
    return frozenset(frozenset((each.link, each.other)) for each in collisions(world) if each.other in links)


def _sides(world: World, geoms: Sequence[int]) -> tuple[int, int] | None:
    """The two geoms of a contact, one of the robot's first; nothing if neither is."""
    one, other = int(geoms[0]), int(geoms[1])
    if int(world.model.geom_bodyid[other]) in world.links:
        return other, one
    return (one, other) if int(world.model.geom_bodyid[one]) in world.links else None


def _name(world: World, geom: int) -> str:
    """The body's name, or for what belongs to the world the geom's."""
    body = int(world.model.geom_bodyid[geom])
    return str(world.model.body(body).name) if body else str(world.model.geom(geom).name)


@dataclass(frozen=True)
class Push:
    """A constant force on a point of a link, for a while of simulated time: an impulse of force · duration."""

    link: str
    force_in_world: Vector  # N
    duration: float  # s
    start: float  # s
    point_in_link: Vector | None = None  # m; none is the link's centre of mass

    def __post_init__(self) -> None:
        """Refuse a push that is none."""
        check_finite(f"the push of '{self.link}'", *self.force_in_world, *(self.point_in_link or ()), self.start)
        if not (0 < self.duration < math.inf):
            raise BadSimulation(f"the push of '{self.link}' lasts {self.duration} s; give a positive number of seconds")


class Pushes:
    """The pushes of a run, given and to come, applied physics step by physics step."""

    def __init__(self, step: float) -> None:
        self._step = step
        self._all: list[tuple[int, int, int, Push]] = []
        self._bodies: set[int] = set()
        self.none = True  # there is nothing to apply or to take away

    def add(self, push: Push, body: int) -> None:
        """Plan a push; it begins and ends at the physics step nearest to what was asked, and takes one at least."""
        first = round(push.start / self._step)
        last = first + max(1, round(push.duration / self._step))
        self._all.append((first, last, body, push))
        self.none = False

    def clear(self) -> None:
        """Forget them all."""
        self._all.clear()
        self.none = not self._bodies

    def apply(self, step: int, data: Any) -> None:
        """Put the forces of this step into MuJoCo's data: force and torque on the centre of mass of the body."""
        for body in self._bodies:
            data.xfrc_applied[body] = 0.0
        self._bodies.clear()
        for first, last, body, push in self._all:
            if first <= step < last:
                force = np.array(push.force_in_world)
                data.xfrc_applied[body, :3] += force
                if push.point_in_link is not None:
                    point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ push.point_in_link
                    data.xfrc_applied[body, 3:] += np.cross(point - data.xipos[body], force)
                self._bodies.add(body)
        self._all = [each for each in self._all if step < each[1]]
        self.none = not (self._all or self._bodies)
