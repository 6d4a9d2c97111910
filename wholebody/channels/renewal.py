"""What becomes of a channel that was truncated, replaced, removed or filled with garbage: it is made anew.

A writer makes it anew, and so does a reader of a channel that is its own; other readers go where it is now.
"""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path

from wholebody.channels import _ring
from wholebody.errors import (
    ChannelError,
    ChannelGone,
    ChannelRenewed,
    IllegalName,
    NotPermitted,
    RegistrationBusy,
    SharedMemoryFull,
    SizeOutOfRange,
    TooManyWriters,
)

GRACE = 1.0
"""s that writers have to make a channel anew, until its readers say that it has gone."""
ATTEMPTS = 20
"""To make a channel where somebody else puts something in its place each time."""
LASTING = (IllegalName, NotPermitted, SharedMemoryFull, SizeOutOfRange)
"""What making a channel anew cannot mend."""


def move_writer(writer: _ring.Writer) -> None:
    """Register a writer with the channel in the place of the one that was pulled away; make it anew if it must be."""
    for _ in range(ATTEMPTS):
        anew = make(writer.ring)
        try:
            writer.move(anew)
        except (TooManyWriters, RegistrationBusy):
            _clear(anew.path)  # somebody has put a channel of his own there
            continue
        name = Path(anew.path).name
        text = f"channel '{name}' was pulled away (truncated, replaced, removed or damaged) and is made anew"
        warnings.warn(text, ChannelRenewed, stacklevel=3)
        return
    raise ChannelGone(f"channel '{Path(writer.ring.path).name}' is pulled away again and again; who else writes there?")


def find(ring: _ring.Ring) -> _ring.Ring | None:
    """The channel of the same layout that stands where one was pulled away; None if none does."""
    if not ring.gone:
        return None  # it is damaged, and nobody has made it anew
    try:
        found = _ring.Ring(ring.path)
    except ChannelError:
        return None
    ours, theirs = ring.describe(), found.describe()
    is_same = (ours["layout_hash"], ours["payload_size"]) == (theirs["layout_hash"], theirs["payload_size"])
    return found if is_same else None


def make(ring: _ring.Ring) -> _ring.Ring:
    """The channel that stands where one was pulled away; made anew if none does, or something else."""
    path, about = ring.path, ring.describe()
    text = about["layout_text"].decode("ascii", errors="replace")
    if not ring.gone:
        _clear(path)  # the numbers in it contradict each other
    for attempt in range(ATTEMPTS):
        try:
            return _ring.Ring(
                path, about["payload_size"], about["layout_hash"], text, about["depth"], about["writers"]
            )
        except LASTING:
            raise
        except ChannelError:
            if attempt == ATTEMPTS - 1:
                raise
            _clear(path)
    raise AssertionError("the last attempt returns or raises")


class Patience:
    """How long a reader has been without its channel."""

    __slots__ = ("_since",)

    def __init__(self) -> None:
        self._since: float | None = None

    @property
    def over(self) -> bool:
        """Whether that is too long; asked each time that it is missed."""
        now = time.monotonic()
        if self._since is None:
            self._since = now
        return now - self._since > GRACE

    def begin_anew(self) -> None:
        """It is there."""
        self._since = None


def _clear(path: str) -> None:
    """Take whatever stands in a channel's place out of it."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except IsADirectoryError:
        os.rename(path, Path(path).with_name(f".{time.monotonic_ns()}.moved"))
    except PermissionError:
        raise NotPermitted(
            f"channel '{Path(path).name}' was pulled away, and what stands in its place belongs to somebody else: "
            f"{path}; have it removed (wholebody channels rm)"
        ) from None
