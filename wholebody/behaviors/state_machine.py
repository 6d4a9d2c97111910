"""StateMachine: an application as states, with transitions on events and time-outs; states can be machines themselves.

grab = StateMachine(
    "grab",
    [
        State("reach", enter=stream_goal, on={"right_hand_arrived": "close"}, timeout=8.0, late="failed"),
        State("close", enter=close_fingers, timeout=1.0, late="done"),
        State("done"),
        State("failed"),
    ],
)
outcome = grab.run(events_of(Remote("reach")))       # done or failed
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from wholebody.channels.channel import Writer
from wholebody.channels.owned import Opened
from wholebody.drivers import Names
from wholebody.errors import BadStateMachine, MissingExtra, UnknownName
from wholebody.messages import Event, Integers, Record
from wholebody.parameters.remote import Remote

Wait = Callable[[Sequence[str], float | None], str | None]
"""Wait for one of some events, for so long; the one that came, or None."""


@dataclass(frozen=True)
class State:
    """A state, and where it leads.

    enter    what is done when it is entered
    on       which state follows, by event; of a state with a machine inside, by that machine's final state
    timeout  seconds after which `late` follows
    inside   a machine that runs while in this state
    """

    name: str
    enter: Callable[[], None] | None = None
    on: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None
    late: str | None = None
    inside: StateMachine | None = None

    @property
    def final(self) -> bool:
        """Whether nothing follows."""
        return not self.on and self.late is None


@dataclass(frozen=True)
class Change:
    """A transition: when (time.monotonic()), from where, where to, and why; nested states as outer/inner."""

    time: float
    machine: str
    before: str
    after: str
    why: str


Watch = Callable[["StateMachine", Change], None]
"""Who wants to know of every change, with the outermost machine."""


class StateMachine:
    """States, of which one is current: the first is entered first, and it ends in one from which none follows."""

    def __init__(self, name: str, states: Sequence[State]) -> None:
        self.name = name
        self.states = {state.name: state for state in states}
        self.current: State | None = None
        if len(self.states) < max(1, len(states)):
            raise BadStateMachine(f"machine '{name}' has {'two states of one name' if states else 'no states'}")
        for state in states:
            self._check(state)

    @property
    def path(self) -> str:
        """The current state, and what is current inside it: outer/inner."""
        if self.current is None:
            return ""
        inner = self.current.inside.path if self.current.inside is not None else ""
        return f"{self.current.name}/{inner}" if inner else self.current.name

    def run(self, wait: Wait, watch: Sequence[Watch] = ()) -> str:
        """Go through the states until a final one; its name."""
        return self._run(wait, watch, self)

    def _run(self, wait: Wait, watch: Sequence[Watch], outermost: StateMachine) -> str:
        state, why = next(iter(self.states.values())), "start"
        while True:
            before = outermost.path
            self.current = state
            change = Change(time.monotonic(), outermost.name, before, outermost.path, why)
            for each in watch:
                each(outermost, change)
            if state.enter is not None:
                state.enter()
            if state.final and state.inside is None:
                return self._end(state)
            why = self._leave(state, wait, watch, outermost)
            if state.final:
                return self._end(state)
            state = self.states[state.on[why] if why in state.on else str(state.late)]

    def _end(self, state: State) -> str:
        self.current = None
        return state.name

    def _leave(self, state: State, wait: Wait, watch: Sequence[Watch], outermost: StateMachine) -> str:
        """Stay in a state until something ends it; what."""
        if state.inside is not None:
            return state.inside._run(wait, watch, outermost)
        event = wait(tuple(state.on), state.timeout)
        return "time-out" if event is None else event

    def _check(self, state: State) -> None:
        for target in (*state.on.values(), *((state.late,) if state.late is not None else ())):
            if target not in self.states:
                raise UnknownName(f"state after '{state.name}' in machine '{self.name}'", target, self.states)
        if (state.timeout is None) != (state.late is None) or (state.timeout is not None and not state.timeout > 0):
            raise BadStateMachine(
                f"state '{state.name}': a time-out (above 0 s) and the state that follows it belong together"
            )
        if state.inside is not None and not state.final:
            ends = {each.name for each in state.inside.states.values() if each.final}
            if ends != set(state.on) or state.timeout is not None:
                raise BadStateMachine(
                    f"state '{state.name}': what follows must be said for each end of '{state.inside.name}' "
                    f"({', '.join(sorted(ends))}), and for nothing else"
                )


def events_of(controller: Remote) -> Wait:
    """Events of a running controller."""

    def wait(events: Sequence[str], timeout: float | None) -> str | None:
        if not events:
            time.sleep(timeout or 0.0)
            return None
        happened = controller.wait_for_any(events, timeout)
        return None if happened is None else happened.name

    return wait


def announce(writer: Writer[Event]) -> Watch:
    """Put every change on a channel of `messages.event()`: the new state as its name, the transition as its text."""
    message = writer.message
    count = 0

    def watch(machine: StateMachine, change: Change) -> None:
        nonlocal count
        count += 1
        message.time, message.source, message.count = change.time, change.machine, count
        message.name = change.after
        message.text = f"{change.before} → {change.after}: {change.why}"
        writer.put()

    return watch


ENDING = ".machine"
LARGEST = 16_384
"""Bytes of a machine as text."""


class MachineMessage(Record):
    """A machine as JSON in the first `size` bytes of `text`, and when it changed last, by time.monotonic()."""

    time: float
    size: int  # type: ignore[assignment]  # numpy's own `size` of a record is 1
    text: Integers


def machine_record() -> np.dtype[MachineMessage]:
    """The layout of a machine's message."""
    fields: list[Any] = [("time", "<f8"), ("size", "<u4"), ("text", "u1", (LARGEST,))]
    return MachineMessage.of(np.dtype(fields, align=True))


class Published(Opened):
    """A Watch that puts the machine on a channel of a robot at every change; who closes it takes it off the page."""

    def __init__(self, name: str, robot: str = "") -> None:
        super().__init__()
        self._out = self._writer(f"{Names(robot).robot}.{name}{ENDING}", machine_record(), 4, 1)

    def __call__(self, machine: StateMachine, change: Change) -> None:
        """Put it."""
        data = json.dumps({"why": change.why, "machines": described(machine)}).encode()
        if len(data) > LARGEST:
            raise BadStateMachine(f"machine '{machine.name}' is too large to be published: {len(data)} bytes")
        message = self._out.message
        message.time, message.size = change.time, len(data)
        message.text[: len(data)] = np.frombuffer(data, np.uint8)
        self._out.put()


def described(machine: StateMachine, name: str = "") -> list[dict[str, Any]]:
    """A machine and those inside its states as plain data: states, transitions (from, to, why), and the current one."""
    name = name or machine.name
    states = machine.states.values()
    here = {
        "name": name,
        "states": list(machine.states),
        "transitions": [(state.name, *way) for state in states for way in _ways(state)],
        "current": machine.current.name if machine.current is not None else "",
    }
    inside = [described(each.inside, f"{name}/{each.name}") for each in states if each.inside is not None]
    return [here, *(each for one in inside for each in one)]


def _ways(state: State) -> list[tuple[str, str]]:
    """Where a state leads, and why."""
    late = [] if state.late is None else [(state.late, f"{state.timeout:g} s")]
    return [*((target, event) for event, target in state.on.items()), *late]


RADIUS = 1.0
CLEAR = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
CURRENT, OTHER = "#ffcf66", "#e8eef4"


def picture(file: str | Path) -> Watch:
    """Draw the machine into a PNG file at every change, its current state marked; readers never see half a picture."""
    path = Path(file)

    def watch(machine: StateMachine, change: Change) -> None:
        unfinished = path.with_name(f".{path.name}.new")
        draw(machine, unfinished)
        os.replace(unfinished, path)

    return watch


def draw(machine: StateMachine, file: str | Path) -> None:
    """Draw a machine, and beside it the machines inside its states."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("matplotlib", "plot") from None
    machines = _all(machine)
    figure = Figure(figsize=(5.5 * len(machines), 5.5), layout="constrained")
    panels = figure.subplots(1, len(machines), squeeze=False)
    for panel, each in zip(panels[0], machines, strict=True):
        _draw_one(panel, each)
    figure.savefig(file, dpi=90, format="png")


def _all(machine: StateMachine) -> list[StateMachine]:
    inside = [state.inside for state in machine.states.values() if state.inside is not None]
    return [machine, *(each for one in inside for each in _all(one))]


def _draw_one(panel: Any, machine: StateMachine) -> None:
    count = len(machine.states)
    turns = {name: math.pi / 2 - 2 * math.pi * index / count for index, name in enumerate(machine.states)}
    places = {name: (RADIUS * math.cos(turn), RADIUS * math.sin(turn)) for name, turn in turns.items()}
    for state in machine.states.values():
        for target, label in _labels(state).items():
            _arrow(panel, places[state.name], places[target], label)
    for name, (x, y) in places.items():
        colour = CURRENT if machine.current is machine.states[name] else OTHER
        box = {"boxstyle": "round,pad=0.5", "facecolor": colour, "edgecolor": "#445"}
        panel.text(x, y, name, ha="center", va="center", fontsize=9, bbox=box, zorder=3)
    panel.set_title(machine.name, fontsize=10)
    panel.set_xlim(-1.5, 1.5)
    panel.set_ylim(-1.4, 1.4)
    panel.set_axis_off()


def _labels(state: State) -> dict[str, str]:
    """What leads from a state to each that follows it."""
    found: dict[str, list[str]] = {}
    for event, target in state.on.items():
        found.setdefault(target, []).append(event)
    if state.late is not None:
        found.setdefault(state.late, []).append(f"{state.timeout:g} s")
    return {target: "\n".join(reasons) for target, reasons in found.items()}


def _arrow(panel: Any, begin: tuple[float, float], end: tuple[float, float], label: str) -> None:
    style = {"arrowstyle": "-|>", "color": "#667", "connectionstyle": "arc3,rad=0.18", "shrinkA": 22, "shrinkB": 22}
    panel.annotate("", xy=end, xytext=begin, arrowprops=style)
    x, y = (begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2
    aside = 0.09 * (end[1] - begin[1]), -0.09 * (end[0] - begin[0])
    panel.text(x + aside[0], y + aside[1], label, fontsize=7, ha="center", va="center", color="#335", bbox=CLEAR)
