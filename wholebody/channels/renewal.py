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
LOOK_EVERY = 0.01
"""s between two looks of a reader for a channel that has gone."""
ATTEMPTS = 20
"""To make a channel where somebody else puts something in its place each time."""
LASTING = (IllegalName, NotPermitted, SharedMemoryFull, SizeOutOfRange)
"""What making a channel anew cannot mend."""


class RenewingWriter(_ring.Writer):
    """A writer that makes its channel anew when that was pulled away."""

    __slots__ = ()

    def renew(self, status: int) -> bool:
        """Register with the channel that stands in the place of the one that was pulled away; make it if none does."""
        for _ in range(ATTEMPTS):
            anew = make(self.ring)
            try:
                self.move(anew)
            except (TooManyWriters, RegistrationBusy):
                _clear(anew.path)  # somebody has put a channel of his own there
                continue
            name = Path(anew.path).name
            text = f"channel '{name}' was pulled away (truncated, replaced, removed or damaged) and is made anew"
            warnings.warn(text, ChannelRenewed, stacklevel=2)
            return True
        name = Path(self.ring.path).name
        raise ChannelGone(
            f"channel '{name}' is pulled away again and again; find out what else writes {self.ring.path}"
        )


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
    if not ring.gone:
        _clear(ring.path)  # the numbers in it contradict each other
    path, about = ring.path, ring.describe()
    text = about["layout_text"].decode("ascii", errors="replace")
    for attempt in range(ATTEMPTS):
        try:
            return _ring.Ring(path, about["payload_size"], about["layout_hash"], text, about["depth"], about["writers"])
        except LASTING:
            raise
        except ChannelError:
            if attempt == ATTEMPTS - 1:
                raise
            _clear(path)
    raise AssertionError("the last attempt returns or raises")


def _made(ring: _ring.Ring) -> _ring.Ring | None:
    """The same; None if that cannot be now, as where memory is full."""
    try:
        return make(ring)
    except ChannelError:
        return None


class Following:
    """How a reader gets to the channel that has taken the place of the one that was pulled away.

    grace  s until it says that there is none; without end if somebody else judges its silence, 0 if it does not follow
    keeps  whether it makes the channel anew itself
    """

    __slots__ = ("_again", "_since", "grace", "keeps")

    def __init__(self, grace: float, keeps: bool) -> None:
        self.grace, self.keeps = grace, keeps
        self._since: float | None = None
        self._again = 0.0

    def find(self, ring: _ring.Ring) -> _ring.Ring | None:
        """The channel in the place of a ring, if it is there already."""
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        if now < self._again or self.grace == 0.0:
            return None
        self._again = now + LOOK_EVERY
        found = _made(ring) if self.keeps else find(ring)
        if found is not None:
            self._since = None
        return found

    @property
    def in_vain(self) -> bool:
        """Whether it was looked for too long."""
        return self._since is not None and time.monotonic() - self._since >= self.grace


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
