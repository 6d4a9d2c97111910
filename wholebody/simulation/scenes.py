"""Scenes: what stands around the robot; each is a function that adds to an MJCF tree and says where the robot stands.

A scene is chosen by name, with parameters where they matter: "flat", "slope:angle=0.1", "steps:height=0.05,count=3".
"""

from __future__ import annotations

import inspect
import math
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from wholebody.errors import BadSimulation, UnknownName
from wholebody.robots.formats.xml import text_of
from wholebody.robots.masses import of_shape
from wholebody.robots.robot import Array, Placement, Shape

Scene = Callable[[ET.Element], Array]
"""Adds to the tree; returns the 4 × 4 frame on whose plane z = 0 the robot's soles are put, x forward."""

WOOD, STONE = "0.72 0.53 0.34 1", "0.62 0.64 0.67 1"
SIGNAL = "0.85 0.1 0.75 1"
"""The colour of objects that are to be found."""
STAND = "stand"
"""How the names of boxes end on which objects are put, and to which one goes."""


def flat(root: ET.Element) -> Array:
    """A level floor without end."""
    _floor(root, np.eye(4))
    return np.eye(4)


def slope(root: ET.Element, angle: float = 0.1) -> Array:
    """A floor that rises ahead of the robot by an angle in radians; the robot's soles lie flat on it."""
    if not abs(angle) < 1.2:
        raise BadSimulation(f"a slope of {angle} rad; give less than 1.2 rad (69°) either way")
    ground = Placement(rpy=(0.0, -angle, 0.0)).matrix
    _floor(root, ground)
    return ground


def ramp(root: ET.Element, angle: float = 0.1, ahead: float = 0.4, length: float = 3.0) -> Array:
    """A level floor, and on it a plane that begins ahead of the robot and rises by an angle in radians."""
    if not (0 < angle < 1.2 and ahead > 0 and length > 0):
        raise BadSimulation(
            f"a ramp of {angle} rad, {length} m long, {ahead} m ahead: each must be positive, < 1.2 rad"
        )
    _floor(root, np.eye(4))
    thick = 0.1
    middle = (Placement((ahead, 0.0, 0.0), (0.0, -angle, 0.0)).matrix @ (length / 2, 0.0, -thick / 2, 1.0))[:3]
    size = text_of((length / 2, 0.8, thick / 2))
    at = {"pos": text_of(tuple(middle.tolist())), "euler": text_of((0.0, -angle, 0.0))}
    ET.SubElement(_world(root), "geom", at, name="ramp", type="box", size=size, rgba=STONE)
    return np.eye(4)


def steps(root: ET.Element, height: float = 0.1, depth: float = 0.3, count: int = 5, ahead: float = 0.4) -> Array:
    """A staircase that begins ahead of the robot; sizes of a step in metres."""
    if not (height > 0 and depth > 0 and ahead > 0 and count >= 1):
        raise BadSimulation(f"steps of {height} × {depth} m, {count} of them, {ahead} m ahead: each must be positive")
    _floor(root, np.eye(4))
    world = _world(root)
    for number in range(int(count)):
        top, length = height * (number + 1), depth * (count - number)
        middle = (ahead + depth * count - length / 2, 0.0, top / 2)
        _box(world, f"step_{number + 1}", (length, 1.6, top), middle, STONE)
    return np.eye(4)


def table(root: ET.Element, height: float = 0.7, ahead: float = 0.45) -> Array:
    """A table ahead of the robot, and on it a box, a can and a ball that can be moved."""
    if not (height > 0.05 and ahead > 0):
        raise BadSimulation(f"a table {height} m high, {ahead} m ahead: give more than 0.05 and more than 0 m")
    _floor(root, np.eye(4))
    world, middle = _world(root), ahead + 0.3
    _box(world, "table_top", (0.6, 1.2, 0.04), (middle, 0.0, height - 0.02), WOOD)
    for number, (x, y) in enumerate(((-0.27, -0.57), (-0.27, 0.57), (0.27, -0.57), (0.27, 0.57))):
        leg = height - 0.04
        _box(world, f"table_leg_{number + 1}", (0.05, 0.05, leg), (middle + x, y, leg / 2), WOOD)
    near = ahead + 0.15
    _object(world, "box", Shape("box", (0.06, 0.06, 0.12)), 0.4, (near, -0.2, height + 0.06), "0.85 0.25 0.2 1")
    _object(world, "can", Shape("cylinder", (0.033, 0.115)), 0.35, (near, 0.0, height + 0.0575), "0.2 0.5 0.85 1")
    _object(world, "ball", Shape("sphere", (0.04,)), 0.1, (near, 0.2, height + 0.04), "0.95 0.8 0.2 1")
    return np.eye(4)


def blocks(root: ET.Element, height: float = 0.05, seed: float = 0, ahead: float = 0.8, length: float = 2.4) -> Array:
    """Ground of square blocks ahead of the robot, 0.3 m wide, each of a height of its own up to the highest."""
    if not (0 < height < 1 and ahead > 0 and 0.3 <= length <= 12):
        raise BadSimulation(f"blocks {height} m high, {ahead} m ahead, over {length} m: there are none like that")
    _floor(root, np.eye(4))
    world, side = _world(root), 0.3
    heights = np.random.default_rng(int(seed)).uniform(0.1, 1.0, size=(round(length / side), 8)) * height
    for (row, column), top in np.ndenumerate(heights):
        middle = (ahead + (row + 0.5) * side, (column - 3.5) * side, top / 2)
        _box(world, f"block_{row}_{column}", (side, side, top), middle, (STONE, WOOD)[(row + column) % 2])
    return np.eye(4)


def bar(root: ET.Element, height: float = 0.8, ahead: float = 1.2) -> Array:
    """A bar across the robot's way, on two posts, whose lower side is so high; one gets through below it."""
    if not (height > 0.1 and ahead > 0):
        raise BadSimulation(f"a bar {height} m high, {ahead} m ahead: give more than 0.1 m and more than 0")
    _floor(root, np.eye(4))
    world, thick = _world(root), 0.06
    _box(world, "bar", (thick, 2.4, thick), (ahead, 0.0, height + thick / 2), WOOD)
    for name, y in (("left_post", 1.2), ("right_post", -1.2)):
        _box(world, name, (thick, thick, height), (ahead, y, height / 2), WOOD)
    return np.eye(4)


def wall(root: ET.Element, ahead: float = 0.5, height: float = 2.0) -> Array:
    """A wall across the robot's way."""
    if not (ahead > 0 and height > 0):
        raise BadSimulation(f"a wall {height} m high, {ahead} m ahead: both must be positive")
    _floor(root, np.eye(4))
    _box(_world(root), "wall", (0.1, 2.4, height), (ahead + 0.05, 0.0, height / 2), STONE)
    return np.eye(4)


def hall(root: ET.Element, length: float = 6.0, width: float = 4.0, behind: float = 1.5, height: float = 1.2) -> Array:
    """A hall with four walls, one of them behind the robot, and a pillar."""
    if not (length > behind + 0.5 and behind > 0.3 and width > 1.0 and height > 0):
        raise BadSimulation(f"a hall of {length} × {width} m, {behind} m of it behind the robot: there is no room")
    _floor(root, np.eye(4))
    world, middle, thick = _world(root), length / 2 - behind, 0.1
    for name, x, y, long, wide in (
        ("east_wall", middle + length / 2 + thick / 2, 0.0, thick, width + 2 * thick),
        ("west_wall", middle - length / 2 - thick / 2, 0.0, thick, width + 2 * thick),
        ("north_wall", middle, width / 2 + thick / 2, length, thick),
        ("south_wall", middle, -width / 2 - thick / 2, length, thick),
    ):
        _box(world, name, (long, wide, height), (x, y, height / 2), STONE)
    _box(world, "pillar", (0.3, 0.3, height), (middle + length / 4, width / 4, height / 2), WOOD)
    return np.eye(4)


def antenna(root: ET.Element, height: float = 0.72) -> Array:
    """A hall in which an antenna stands on one stand, a canister of its colour on another, and nothing on a third."""
    if not 0.1 < height < 1.5:
        raise BadSimulation(f"stands {height} m high; give 0.1 to 1.5 m")
    ground = hall(root)
    world = _world(root)
    for name, x, y in (("antenna_stand", 1.1, 0.9), ("canister_stand", 1.7, -0.25), ("goal_stand", -0.4, 1.3)):
        _box(world, name, (0.1, 0.1, height), (x, y, height / 2), STONE)
    _object(world, "canister", Shape("cylinder", (0.04, 0.16)), 0.4, (1.7, -0.25, height + 0.08), SIGNAL)
    _object(world, "antenna", Shape("cylinder", (0.015, 0.24)), 0.3, (1.1, 0.9, height + 0.14), SIGNAL)
    mast = next(body for body in world.findall("body") if body.get("name") == "antenna")
    for name, kind, size, z in (("foot", "cylinder", "0.045 0.01", -0.13), ("dish", "sphere", "0.03", 0.13)):
        ET.SubElement(mast, "geom", name=f"antenna_{name}", type=kind, size=size, pos=f"0 0 {z}", rgba=STONE)
    return ground


def lever(root: ET.Element, height: float = 0.72, stiffness: float = 2.5) -> Array:
    """A hall with a lever upright on a stand, which whoever pushes it tilts against a spring, N·m/rad."""
    if not (0.1 < height < 1.5 and stiffness > 0):
        raise BadSimulation(f"a lever {height} m high with {stiffness} N·m/rad; give 0.1 to 1.5 m, and more than 0")
    ground = hall(root)
    world = _world(root)
    _box(world, "lever_stand", (0.1, 0.1, height), (1.1, 0.0, height / 2), STONE)
    body = ET.SubElement(world, "body", name="lever", pos=text_of((1.1, 0.0, height)))
    ET.SubElement(body, "joint", name="lever", type="ball", stiffness=repr(stiffness), damping="0.05")
    ET.SubElement(body, "inertial", pos="0 0 0.14", mass="0.2", diaginertia="0.001 0.001 0.0001")
    ET.SubElement(
        body, "geom", name="lever", type="cylinder", size="0.015 0.12", pos="0 0 0.14", rgba=SIGNAL, friction="0.3"
    )
    return ground


def plate(root: ET.Element, angle: float = 0.0873, frequency: float = 0.5) -> Array:
    """A plate under the robot that tilts forward and back by an angle, rad, so many times a second, from level on.

    No motor drives it: one hinge swings between level and twice the angle for ever, as a heavy body on a spring does,
    and another one creeps back by the angle within a second or two, as a spring in honey does. Both are so heavy that
    the robot does not disturb them.
    """
    if not (0 < abs(angle) < 0.5 and 0 < frequency <= 5):
        raise BadSimulation(f"a plate that tilts by {angle} rad at {frequency} Hz; give up to 0.5 rad and 5 Hz")
    _floor(root, Placement((0.0, 0.0, -0.3)).matrix)
    swing = {"stiffness": repr(1e5 * (math.tau * frequency) ** 2), "springref": repr(angle)}
    creep = {"stiffness": "1e6", "damping": "5e5", "springref": repr(-angle)}
    body = _world(root)
    for name, inertia, spring in (("plate_base", "1e5", swing), ("plate", "1e3", creep)):
        body = ET.SubElement(body, "body", name=name)
        ET.SubElement(body, "joint", spring, name=name, type="hinge", axis="0 1 0")
        ET.SubElement(body, "inertial", pos="0 0 0", mass="100", diaginertia=f"{inertia} {inertia} {inertia}")
    _box(body, "plate", (1.0, 1.0, 0.04), (0.0, 0.0, -0.02), WOOD)
    return np.eye(4)


SCENES: dict[str, Callable[..., Array]] = {
    "flat": flat,
    "slope": slope,
    "ramp": ramp,
    "steps": steps,
    "table": table,
    "blocks": blocks,
    "bar": bar,
    "wall": wall,
    "hall": hall,
    "antenna": antenna,
    "lever": lever,
    "plate": plate,
}


def named(text: str) -> Scene:
    """Find a scene by name, with parameters after a colon: "steps:height=0.05,count=3"."""
    name, _, rest = text.partition(":")
    if name not in SCENES:
        raise UnknownName("scene", name, SCENES)
    known = [each for each in inspect.signature(SCENES[name]).parameters if each != "root"]
    given: dict[str, float] = {}
    for part in filter(None, rest.split(",")):
        key, _, value = part.partition("=")
        if key not in known:
            raise UnknownName(f"parameter of the scene '{name}' called", key, known)
        given[key] = _number(part, value)
    return partial(SCENES[name], **given)


class Footprint(NamedTuple):
    """A box of a scene as it is on a map: name, middle and sides, m."""

    name: str
    x: float
    y: float
    length: float
    width: float

    @property
    def stand(self) -> bool:
        """Whether objects are put on it."""
        return self.name.endswith(STAND)


class Box(NamedTuple):
    """A box of a scene: what it is on a map, and from how high to how high it is, m."""

    footprint: Footprint
    bottom: float
    top: float


def boxes(text: str) -> list[Box]:
    """The fixed boxes of a scene."""
    root = ET.Element("mujoco")
    named(text)(root)
    found = []
    for geom in _world(root).findall("geom"):
        if geom.get("type") == "box":
            (x, y, z), (long, wide, high) = ([float(word) for word in geom.get(k, "").split()] for k in ("pos", "size"))
            found.append(Box(Footprint(geom.get("name", ""), x, y, 2 * long, 2 * wide), z - high, z + high))
    return found


def footprints(text: str) -> list[Footprint]:
    """The fixed boxes of a scene, seen from above."""
    return [box.footprint for box in boxes(text)]


def has_objects(text: str) -> bool:
    """Whether something in a scene can be moved."""
    root = ET.Element("mujoco")
    named(text)(root)
    ways = ("freejoint", "joint[@type='ball']")
    return any(body.find(way) is not None for body in _world(root).findall("body") for way in ways)


def _number(part: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise BadSimulation(f"'{part}' is no parameter of a scene; write it like slope:angle=0.1")
    return number


def _world(root: ET.Element) -> ET.Element:
    world = root.find("worldbody")
    return ET.SubElement(root, "worldbody") if world is None else world


def _floor(root: ET.Element, ground: Array) -> None:
    """A plane with a pattern of squares of half a metre, and a sky."""
    asset = ET.SubElement(root, "asset")
    colours = {"rgb1": "0.68 0.72 0.74", "rgb2": "0.58 0.62 0.65"}
    ET.SubElement(asset, "texture", colours, name="squares", type="2d", builtin="checker", width="64", height="64")
    sky = {"rgb1": "0.93 0.95 0.98", "rgb2": "0.75 0.82 0.90"}
    ET.SubElement(asset, "texture", sky, type="skybox", builtin="gradient", width="64", height="64")
    ET.SubElement(
        asset, "material", name="floor", texture="squares", texrepeat="1 1", texuniform="true", reflectance="0"
    )
    at = Placement.of(ground)
    world, where = _world(root), {"pos": text_of(at.xyz), "euler": text_of(at.rpy)}
    ET.SubElement(world, "geom", where, name="floor", type="plane", size="0 0 5", material="floor")
    ET.SubElement(
        world, "light", directional="true", pos="0 0 4", dir="-0.4 0.5 -1", diffuse="0.4 0.4 0.4", specular="0 0 0"
    )


def _box(world: ET.Element, name: str, size: tuple[float, ...], at: tuple[float, ...], colour: str) -> None:
    half = text_of(tuple(each / 2 for each in size))
    ET.SubElement(world, "geom", name=name, type="box", size=half, pos=text_of(at), rgba=colour)


def _object(world: ET.Element, name: str, shape: Shape, mass: float, at: tuple[float, ...], colour: str) -> None:
    body = ET.SubElement(world, "body", name=name, pos=text_of(at))
    ET.SubElement(body, "freejoint", name=name)
    moments = of_shape(shape, mass).sixfold[:3]
    ET.SubElement(body, "inertial", pos="0 0 0", mass=repr(mass), diaginertia=text_of(moments))
    half = (
        tuple(each / 2 for each in shape.size)
        if shape.kind == "box"
        else (shape.size[0], *(h / 2 for h in shape.size[1:]))
    )
    # A little rolling friction, or a ball on a table never comes to rest.
    more = {"condim": "6", "friction": "0.8 0.01 0.002"}
    ET.SubElement(body, "geom", more, name=name, type=shape.kind, size=text_of(half), rgba=colour)
