"""What can be tuned in a robot's controllers, as parameters of ROS and Foxglove: CONTROLLER.PATH, typed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any

from wholebody.errors import BadParameter, UnknownName
from wholebody.operator.robot.settings import Listed, LiveParameters
from wholebody.parameters import Parameters
from wholebody.parameters.reflection import About
from wholebody.parameters.text import value_of
from wholebody.ros.interfaces import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    ParameterValue,
)

NOT_SET, BOOL, INTEGER, DOUBLE, STRING, _, BOOLS, INTEGERS, DOUBLES, STRINGS = range(10)
"""Types, as rcl_interfaces/ParameterType has them."""
TYPES = {"number": DOUBLE, "whole": INTEGER, "switch": BOOL, "vector": DOUBLES}
LARGEST = 2**62


class RosParameters:
    """Of all controllers of the robot of a name; asking never waits: values are those told last."""

    def __init__(self, robot: str) -> None:
        self._live = LiveParameters(robot, Parameters())

    @property
    def known(self) -> dict[str, Listed]:
        """All that can be set, by name."""
        return {each.name.replace(":", ".", 1): each for each in self._live.listed()}

    def values(self, names: Iterable[str] | None = None) -> dict[str, Any]:
        """Values as plain data, of all or of some; one that is not known is left out."""
        known = self.known
        chosen = known if names is None else [name for name in names if name in known]
        return {name: _plain(known[name].about, known[name].value) for name in chosen}

    def set(self, name: str, value: Any) -> Future[None]:
        """Set one, as plain data; what is wrong is raised by what is returned."""
        known = self.known
        if name not in known:
            raise UnknownName("parameter", name, known)
        each = known[name]
        found = self._live.set(each.name, _text(each.about, value))
        assert found is not None  # none of these is our own
        return found

    def close(self) -> None:
        """Ask no more."""
        self._live.close()


def typed(value: Any) -> ParameterValue:
    """Plain data as a value of ROS; None: not set."""
    match value:
        case None:
            return ParameterValue()
        case bool():
            return ParameterValue(BOOL, bool_value=value)
        case int():
            return ParameterValue(INTEGER, integer_value=value)
        case float():
            return ParameterValue(DOUBLE, double_value=value)
        case str():
            return ParameterValue(STRING, string_value=value)
    return ParameterValue(DOUBLES, double_array_value=[float(each) for each in value])


def plain(value: ParameterValue) -> Any:
    """A value of ROS as plain data."""
    by_type = {
        BOOL: value.bool_value,
        INTEGER: value.integer_value,
        DOUBLE: value.double_value,
        STRING: value.string_value,
        INTEGERS: value.integer_array_value,
        DOUBLES: value.double_array_value,
    }
    return by_type.get(value.type)


def described(name: str, about: About) -> ParameterDescriptor:
    """What a parameter is, with unit, meaning and bounds."""
    unit = "" if about.unit in ("", "1") else f" ({about.unit})"
    lower, upper = max(about.lower, -LARGEST), min(about.upper, LARGEST)
    bounded = math.isfinite(about.lower) or math.isfinite(about.upper)
    kind = TYPES.get(about.kind, STRING)
    floats = [FloatingPointRange(lower, upper)] if bounded and kind in (DOUBLE, DOUBLES) else []
    wholes = [IntegerRange(int(lower), int(upper))] if bounded and kind == INTEGER else []
    choices = f"one of {', '.join(about.choices)}" if about.choices else ""
    return ParameterDescriptor(
        name, kind, f"{about.meaning}{unit}", choices, floating_point_range=floats, integer_range=wholes
    )


def _plain(about: About, text: str) -> Any:
    """What a controller said in words, as plain data; the words themselves, if they are no number."""
    try:
        value: Any = value_of(about, text)
    except (BadParameter, ValueError):
        return text
    if about.kind == "vector":
        return [float(each) for each in (value if hasattr(value, "__len__") else [value])]
    return {"number": float, "whole": int, "switch": bool}.get(about.kind, str)(value)


def _text(about: About, value: Any) -> str:
    """Plain data as a person would type it."""
    if value is None:
        raise BadParameter(f"{about.path} is given no value; give {about.kind} in {about.unit or '1'}")
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str | int | float):
        return str(value)
    return " ".join(repr(float(each)) for each in value)
