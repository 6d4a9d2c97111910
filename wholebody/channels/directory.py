"""Which channels exist on this machine."""

from __future__ import annotations

from pathlib import Path

from wholebody.channels import _ring
from wholebody.channels.channel import Channel
from wholebody.errors import ChannelError, ChannelInUse, ChannelNotFound, closest


def folder() -> Path:
    """Return where channels live: $WHOLEBODY_CHANNELS, by default /dev/shm/wholebody."""
    return Path(_ring.path("any")).parent


def names() -> list[str]:
    """Return the names of all channels, sorted; files that cannot be channels are left out."""
    if not folder().is_dir():
        return []
    return sorted(entry.name for entry in folder().iterdir() if _is_name(entry.name))


def identity(name: str) -> tuple[int, int] | None:
    """Which file a channel is; another number: it was removed and made anew. None if there is none."""
    try:
        found = (folder() / name).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def remove(name: str, force: bool = False) -> None:
    """Remove a channel; one with living writers only if forced. Who has it open keeps the old one until it closes."""
    path = Path(_ring.path(name))
    if not path.exists():
        raise ChannelNotFound(f"there is no channel '{name}' in {folder()}{closest(name, names())}")
    living = [] if force else writers(name)
    if living:
        processes = ", ".join(str(process) for process in living)
        raise ChannelInUse(f"channel '{name}' is written by process {processes}; stop it first, or use --force")
    path.unlink()


def writers(name: str) -> list[int]:
    """The living processes that write a channel; none if it is not there."""
    try:
        with Channel(name) as channel:
            return channel.writer_processes()
    except ChannelError:
        return []  # damaged, old or foreign: nobody can be using it as a channel


def _is_name(text: str) -> bool:
    try:
        _ring.path(text)
    except ChannelError:
        return False
    return True
