"""Channel: a named place in shared memory where processes leave messages, newest first."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, overload

import numpy as np
import numpy.typing as npt

from wholebody.channels import _ring, renewal
from wholebody.channels.faults import fault
from wholebody.channels.layout import Layout
from wholebody.errors import ChannelClosed, LayoutMismatch, NotAChannel, SizeOutOfRange, TooManyWriters, WrongRecord
from wholebody.messages import Record, watched

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    M = TypeVar("M", bound=np.generic, default=Any)
else:
    from typing import TypeVar

    M = TypeVar("M")


class Channel(Generic[M]):
    """A named, newest-first channel between processes.

        channel = Channel("hubo.state", dtype, depth=64)
        writer = channel.writer();  writer.message.position[:] = q;  writer.put()
        reader = channel.reader();  reader.latest();  reader.message.position

    Opens the channel, or makes it if there is none; without a dtype it must exist. Any number of processes may
    write and read. Writers never wait. `depth` messages stay readable; an existing channel keeps its own depth.
    Messages are of the dtype's kind; those of a channel opened without one are of the `kind` given, such as `State`.

    If the channel is pulled away (truncated, replaced, removed, filled with garbage), its writers make it anew and its
    readers go there, within about 0.2 s; a reader that has waited 1 s for that in vain raises ChannelGone. Readers of a
    channel that is one's own (`keep`) make it anew, too.
    """

    @overload
    def __init__(
        self, name: str, dtype: np.dtype[M], depth: int = 64, writers: int = 16, *, keep: bool = False
    ) -> None: ...
    @overload
    def __init__(self, name: str, *, kind: type[M] | None) -> None: ...
    @overload
    def __init__(
        self: Channel[Any],
        name: str,
        dtype: npt.DTypeLike | None = None,
        depth: int = 64,
        writers: int = 16,
        *,
        keep: bool = False,
    ) -> None: ...
    def __init__(
        self,
        name: str,
        dtype: npt.DTypeLike | None = None,
        depth: int = 64,
        writers: int = 16,
        *,
        kind: type[Any] | None = None,
        keep: bool = False,
    ) -> None:
        self.name, self._keep = name, keep
        self.path = Path(_ring.path(name))
        self._ring: _ring.Ring | None = self._open(dtype, depth, writers)
        self.layout = _layout_in(self._ring, self.name)
        given: np.dtype[Any] = self.layout.dtype if dtype is None else np.dtype(dtype)
        typed: Any = kind.of(given) if kind is not None and issubclass(kind, Record) else given
        self.dtype: np.dtype[M] = typed

    def _open(self, dtype: npt.DTypeLike | None, depth: int, writers: int) -> _ring.Ring:
        if dtype is None:
            return _ring.Ring(str(self.path))
        layout = Layout.of(dtype)
        size = layout.dtype.itemsize
        if size > _ring.PAYLOAD_MAX or not (2 <= depth <= _ring.DEPTH_MAX) or not (1 <= writers <= _ring.WRITERS_MAX):
            raise SizeOutOfRange(
                f"channel '{self.name}' cannot be made with messages of {size} bytes (at most {_ring.PAYLOAD_MAX}), "
                f"depth {depth} (2 to {_ring.DEPTH_MAX}) and {writers} writers (1 to {_ring.WRITERS_MAX})"
            )
        try:
            return _ring.Ring(str(self.path), size, layout.hash, layout.text, depth, writers)
        except LayoutMismatch:
            there = _layout_in(_ring.Ring(str(self.path)), self.name)
        raise LayoutMismatch(
            f"channel '{self.name}' holds messages of another layout:\n{layout.difference(there)}\n"
            f"use the layout of the channel, or another name; to start afresh: wholebody channels rm {self.name}"
        )

    @property
    def ring(self) -> _ring.Ring:
        """The open ring; if it was pulled away, the one in its place."""
        if self._ring is None:
            raise ChannelClosed(f"channel '{self.name}' is closed")
        if self._ring.gone:
            self._ring = renewal.find(self._ring) or self._ring
        return self._ring

    @property
    def depth(self) -> int:
        """How many messages stay readable."""
        return self.ring.describe()["depth"]

    @property
    def newest(self) -> int:
        """Sequence of the newest message; 0 if there is none."""
        return self.ring.describe()["newest"]

    @property
    def file_size(self) -> int:
        """Bytes of shared memory."""
        return self.ring.describe()["file_size"]

    def writer_processes(self) -> list[int]:
        """Process ids of the living writers."""
        return self.ring.writer_processes()

    def writer(self) -> Writer[M]:
        """Register as a writer."""
        if self.ring.gone:
            self._ring = renewal.make(self.ring)
        try:
            return Writer(self.ring, self.dtype)
        except TooManyWriters:
            if not self._keep or self.writer_processes():
                raise
        self._ring = renewal.make(self.ring)  # who may only read has locked the places
        return Writer(self.ring, self.dtype)

    def reader(self, into: npt.NDArray[Any] | None = None, *, grace: float = renewal.GRACE) -> Reader[M]:
        """Make a reader; its first next() is the oldest message still there.

        Its message is in `into`, if given: one row of a table of messages of this layout, for instance. If the channel
        is pulled away, and not made anew within `grace` (s), it raises ChannelGone; with 0 it follows to none.
        """
        kind = _DebugReader if os.environ.get("WHOLEBODY_DEBUG") else Reader
        reader = kind(self.ring, self.dtype, into)
        reader.following = renewal.Following(math.inf if self._keep else grace, self._keep)
        return reader

    def close(self) -> None:
        """Let go of the channel. Its writers and readers go on; its messages stay for others."""
        self._ring = None

    def __enter__(self) -> Self:
        """Return the channel."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the channel."""
        self.close()

    def __repr__(self) -> str:
        """Show name and layout size."""
        return f"Channel({self.name!r}, {self.dtype.itemsize} bytes)"


def _layout_in(ring: _ring.Ring, name: str) -> Layout:
    """Read the layout from the channel's file."""
    described = ring.describe()
    layout = Layout(described["layout_text"].decode("ascii", errors="replace"))
    if layout.hash != described["layout_hash"]:
        raise NotAChannel(f"channel '{name}' is damaged: its layout is unreadable; wholebody channels rm {name}")
    return layout


def _record(storage: npt.NDArray[Any]) -> Any:
    """The one message in `storage`, as a view: a record if it has fields, else an array."""
    return storage[0] if storage.dtype.names is not None or storage.ndim > 1 else storage.reshape(())


class Writer(renewal.RenewingWriter, Generic[M]):
    """Puts messages on a channel: fill `message`, call `put()`. What is not filled again stays as it was.

    `raw` is the same message as bytes.
    """

    __slots__ = ("message", "raw")
    message: M
    raw: npt.NDArray[np.uint8]

    def __new__(cls, ring: _ring.Ring, dtype: np.dtype[M]) -> Self:
        """Register with the ring."""
        storage: npt.NDArray[Any] = np.zeros(1, dtype)
        raw = storage.view(np.uint8).reshape(-1)
        self = super().__new__(cls, ring, raw.data)
        self.message, self.raw = _record(storage), raw
        return self

    def __enter__(self) -> Self:
        """Return the writer."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give the place back."""
        self.close()


class Reader(_ring.Reader, Generic[M]):
    """Takes messages from a channel into `message`, which stays what it is until the next one is taken.

    `raw` is the same message as bytes. With WHOLEBODY_DEBUG in the environment, a `message` that was asked for before
    the next one was taken raises OldView.
    """

    __slots__ = ("following", "message", "raw")
    message: M
    raw: npt.NDArray[np.uint8]
    following: renewal.Following

    def __new__(cls, ring: _ring.Ring, dtype: np.dtype[M], into: npt.NDArray[Any] | None = None) -> Self:
        """Open the ring for reading."""
        if into is not None and (into.dtype != dtype or into.shape != (1,)):
            raise WrongRecord(f"a reader's message goes into an array of one record of its layout, not {into!r}")
        storage: npt.NDArray[Any] = np.zeros(1, dtype) if into is None else into[:]
        raw = storage.view(np.uint8).reshape(-1)
        self = super().__new__(cls, ring, raw.data)
        storage.flags.writeable = raw.flags.writeable = False  # for others than the ring, which has its buffer
        self.message, self.raw = _record(storage), raw
        self.following = renewal.Following(renewal.GRACE, keeps=False)
        return self

    def renew(self, status: int) -> bool:
        """The channel was pulled away: go where it is now. False while it is not there, an error after too long."""
        anew = self.following.find(self.ring)
        if anew is not None:
            self.move(anew)
        elif self.following.in_vain:
            raise fault(status, self.ring.path)
        return anew is not None

    def __enter__(self) -> Self:
        """Return the reader."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the ring."""
        self.close()


class _DebugReader(Reader[M]):
    """A reader whose `message` is another view for each message taken; the older ones raise OldView."""

    __slots__ = ("_memory", "_sequence", "_view")
    _memory: M
    _sequence: int
    _view: M

    @property
    def message(self) -> M:
        """A view of the newest message taken."""
        if isinstance(self._memory, Record) and self._sequence != self.sequence:
            self._view = watched(self._memory, lambda: self.sequence)
            self._sequence = self.sequence
        return self._view

    @message.setter
    def message(self, memory: M) -> None:
        self._memory, self._view, self._sequence = memory, memory, -1
