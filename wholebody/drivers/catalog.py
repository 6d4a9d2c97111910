"""The drivers there are: ours and other people's by name, anybody's by path/to/file.py:Class; their options, checked.

A driver is a class, or a function, that is called with the robot, with `period` (s) and `name` if it asks for them, and
with its options by keyword; what it returns is a RobotInterface, and may be a Clock, too:

    class Mine:
        def __init__(self, robot: Robot, period: float, *, port: str = "/dev/ttyUSB0",
                     gain: Annotated[float, Unit("N·m/rad"), Bounds(0, 100)] = 10.0) -> None: ...

    [project.entry-points."wholebody.drivers"]
    mine = "my_package.mine:Mine"
"""

from __future__ import annotations

import contextlib
import inspect
import math
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from wholebody import plugins
from wholebody.drivers.interface import RobotInterface
from wholebody.errors import BadDriver, UnknownName
from wholebody.parameters.parameter import Bounds, Meaning, Unit, meaning_in_docstring
from wholebody.parameters.text import SWITCHES, number_of
from wholebody.robots.robot import Robot

KIND = "drivers"
METHODS = {
    "read": "read(self, state)",
    "write": "write(self, reference)",
    "stop": "stop(self)",
    "__enter__": "__enter__(self)",
    "__exit__": "__exit__(self, kind, error, trace)",
}
GIVEN = ("period", "name")
"""What a driver may ask for besides the robot; everything else is an option."""
ANY = Bounds()
_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_ANYTHING = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_CHOICE = re.compile(r"(?P<name>.*?\.py:\w+|[^:]*)(?::(?P<options>.*))?", re.DOTALL)


@dataclass(frozen=True)
class DriverChoice:
    """A driver and its options as one types them: NAME, or path/to/file.py:Class, and :option=value,…"""

    name: str
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> DriverChoice:
        """Read `hubo_can:buses=can0,can1`: a piece without = belongs to the value before it."""
        found = _CHOICE.fullmatch(text)
        assert found is not None
        options: dict[str, str] = {}
        latest = ""
        for piece in (found["options"] or "").split(",") if found["options"] else ():
            option, equals, value = piece.partition("=")
            if equals:
                latest = option.strip()
                options[latest] = value.strip()
            elif latest:
                options[latest] += f",{piece.strip()}"
            else:
                raise BadDriver(f"'{piece}' is no option of driver '{found['name']}'; give option=value, …")
        return cls(found["name"], options)

    @property
    def absolute(self) -> DriverChoice:
        """The same for a process that runs in another folder."""
        file, colon, attribute = self.name.rpartition(":")
        path = f"{Path(file).resolve()}:{attribute}" if colon and file.endswith(".py") else self.name
        return DriverChoice(path, self.options)

    def __str__(self) -> str:
        """As it is typed."""
        options = ",".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.name}:{options}" if options else self.name


@dataclass(frozen=True)
class Option:
    """One option of a driver: what its annotation and its default say."""

    name: str
    type: Any  # bool, int, float, str, tuple (of words), or a tuple of the words that it may be
    default: Any
    needed: bool
    unit: str = ""
    bounds: Bounds = ANY
    meaning: str = ""

    def of(self, given: Any, driver: str) -> Any:
        """A value of the option's type, from what was typed or from what a file says; BadDriver if it is none."""
        try:
            value = self._converted(given)
        except (TypeError, ValueError):
            raise BadDriver(f"driver '{driver}': {self.name} = {given!r}; give {self.wanted}") from None
        if isinstance(value, int | float) and not self.bounds.lower <= value <= self.bounds.upper:
            raise BadDriver(f"driver '{driver}': {self.name} = {given!r}; give {self.wanted}")
        return value

    def _converted(self, given: Any) -> Any:
        if given is None and not self.needed:
            return self.default
        if isinstance(self.type, tuple):
            return self.type[self.type.index(given)]
        if self.type is tuple:
            words = given.split(",") if isinstance(given, str) else given
            return tuple(str(word).strip() for word in words if str(word).strip())
        if self.type is bool:
            word = str(given).lower()
            return SWITCHES[word] if word in SWITCHES else _no()
        if self.type is str:
            return given if isinstance(given, str) else _no()
        if isinstance(given, bool):
            _no()
        value = number_of(given, self.unit) if isinstance(given, str) else float(given)
        if not math.isfinite(value) or (self.type is int and value != int(value)):
            _no()
        return int(value) if self.type is int else value

    @property
    def wanted(self) -> str:
        """What may be given, in words."""
        if isinstance(self.type, tuple):
            return " or ".join(map(repr, self.type))
        kinds = {bool: "yes or no", int: "a whole number", float: "a number", str: "a word", tuple: "words with commas"}
        unit = f" in {self.unit}" if self.unit not in ("", "1") else ""
        low, high = self.bounds.lower, self.bounds.upper
        within = f" from {low:g} to {high:g}" if math.isfinite(low) or math.isfinite(high) else ""
        return kinds[self.type] + unit + within

    def __str__(self) -> str:
        """Name, default and unit, for lists."""
        if self.needed:
            return f"{self.name} (needed: {self.wanted})"
        unit = f" {self.unit}" if self.unit not in ("", "1") else ""
        return f"{self.name}={_as_typed(self.default)}{unit}"


def _as_typed(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:g}"
        case tuple() | list():
            return ",".join(map(str, value))
    return str(value)


def _no() -> Any:
    raise ValueError


@dataclass(frozen=True)
class Driver:
    """A driver that can be made for any robot that it fits."""

    name: str
    make: Callable[..., RobotInterface]

    @property
    def what(self) -> str:
        """What it is: the first line of its docstring."""
        return (inspect.getdoc(self.make) or "").partition("\n")[0]

    @property
    def watchdog(self) -> str:
        """What the device does by itself when nobody commands it any more, in words; empty if nothing."""
        kind = self.make
        if not inspect.isclass(kind):
            with contextlib.suppress(NameError, TypeError):  # types that exist for type checkers only
                kind = get_type_hints(kind).get("return", kind)
        return str(getattr(kind, "watchdog", ""))

    @property
    def source(self) -> str:
        """Where it comes from: a package or a file."""
        return plugins.source(KIND, self.name)

    @cached_property
    def arguments(self) -> Mapping[str, inspect.Parameter]:
        """All that it is called with besides the robot."""
        found = list(inspect.signature(self.make).parameters.values())
        if not found or found[0].kind in (_KEYWORD, *_ANYTHING):
            raise BadDriver(f"driver '{self.name}' takes no robot; write: def __init__(self, robot, …)")
        return {each.name: each for each in found[1:] if each.kind not in _ANYTHING}

    @cached_property
    def options(self) -> Mapping[str, Option]:
        """Its options, by name."""
        function = self.make.__init__ if inspect.isclass(self.make) else self.make
        try:
            hints = get_type_hints(function, include_extras=True)
        except (NameError, TypeError):  # types that exist for type checkers only: the defaults must tell
            hints = {}
        return {
            name: _option(self.make, argument, hints.get(name, type(argument.default)))
            for name, argument in self.arguments.items()
            if name not in GIVEN
        }

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Options as the driver takes them; an error for one that it does not know, or that has another type."""
        for name in given:
            if name not in self.options:
                raise UnknownName(f"option of driver '{self.name}'", name, self.options)
        for name, option in self.options.items():
            if option.needed and name not in given:
                raise BadDriver(f"driver '{self.name}' needs the option {name}: {option.wanted}")
        return {name: self.options[name].of(value, self.name) for name, value in given.items()}

    def opened(
        self, robot: Robot, period: float, name: str = "", given: Mapping[str, Any] | None = None
    ) -> RobotInterface:
        """The driver of a robot, not yet entered."""
        also = {key: value for key, value in zip(GIVEN, (period, name), strict=True) if key in self.arguments}
        interface = self.make(robot, **also, **self.checked(given or {}))
        _check_methods(self.name, interface)
        return interface


def names() -> tuple[str, ...]:
    """The names of all drivers that are installed."""
    return plugins.names(KIND)


def find(name: str) -> Driver:
    """The driver of a name, or of path/to/file.py:Class, imported now and with all its methods there."""
    driver = Driver(name, plugins.load(KIND, name))
    if not callable(driver.make):
        raise BadDriver(f"driver '{name}' is {driver.make!r}; it must be a class or a function of a robot")
    if inspect.isclass(driver.make):
        _check_methods(name, driver.make)
    driver.options  # noqa: B018 - reads them, to find what is wrong
    return driver


def open_driver(text: str, robot: Robot, period: float, name: str = "") -> RobotInterface:
    """The driver of a robot as it is typed, NAME[:option=value,…], not yet entered."""
    choice = DriverChoice.parse(text)
    return find(choice.name).opened(robot, period, name, choice.options)


def check_choice(text: str) -> None:
    """Raise an error if there is no such driver, or if it does not take these options; nothing is opened."""
    choice = DriverChoice.parse(text)
    find(choice.name).checked(choice.options)


def for_robot(text: str, robot: Robot) -> DriverChoice:
    """The driver that a word means for a robot: a name of its own description, such as a tier, or a driver's name."""
    choice = DriverChoice.parse(text)
    if choice.name in robot.drivers:
        meant = DriverChoice.parse(robot.drivers[choice.name])
        return DriverChoice(meant.name, {**meant.options, **choice.options}).absolute
    if choice.name not in names() and not plugins.is_in_file(choice.name):
        raise UnknownName(f"driver of {robot.name}", choice.name, (*names(), *robot.drivers))
    return choice.absolute


def _check_methods(name: str, what: Any) -> None:
    """Raise an error if a class or object lacks methods; those inherited from the protocol do nothing."""
    kind = what if inspect.isclass(what) else type(what)
    lacking = [
        written
        for method, written in METHODS.items()
        if not callable(found := getattr(kind, method, None)) or found is getattr(RobotInterface, method)
    ]
    if lacking:
        raise BadDriver(f"driver '{name}' lacks {', '.join(lacking)}; docs/robot_layer.md shows a driver of your own")


def _option(owner: Any, argument: inspect.Parameter, hint: Any) -> Option:
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    needed = argument.default is argument.empty
    meaning = next((each.text for each in notes if isinstance(each, Meaning)), "")
    return Option(
        argument.name,
        _type(get_args(hint)[0] if notes else hint, argument.default),
        None if needed else argument.default,
        needed,
        next((each.symbol for each in notes if isinstance(each, Unit)), ""),
        next((each for each in notes if isinstance(each, Bounds)), ANY),
        meaning or meaning_in_docstring(owner, argument.name),
    )


def _type(hint: Any, default: Any) -> Any:
    """What an option's values are, by its annotation; by its default where that says nothing."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return next((_type(each, default) for each in arguments if each is not type(None)), str)
    if origin is Literal:
        return arguments
    if origin in (tuple, list, Sequence) or hint in (tuple, list):
        return tuple
    if hint in (bool, int, float, str):
        return hint
    return type(default) if type(default) in (bool, int, float, str, tuple) else str
