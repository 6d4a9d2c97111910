"""Gateway: opens the services of this machine to others; OtherMachine: its channels there, as if they were here.

A service's channels are not mirrored newest first, as a Bridge does: nothing may be lost. So a reader on the other
machine asks for what came after the last message that it has; whatever is lost on the way is asked for again, as long
as the channel keeps it. A request is put once, and the services kit sends it again until it is acknowledged.

Who is let in can ask all that can be asked on the machine: beyond it, only with TLS and the token (wholebody.security).
"""

from __future__ import annotations

import atexit
import contextlib
import json
import math
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from wholebody.channels import directory
from wholebody.channels.bridge.link import endpoint, open_link
from wholebody.channels.channel import Channel
from wholebody.channels.layout import Layout
from wholebody.errors import BridgeError, ChannelError, ChannelNotFound
from wholebody.messages import Record

if TYPE_CHECKING:
    import zenoh

ASK, PUT = "wholebody/services", "wholebody/requests"
REQUESTS = ".requests"
"""How the names of channels end that another machine may write."""
WAIT = 0.5
"""s for which the gateway waits for a message before it says that there is none."""
AWAY = 0.05
"""s. How soon is asked again while nobody answers."""
ANSWERING = 1.0
"""s that an answer may take on its way."""
PATIENCE = 5.0
"""s for which a machine may be out of reach before its processes count as ended."""
AT_ONCE, BYTES = 256, 1 << 20
"""Messages, and bytes of them, in one answer."""
POLLS = 64
"""Readers that can wait at the same time."""

_MARK = struct.Struct("<QQ")
File = tuple[int, int]


class _Message(NamedTuple):
    """A message on its way: its number, how long ago it was put (s), who put it, and its bytes."""

    sequence: int
    age: float
    process: int
    data: bytes


class _Held(NamedTuple):
    """A channel that a thread of the gateway has open."""

    file: File
    channel: Channel
    reader: Any


class Gateway:
    """Answers other machines about the channels of this one, in threads beside whatever else the process does.

    with Gateway("0.0.0.0:7448"):
        ...
    """

    def __init__(self, listen: str = "", insecure: bool = False, session: zenoh.Session | None = None) -> None:
        import zenoh

        self._session = session or open_link(listen=[endpoint(listen)], insecure=insecure)
        self._pool = ThreadPoolExecutor(POLLS, "gateway")
        self._local = threading.local()
        self._lock = threading.Lock()
        self._writers: dict[str, tuple[File, Any]] = {}
        remote = zenoh.Locality.REMOTE
        waiting: Any = zenoh.handlers.FifoChannel(POLLS)
        self._asked: Any = self._session.declare_queryable(ASK, waiting, allowed_origin=remote)
        self._put: Any = self._session.declare_subscriber(f"{PUT}/*", self._take, allowed_origin=remote)
        self._thread = threading.Thread(target=self._answer_all, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer nobody any more."""
        self._session.close()  # type: ignore[no-untyped-call]
        self._thread.join(2 * WAIT)
        self._pool.shutdown(cancel_futures=True)
        with self._lock:
            for _, writer in self._writers.values():
                writer.close()

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _answer_all(self) -> None:
        for query in self._asked.handler:
            with contextlib.suppress(RuntimeError):  # the pool is closed
                self._pool.submit(self._answer, query)

    def _answer(self, query: Any) -> None:
        with query, contextlib.suppress(Exception):  # what comes from a network may be anything; who asks it asks again
            asked = json.loads(query.payload.to_bytes())
            if "ending" in asked:
                head, body = {"names": directory.ThisMachine().written(str(asked["ending"]))}, b""
            else:
                head, body = self._look(str(asked["channel"]), asked)
            query.reply(query.key_expr, json.dumps(head).encode() + b"\n" + body, express=True)

    def _look(self, name: str, asked: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """What a channel is, and the messages after the last that somebody has."""
        held = self._held(name)
        if held is None:
            return {"file": None}, b""
        head: dict[str, Any] = {"file": held.file, "writers": held.channel.writer_processes()}
        known = asked.get("file") == list(held.file)
        if not known:
            head["layout"] = held.channel.layout.text
        messages: list[_Message] = []
        if "after" in asked:
            after = int(asked["after"]) if known else 0
            held.reader.latest()
            if known and held.reader.sequence <= after:
                held.reader.wait(min(float(asked["wait"]), WAIT))
            messages = _messages(held, after, bool(asked["every"]))
        head["messages"] = [each[:3] for each in messages]
        return head, b"".join(each.data for each in messages)

    def _held(self, name: str) -> _Held | None:
        file = directory.identity(name)
        held: dict[str, _Held] = self._local.__dict__.setdefault("held", {})
        if file is None:
            held.pop(name, None)
            return None
        if name not in held or held[name].file != file:
            try:
                channel = Channel(name)
                held[name] = _Held(file, channel, channel.reader(grace=math.inf))
            except ChannelError:
                return None
        return held[name]

    def _take(self, sample: Any) -> None:
        """Put a request on its channel, if its client knows the layout."""
        name, data = str(sample.key_expr).rpartition("/")[2], sample.payload.to_bytes()
        with self._lock, contextlib.suppress(ChannelError):
            file = directory.identity(name)
            if file is None or not name.endswith(REQUESTS):
                return
            if name not in self._writers or self._writers[name][0] != file:
                with Channel(name) as channel:
                    self._writers[name] = (file, channel.writer())
            writer = self._writers[name][1]
            if len(data) == _MARK.size + len(writer.raw) and data[: _MARK.size] == _mark(file):
                writer.raw[:] = np.frombuffer(data, np.uint8, offset=_MARK.size)
                writer.put()


def _mark(file: File) -> bytes:
    """Which file a request is for."""
    return _MARK.pack(*file)


def _messages(held: _Held, after: int, every: bool) -> list[_Message]:
    reader, found, size = held.reader, [], 0
    newest = reader.sequence
    first = max(after + 1, newest - held.channel.depth + 2) if every else max(newest, after + 1)
    for sequence in range(max(first, 1), newest + 1):
        with contextlib.suppress(ChannelError):
            if reader.at(sequence):
                found.append(_Message(reader.sequence, reader.age, reader.process, reader.raw.tobytes()))
                size += len(found[-1].data)
        if len(found) >= AT_ONCE or size > BYTES:
            break
    return found


class OtherMachine:
    """The channels of the machine whose Gateway is at HOST:PORT: a Machine."""

    patience = PATIENCE

    def __init__(self, connect: str, session: zenoh.Session | None = None) -> None:
        self.where = connect
        self._session = session or open_link(connect=[endpoint(connect)])
        self._readers: list[RemoteReader] = []
        atexit.register(self.close)  # no thread may be within zenoh when the interpreter ends

    def ask(self, timeout: float, **question: Any) -> tuple[dict[str, Any], bytes] | None:
        """Ask the gateway, and return the head and the bytes of its answer; None if there is none in time."""
        until = time.monotonic() + timeout
        payload = json.dumps(question).encode()
        while (left := until - time.monotonic()) > 0:
            for reply in self._session.get(ASK, timeout=left, payload=payload, express=True):
                if reply.ok is not None:
                    head, _, body = reply.ok.payload.to_bytes().partition(b"\n")
                    return json.loads(head), body
            time.sleep(min(AWAY, max(left, 0.0)))  # not connected
        return None

    def writers(self, name: str) -> list[int]:
        """The living processes that write a channel; none if nobody answers."""
        answer = self.ask(ANSWERING, channel=name)
        return [] if answer is None else answer[0].get("writers", [])

    def written(self, ending: str) -> list[str]:
        """What comes before an ending in the names of the channels that a living process writes."""
        answer = self.ask(PATIENCE, ending=ending)
        if answer is None:
            raise BridgeError(f"nobody answers at {self.where}; is there a gateway (run --listen, process gateway)?")
        names: list[str] = answer[0]["names"]
        return names

    def identity(self, name: str) -> File | None:
        """Which file a channel is."""
        answer = self.ask(ANSWERING, channel=name)
        return None if answer is None or answer[0]["file"] is None else (answer[0]["file"][0], answer[0]["file"][1])

    def reader(self, name: str, kind: Any = None, *, every: bool = True, past: bool = False) -> Any:
        """A reader of a channel."""
        self._readers.append(reader := RemoteReader(self, name, kind, every, past))
        return reader

    def writer(self, name: str, kind: Any = None) -> Any:
        """A writer on a channel whose name ends in `.requests`."""
        return RemoteWriter(self, name, kind)

    def put(self, name: str, data: bytes) -> None:
        """Send a request; if the network is full it is lost, and sent again."""
        self._session.put(f"{PUT}/{name}", data, express=True)

    def close(self) -> None:
        """Disconnect."""
        atexit.unregister(self.close)
        for each in self._readers:
            each.close()
        self._session.close()  # type: ignore[no-untyped-call]
        for each in self._readers:
            each.thread.join(2 * WAIT)


class _RemoteChannel:
    """A channel of another machine: which file it is, and one message of it, `message`, that is `raw` as bytes."""

    def __init__(self, there: OtherMachine, name: str, kind: Any) -> None:
        answer = there.ask(PATIENCE, channel=name)
        if answer is None:
            raise BridgeError(f"nobody answers at {there.where}")
        if answer[0]["file"] is None:
            raise ChannelNotFound(f"there is no channel '{name}' at {there.where}")
        self._there, self._name, self._head = there, name, answer[0]
        dtype = Layout(self._head["layout"]).dtype
        typed = kind is not None and issubclass(kind, Record)
        storage: Any = np.zeros(1, kind.of(dtype) if typed else dtype)
        self.message, self.raw = storage[0], storage.view(np.uint8).reshape(-1)

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Let go of it."""


class RemoteWriter(_RemoteChannel):
    """Puts messages on a channel of another machine, as a Writer does here."""

    def put(self) -> None:
        """Send the message."""
        self._there.put(self._name, _mark(tuple(self._head["file"])) + self.raw.tobytes())


class RemoteReader(_RemoteChannel):
    """Takes messages from a channel of another machine, as a Reader does here; a thread asks for them."""

    def __init__(self, there: OtherMachine, name: str, kind: Any, every: bool, past: bool) -> None:
        super().__init__(there, name, kind)
        self._every, self._after = every, 0
        self._arrived: deque[_Message] = deque()
        self._changed, self._closed = threading.Condition(), False
        self._file, self._layout = self._head["file"], self._head["layout"]
        self.sequence, self.process, self.stamp = 0, 0, 0.0
        self._ask_once(wait=0.0)
        if not past:
            self._arrived.clear()
        self.thread = threading.Thread(target=self._keep_asking, daemon=True)
        self.thread.start()

    def next(self) -> bool:
        """Take the oldest that was not taken; False if there is none."""
        with self._changed:
            return self._take(self._arrived.popleft) if self._arrived else False

    def latest(self) -> bool:
        """Take the newest, if it was not taken."""
        with self._changed:
            taken = self._take(self._arrived.pop) if self._arrived else False
            self._arrived.clear()
            return taken

    def wait(
        self, timeout: float | None = None, mode: str = "latest", spin: float = 0.0, until: float | None = None
    ) -> bool:
        """Wait for one, for so long or until an instant of time.monotonic(), or for ever."""
        if until is not None:
            timeout = max(0.0, until - time.monotonic())
        with self._changed:
            self._changed.wait_for(lambda: self._arrived or self._closed, timeout)
        return self.next() if mode == "next" else self.latest()

    @property
    def age(self) -> float:
        """Seconds since the message taken was put."""
        return time.monotonic() - self.stamp

    def close(self) -> None:
        """Ask no more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _take(self, pop: Callable[[], _Message]) -> bool:
        self.sequence, stamp, self.process, data = pop()
        self.stamp = stamp
        self.raw[:] = np.frombuffer(data, np.uint8)
        return True

    def _keep_asking(self) -> None:
        with contextlib.suppress(Exception):  # the session is closed
            while not self._closed:
                self._ask_once(WAIT)

    def _ask_once(self, wait: float) -> None:
        answer = self._there.ask(
            wait + ANSWERING, channel=self._name, file=self._file, after=self._after, every=self._every, wait=wait
        )
        if answer is None or answer[0]["file"] is None or self._closed:
            time.sleep(AWAY)
            return
        head, body = answer
        if head["file"] != self._file:  # it was removed and made anew
            self._file, self._layout, self._after = head["file"], head["layout"], 0
        size, now = len(self.raw), time.monotonic()
        if Layout(self._layout).dtype.itemsize != size:
            time.sleep(AWAY)  # who reads finds out by its identity
            return
        with self._changed:
            for index, (sequence, age, process) in enumerate(head["messages"]):
                data = body[index * size : (index + 1) * size]
                self._arrived.append(_Message(sequence, now - age, process, data))
                self._after = sequence
            self._changed.notify_all()
