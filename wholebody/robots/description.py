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

A file of `base`, the path of a URDF or MJCF, has links and joints from there, and says the rest: all entries above,
except that `joints` changes figures of joints (range, velocity, effort, rotor_inertia, damping, friction) by patterns
of their names; `repair: true` repairs inertias that no body has. What neither says is inferred. Surfaces may have an
`outline` of corners (x, y) instead of a size.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, TypeVar

import yaml

from wholebody.errors import BadRobot, UnknownName
from wholebody.files import yaml_nodes, yaml_of
from wholebody.robots.masses import Body, of_shape, repaired
from wholebody.robots.robot import Coupling, Gain, Joint, Link, Mimic, Placement, Robot, Sensor, Shape, Surface, Vector

Made = TypeVar("Made")
Value = TypeVar("Value")
Place = tuple[str, ...]
"""Keys that lead to an entry."""
Reader = Callable[[Path, bool], Robot]
LIMITLESS = (float("-inf"), float("inf"))
NOTHING: Mapping[str, Any] = {}
FIGURES = ("range", "velocity", "effort", "rotor_inertia", "damping", "friction")
SAID = (
    *("title", "source", "groups", "rotor_inertias", "gains", "surfaces", "sensors", "postures", "may_touch"),
    *("couplings", "gaps", "links", "joints", "drivers", "published_mass", "floating"),
)
BASED = ("base", "repair", *(each for each in SAID if each != "links"))
VARIED = ("variant_of", "title", "locked")


class Wrong(Exception):
    """What is wrong with an entry of a file, and which."""

    def __init__(self, place: Place, text: str) -> None:
        super().__init__(text)
        self.place = place


def read_description(
    path: Path,
    floating: bool | None = None,
    repair: bool = False,
    read: Reader | None = None,
    finish: Callable[[Robot, Collection[str]], Robot] = lambda robot, told: robot,
) -> Robot:
    """Read a robot from a YAML file; BadRobot names the line and the entry that is wrong.

    `read` reads a base, and `finish` adds what neither says, knowing which entries the file has.
    """
    document = yaml_of(path, BadRobot)
    if not isinstance(document, Mapping):
        raise BadRobot(f"{path} is no description of a robot: it has no entries")
    try:
        robot = _described(path, document, repair, read)
        robot = finish(robot, document) if "base" in document else robot
    except Wrong as wrong:
        raise BadRobot(f"{_where(path, wrong.place)}: {wrong}") from None
    return robot if floating in (None, robot.floating) else replace(robot, floating=bool(floating))


def _described(path: Path, document: Mapping[str, Any], repair: bool, read: Reader | None) -> Robot:
    kind = next((kind for kind in ("variant_of", "base") if kind in document), "links")
    known = {"variant_of": VARIED, "base": BASED}.get(kind, SAID)
    for key in document:
        if key not in known:
            near = get_close_matches(str(key), known, 1)
            raise Wrong((key,), f"unknown entry '{key}'; say {' or '.join(near) or ', '.join(known)}")
    if kind == "variant_of":
        return _made(str(path), (), lambda **given: _variant(path, **given), document)
    if kind == "base":
        return _based(path, document, repair, read)
    return _made(str(path), (), lambda **given: _robot(path.stem, repair, **given), document)


def _where(path: Path, place: Place) -> str:
    """File and line of an entry, or of the nearest one around it."""
    node, line = yaml_nodes(path, BadRobot), 1
    for key in place:
        if not isinstance(node, yaml.MappingNode):
            break
        found = next(((name, value) for name, value in node.value if name.value == str(key)), None)
        if found is None:
            break
        line, node = found[0].start_mark.line + 1, found[1]
    return f"{path}:{line}"


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
    couplings: Sequence[Mapping[str, Any]] = (),
    **said: Any,
) -> Robot:
    made, jointed = _all("link", "links", _link, links), _all("joint", "joints", _joint, joints)
    bare = Robot(
        name,
        repaired(made, jointed) if repair else made,
        jointed,
        couplings=tuple(Coupling(**each) for each in couplings),
    )
    return _told(bare, said)


# --- on top of a URDF or MJCF ----------------------------------------------------------------------


def _based(path: Path, document: Mapping[str, Any], repair: bool, read: Reader | None) -> Robot:
    """The robot of a base file, told otherwise where this one says so; what neither says is inferred."""
    base = path.parent / str(document["base"])
    if read is None or base.suffix not in (".urdf", ".xml", ".mjcf"):
        raise Wrong(("base",), f"'{document['base']}' is no URDF (.urdf) and no MJCF (.xml)")
    if not base.is_file():
        raise Wrong(("base",), f"there is no file {base}")
    robot = read(base, repair or bool(document.get("repair", False)))
    figures = document.get("joints") or NOTHING
    joints = _by_pattern_of_figures(robot, figures)
    said = {
        key: value for key, value in document.items() if key not in ("base", "repair", "joints") and value is not None
    }
    couplings = tuple(Coupling(**each) for each in said.pop("couplings", ()))
    robot = replace(robot, name=path.stem, joints=joints, couplings=couplings or robot.couplings, source=robot.source)
    return _told(robot, said)


def _by_pattern_of_figures(robot: Robot, figures: Mapping[str, Any]) -> tuple[Joint, ...]:
    """The joints with the figures that are told by patterns of their names."""
    names, told = [joint.name for joint in robot.joints], dict[str, dict[str, Any]]()
    for patterns, given in figures.items():
        place: Place = ("joints", patterns)
        for key in given:
            if key not in FIGURES:
                raise Wrong((*place, key), f"unknown figure '{key}' of joints; known: {', '.join(FIGURES)}")
        for name in _known(names, patterns, place, "joint"):
            told[name] = {**given, **told.get(name, {})}
    return tuple(_with_figures(joint, told[joint.name]) if joint.name in told else joint for joint in robot.joints)


def _with_figures(joint: Joint, given: Mapping[str, Any]) -> Joint:
    numbers = {key: float(value) for key, value in given.items() if key != "range"}
    if "range" in given:
        numbers |= dict(zip(("lower", "upper"), map(float, given["range"]), strict=True))
    return replace(joint, **numbers)  # type: ignore[arg-type]


def _known(names: Sequence[str], patterns: str, place: Place, what: str) -> tuple[str, ...]:
    """The names that match patterns; Wrong if none does."""
    found = _matching(names, patterns)
    if not found:
        near = get_close_matches(patterns, names, 1)
        raise Wrong(place, f"no {what} matches '{patterns}'" + (f"; closest: '{near[0]}'" if near else ""))
    return found


def _told(robot: Robot, said: Mapping[str, Any]) -> Robot:
    """The robot with what a file says besides links and joints; what the robot has of the same name goes."""
    rotors = _by_pattern([joint.name for joint in robot.joints], said.get("rotor_inertias", NOTHING))
    joints = tuple(replace(j, rotor_inertia=float(rotors[j.name])) if j.name in rotors else j for j in robot.joints)
    actuated = [joint.name for joint in robot.moving if joint.actuated]
    stiff = _by_pattern(actuated, said.get("gains", NOTHING))
    groups = {
        group: _known(robot.joint_names, patterns, ("groups", group), "joint") if patterns else ()
        for group, patterns in said.get("groups", NOTHING).items()
    }
    postures = {
        name: {joint: float(at) for joint, at in (each or {}).items()}
        for name, each in said.get("postures", NOTHING).items()
    }
    surfaces = _all("surface", "surfaces", _surface, said.get("surfaces", NOTHING))
    sensors = _all("sensor", "sensors", _sensor, said.get("sensors", NOTHING))
    _check_links(robot, surfaces, sensors)
    more = {key: said[key] for key in ("title", "source", "drivers", "published_mass", "floating") if key in said}
    gaps, pairs = tuple(said.get("gaps", ())), said.get("may_touch", ())
    return _made(
        "the robot",
        (),
        lambda **given: replace(robot, **given),
        {
            "joints": joints,
            "groups": {**robot.groups, **groups},
            "surfaces": _over(robot.surfaces, surfaces),
            "sensors": _over(_unless_told(robot.sensors, sensors), sensors),
            "postures": {**robot.postures, **postures},
            "gains": {**robot.gains, **{j: _made(f"gains of '{j}'", ("gains",), _gain, g) for j, g in stiff.items()}},
            "may_touch": robot.may_touch | frozenset(frozenset(pair) for pair in pairs),
            "gaps": (*robot.gaps, *gaps),
            **more,
        },
    )


def _check_links(robot: Robot, surfaces: Iterable[Surface], sensors: Iterable[Sensor]) -> None:
    for key, each in (*(("surfaces", x) for x in surfaces), *(("sensors", x) for x in sensors)):
        try:
            robot.link(each.link)  # type: ignore[attr-defined]
        except UnknownName as error:
            raise Wrong((key, each.name, "link"), str(error)) from None  # type: ignore[attr-defined]


def _over(old: tuple[Made, ...], new: tuple[Made, ...]) -> tuple[Made, ...]:
    """The new ones, and the old ones of other names."""
    names = {each.name for each in new}  # type: ignore[attr-defined]
    return (*new, *(each for each in old if each.name not in names))  # type: ignore[attr-defined]


def _unless_told(old: tuple[Sensor, ...], new: tuple[Sensor, ...]) -> tuple[Sensor, ...]:
    """Sensors of the base; its IMUs only if none is told."""
    told = any(each.kind == "imu" for each in new)
    return tuple(each for each in old if not (told and each.kind == "imu"))


# --- entries ---------------------------------------------------------------------------------------


def _all(what: str, key: str, make: Callable[..., Made], entries: Mapping[str, Any]) -> tuple[Made, ...]:
    return tuple(
        _made(f"{what} '{name}'", (key, name), make, {"name": name, **(given or {})}) for name, given in entries.items()
    )


def _made(what: str, place: Place, make: Callable[..., Made], given: Mapping[str, Any]) -> Made:
    try:
        return make(**given)
    except BadRobot:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Wrong(place, f"{what} cannot be read: {error}") from error


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


def _surface(
    name: str,
    link: str,
    at: Sequence[float],
    size: Sequence[float] | None = None,
    outline: Sequence[Sequence[float]] | None = None,
) -> Surface:
    if outline is None:
        x, y = (float(each) / 2 for each in size or ())
        return Surface(name, link, _placement(at), ((x, y), (-x, y), (-x, -y), (x, -y)))
    corners = [tuple(map(float, corner)) for corner in outline]
    return Surface(name, link, _placement(at), tuple((x, y) for x, y in corners))


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
