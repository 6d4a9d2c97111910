"""FoxgloveLink: topics to and from Foxglove, by its own library, with the calls of a node of ROS.

Its callbacks come in threads of the library; what they bring is taken by `spin`, in the thread that calls it.
"""

from __future__ import annotations

import importlib
import json
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Generic, Self, TypeVar

from wholebody.errors import BadBinding, BadMessage, MissingExtra
from wholebody.ros.cdr import decode, encode
from wholebody.ros.dds import USUAL, Quality
from wholebody.ros.message import Message, definition, fields_of

M = TypeVar("M", bound=Message)
PORT = 8765
MOST_WAITING = 1000
"""Messages of clients that wait to be taken; the oldest are dropped."""
GetParameters = Callable[[list[str] | None], Mapping[str, Any]]
SetParameter = Callable[[str, Any], None]


def foxglove_module(name: str = "") -> Any:
    """A module of the library, if it is installed."""
    try:
        return importlib.import_module(f"foxglove{name}")
    except ImportError:
        raise MissingExtra("foxglove-sdk", "foxglove") from None


def from_plain(kind: type[M], given: Any) -> M:
    """A message from JSON: fields that are left out are as usual; BadMessage for what is none of its."""
    if not isinstance(given, Mapping):
        raise BadMessage(f"a {kind.ros} is an object of JSON, not {given!r}")
    fields = {each.name: each for each in fields_of(kind)}
    if unknown := [name for name in given if name not in fields]:
        raise BadMessage(f"a {kind.ros} has no field '{unknown[0]}'; it has {', '.join(fields)}")
    values: dict[str, Any] = {}
    for name, value in given.items():
        inner, many = fields[name].message, fields[name].many
        if inner is None:
            values[name] = value
        else:
            values[name] = [from_plain(inner, each) for each in value] if many else from_plain(inner, value)
    message = kind(**values)
    try:
        return decode(kind, encode(message))
    except (TypeError, ValueError, AttributeError, OverflowError, struct.error) as error:
        raise BadMessage(f"{given!r} is no {kind.ros}: {error}") from None


class Channel(Generic[M]):
    """A topic that is told; one that is latched is told again to who comes late."""

    def __init__(self, topic: str, kind: type[M], latched: bool, context: Any) -> None:
        library = foxglove_module()
        schema = library.Schema(name=kind.ros, encoding="ros2msg", data=definition(kind).encode())
        self._channel = library.Channel(topic, schema=schema, message_encoding="cdr", context=context)
        self.id, self.latched, self.readers = int(self._channel.id()), latched, 0
        self._last: bytes | None = None

    def put(self, message: M) -> None:
        """Tell a message."""
        data = encode(message)
        if self.latched:
            self._last = data
        self._channel.log(data, log_time=time.time_ns())

    def again(self) -> None:
        """Tell the last one again."""
        if self._last is not None:
            self._channel.log(self._last, log_time=time.time_ns())

    def close(self) -> None:
        """Take it back."""
        self._channel.close()


class FoxgloveLink:
    """A WebSocket server for Foxglove: `ws://HOST:PORT`.

    parameters  what can be listed and set: two calls; None for none
    complain    told what came in that is no message of its type
    """

    def __init__(
        self,
        name: str,
        host: str = "127.0.0.1",
        port: int = PORT,
        complain: Callable[[str], None] = lambda text: None,
        parameters: tuple[GetParameters, SetParameter] | None = None,
    ) -> None:
        library = foxglove_module()
        self._complain, self._context = complain, library.Context()
        self._channels: dict[int, Channel[Any]] = {}
        self._taken: dict[str, tuple[type[Message], Callable[[Any], None]]] = {}
        self._events: deque[tuple[str, Any]] = deque(maxlen=MOST_WAITING)
        listener = _Listener(self._events, parameters)
        capability = library.websocket.Capability
        try:
            self._server = library.start_server(
                name=name,
                host=host,
                port=port,
                context=self._context,
                server_listener=listener,
                capabilities=[capability.ClientPublish, *([capability.Parameters] if parameters else [])],
                supported_encodings=["cdr", "json"],
            )
        except Exception as error:  # the library's own, of no common base
            raise BadBinding(f"nothing can listen at {host}:{port}: {error}; give another --port") from None

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.port)

    def publisher(self, topic: str, kind: type[M], quality: Quality = USUAL) -> Channel[M]:
        """What tells a topic; whoever tells the same one shares it, and so its readers."""
        found = Channel(f"/{topic.lstrip('/')}", kind, quality.transient, self._context)
        return self._channels.setdefault(found.id, found)

    def subscription(self, topic: str, kind: type[M], take: Callable[[M], None], quality: Quality = USUAL) -> None:
        """Have `take` called with what clients tell."""
        self._taken[f"/{topic.lstrip('/')}"] = kind, take

    def spin(self) -> int:
        """Take what came; how much that was."""
        count = 0
        while self._events:
            what, given = self._events.popleft()
            count += 1
            if what == "message":
                self._take(*given)
            elif (channel := self._channels.get(given)) is not None:
                channel.readers = max(0, channel.readers + (1 if what == "subscribed" else -1))
                if what == "subscribed" and channel.latched:
                    channel.again()
        return count

    def close(self) -> None:
        """End the server."""
        self._server.stop()

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _take(self, topic: str, encoding: str, data: bytes) -> None:
        if topic not in self._taken:
            self._complain(f"nothing here takes '{topic}'; it takes {', '.join(self._taken)}")
            return
        kind, take = self._taken[topic]
        try:
            take(decode(kind, data) if encoding == "cdr" else from_plain(kind, json.loads(data)))
        except (BadMessage, ValueError) as error:
            self._complain(str(error))


class _Listener:
    """What clients do, as the library tells it, in its threads."""

    def __init__(self, events: deque[tuple[str, Any]], parameters: tuple[GetParameters, SetParameter] | None) -> None:
        self._events, self._parameters = events, parameters
        self._topics: dict[tuple[int, int], tuple[str, str]] = {}
        self._lock = threading.Lock()

    def on_subscribe(self, client: Any, channel: Any) -> None:
        self._events.append(("subscribed", int(channel.id)))

    def on_unsubscribe(self, client: Any, channel: Any) -> None:
        self._events.append(("unsubscribed", int(channel.id)))

    def on_client_advertise(self, client: Any, channel: Any) -> None:
        with self._lock:
            self._topics[client.id, channel.id] = str(channel.topic), str(channel.encoding)

    def on_client_unadvertise(self, client: Any, client_channel_id: int) -> None:
        with self._lock:
            self._topics.pop((client.id, client_channel_id), None)

    def on_message_data(self, client: Any, client_channel_id: int, data: bytes) -> None:
        with self._lock:
            known = self._topics.get((client.id, client_channel_id))
        if known is not None:
            self._events.append(("message", (*known, bytes(data))))

    def on_get_parameters(self, client: Any, param_names: list[str], request_id: str | None = None) -> list[Any]:
        return [] if self._parameters is None else self._listed(param_names or None)

    def on_set_parameters(self, client: Any, parameters: list[Any], request_id: str | None = None) -> list[Any]:
        if self._parameters is None:
            return []
        for each in parameters:
            self._parameters[1](each.name, each.get_value())
        return self._listed([each.name for each in parameters])

    def on_parameters_subscribe(self, param_names: list[str]) -> None:
        """Nothing: values are asked for."""

    def on_parameters_unsubscribe(self, param_names: list[str]) -> None:
        """Nothing."""

    def _listed(self, names: list[str] | None) -> list[Any]:
        assert self._parameters is not None
        parameter = foxglove_module().Parameter
        return [parameter(name, value=value) for name, value in self._parameters[0](names).items()]
