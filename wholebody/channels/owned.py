"""Channels that belong to a process: those that one of another configuration left behind are made anew."""

from __future__ import annotations

import contextlib
from typing import Self, TypeVar

import numpy as np

from wholebody.channels import directory
from wholebody.channels.channel import Channel, Writer
from wholebody.errors import LayoutMismatch, StaleChannel

M = TypeVar("M", bound=np.generic)


def own_channel(name: str, dtype: np.dtype[M], depth: int = 64, writers: int = 16) -> Channel[M]:
    """Open a channel; if it holds messages of another layout, and nobody writes there any more, begin it afresh."""
    try:
        return Channel(name, dtype, depth, writers, keep=True)
    except StaleChannel:
        directory.remove(name)
    except LayoutMismatch:
        with Channel(name) as there:
            if there.writer_processes():
                raise
        directory.remove(name)
    return Channel(name, dtype, depth, writers, keep=True)


class Opened:
    """Something that has channels open, until it is closed or its `with` block ends."""

    def __init__(self) -> None:
        self._opened = contextlib.ExitStack()

    def _channel(self, name: str, dtype: np.dtype[M], depth: int = 64, writers: int = 16) -> Channel[M]:
        """Open a channel of one's own."""
        return self._opened.enter_context(own_channel(name, dtype, depth, writers))

    def _writer(self, name: str, dtype: np.dtype[M], depth: int = 64, writers: int = 16) -> Writer[M]:
        """Open a channel of one's own, to write there."""
        return self._opened.enter_context(self._channel(name, dtype, depth, writers).writer())

    def close(self) -> None:
        """Let go of all channels."""
        self._opened.close()

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()
