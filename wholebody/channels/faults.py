"""What the ring reports as a number, as one of our errors with the evidence and the remedy."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

from wholebody import errors
from wholebody.channels import _ring


def fault(status: int, path: str) -> errors.ChannelError:
    """Make the error for a status of ring.h about the channel at `path` (for an illegal name: the name)."""
    make = _FAULTS.get(status)
    if make is not None:
        return make(path)
    return errors.ChannelFault(f"channel '{_name(path)}': {os.strerror(-status)} ({path})")


def _name(path: str) -> str:
    return Path(path).name


def _illegal_name(name: str) -> errors.ChannelError:
    return errors.IllegalName(
        f"'{name}' cannot name a channel: use 1 to {_ring.NAME_MAX} letters, digits, '_', '.' and '-', "
        "beginning with a letter, digit or '_', such as 'hubo.state'"
    )


def _size(path: str) -> errors.ChannelError:
    return errors.SizeOutOfRange(
        f"channel '{_name(path)}': a message has 1 to {_ring.PAYLOAD_MAX} bytes (and a layout text of at most "
        f"{_ring.TEXT_MAX}), the depth is 2 to {_ring.DEPTH_MAX}, and writers are 1 to {_ring.WRITERS_MAX}"
    )


def _not_found(path: str) -> errors.ChannelError:
    directory = Path(path).parent
    if not directory.is_dir():
        return errors.ChannelNotFound(f"there is no channel '{_name(path)}': the folder {directory} does not exist")
    known = os.listdir(directory) if os.access(directory, os.R_OK) else []
    return errors.ChannelNotFound(
        f"there is no channel '{_name(path)}' in {directory}{errors.closest(_name(path), known)}; "
        "start the program that makes it, or give a dtype to make it"
    )


def _full(path: str) -> errors.ChannelError:
    space = os.statvfs(Path(path).parent)
    free = space.f_bavail * space.f_frsize / 1e6
    return errors.SharedMemoryFull(
        f"no room for channel '{_name(path)}': {Path(path).parent} has {free:.1f} MB left; choose a smaller depth or "
        "message, remove channels (wholebody channels rm), or enlarge it (mount -o remount,size=… /dev/shm)"
    )


def _not_permitted(path: str) -> errors.ChannelError:
    owner, doing = "", "write" if os.access(path, os.R_OK) else "open"
    for shown in (Path(path), Path(path).parent):
        try:
            stat = shown.stat()
        except OSError:
            continue
        where = "which" if shown == Path(path) else f"and {shown}"
        owner = f", {where} belongs to user {stat.st_uid} and group {stat.st_gid} (mode {stat.st_mode & 0o777:o})"
        break
    return errors.NotPermitted(
        f"not permitted to {doing} {path}{owner}; run as that user, have the robot started for a group that you are in "
        "(wholebody start --group NAME), or set WHOLEBODY_CHANNELS to a folder of your own"
    )


def _unsafe(path: str) -> errors.ChannelError:
    folder = Path(path).parent
    return errors.NotPermitted(
        f"anyone on this machine may write in {folder}, and so move the robot: chmod o-w {folder}, or set "
        "WHOLEBODY_CHANNELS to a folder of your own"
    )


def _too_many_writers(path: str) -> errors.ChannelError:
    living = ", ".join(str(process) for process in _ring.Ring(path).writer_processes())
    return errors.TooManyWriters(
        f"channel '{_name(path)}' has no room for another writer; processes {living} write to it; stop one, or make "
        "the channel with more: Channel(name, dtype, writers=…)"
    )


def _simple(kind: type[errors.ChannelError], text: str) -> Callable[[str], errors.ChannelError]:
    return lambda path: kind(text.format(name=_name(path), path=path))


_REMOVE = "; stop the programs that use it, then: wholebody channels rm {name}"

_FAULTS: dict[int, Callable[[str], errors.ChannelError]] = {
    _ring.NAME: _illegal_name,
    _ring.SIZE: _size,
    _ring.WRITERS: _too_many_writers,
    _ring.FOREIGN: _simple(errors.NotAChannel, "{path} is a file that is no channel; remove it or choose another name"),
    _ring.TRUNCATED: _simple(
        errors.NotAChannel, "channel '{name}' is damaged: its file is not as long as it says" + _REMOVE
    ),
    _ring.CORRUPT: _simple(
        errors.NotAChannel, "channel '{name}' is damaged: the numbers in it contradict each other" + _REMOVE
    ),
    _ring.OLD: _simple(errors.OtherVersion, "channel '{name}' was made by another version of wholebody" + _REMOVE),
    _ring.STALE: _simple(errors.StaleChannel, "channel '{name}' was made before this machine restarted" + _REMOVE),
    _ring.LAYOUT: _simple(errors.LayoutMismatch, "channel '{name}' holds messages of another layout" + _REMOVE),
    _ring.BUSY: _simple(
        errors.RegistrationBusy,
        "channel '{name}' takes no new writer now: a process stopped in the middle of a put or of registering holds "
        "it up; continue or kill that process (wholebody channels show {name})",
    ),
    _ring.FORKED: _simple(
        errors.ForkedHandle, "this writer of '{name}' was opened before fork(); open a new one in the child process"
    ),
    _ring.EXHAUSTED: _simple(errors.SequenceExhausted, "channel '{name}' has carried 2⁴⁸ messages" + _REMOVE),
    _ring.GONE: _simple(
        errors.ChannelGone,
        "channel '{name}' was pulled away ({path} was truncated, replaced or removed) and nobody has made it anew; "
        "start the program that writes it again",
    ),
    _ring.UNSAFE: _unsafe,
    _ring.OVERRUN: _simple(
        errors.Overrun,
        "messages on '{name}' are overwritten faster than this reader can copy them; make the channel deeper, or the "
        "messages smaller",
    ),
    -errno.ENOENT: _not_found,
    -errno.ENOSPC: _full,
    -errno.EACCES: _not_permitted,
    -errno.EPERM: _not_permitted,
    -errno.EBADF: _simple(errors.ChannelClosed, "this handle of channel '{name}' is closed"),
    -errno.EBUSY: _simple(
        errors.ReaderBusy, "this reader of '{name}' is waiting in another thread; give each thread a reader of its own"
    ),
    -errno.ETIME: _simple(
        errors.ClockJumped,
        "the message on '{name}' is stamped in the future: its writer's CLOCK_MONOTONIC is not this process's (a "
        "container with a clock of its own?); mirror the channel with wholebody bridge instead",
    ),
}
