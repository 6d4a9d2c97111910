"""Objects of a scene that can be moved: where they are, and hands that hold them.

One that is free can be taken; one on a ball joint, such as a lever, can only be pushed, and comes back. A hand is
a group of fingers (`left_hand`) beyond a palm (`left_palm`). If its fingers are commanded to close and one of its links
touches a free object, that is welded to the palm's link as it lies there, until the fingers are commanded to open.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from wholebody.messages import Floats, Record
from wholebody.robots.robot import Array, Robot

CLOSED = 0.25
"""Share of their range at which the command of a hand's fingers counts as closed."""
SIDES = ("left", "right")
OURS, MUJOCOS = np.array([0, 1, 2, 4, 5, 6, 3]), np.array([0, 1, 2, 6, 3, 4, 5])
"""From MuJoCo's pose, w first, to ours, and back."""


@dataclass(frozen=True)
class Hand:
    """A hand of a robot: its fingers' joints, by number, and the link of its palm."""

    side: str
    fingers: tuple[int, ...]
    palm: str
    open: Array
    closed: Array

    def share(self, positions: Array) -> float:
        """How far the fingers are commanded to close, 0 to 1."""
        told = positions[list(self.fingers)]
        return float(np.mean((told - self.open) / (self.closed - self.open)))


def hands_of(robot: Robot) -> list[Hand]:
    """The hands of a robot that can close."""
    palms = {surface.name: surface.link for surface in robot.surfaces}
    found = []
    for side in SIDES:
        fingers = tuple(robot.index[name] for name in robot.groups.get(f"{side}_hand", ()) if name in robot.index)
        if fingers and f"{side}_palm" in palms:
            joints = [robot.moving[each] for each in fingers]
            lower, upper = (np.array([getattr(each, end) for each in joints]) for end in ("lower", "upper"))
            found.append(Hand(side, fingers, palms[f"{side}_palm"], lower, upper))
    return found


def weld_to_hands(root: ET.Element, robot: Robot) -> None:
    """Prepare a weld, which holds nothing yet, between each hand and each object of a scene."""
    free = (body for body in root.findall("worldbody/body") if body.find("freejoint") is not None)
    objects = [name for body in free if (name := str(body.get("name"))) != robot.root]
    hands = hands_of(robot)
    if not (objects and hands):
        return
    equality = root.find("equality")
    equality = ET.SubElement(root, "equality") if equality is None else equality
    for hand in hands:
        for body in objects:
            weld = {"name": _weld(hand.side, body), "body1": hand.palm, "body2": body}
            ET.SubElement(equality, "weld", weld, active="false")


class ObjectsMessage(Record):
    """Where the robot's base and all objects are, in truth: x, y, z and quaternion (x y z w) of each, in world."""

    time: float
    base: Floats  # type: ignore[assignment]  # numpy's own `base` of a record says nothing
    pose: Floats


def object_record(count: int) -> np.dtype[ObjectsMessage]:
    """Layout of an ObjectsMessage of so many objects."""
    fields: Any = [("time", "<f8"), ("base", "<f8", (7,)), ("pose", "<f8", (count, 7))]
    return ObjectsMessage.of(np.dtype(fields, align=True))


@dataclass(frozen=True)
class _Object:
    """A body, where its joint is in positions and velocities, and where it stays if that only turns, m in world."""

    body: int
    at: int
    speed: int
    stays: Array | None

    def pose(self, data: Any) -> Array:
        """As MuJoCo has it."""
        if self.stays is None:
            return np.asarray(data.qpos[self.at : self.at + 7])
        return np.concatenate([self.stays, data.qpos[self.at : self.at + 4]])

    def put(self, data: Any, pose: Array) -> None:
        """The other way, at rest."""
        own = pose if self.stays is None else pose[3:]
        data.qpos[self.at : self.at + len(own)] = own
        data.qvel[self.speed : self.speed + len(own) - 1] = 0.0


class MovableObjects:
    """The movable objects of a world, by name, in the order of its bodies."""

    def __init__(self, robot: Robot, model: Any) -> None:
        self._objects = _objects_of(robot, model)
        self.names: tuple[str, ...] = tuple(self._objects)
        free = {name: each.body for name, each in self._objects.items() if each.stays is None}
        self._free = {body: name for name, body in free.items()}
        self.hands = hands_of(robot) if free else []
        self._links = {hand.side: _beyond(model, model.body(hand.palm).id) for hand in self.hands}
        self._welds = {
            (hand.side, name): int(model.equality(_weld(hand.side, name)).id) for hand in self.hands for name in free
        }

    def poses(self, data: Any) -> Array:
        """Where each is: position and quaternion x y z w."""
        return np.array([each.pose(data) for each in self._objects.values()]).reshape(-1, 7)[:, OURS]

    def put(self, model: Any, data: Any, poses: Array) -> None:
        """Put each there, at rest."""
        for each, pose in zip(self._objects.values(), poses, strict=True):
            each.put(data, pose[MUJOCOS])
        mujoco.mj_kinematics(model, data)

    def held(self, data: Any) -> dict[str, str]:
        """What each hand holds, by side."""
        return {side: name for (side, name), weld in self._welds.items() if data.eq_active[weld]}

    def grip(self, model: Any, data: Any, told: Array) -> None:
        """Close or open hands by the command of their fingers; joints in the order of the robot's."""
        held = self.held(data)
        for hand in self.hands:
            closes = hand.share(told) > CLOSED
            if hand.side in held and not closes:
                data.eq_active[self._welds[hand.side, held[hand.side]]] = 0
            elif closes and hand.side not in held:
                self._take(model, data, hand)

    def _take(self, model: Any, data: Any, hand: Hand) -> None:
        touched = self._touched(model, data, self._links[hand.side])
        if touched is None:
            return
        weld, palm, body = self._welds[hand.side, touched], data.body(hand.palm), data.body(touched)
        inverse, turn = np.empty(4), np.empty(4)
        mujoco.mju_negQuat(inverse, palm.xquat)
        mujoco.mju_mulQuat(turn, inverse, body.xquat)
        model.eq_data[weld, :3] = 0.0
        model.eq_data[weld, 3:6] = palm.xmat.reshape(3, 3).T @ (body.xpos - palm.xpos)
        model.eq_data[weld, 6:10] = turn
        data.eq_active[weld] = 1

    def _touched(self, model: Any, data: Any, links: frozenset[int]) -> str | None:
        """The object that one of some links touches."""
        for number in range(data.ncon):
            one, other = (int(model.geom_bodyid[geom]) for geom in data.contact[number].geom)
            for link, body in ((one, other), (other, one)):
                if link in links and body in self._free:
                    return self._free[body]
        return None


def _objects_of(robot: Robot, model: Any) -> dict[str, _Object]:
    """Bodies of the world itself, not of the robot, that are free or turn on a ball joint."""
    found = {}
    for joint in range(model.njnt):
        body, kind = int(model.jnt_bodyid[joint]), model.jnt_type[joint]
        free, turns = (kind == each for each in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL))
        name = str(model.body(body).name)
        if int(model.body_parentid[body]) == 0 and name != robot.root and (free or turns):
            stays = None if free else np.array(model.body_pos[body])
            found[name] = _Object(body, int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint]), stays)
    return found


def _beyond(model: Any, body: int) -> frozenset[int]:
    """A body and all that hangs on it."""
    found = {body}
    for each in range(body + 1, model.nbody):  # a parent has a smaller number
        if int(model.body_parentid[each]) in found:
            found.add(each)
    return frozenset(found)


def _weld(side: str, body: str) -> str:
    return f"{side} hand holds {body}"
