"""Subscription: the newest message of a channel that may not be there yet, or be made anew at any time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
import numpy.typing as npt

from wholebody.channels import Channel, Reader, directory
from wholebody.errors import ChannelError

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    M = TypeVar("M", bound=np.generic, default=Any)
else:
    from typing import TypeVar

    M = TypeVar("M")


@dataclass(frozen=True)
class History:
    """Messages, oldest first, and when they were put (by time.monotonic())."""

    stamps: npt.NDArray[np.float64]
    messages: Any

    @property
    def span(self) -> float:
        """Seconds from the first to the last."""
        return float(self.stamps[-1] - self.stamps[0]) if len(self.stamps) > 1 else 0.0

    @property
    def rate(self) -> float:
        """Messages a second."""
        return (len(self.stamps) - 1) / self.span if self.span > 0 else 0.0


class Subscription(Generic[M]):
    """The newest message of a channel that may not be there yet, or be removed and made anew at any time."""

    def __init__(self, name: str, kind: type[M] | None = None) -> None:
        self.name = name
        self._kind = kind
        self.channel: Channel[M] | None = None
        self._file: tuple[int, int] | None = None
        self._reader: Reader[M] | None = None
        self._past: Reader[M] | None = None

    def take(self) -> M | None:
        """The newest message; None if there is none."""
        self._follow()
        if self._reader is None:
            return None
        try:
            self._reader.latest()
        except ChannelError:
            return None
        return self._reader.message if self._reader.sequence else None

    @property
    def age(self) -> float:
        """Seconds since the newest message taken; infinite if there is none."""
        if self._reader is None or not self._reader.sequence:
            return float("inf")
        return max(0.0, time.monotonic() - self._reader.stamp)

    @property
    def writers(self) -> list[int]:
        """The processes that write here."""
        self._follow()
        return [] if self.channel is None else self.channel.writer_processes()

    def past(self, count: int) -> History:
        """Up to `count` messages, the newest taken and those before it, oldest first."""
        if self._past is None or self._reader is None or self.channel is None:
            return History(np.zeros(0), np.zeros(0))
        newest, size = self._reader.sequence, self.channel.dtype.itemsize
        count = min(count, self.channel.depth - 2, newest)
        messages: Any = np.zeros(count, self.channel.dtype)
        stamps, rows, found = np.zeros(count), messages.view(np.uint8).reshape(count, size), 0
        for sequence in range(newest - count + 1, newest + 1):
            try:
                if self._past.at(sequence):
                    stamps[found], rows[found] = self._past.stamp, self._past.raw
                    found += 1
            except ChannelError:
                continue  # overwritten meanwhile
        return History(stamps[:found], messages[:found])

    def _follow(self) -> None:
        """Open the channel, or the one that has taken its place."""
        file = directory.identity(self.name)
        if file in (None, self._file):
            return
        try:
            self.channel = Channel(self.name, kind=self._kind)
            self._reader, self._past = self.channel.reader(grace=0.0), self.channel.reader(grace=0.0)
            self._file = file
        except ChannelError:
            if self.channel is None:
                self._file = None
