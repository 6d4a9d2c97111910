"""ImitatingLimb: what of a robot stands for a wrist, a knee or an ankle of a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.spatial.transform import Rotation

from wholebody.errors import CannotImitate
from wholebody.model.model import Model
from wholebody.motion.capture.capture import Capture
from wholebody.motion.trajectory import Array
from wholebody.robots import geometry
from wholebody.robots.robot import Link, Robot, Surface

CHAINS = {
    "wrist": ("shoulder", "elbow", "wrist"),
    "knee": ("hip", "knee"),
    "ankle": ("hip", "knee", "ankle"),
}
"""The body parts along a limb, from its root to where it bears."""

GROUPS = {"wrist": "arm", "knee": "leg", "ankle": "leg"}
SURFACES = {"wrist": "palm", "knee": "knee", "ankle": "sole"}
_SIDES = [
    np.block([[Rotation.from_euler("xyz", turn, degrees=True).as_matrix(), np.zeros((3, 1))], [0, 0, 0, 1]])
    for turn in product((0, 30, 60), repeat=3)
]
"""Turns in which links are looked at: of round shapes, it is known how far they reach along the axes."""


@dataclass(frozen=True)
class ImitatingLimb:
    """A limb of a robot.

    part       the body part it imitates, such as left_wrist
    frame      what bears: a surface, or a link if the limb has none
    root       the link at whose origin the limb begins
    length     metres from there along the joint in the middle to the frame
    clearance  metres from the frame's origin to the ground when it bears
    outline    corners (x, y) of the surface, in its frame
    points     corners of what can touch the ground, in the frame: those of the surface; of the whole shin or hand
               if it has none, or if the robot has no posture of its own in which palms lie flat
    behind     the link that is carried behind a knee: the foot
    joints     of the limb
    """

    part: str
    frame: str
    root: str
    length: float
    clearance: float
    outline: tuple[tuple[float, float], ...]
    points: tuple[tuple[float, float, float], ...]
    behind: str | None
    joints: tuple[str, ...]


def limbs_of(model: Model, parts: Sequence[str]) -> tuple[ImitatingLimb, ...]:
    """The limbs of a robot for body parts; CannotImitate if it lacks one."""
    if not model.floating:
        raise CannotImitate(f"{model.robot.name} is bolted down, and this motion needs a robot that can move about")
    missing = sorted({_group(part) for part in parts if _group(part) not in model.robot.groups})
    if missing:
        has = ", ".join(model.robot.groups) or "none"
        raise CannotImitate(
            f"{model.robot.name} has no {', '.join(missing)}, which this motion needs; its groups of joints are: {has}"
        )
    return tuple(_limb(model, part) for part in parts)


def scale_of(limb: ImitatingLimb, capture: Capture) -> float:
    """How much longer the robot's limb is than the person's."""
    side, part = limb.part.split("_")
    return limb.length / capture.length(*(f"{side}_{each}" for each in CHAINS[part]))


def _group(part: str) -> str:
    side, kind = part.split("_")
    return f"{side}_{GROUPS[kind]}"


def _limb(model: Model, part: str) -> ImitatingLimb:
    robot, (side, kind) = model.robot, part.split("_")
    joints = robot.groups[_group(part)]
    chain = [robot.joint(joint).child for joint in joints]
    if len(chain) < 3:
        raise CannotImitate(f"{robot.name}'s {_group(part)} has {len(chain)} joints; to imitate a limb takes three")
    at = model.at(model.neutral())
    places = np.array([at.position(model.frame(link)) for link in chain])
    middle = _middle(places)
    root = chain[0] if kind == "wrist" else robot.joint(joints[middle]).parent
    surfaces = {surface.name: surface for surface in robot.surfaces}
    surface = surfaces.get(f"{side}_{SURFACES[kind]}")
    link = chain[middle] if kind == "knee" else chain[-1]
    frame = surface.name if surface else link
    end = at.position(model.surface(frame) if surface else model.frame(frame))
    via = [places[middle]] if kind != "knee" else []
    stops = np.array([at.position(model.frame(root)), *via, places[middle] if kind == "knee" else end])
    return ImitatingLimb(
        part,
        frame,
        root,
        float(np.linalg.norm(np.diff(stops, axis=0), axis=1).sum()),
        0.0 if surface else _thickness(robot.link(link)),
        surface.outline if surface else ((0.0, 0.0),),
        _points(model, robot.link(link), surface, kind),
        chain[-1] if kind == "knee" else None,
        tuple(joints),
    )


def _middle(places: Array) -> int:
    """The joint of a limb that is farthest from both of its ends: knee or elbow."""
    ends = np.linalg.norm(places[:, None] - places[[0, -1]], axis=2)
    return int(np.argmax(ends.min(axis=1)))


def as_it_stands(model: Model) -> Array:
    """The configuration in which a robot stands, its base at the origin; without such a posture, the neutral one."""
    return model.posture("stand") if "stand" in model.robot.postures else model.neutral()


def _points(model: Model, link: Link, surface: Surface | None, kind: str) -> tuple[tuple[float, float, float], ...]:
    robot = model.robot
    flat = [(x, y, 0.0) for x, y in surface.outline] if surface else []
    if surface and (kind != "wrist" or "crawl" in robot.postures):
        return tuple(flat)
    at = model.at(as_it_stands(model))
    world_to_frame = np.linalg.inv(at.placement(model.surface(surface.name) if surface else model.frame(link.name)))
    points = [
        geometry.points(each, turn @ world_to_frame @ at.placement(model.frame(each.name))) @ turn[:3, :3]
        for each in ([link, *_beyond(robot, link)] if kind == "wrist" else [link])
        for turn in _SIDES
    ]
    found = np.unique(np.round(np.vstack(points), 4), axis=0).tolist()
    return (*flat, *map(tuple, found)) or ((0.0, 0.0, 0.0),)


def _beyond(robot: Robot, link: Link) -> list[Link]:
    """All that a link carries: fingers, if it is a hand."""
    names = [link.name]
    for joint in robot.joints:
        if joint.parent in names:
            names.append(joint.child)
    return [robot.link(name) for name in names[1:]]


def _thickness(link: Link) -> float:
    """Half the breadth of a link's thickest shape, across its length."""
    half = 0.0
    for shape in link.shapes:
        match shape.kind, shape.size:
            case "box", size:
                half = max(half, sorted(size)[1] / 2)
            case (("sphere" | "cylinder" | "capsule"), (radius, *_)):
                half = max(half, radius)
    return half


def moving_joints(robot: Robot, limbs: Sequence[ImitatingLimb]) -> tuple[str, ...]:
    """The joints that move limbs: those between them and the root; what is beyond, or on its own, keeps still."""
    above = {joint.child: joint for joint in robot.joints}
    surfaces = {surface.name: surface.link for surface in robot.surfaces}
    path = set()
    for limb in limbs:
        link = surfaces.get(limb.frame, limb.frame)
        while link in above:
            path.add(above[link].name)
            link = above[link].parent
    return tuple(name for name in robot.joint_names if name in path)
