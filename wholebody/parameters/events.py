"""Events: named conditions over parameters that are told once each time they come true.

events = Events(parameters, {"arrived": "tasks.right_hand.error_norm < 0.005"}, writer)
events.emit(now)                      # at the end of every cycle
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wholebody.channels.channel import Writer
from wholebody.parameters.annotations import Bounds
from wholebody.parameters.expressions import Expression, compile_expression
from wholebody.parameters.parameter import Array, Parameter, checked, in_place
from wholebody.parameters.reflection import About, Parameters, Slot, refreshing
from wholebody.parameters.watch import compile_watch

VALUES = 8
"""Numbers that go with an event, at most."""
TEXT = 160
ARMED = Parameter("armed", "1", Bounds(0, 1), None, whole=True)


@dataclass
class Event:
    """A condition; how often it came true, and why it could not be computed when it could not."""

    name: str
    expression: Expression
    count: int = 0
    trouble: str = ""


class Events:
    """Tells of conditions that came true, on a channel of `messages.event()`: time, name, expression, count, values.

    An event fires in the first cycle in which its expression holds, and not again before it has been false; or before
    its parameter events.NAME.armed is set to 1, which lets it fire once more though it still holds. An expression that
    cannot be computed, because it divides by zero, counts as false.
    """

    def __init__(
        self, parameters: Parameters, expressions: Mapping[str, str], writer: Writer | None = None, source: str = ""
    ) -> None:
        self._writer, self._source = writer, source.encode()
        armed = np.ones(len(expressions))
        self.events = tuple(
            _event(name, text, parameters, armed[number : number + 1])
            for number, (name, text) in enumerate(expressions.items())
        )
        self._watch = compile_watch([each.expression for each in self.events], in_place(armed), self._trouble)
        self._refresh = refreshing(one.slot for each in self.events for one in each.expression.operands)

    def bind(self, writer: Writer) -> None:
        """Tell on this channel from now on."""
        self._writer = writer

    def emit(self, now: float) -> None:
        """Look at all conditions, and tell of those that came true."""
        for refresh in self._refresh:
            refresh()
        for number in self._watch():
            self._tell(self.events[number], now)

    def _trouble(self, number: int, error: ArithmeticError) -> None:
        self.events[number].trouble = str(error)

    def _tell(self, event: Event, now: float) -> None:
        event.count += 1
        if self._writer is None:
            return
        message = self._writer.message
        message["time"], message["source"], message["name"] = now, self._source, event.name.encode()
        message["text"], message["count"] = event.expression.text.encode()[:TEXT], event.count
        message["values"] = 0.0
        for number, operand in enumerate(event.expression.operands[:VALUES]):
            message["values"][number] = operand.slot.array[operand.index]
        self._writer.put()


def _event(name: str, text: str, parameters: Parameters, armed: Array) -> Event:
    expression = compile_expression(text, parameters)
    about = About(f"events.{name}.armed", "whole", "1", 1, 0, 1, f"1: it fires when {text}; 0: it has", saved=False)

    def arm(value: Any) -> None:
        armed[:] = checked(about.path, ARMED, value, 1)

    parameters.add_slot(Slot(about, armed, arm))
    return Event(name, expression)
