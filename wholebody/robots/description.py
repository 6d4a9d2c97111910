"""A robot as a YAML file: links and joints as numbers, what a URDF does not say, and the sources of all figures.

    title: My robot
    source: repository, path, commit, licence
    groups: {right_leg: "RH? RKN RA?"}                  # patterns of joint names
    rotor_inertias: {"RH? RKN": 0.15, "*": 0.01}        # seen at the joint; the first pattern that matches
    gains: {"RH?": {stiffness: 5000, damping: 100}}     # of actuated joints, likewise
    surfaces: {right_sole: {link: foot, at: [x, y, z, roll, pitch, yaw], size: [length, width]}}
    sensors: {imu: {kind: imu, link: hip, at: [x, y, z]}}
    postures: {stand: {knee: 0.7}}
    may_touch: [[hip, thigh]]
    gaps: ["mass: what is missing, estimated or chosen"]
    links:
      thigh: {mass: 2.8, com: [x, y, z], inertia: [xx, yy, zz, xy, xz, yz], shapes: [{box: [x, y, z], at: [x, y, z]}]}
    joints:
      knee: {parent: thigh, child: shin, at: [x, y, z, roll, pitch, yaw], axis: [0, 1, 0], range: [0, 2.6], effort: 95}

What is not said is zero, or no limit; a joint without an axis is fixed. `lumps` of a link are masses that its figures
lack, spread evenly over a shape. A file of `variant_of`, `title` and `locked` (patterns) is another robot with joints
locked at zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, TypeVar

from wholebody.errors import BadRobot
from wholebody.files import yaml_of
from wholebody.robots.masses import Body, of_shape, repaired
from wholebody.robots.robot import Coupling, Gain, Joint, Link, Mimic, Placement, Robot, Sensor, Shape, Surface, Vector

Made = TypeVar("Made")
Value = TypeVar("Value")
LIMITLESS = (float("-inf"), float("inf"))
NOTHING: Mapping[str, Any] = {}


def read_description(path: Path, floating: bool | None = None, repair: bool = False) -> Robot:
    """Read a robot from a YAML file; BadRobot names the entry that is wrong."""
    document = yaml_of(path, BadRobot)
    if not isinstance(document, Mapping):
        raise BadRobot(f"{path} is no description of a robot: it has no entries")
    if "variant_of" in document:
        robot = _made(str(path), lambda **given: _variant(path, **given), document)
    else:
        robot = _made(str(path), lambda **given: _robot(path.stem, repair, **given), document)
    return robot if floating in (None, robot.floating) else replace(robot, floating=bool(floating))


def _variant(path: Path, *, variant_of: str, title: str, locked: str) -> Robot:
    full = read_description(path.with_name(f"{variant_of}.yaml"))
    robot = full.locked(dict.fromkeys(_matching(full.joint_names, locked), 0.0), name=path.stem)
    return replace(robot, title=title, groups={group: members for group, members in robot.groups.items() if members})


def _robot(
    name: str,
    repair: bool,
    *,
    links: Mapping[str, Any],
    joints: Mapping[str, Any],
    groups: Mapping[str, str] = NOTHING,
    rotor_inertias: Mapping[str, float] = NOTHING,
    gains: Mapping[str, Any] = NOTHING,
    surfaces: Mapping[str, Any] = NOTHING,
    sensors: Mapping[str, Any] = NOTHING,
    postures: Mapping[str, Mapping[str, float]] = NOTHING,
    may_touch: Sequence[Sequence[str]] = (),
    couplings: Sequence[Mapping[str, Any]] = (),
    gaps: Sequence[str] = (),
    **more: Any,
) -> Robot:
    made, jointed = _all("link", _link, links), _all("joint", _joint, joints)
    rotors = _by_pattern([joint.name for joint in jointed], rotor_inertias)
    moving = [joint for joint in jointed if joint.kind != "fixed" and joint.mimic is None]
    stiff = _by_pattern([joint.name for joint in moving if joint.actuated], gains)
    return Robot(
        name,
        repaired(made, jointed) if repair else made,
        tuple(replace(joint, rotor_inertia=float(rotors.get(joint.name, 0.0))) for joint in jointed),
        groups={group: _matching([joint.name for joint in moving], patterns) for group, patterns in groups.items()},
        surfaces=_all("surface", _surface, surfaces),
        sensors=_all("sensor", _sensor, sensors),
        postures={name: {joint: float(at) for joint, at in (each or {}).items()} for name, each in postures.items()},
        gains={joint: _made(f"gains of '{joint}'", _gain, given) for joint, given in stiff.items()},
        may_touch=frozenset(frozenset(pair) for pair in may_touch),
        couplings=tuple(Coupling(**each) for each in couplings),
        gaps=tuple(gaps),
        **more,
    )


def _all(what: str, make: Callable[..., Made], entries: Mapping[str, Any]) -> tuple[Made, ...]:
    return tuple(_made(f"{what} '{name}'", make, {"name": name, **(given or {})}) for name, given in entries.items())


def _made(what: str, make: Callable[..., Made], given: Mapping[str, Any]) -> Made:
    try:
        return make(**given)
    except BadRobot:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadRobot(f"{what} cannot be read: {error}") from error


def _placement(values: Sequence[float]) -> Placement:
    x, y, z, roll, pitch, yaw = (*map(float, values), *(0.0,) * (6 - len(values)))
    return Placement((x, y, z), (roll, pitch, yaw))


def _vector(values: Sequence[float]) -> Vector:
    x, y, z = map(float, values)
    return x, y, z


def _shape(values: Mapping[str, Any]) -> Shape:
    (kind, size), *_ = values.items()
    return Shape(kind, tuple(map(float, size)), _placement(values.get("at", ())), collides="seen" not in values)


def _link(
    name: str,
    mass: float = 0.0,
    com: Sequence[float] = (0.0, 0.0, 0.0),
    inertia: Sequence[float] = (0.0,) * 6,
    shapes: Sequence[Mapping[str, Any]] = (),
    lumps: Sequence[Mapping[str, Any]] = (),
) -> Link:
    link = Link(name, float(mass), _vector(com), tuple(map(float, inertia)), tuple(map(_shape, shapes)))
    if not lumps:
        return link
    return reduce(add, (of_shape(_shape(lump), float(lump["mass"])) for lump in lumps), Body.of(link)).on(link)


def _joint(
    name: str,
    parent: str,
    child: str,
    at: Sequence[float] = (),
    axis: Sequence[float] | None = None,
    kind: str = "revolute",
    mimic: str | None = None,
    actuated: bool = True,
    **more: Any,
) -> Joint:
    if axis is None:
        return Joint(name, "fixed", parent, child, _placement(at))
    lower, upper = map(float, more.pop("range", LIMITLESS))
    joint = Joint(name, kind, parent, child, _placement(at), _vector(axis), lower, upper, actuated=actuated)
    numbers: dict[str, Any] = {key: float(value) for key, value in more.items()}
    return replace(joint, mimic=None if mimic is None else Mimic(mimic), **numbers)


def _surface(name: str, link: str, at: Sequence[float], size: Sequence[float]) -> Surface:
    x, y = (float(each) / 2 for each in size)
    return Surface(name, link, _placement(at), ((x, y), (-x, y), (-x, -y), (x, -y)))


def _sensor(name: str, kind: str, link: str, at: Sequence[float] = ()) -> Sensor:
    return Sensor(name, kind, link, _placement(at))


def _gain(stiffness: float, damping: float) -> Gain:
    return Gain(float(stiffness), float(damping))


def _matching(names: Iterable[str], patterns: str) -> tuple[str, ...]:
    """The names that match one of the patterns ("?HP ?KN", "*_knee"), in their own order."""
    return tuple(name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns.split()))


def _by_pattern(names: Sequence[str], table: Mapping[str, Value]) -> dict[str, Value]:
    """Of each name the value of the first patterns that match it."""
    return {name: value for patterns, value in reversed(list(table.items())) for name in _matching(names, patterns)}
