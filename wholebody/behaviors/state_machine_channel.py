"""A state machine on a channel: its states, where they lead and which is current, for whoever draws it live.

with Published("antenna") as published:
    mission.run(wait, [published])          # the operator page draws it
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from wholebody.behaviors.state_machine import Change, State, StateMachine
from wholebody.errors import BadStateMachine
from wholebody.hardware import Names
from wholebody.messages import Dtype
from wholebody.parameters.owned import Opened

ENDING = ".machine"
LARGEST = 16_384
"""Bytes of a machine as text."""


def machine_record() -> Dtype:
    """Build a machine as JSON, and when it changed last, by time.monotonic()."""
    return np.dtype([("time", "<f8"), ("size", "<u4"), ("text", "u1", (LARGEST,))], align=True)


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
        message["time"], message["size"] = change.time, len(data)
        message["text"][: len(data)] = np.frombuffer(data, np.uint8)
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
