"""Remote: a running controller as another process sees it, here or elsewhere: parameters, events, what it does.

controller = Remote()                                     # the one that runs; or Remote("reach", "dreamer")
controller.set("tasks.right_hand.goal", [0.4, -0.2, 1.0])
controller.wait_for("arrived", timeout=5.0)
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from wholebody.channels import Reader
from wholebody.channels.directory import Machine, machine
from wholebody.errors import (
    BadParameter,
    ChannelNotFound,
    GoalNotDone,
    NoController,
    NoServer,
    UnknownName,
    WholebodyError,
    closest,
)
from wholebody.messages import Event
from wholebody.parameters.packed import STATES
from wholebody.parameters.parameter import Array
from wholebody.parameters.records import (
    SERVICE,
    AboutPart,
    ControllerNames,
    Description,
    Get,
    GetAll,
    GetJacobian,
    JointOrders,
    Set,
    Values,
)
from wholebody.parameters.reflection import About, Value, read_values, set_together, shown, write_values
from wholebody.services import Client, Stage

STARTING = 10.0
"""Seconds for which a controller that just starts may keep others waiting."""
SPIN = 0.0015
"""Seconds for which it stays awake for an answer: a loop of 1 kHz has answered by then."""


@dataclass(frozen=True)
class Happened:
    """An event: when it fired, how often so far, and the numbers that its expression looked at."""

    name: str
    time: float
    count: int
    expression: str
    values: tuple[float, ...]


class Remote:
    """A controller that runs in another process. Without names it is the only one that runs.

    connect  HOST:PORT of another machine, if it runs there, with `wholebody run --listen`
    """

    def __init__(self, controller: str = "", robot: str = "", connect: str = "") -> None:
        self._machine = there = machine(connect)
        try:
            self.names = _find(running(there), controller, robot, f" at {connect}" if connect else "")
            self._client = ParameterClient(self.names, there)
        except WholebodyError as error:
            there.close()
            raise NoController(str(error)) from None
        self._about: Reader[AboutPart] = there.reader(self.names.about, AboutPart, past=True)
        self._read_about()
        try:
            self._events: Reader[Event] | None = there.reader(self.names.events, Event)
        except ChannelNotFound:
            self._events = None
        self._heard: list[Happened] = []

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._client.alive

    def close(self) -> None:
        """Let go of it."""
        for each in (self._client, self._about, self._events, self._machine):
            if each is not None:
                each.close()

    # --- parameters --------------------------------------------------------------------------------

    def list(self) -> tuple[About, ...]:
        """What is known of every parameter."""
        self._refresh()
        return tuple(self._parameters.values())

    def about(self, path: str) -> About:
        """What is known of a parameter."""
        self._refresh()
        if path not in self._parameters:
            raise UnknownName("parameter", path, self._parameters)
        return self._parameters[path]

    def get(self, path: str, timeout: float = 2.0) -> Value:
        """The value of a parameter in the cycle that answers."""
        about = self.about(path)
        return shown(about, self._client.numbers(Get(path), timeout))

    def set(self, path: str, value: Any, timeout: float = 2.0) -> Value:
        """Set a parameter, and return what it is now; BadParameter if it was refused."""
        about = self.about(path)
        return shown(about, self._client.numbers(Set(path, _numbers(about, value)), timeout))

    def values(self, timeout: float = 2.0) -> dict[str, Value]:
        """The values of all parameters, of one cycle."""
        self._refresh()
        numbers = self._client.numbers(GetAll(), timeout)
        found, first = {}, 0
        for each in self._parameters.values():
            found[each.path] = shown(each, numbers[first : first + each.size])
            first += each.size
        return found

    def save(self, file: str | Path) -> None:
        """Write the values that can be set into a YAML file, which a configuration can include."""
        values = self.values()
        saved = [each.path for each in self._parameters.values() if each.writable and each.saved]
        write_values(file, {path: values[path] for path in saved})

    def load(self, file: str | Path) -> None:
        """Set all values of such a file, or, if one of them cannot be taken, none."""
        values, where = read_values(file)
        set_together(values, self.get, self.set, where)

    def enable(self, name: str) -> None:
        """Switch a task or constraint on."""
        self.set(self._path_of(name, "state"), "enabled")

    def disable(self, name: str) -> None:
        """Switch a task or constraint off."""
        self.set(self._path_of(name, "state"), "disabled")

    def sense(self, name: str) -> None:
        """Let a task compute its error and do nothing about it."""
        self.set(self._path_of(name, "state"), "sensing")

    def set_priority(self, task: str, priority: int) -> None:
        """Give a task another priority; higher numbers are more important."""
        self.set(self._path_of(task, "priority"), priority)

    # --- what it is doing (Table C.1) --------------------------------------------------------------

    @property
    def description(self) -> Description:
        """All that the controller tells of itself, besides its parameters: joints, configuration, topics."""
        return self._told

    def actuable_joint_indices(self) -> dict[str, int]:
        """The order of every joint with a motor in the model."""
        return _numbered(self._told.joints.actuated)

    def command_joint_indices(self) -> dict[str, int]:
        """The order of the joints in the command."""
        return _numbered(self._told.joints.command)

    def real_joint_indices(self) -> dict[str, int]:
        """The order of every real joint in the model."""
        return _numbered(self._told.joints.real)

    def task_parameters(self) -> dict[str, Value]:
        """Every parameter of tasks, and its value."""
        return self._values_of("tasks.")

    def constraint_parameters(self) -> dict[str, Value]:
        """Every parameter of constraints, and its value."""
        return self._values_of("constraints.")

    def controller_parameters(self) -> dict[str, Any]:
        """The settings of Tables B.1 and B.2, and what of controller and loop can change."""
        return {**self._told.settings, **self._values_of("controller."), **self._values_of("servo.")}

    def controller_configuration(self) -> dict[str, Any]:
        """The compound task, most important first, and the constraint set, with their states."""
        values = self.values()
        tasks = sorted(self._told.tasks, key=lambda name: -float(values[f"tasks.{name}.priority"]))
        return {
            "compound_task": [
                {"name": name, "priority": int(float(values[f"tasks.{name}.priority"])), "operational_state": state}
                for name in tasks
                for state in [values[f"tasks.{name}.state"]]
            ],
            "constraint_set": [
                {"name": name, "operational_state": values[f"constraints.{name}.state"]}
                for name in self._told.constraints
            ],
        }

    def constraint_jacobians(self, timeout: float = 2.0) -> dict[str, Array]:
        """The Jacobian of every constraint, now: a row for each direction, a column for each velocity."""
        columns = len(self._told.joints.velocity)
        return {
            name: self._client.numbers(GetJacobian(name), timeout).reshape(-1, columns)
            for name in self._told.constraints
        }

    # --- events ------------------------------------------------------------------------------------

    def wait_for(self, event: str, timeout: float | None = None) -> Happened | None:
        """Wait for an event; None if it does not happen in time.

        One that fired since this Remote was made, and was not waited for yet, counts: a goal can be set and then waited
        for, however fast it is reached.
        """
        return self.wait_for_any([event], timeout)

    def wait_for_any(self, events: Sequence[str], timeout: float | None = None) -> Happened | None:
        """Wait for the first of several events; None if none happens in time."""
        for event in events:
            if event not in self._told.events:
                raise UnknownName("event", event, self._told.events)
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            for each in self._heard:
                if each.name in events:
                    self._heard.remove(each)
                    return each
            if self._events is None or not self._events.wait(until=until, mode="next"):
                return None
            self._heard.append(_happened(self._events.message, self._told.events))

    def forget(self) -> None:
        """Events up to now do not count."""
        self._heard.clear()
        while self._events is not None and self._events.next():
            pass

    def rearm(self, event: str) -> None:
        """Let an event fire once more, though its condition still holds."""
        self.set(f"events.{event}.armed", 1)

    # --- asking ------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        """A controller that was started again may have other parameters."""
        if self._about.next():
            self._read_about(self._about.message.copy())

    def _read_about(self, *first: AboutPart) -> None:
        """What the controller tells of itself; what it is just telling is waited for."""
        parts, until = list(first), time.monotonic() + STARTING
        while (everything := told_in(parts)) is None:
            if not self._about.wait(until=until, mode="next"):
                raise NoController("a controller has begun to start, and got stuck; see what it says")
            parts.append(self._about.message.copy())
            while self._about.next():
                parts.append(self._about.message.copy())
        self._parameters = {each["path"]: _about(each) for each in everything.pop("parameters")}
        joints = JointOrders(**{key: tuple(names) for key, names in everything.pop("joints").items()})
        self._told = Description(**everything, joints=joints)

    def _values_of(self, first: str) -> dict[str, Value]:
        return {path: value for path, value in self.values().items() if path.startswith(first)}

    def _path_of(self, name: str, what: str) -> str:
        for group in ("tasks", "constraints"):
            if (path := f"{group}.{name}.{what}") in self._parameters:
                return path
        known = [*self._told.tasks, *self._told.constraints]
        raise UnknownName("task or constraint", name, known)


class ParameterClient(Client):
    """Asks the ParameterServer of a controller."""

    missing: ClassVar[type[NoServer]] = NoController

    def __init__(self, names: ControllerNames, there: Machine) -> None:
        self._names = names
        super().__init__(names.service, STARTING, answer=Values, connect=there)

    def numbers(self, request: Any, timeout: float) -> Array:
        """Ask, and return the numbers of the answer; BadParameter if it is no, NoController if there is none."""
        try:
            values: Array = self.ask(request, timeout, spin=SPIN).answer.values
        except GoalNotDone as error:
            raise BadParameter(error.reason) from None
        return values

    def __str__(self) -> str:
        return f"'{self._names.controller}' on '{self._names.robot}'"

    def _overdue(self, until: Stage, timeout: float) -> NoServer:
        """The error if the loop does not answer."""
        return self.missing(f"{self} did not answer within {timeout:g} s; it runs, but its loop stands still")


def running(there: Machine | None = None) -> list[tuple[str, str]]:
    """The controllers that run on a machine, this one unless told otherwise, as (robot, controller)."""
    found = (name.rpartition(".") for name in (there or machine()).written(f"{SERVICE}.replies"))
    return [(robot, controller) for robot, _, controller in found if robot]


def told_in(parts: Iterable[AboutPart]) -> dict[str, Any] | None:
    """The last text among `about` records that follow each other; None if it is not whole."""
    newest: list[AboutPart] = []
    for each in parts:
        newest = [each] if each.part == 1 else [*newest, each]
    if not newest or len(newest) != newest[-1].parts:
        return None
    told: dict[str, Any] = json.loads(b"".join(bytes(each.text[: each.size]) for each in newest))
    return told


def _find(there: Sequence[tuple[str, str]], controller: str, robot: str, where: str = "") -> ControllerNames:
    fitting = [each for each in there if robot in ("", each[0]) and controller in ("", each[1])]
    if len(fitting) == 1:
        return ControllerNames(*fitting[0])
    if fitting:
        shown_names = ", ".join(f"{name} on {on}" for on, name in fitting)
        raise NoController(f"several controllers run{where}: {shown_names}; say which")
    asked = f" called '{controller}'" if controller else ""
    asked += f" on '{robot}'" if robot else ""
    near = closest(controller, [name for _, name in there])
    raise NoController(f"no controller{asked} runs{where}{near}; start one: wholebody run FILE")


def _about(plain: dict[str, Any]) -> About:
    return About(**{**plain, "choices": tuple(plain["choices"])})


def _numbers(about: About, value: Any) -> Any:
    """A value as numbers, as far as it can be told without the controller."""
    if about.kind == "state" and isinstance(value, str):
        if value not in about.choices:
            choices = ", ".join(about.choices)
            raise BadParameter(f"{about.path} is one of {choices}, not {value!r}{closest(value, about.choices)}")
        return [float(STATES[value])]
    try:
        numbers = np.atleast_1d(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError):
        raise BadParameter(f"{about.path} must be numbers, not {value!r}") from None
    if numbers.ndim > 1 or len(numbers) not in (1, about.size):
        raise BadParameter(f"{about.path} must have {about.size} numbers, not shape {np.shape(value)}")
    return numbers


def _numbered(names: Sequence[str]) -> dict[str, int]:
    return {name: index for index, name in enumerate(names)}


def _happened(message: Event, events: Mapping[str, int]) -> Happened:
    values = tuple(float(each) for each in message.values[: events.get(message.name, 0)])
    return Happened(message.name, message.time, message.count, message.text, values)
