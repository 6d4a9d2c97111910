"""Transports: how values of bound parameters travel further than a channel of this machine.

A transport is a class without arguments that can

    receive(topic, size, deliver) -> Closing      call `deliver` with numbers that arrive, from whatever thread
    sender(topic) -> Sender                       send(time, numbers)

A value is one line of JSON, {"time": 12.3, "values": [0.4, -0.2, 1.0]}; a bare list of numbers is understood too.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from wholebody import security
from wholebody.channels import Reader, Writer
from wholebody.channels.owned import Opened
from wholebody.errors import BadBinding, MissingExtra
from wholebody.parameters.bindings import CHANNEL, Binding
from wholebody.parameters.records import ControllerNames, Value, value_record

Deliver = Callable[[Sequence[float]], None]
LONGEST = 65507
"""Bytes of a datagram."""
ON_THIS_MACHINE = {"listen/endpoints": ["tcp/127.0.0.1:0"], "scouting/multicast/interface": "lo"}
"""How zenoh is configured, unless a file says otherwise."""


class Closing(Protocol):
    """Something that can be ended."""

    def close(self) -> None:
        """End it."""


class Sender(Closing, Protocol):
    """Something that sends values on a topic."""

    def send(self, time: float, values: Sequence[float]) -> None:
        """Send one; who is not there does not get it."""


class Transport(Protocol):
    """A way for values to travel."""

    def receive(self, topic: str, size: int, deliver: Deliver) -> Closing:
        """Deliver what arrives on a topic, until closed."""

    def sender(self, topic: str) -> Sender:
        """What sends values on a topic."""


def encode(time: float, values: Sequence[float]) -> bytes:
    """A value as bytes."""
    return json.dumps({"time": time, "values": list(values)}).encode()


def decode(data: bytes, size: int) -> list[float] | None:
    """Numbers from bytes; None if they are something else."""
    try:
        said: Any = json.loads(data)
        values = said["values"] if isinstance(said, dict) else said
        numbers = [float(each) for each in values]
    except (ValueError, TypeError, KeyError):
        return None
    return numbers if len(numbers) == size else None


class Channels:
    """Nothing to carry: the loop's channel is the topic itself."""

    def receive(self, topic: str, size: int, deliver: Deliver) -> Closing:
        """Not needed."""
        raise BadBinding(f"topic '{topic}' is a channel already")

    def sender(self, topic: str) -> Sender:
        """Not needed."""
        raise BadBinding(f"topic '{topic}' is a channel already")


class Udp:
    """Datagrams: a topic is HOST:PORT, to listen at or to send to."""

    def receive(self, topic: str, size: int, deliver: Deliver) -> Closing:
        """Listen, in a thread."""
        address = _address(topic)
        security.check_listening(f"the parameter bound to udp:{topic}", address[0], lacks=("TLS", "a token"))
        end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            end.bind(address)
        except OSError as error:
            end.close()
            raise BadBinding(f"udp:{topic} cannot be listened at: {error.strerror}") from error
        end.settimeout(0.2)
        return _Listening(end, size, deliver)

    def sender(self, topic: str) -> Sender:
        """Send; whether anybody listens is not known."""
        return _Datagrams(_address(topic))


class _Datagrams:
    """Sends datagrams to an address."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._address = address
        self._end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._end.setblocking(False)

    def send(self, time: float, values: Sequence[float]) -> None:
        """Send a value; if nobody is there, or the network is full, the next one is newer."""
        with contextlib.suppress(OSError):
            self._end.sendto(encode(time, values), self._address)

    def close(self) -> None:
        """Close the socket."""
        self._end.close()


class _Listening:
    """A thread that reads datagrams until closed."""

    def __init__(self, end: socket.socket, size: int, deliver: Deliver) -> None:
        self._end, self._size, self._deliver = end, size, deliver
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        while not self._over.is_set():
            try:
                data = self._end.recv(LONGEST)
            except TimeoutError:
                continue
            except OSError:
                return
            numbers = decode(data, self._size)
            if numbers is not None:
                self._deliver(numbers)

    def close(self) -> None:
        """End the thread."""
        self._over.set()
        self._thread.join()
        self._end.close()


class Zenoh:
    """Zenoh: a topic is a key expression such as robot/right_hand/goal; peers of this machine find each other.

    Beyond it they meet by a configuration of zenoh, with TLS and users, whose file ZENOH_CONFIG names.
    """

    def __init__(self) -> None:
        try:
            import zenoh
        except ImportError:
            raise MissingExtra("eclipse-zenoh", "net") from None
        if "ZENOH_CONFIG" in os.environ:
            configuration = zenoh.Config.from_env()
        else:
            configuration = zenoh.Config()
            for key, value in ON_THIS_MACHINE.items():
                configuration.insert_json5(key, json.dumps(value))
        self._session = zenoh.open(configuration)

    def receive(self, topic: str, size: int, deliver: Deliver) -> Closing:
        """Subscribe."""

        def take(sample: Any) -> None:
            numbers = decode(bytes(sample.payload), size)
            if numbers is not None:
                deliver(numbers)

        return _Declared(self._session.declare_subscriber(topic, take))

    def sender(self, topic: str) -> Sender:
        """Publish."""
        return _Declared(self._session.declare_publisher(topic))


class _Declared:
    """A subscription or publication of zenoh."""

    def __init__(self, entity: Any) -> None:
        self._entity = entity

    def send(self, time: float, values: Sequence[float]) -> None:
        """Publish a value."""
        self._entity.put(encode(time, values))

    def close(self) -> None:
        """Undeclare it."""
        self._entity.undeclare()


def _address(topic: str) -> tuple[str, int]:
    host, colon, port = topic.rpartition(":")
    if not colon or not port.isdigit() or not 0 < int(port) < 65536:
        raise BadBinding(f"a udp topic is HOST:PORT, such as 127.0.0.1:9000, not '{topic}'")
    return host or "127.0.0.1", int(port)


SLICE = 0.2
"""Seconds after which a thread that waits for a channel looks whether it is over."""


class Carrier(Opened):
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
        super().__init__()
        made: dict[str, Transport] = {}
        for each in bindings:
            if each.transport == CHANNEL:
                continue
            if each.transport not in made:
                made[each.transport] = load(each.transport)()
            self._carry(each, sizes[each.parameter], names, made[each.transport])

    def _carry(self, binding: Binding, size: int, names: ControllerNames, transport: Transport) -> None:
        channel = self._channel(binding.channel(names), value_record(size), depth=binding.queue)
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

    def _send(self, reader: Reader[Value], sender: Sender) -> None:
        while not self._over.is_set():
            if reader.wait(SLICE):
                sender.send(reader.message.time, reader.message.values.tolist())

    def close(self) -> None:
        """End everything."""
        self._over.set()
        for thread in self._threads:
            thread.join()
        super().close()


def _deliver_to(writer: Writer[Value]) -> Deliver:
    lock = threading.Lock()

    def deliver(values: Sequence[float]) -> None:
        with lock:
            writer.message.values[:] = values
            writer.put()

    return deliver
