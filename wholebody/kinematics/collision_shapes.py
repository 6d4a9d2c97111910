"""The robot's primitives as coal sees them: grown by a margin, in pairs that must not touch."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any, NamedTuple

import coal
import numpy as np
import pinocchio as pin  # type: ignore[import-untyped]

from wholebody.errors import BadRobot, UnknownName
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.robots import meshes
from wholebody.robots.robot import Placement, Robot, Shape

Pair = frozenset[str]


class Solid(NamedTuple):
    """A shape for coal, with a box around it: half its size, about the origin of the frame it stands in."""

    link: str
    geometry: Any
    at: Array  # solid_to_link, 4 × 4
    half: Array


def solid(link: str, shape: Shape, growth: float) -> Solid:
    """A shape of a link, grown about its own centre."""
    size = [each * growth for each in shape.size]
    if shape.kind == "box":
        return Solid(link, coal.Box(*size), shape.at.matrix, np.array(size) / 2)
    if shape.kind == "sphere":
        return Solid(link, coal.Sphere(*size), shape.at.matrix, np.full(3, size[0]))
    if shape.kind in ("cylinder", "capsule"):
        radius, length = size
        half = length / 2 + (radius if shape.kind == "capsule" else 0.0)
        geometry = coal.Capsule(radius, length) if shape.kind == "capsule" else coal.Cylinder(radius, length)
        return Solid(link, geometry, shape.at.matrix, np.array([radius, radius, half]))
    return _hull(link, shape, growth)


def _hull(link: str, shape: Shape, growth: float) -> Solid:
    """The convex hull of a mesh: it fills hollows, so it can touch where the mesh would not."""
    if shape.kind != "mesh" or shape.mesh is None:
        raise BadRobot(f"link '{link}': a shape of kind '{shape.kind}' cannot be checked for collisions")
    points = meshes.triangles(shape.mesh).reshape(-1, 3) * shape.size
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    points = growth * (points - centre)
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(points) // 3, len(points))
    for corners in points.reshape(-1, 3, 3):
        model.addTriangle(*corners)
    model.endModel()
    model.buildConvexHull(True, "Qt")
    at = shape.at.matrix @ Placement(xyz=(float(centre[0]), float(centre[1]), float(centre[2]))).matrix
    return Solid(link, model.convex, at, np.abs(points).max(axis=0))


def solids(robot: Robot, growth: float) -> list[Solid]:
    """All that can collide, link by link."""
    return [solid(link.name, shape, growth) for link in robot.links for shape in link.shapes if shape.collides]


def link_pairs(robot: Robot, ignore: Iterable[tuple[str, str]]) -> set[Pair]:
    """Pairs of links that must not touch: all but those fixed to each other or joined by one joint that moves.

    Left out too are those the robot's data allow to touch, and those to ignore.
    """
    body: dict[str, str] = {}  # of each link, the link at the root of all that is fixed to it
    above: dict[str, str] = {}  # of each body, the body it hangs from
    for link in robot.links:
        body[link.name] = link.name
    for joint in robot.joints:
        if joint.kind == "fixed":
            body[joint.child] = body[joint.parent]
        else:
            above[joint.child] = body[joint.parent]
    left_out = {frozenset(pair) for pair in robot.may_touch} | {frozenset(pair) for pair in ignore}
    for pair in left_out:
        for name in pair:
            if name not in body:
                raise UnknownName("link", name, body)
    pairs = set()
    for one, other in combinations([link.name for link in robot.links], 2):
        a, b = body[one], body[other]
        if a != b and above.get(a) != b and above.get(b) != a and frozenset((one, other)) not in left_out:
            pairs.add(frozenset((one, other)))
    return pairs


def geometry(model: Model, shapes: list[Solid], pairs: list[tuple[int, int]]) -> Any:
    """Pinocchio's model of them: where each solid hangs, and which are checked against which."""
    result = pin.GeometryModel()
    for index, each in enumerate(shapes):
        frame = model.pinocchio.frames[model.robot.links.index(model.robot.link(each.link)) + 1]  # 0 is the universe
        at = frame.placement * pin.SE3(each.at)
        result.addGeometryObject(pin.GeometryObject(f"{each.link} {index}", frame.parentJoint, at, each.geometry))
    for one, other in pairs:
        result.addCollisionPair(pin.CollisionPair(one, other))
    return result
