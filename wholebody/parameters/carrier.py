"""Carrier: moves values between channels and other transports, in a process beside the loop."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Any, Self

from wholebody.parameters.bindings import CHANNEL, Binding
from wholebody.parameters.owned import own_channel
from wholebody.parameters.records import ControllerNames, value_record
from wholebody.parameters.transports import Deliver, Sender, Transport

SLICE = 0.2
"""Seconds after which a thread that waits for a channel looks whether it is over."""


class Carrier:
    """Carries all bindings that are no channels.

        with Carrier(bindings, sizes, names, load=lambda name: Udp):
            ...

    sizes  how many numbers each bound parameter has
    load   a transport's class, by its name
    """

    def __init__(
        self,
        bindings: Sequence[Binding],
        sizes: dict[str, int],
        names: ControllerNames,
        load: Callable[[str], Callable[[], Transport]],
    ) -> None:
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []
        self._opened = contextlib.ExitStack()
        made: dict[str, Transport] = {}
        for each in bindings:
            if each.transport == CHANNEL:
                continue
            if each.transport not in made:
                made[each.transport] = load(each.transport)()
            self._carry(each, sizes[each.parameter], names, made[each.transport])

    def _carry(self, binding: Binding, size: int, names: ControllerNames, transport: Transport) -> None:
        channel = self._opened.enter_context(
            own_channel(binding.channel(names), value_record(size), depth=binding.queue)
        )
        if binding.direction == "input":
            deliver = _deliver_to(self._opened.enter_context(channel.writer()))
            closing = transport.receive(binding.topic, size, deliver)
            self._opened.callback(closing.close)
        else:
            reader = self._opened.enter_context(channel.reader())
            sender = transport.sender(binding.topic)
            self._opened.callback(sender.close)
            thread = threading.Thread(target=self._send, args=(reader, sender), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _send(self, reader: Any, sender: Sender) -> None:
        while not self._over.is_set():
            if reader.wait(SLICE):
                sender.send(float(reader.message["time"]), reader.message["values"].tolist())

    def close(self) -> None:
        """End everything."""
        self._over.set()
        for thread in self._threads:
            thread.join()
        self._opened.close()

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.close()


def _deliver_to(writer: Any) -> Deliver:
    lock = threading.Lock()

    def deliver(values: Sequence[float]) -> None:
        with lock:
            writer.message["values"] = values
            writer.put()

    return deliver
