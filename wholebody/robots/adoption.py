"""The YAML beside a URDF or MJCF: what was inferred of its robot, a line each with its reason, to be read and changed.

print(adopted(robots.load("g1.xml"), Path("g1.xml")))
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

from wholebody.robots.robot import Gain, Robot, Sensor, Surface

HEAD = """# What {base} does not say, as `wholebody robots adopt` inferred it, with how sure that is.
# Change what is wrong. What is left out is inferred anew, or taken from {base}.
"""
GROUPS = ("left_leg", "right_leg", "torso", "left_arm", "right_arm", "head")


def adopted(robot: Robot, base: Path, beside: Path, repair: bool = False) -> str:
    """A description of a robot on top of its file, to be written `beside` it or elsewhere."""
    name = os.path.relpath(base, beside.parent)
    return HEAD.format(base=base.name) + "\n".join([f"base: {_text(name)}", *_lines(robot, repair)]) + "\n"


def _lines(robot: Robot, repair: bool) -> Iterator[str]:
    why = {each.what: f"  # {each.reason} ({100 * each.confidence:.0f} %)" for each in robot.inferred}
    if repair:
        yield "repair: true  # inertias that no body has are replaced by the nearest that exist"
    if "legs" in why:
        yield f"# it cannot walk: {why['legs'].removeprefix('  # ')}"
    groups = [name for name in GROUPS if name in why and name in robot.groups]
    yield from _section("groups", (f"{name}: {_text(' '.join(robot.groups[name]))}{why[name]}" for name in groups))
    surfaces = [each for each in robot.surfaces if each.name in why]
    yield from _section("surfaces", (f"{each.name}: {_surface(each)}{why[each.name]}" for each in surfaces))
    imus = robot.sensors_of("imu")[:1]
    yield from _section("sensors", (f"{each.name}: {_sensor(each)}{why['imu']}" for each in imus if "imu" in why))
    if "stand" in why:
        stand = {name: round(value, 4) for name, value in robot.postures["stand"].items()}
        yield from _section("postures", [f"stand: {_text(stand)}{why['stand']}"])
    if "gains" in why:
        yield from _section("gains", _gains(robot, why["gains"]))


def _gains(robot: Robot, why: str) -> Iterator[str]:
    """Of legs and torso, a line for all joints that have the same; the first says why."""
    alike: dict[Gain, list[str]] = {}
    for group in ("left_leg", "right_leg", "torso"):
        for name in robot.groups.get(group, ()):
            alike.setdefault(robot.gains[name], []).append(name)
    for gain, names in alike.items():
        value = {"stiffness": gain.stiffness, "damping": gain.damping}
        yield f"{_text(' '.join(names))}: {_text(value)}{why}"
        why = ""


def _section(name: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield f"{name}:"
        yield from (f"  {line}" for line in found)


def _surface(surface: Surface) -> str:
    xs, ys = zip(*surface.outline, strict=True)
    rectangle = (
        len(surface.outline) == 4 and len({round(abs(x), 6) for x in xs}) == len({round(abs(y), 6) for y in ys}) == 1
    )
    shape = {"size": [_short(2 * max(xs)), _short(2 * max(ys))]}
    corners = {"outline": [[_short(x), _short(y)] for x, y in surface.outline]}
    at = [*map(_short, surface.at.xyz), *map(_short, surface.at.rpy)]
    return _text({"link": surface.link, "at": at, **(shape if rectangle else corners)})


def _sensor(sensor: Sensor) -> str:
    at = [*map(_short, sensor.at.xyz), *map(_short, sensor.at.rpy)]
    return _text({"kind": sensor.kind, "link": sensor.link, **({"at": at} if any(at) else {})})


def _short(value: float) -> float:
    return float(round(value, 6)) + 0.0


def _text(value: object) -> str:
    """A value on one line of YAML."""
    style = None if isinstance(value, str) else True
    text = yaml.safe_dump(value, default_flow_style=style, sort_keys=False, allow_unicode=True, width=1_000_000)
    return text.removesuffix("...\n").strip()
