"""Ways to send 1 KB from one process to another and back: our channels, and what people use instead."""

from __future__ import annotations

import ctypes
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.processes import FOLDER_VARIABLE, PATIENCE, SPAWN
from wholebody.channels import Channel

SIZE = 1024
MESSAGE = np.dtype((np.uint8, SIZE))


@dataclass(frozen=True)
class Link:
    """One process's end: send a message; wait for one (falsy if none came in time)."""

    send: Callable[[], object]
    receive: Callable[[], object]
    close: Callable[[], object] = int


@dataclass(frozen=True)
class Pair:
    """What the process that asks and the one that answers call to open their ends."""

    asker: Callable[[], Link]
    answerer: Callable[[], Link]


def blocking_channels() -> Pair:
    """Our channels, one each way; the reader sleeps until it is woken."""
    return _channel_pair("blocking", spin=0.0)


def spinning_channels() -> Pair:
    """Our channels, one each way; the reader looks all the time."""
    return _channel_pair("spinning", spin=PATIENCE)


def _channel_pair(name: str, spin: float) -> Pair:
    ask, answer = f"{name}.ask", f"{name}.answer"
    return Pair(partial(_channels, ask, answer, spin), partial(_channels, answer, ask, spin))


def _channels(outward: str, inward: str, spin: float) -> Link:
    writer, reader = Channel(outward, MESSAGE).writer(), Channel(inward, MESSAGE).reader()
    return Link(writer.put, partial(reader.wait, PATIENCE, "latest", spin))


def pipes() -> Pair:
    """The pipes of multiprocessing, one each way."""
    asker_in, answerer_out = SPAWN.Pipe(duplex=False)
    answerer_in, asker_out = SPAWN.Pipe(duplex=False)
    return Pair(partial(_pipe, asker_in, asker_out), partial(_pipe, answerer_in, answerer_out))


def _pipe(inward: Connection, outward: Connection) -> Link:
    return Link(partial(outward.send_bytes, bytes(SIZE)), partial(inward.recv_bytes_into, bytearray(SIZE)))


def unix_datagrams() -> Pair:
    """A pair of connected Unix datagram sockets."""
    asker, answerer = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    return Pair(partial(_datagrams, asker), partial(_datagrams, answerer))


def _datagrams(end: socket.socket) -> Link:
    return Link(partial(end.send, bytes(SIZE)), partial(end.recv_into, bytearray(SIZE)))


def zenoh_peers() -> Pair:
    """Zenoh over loopback TCP, without scouting, batching or zenoh's own shared memory."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        endpoint = f"tcp/127.0.0.1:{probe.getsockname()[1]}"
    return Pair(partial(_zenoh, "listen", endpoint), partial(_zenoh, "connect", endpoint))


def _zenoh(role: str, endpoint: str) -> Link:
    import zenoh

    config = zenoh.Config()
    config.insert_json5("listen/endpoints", "[]")
    config.insert_json5(f"{role}/endpoints", f'["{endpoint}"]')
    config.insert_json5("connect/retry", "{period_init_ms: 50, period_max_ms: 100}")
    config.insert_json5("scouting/multicast/enabled", "false")
    config.insert_json5("scouting/gossip/enabled", "false")
    config.insert_json5("transport/shared_memory/enabled", "false")
    session = zenoh.open(config)
    outward, inward = ("ask", "answer") if role == "listen" else ("answer", "ask")
    subscriber = session.declare_subscriber(inward)
    publisher: Any = session.declare_publisher(outward, express=True, congestion_control=zenoh.CongestionControl.BLOCK)
    deadline = time.monotonic() + PATIENCE
    while not publisher.matching_status.matching:
        if time.monotonic() > deadline:
            raise TimeoutError(f"no zenoh peer at {endpoint}")
        time.sleep(0.01)
    return Link(partial(publisher.put, bytes(SIZE)), lambda: subscriber.recv().payload.to_bytes(), session.close)


def iceoryx2_ports() -> Pair:
    """iceoryx2: publish-subscribe for the data and an event to wake the reader, each way."""
    return Pair(partial(_iceoryx2, "ask", "answer"), partial(_iceoryx2, "answer", "ask"))


class Message(ctypes.Structure):
    """The message of iceoryx2."""

    _fields_ = (("data", ctypes.c_uint8 * SIZE),)


def _iceoryx2(outward: str, inward: str) -> Link:
    node = _iceoryx2_node(Path(os.environ[FOLDER_VARIABLE]))
    out, back = _services(node, outward), _services(node, inward)
    publisher, notifier = out[0].publisher_builder().create(), out[1].notifier_builder().create()
    subscriber, listener = back[0].subscriber_builder().create(), back[1].listener_builder().create()
    message = Message()

    def send() -> None:
        publisher.send_copy(message)
        notifier.notify()

    def receive() -> bool:
        sample = subscriber.receive()
        while sample is None:
            listener.blocking_wait()
            sample = subscriber.receive()
        ctypes.memmove(ctypes.byref(message), sample.payload_ptr, SIZE)
        sample.delete()
        return True

    return Link(send, receive)


def _iceoryx2_node(folder: Path) -> Any:
    import iceoryx2

    iceoryx2.set_log_level(iceoryx2.LogLevel.Error)
    config = iceoryx2.config.default()
    config.global_cfg.root_path = iceoryx2.Path.new(str(folder))
    config.global_cfg.prefix = iceoryx2.FileName.new(folder.name)
    builder = iceoryx2.NodeBuilder.new().config(config)
    return builder.signal_handling_mode(iceoryx2.SignalHandlingMode.Disabled).create(iceoryx2.ServiceType.Ipc)


def _services(node: Any, name: str) -> tuple[Any, Any]:
    import iceoryx2

    name = iceoryx2.ServiceName.new(name)
    data = node.service_builder(name).publish_subscribe(Message).open_or_create()
    return data, node.service_builder(name).event().open_or_create()
