"""Bindings: parameters that follow a topic, or that a topic follows; in the loop each is a channel.

Another transport than `channel` is carried by a process beside the loop, which moves values between the network and a
channel (carrier.py), so that nothing in the loop ever waits: an input costs a look, an output a put.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from wholebody import plugins
from wholebody.channels import Channel
from wholebody.channels._ring import Copies, Looks
from wholebody.channels.owned import Opened, own_channel
from wholebody.errors import BadBinding, ChannelError, WholebodyError
from wholebody.parameters.parameter import Array
from wholebody.parameters.records import ControllerNames, value_record
from wholebody.parameters.reflection import Parameters, Slot, refreshing

Note = Callable[[Slot, Array], None]
"""Who writes down what came in: the parameter, and the numbers it was given."""
CHANNEL = "channel"
DIRECTIONS = ("input", "output")


@dataclass(frozen=True)
class Binding:
    """A parameter, and the topic it is bound to.

    direction   input: the parameter follows the topic; output: the topic follows the parameter
    transport   channel, or what a carrier knows: udp, zenoh
    rate        of an output, in Hz at most; every cycle, unless told
    latch       of an input: whether a value that was there before the controller started counts
    queue       how many values stay readable
    properties  whatever else the transport wants to know
    """

    parameter: str
    direction: str
    topic: str
    transport: str = CHANNEL
    rate: float | None = None
    latch: bool = False
    queue: int = 256
    properties: Mapping[str, Any] = field(default_factory=dict)

    def channel(self, names: ControllerNames) -> str:
        """The channel that the loop looks at, or puts on."""
        return self.topic if self.transport == CHANNEL else names.bound(self.parameter)

    def __str__(self) -> str:
        """In a few words."""
        arrow = "←" if self.direction == "input" else "→"
        return f"{self.parameter} {arrow} {self.transport}:{self.topic}"


def check_bindings(bindings: Sequence[Binding], parameters: Parameters, transports: Iterable[str]) -> None:
    """Refuse what cannot be bound, before anything is opened."""
    sizes: dict[tuple[str, str], tuple[int, str, Binding]] = {}
    known = [CHANNEL, *(each for each in transports if each != CHANNEL)]
    for each in bindings:
        about = parameters.slot(each.parameter).about
        if each.direction not in DIRECTIONS:
            raise BadBinding(f"{each.parameter}: a direction is input or output, not {each.direction!r}")
        if each.transport not in known and not plugins.is_in_file(each.transport):
            raise BadBinding(f"{each.parameter}: no transport '{each.transport}'; there are: {', '.join(known)}")
        if each.direction == "input" and not about.writable:
            raise BadBinding(f"{each.parameter} can be read, but not set: bind it as an output")
        if each.queue < 2:
            raise BadBinding(f"{each}: at least 2 values stay readable, not {each.queue}")
        if each.rate is not None and not each.rate > 0:
            raise BadBinding(f"{each}: a rate is above 0 Hz, not {each.rate}")
        size, unit, other = sizes.setdefault((each.transport, each.topic), (about.size, about.unit, each))
        if (size, unit) != (about.size, about.unit):
            raise BadBinding(
                f"topic '{each.topic}' is bound to two types: {other.parameter} has {size} numbers in '{unit}', "
                f"{each.parameter} has {about.size} in '{about.unit}'; give one of them another topic"
            )


class InputBinding:
    """A parameter that follows a topic: the newest value counts."""

    def __init__(self, binding: Binding, slot: Slot, names: ControllerNames, note: Note | None = None) -> None:
        self.binding, self._slot, self._note = binding, slot, note
        self._channel = _open(binding, slot, names)
        self.reader = self._channel.reader()
        if not binding.latch:
            self.reader.latest()
        self._values = self.reader.message.values
        self.taken = self.refused = 0
        self.trouble = ""

    def take(self) -> None:
        """Take the value that arrived; if it cannot be, the parameter stays as it was, and `trouble` says why."""
        try:
            self._slot.set(self._values)
            self.taken += 1
            if self._note is not None:
                self._note(self._slot, self._values)
        except WholebodyError as error:
            self.refused += 1
            self.trouble = f"{self.binding}: {error}"

    def close(self) -> None:
        """Let go of the channel."""
        self.reader.close()
        self._channel.close()


class OutputBinding:
    """A topic that follows a parameter: a copy and a put."""

    def __init__(self, binding: Binding, slot: Slot, names: ControllerNames, frequency: float) -> None:
        self.binding, self.slot = binding, slot
        self._channel = _open(binding, slot, names)
        self._writer = self._channel.writer()
        self.every = max(1, round(frequency / binding.rate)) if binding.rate else 1
        self.copy = (self._writer, slot.array.data)
        """Who puts, and where the numbers are."""

    def close(self) -> None:
        """Let go of the channel."""
        self._writer.close()
        self._channel.close()


class Bindings:
    """All bindings of a controller, for the loop."""

    def __init__(
        self,
        bindings: Sequence[Binding],
        parameters: Parameters,
        names: ControllerNames,
        frequency: float,
        note: Note | None = None,
    ) -> None:
        def slot(each: Binding) -> Slot:
            return parameters.slot(each.parameter)

        self.inputs = [InputBinding(each, slot(each), names, note) for each in bindings if each.direction == "input"]
        self.outputs = [
            OutputBinding(each, slot(each), names, frequency) for each in bindings if each.direction == "output"
        ]
        self._refresh = refreshing(each.slot for each in self.outputs)
        self._arrived: Callable[[], list[int]] = Looks([each.reader for each in self.inputs]).latest
        self._take = tuple(each.take for each in self.inputs)
        rates = sorted({each.every for each in self.outputs})
        self._put = tuple((n, Copies([each.copy for each in self.outputs if each.every == n]).put) for n in rates)

    def apply(self) -> None:
        """Take what arrived. Nothing that comes from outside gets into the loop anywhere else."""
        for index in self._arrived():
            self._take[index]()

    def put(self, now: float, cycle: int) -> None:
        """Put what is bound to go out."""
        for refresh in self._refresh:
            refresh()
        for every, put in self._put:
            if cycle % every == 0:
                put(now)

    def close(self) -> None:
        """Let go of all channels."""
        for one in self.inputs:
            one.close()
        for other in self.outputs:
            other.close()


def _open(binding: Binding, slot: Slot, names: ControllerNames) -> Channel:
    try:
        return own_channel(binding.channel(names), value_record(slot.about.size), depth=binding.queue)
    except ChannelError as error:
        raise BadBinding(f"{binding}: {error}") from error


class Sending(Opened):
    """Puts values on the topic of an input binding; whoever listens takes the newest, and the last one stays.

    with Sending("dreamer.right_hand.goal", 3) as goal:
        goal.put([0.4, -0.2, 1.0])
    """

    def __init__(self, topic: str, size: int) -> None:
        super().__init__()
        self._values = self._writer(topic, value_record(size), depth=256)

    def put(self, values: npt.ArrayLike) -> None:
        """Send a value now."""
        self._values.message.time, self._values.message.values[:] = time.monotonic(), values
        self._values.put()
