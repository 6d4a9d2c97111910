"""Which channels exist on this machine; and Machine: the channels of this one or of another, by the same calls."""

from __future__ import annotations

import contextlib
import errno
import math
import os
from pathlib import Path
from typing import Any, Protocol

from wholebody.channels import _ring
from wholebody.channels.channel import Channel
from wholebody.channels.faults import fault
from wholebody.errors import ChannelError, ChannelInUse, ChannelNotFound, NotPermitted, closest


def folder() -> Path:
    """Return where channels live: $WHOLEBODY_CHANNELS, by default /dev/shm/wholebody."""
    return Path(_ring.path("any")).parent


def make_folder() -> Path:
    """Make the folder of channels if it is not there, for its owner alone; return it."""
    folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder()


def names() -> list[str]:
    """Return the names of all channels, sorted; files that cannot be channels are left out."""
    try:
        return sorted(each for each in os.listdir(folder()) if _is_name(each))
    except PermissionError:
        raise fault(-errno.EACCES, str(folder())) from None
    except (FileNotFoundError, NotADirectoryError):
        return []


def identity(name: str) -> tuple[int, int] | None:
    """Which file a channel is; another number: it was removed and made anew. None if there is none."""
    try:
        found = (folder() / name).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def remove(name: str, force: bool = False) -> None:
    """Remove a channel; one with living writers only if forced, and they make it anew as soon as they notice."""
    path = Path(_ring.path(name))
    if not path.exists():
        raise ChannelNotFound(f"there is no channel '{name}' in {folder()}{closest(name, names())}")
    living = [] if force else writers(name)
    if living:
        processes = ", ".join(str(process) for process in living)
        raise ChannelInUse(f"channel '{name}' is written by process {processes}; stop it first, or use --force")
    path.unlink()


def writers(name: str) -> list[int]:
    """The living processes that write a channel; none if it is not there. NotPermitted if it is somebody else's."""
    try:
        with Channel(name) as channel:
            return channel.writer_processes()
    except NotPermitted:
        raise
    except ChannelError:
        return []  # damaged, old or foreign: nobody can be using it as a channel


def has_open(process: int, name: str) -> bool:
    """Whether a process has a channel open, by the kernel's word; True if it is not for us to know, or is over."""
    file = identity(name)
    try:
        for each in os.listdir(f"/proc/{process}/fd"):
            with contextlib.suppress(FileNotFoundError):
                found = os.stat(f"/proc/{process}/fd/{each}")
                if (found.st_dev, found.st_ino) == file:
                    return True
    except (PermissionError, FileNotFoundError):
        return True
    return False


class Machine(Protocol):
    """Where channels are. A reader's message is of the `kind` given, or a plain record without one."""

    patience: float
    """Seconds for which it may be out of reach before its processes count as ended."""

    def writers(self, name: str) -> list[int]:
        """The living processes that write a channel; none if it is not there."""

    def written(self, ending: str) -> list[str]:
        """What comes before an ending in the names of the channels that a living process writes."""

    def identity(self, name: str) -> tuple[int, int] | None:
        """Which file a channel is; another number: it was removed and made anew. None if there is none."""

    def reader(self, name: str, kind: Any = None, *, every: bool = True, past: bool = False) -> Any:
        """A Reader: of every message from now on, or of the newest alone; with `past` of those still there, too."""

    def writer(self, name: str, kind: Any = None) -> Any:
        """A Writer on a channel that is there."""

    def close(self) -> None:
        """Disconnect."""


class ThisMachine:
    """The channels in shared memory."""

    patience = 0.0

    def writers(self, name: str) -> list[int]:
        """The living processes that write a channel."""
        return writers(name)

    def written(self, ending: str) -> list[str]:
        """What comes before an ending in the names of the channels that a living process writes."""
        return [name.removesuffix(ending) for name in names() if name.endswith(ending) and writers(name)]

    def identity(self, name: str) -> tuple[int, int] | None:
        """Which file a channel is."""
        return identity(name)

    def reader(self, name: str, kind: Any = None, *, every: bool = True, past: bool = False) -> Any:
        """A reader of a channel."""
        with Channel(name, kind=kind) as channel:
            reader = channel.reader(grace=math.inf)  # who asks knows by `writers` whether anybody is there
        if not past:
            reader.latest()
        return reader

    def writer(self, name: str, kind: Any = None) -> Any:
        """A writer on a channel."""
        with Channel(name, kind=kind) as channel:
            return channel.writer()

    def close(self) -> None:
        """There is nothing to disconnect."""


def machine(connect: str = "") -> Machine:
    """This machine, or the one whose Gateway is at HOST:PORT."""
    if not connect:
        return ThisMachine()
    from wholebody.channels.bridge.gateway import OtherMachine

    return OtherMachine(connect)


def _is_name(text: str) -> bool:
    try:
        _ring.path(text)
    except ChannelError:
        return False
    return True
