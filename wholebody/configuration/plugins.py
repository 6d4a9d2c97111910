"""Plug-ins: the kinds of things that a configuration names, ours and other people's, found by entry points.

    [project.entry-points."wholebody.tasks"]
    level = "my_package.level:LevelTask"

The groups are wholebody.tasks, .constraints, .controllers, .interfaces, .clocks, .transports and, in the catalogue of
robots, .robots. What is installed under a name of ours takes its place.
"""

from __future__ import annotations

import importlib
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from wholebody.errors import BadConfiguration, UnknownName

BUILT_IN: dict[str, dict[str, str]] = {
    "tasks": {
        "joint_position": "wholebody.tasks:JointPositionTask",
        "cartesian_position": "wholebody.tasks:CartesianPositionTask",
        "orientation_2d": "wholebody.tasks:Orientation2DTask",
        "orientation_3d": "wholebody.tasks:Orientation3DTask",
        "pose": "wholebody.tasks:PoseTask",
        "center_of_mass": "wholebody.tasks:CenterOfMassTask",
        "center_of_pressure": "wholebody.tasks:CenterOfPressureTask",
        "external_force": "wholebody.tasks:ExternalForceTask",
        "internal_force": "wholebody.tasks:InternalForceTask",
        "joint_limits": "wholebody.tasks:JointLimitTask",
        "momentum": "wholebody.tasks:MomentumTask",
    },
    "constraints": {
        "flat_contact": "wholebody.constraints:FlatContact",
        "point_contact": "wholebody.constraints:PointContact",
        "line_contact": "wholebody.constraints:LineContact",
        "omni_wheel": "wholebody.constraints:OmniWheelContact",
        "coactuation": "wholebody.constraints:Coactuation",
        "fixed_base": "wholebody.constraints:FixedBase",
    },
    "controllers": {
        "wbosc": "wholebody.control:WBOSC",
        "quadratic": "wholebody.control:QuadraticController",
    },
    "interfaces": {
        "simulation": "wholebody.cli.interfaces:simulation",
        "daemon": "wholebody.cli.interfaces:daemon",
        "loopback": "wholebody.cli.interfaces:loopback",
    },
    "clocks": {
        "steady": "wholebody.cli.interfaces:steady",
    },
    "transports": {
        "channel": "wholebody.parameters.transports:Channels",
        "udp": "wholebody.parameters.transports:Udp",
        "zenoh": "wholebody.parameters.transports:Zenoh",
    },
}


def names(kind: str) -> tuple[str, ...]:
    """The names of all that is installed of a kind."""
    return tuple(_table(kind))


def load(kind: str, name: str) -> Any:
    """What is installed under a name, imported now; UnknownName if there is none."""
    table = _table(kind)
    if name not in table:
        raise UnknownName(kind.rstrip("s"), name, table)
    module, _, attribute = table[name].partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise BadConfiguration(f"{kind.rstrip('s')} '{name}' cannot be had from {table[name]}: {error}") from error


@cache
def _table(kind: str) -> dict[str, str]:
    return BUILT_IN[kind] | {entry.name: entry.value for entry in entry_points(group=f"wholebody.{kind}")}
