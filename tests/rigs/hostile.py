"""What any process that may open a channel's file can do to it, from cutting it off to garbage in every field."""

from __future__ import annotations

import ctypes
import os
import random
import struct
from collections.abc import Callable
from pathlib import Path

OTHER_USER = 65534
"""A user who is nobody's owner."""
HEADER = 256
"""Bytes: the constants, the sequence of the newest message and the word on which readers wait."""
HEAD, EVENT = 128, 192
_OFFSETS = struct.Struct("<4Q")  # of the layout text, ring, leases, slots
_OFFSETS_AT = 64
_PUNCH = 0x03  # FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE
_libc = ctypes.CDLL(None, use_errno=True)

Strike = Callable[[Path, random.Random], None]


def _size(path: Path) -> int:
    return path.stat().st_size


def _write(path: Path, offset: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.new")


def _replaced(path: Path, data: bytes) -> None:
    _beside(path).write_bytes(data)
    os.replace(_beside(path), path)


def _offsets(path: Path) -> tuple[int, int, int]:
    with path.open("rb") as file:
        text, ring, leases, slots = _OFFSETS.unpack_from(file.read(HEADER), _OFFSETS_AT)
    return (ring, leases, slots) if text < ring < leases < slots <= _size(path) else (320, 1024, 4096)


def _hole(path: Path, first: int) -> None:
    with path.open("r+b") as file:
        _libc.fallocate(file.fileno(), _PUNCH, ctypes.c_long(first), ctypes.c_long(_size(path)))


def _cut_and_grow(path: Path, _: random.Random) -> None:
    size = _size(path)
    os.truncate(path, 0)
    os.truncate(path, size)


def _other_layout(path: Path, _: random.Random) -> None:
    from wholebody.channels import Channel

    before, os.environ["WHOLEBODY_CHANNELS"] = os.environ["WHOLEBODY_CHANNELS"], str(path.parent)
    try:
        with Channel(_beside(path).name[1:], "i2", depth=2, writers=1) as other, other.writer() as writer:
            writer.put()
            os.replace(other.path, path)
    finally:
        os.environ["WHOLEBODY_CHANNELS"] = before


def _link(path: Path, _: random.Random) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def _pipe(path: Path, _: random.Random) -> None:
    path.unlink()
    os.mkfifo(path)


def _folder(path: Path, _: random.Random) -> None:
    path.unlink()
    path.mkdir()


def _numbers(path: Path, first: int, last: int, dice: random.Random) -> None:
    """Numbers that look like something: small, all ones, and anything."""
    kinds: tuple[Callable[[], int], ...] = (
        lambda: dice.getrandbits(8),
        lambda: dice.getrandbits(32),
        lambda: dice.getrandbits(64),
        lambda: 2**64 - 1,
        lambda: dice.getrandbits(48) << 16 | dice.getrandbits(16),
    )
    count = max(1, min(last - first, 4096) // 8)
    _write(path, first, struct.pack(f"<{count}Q", *(dice.choice(kinds)() for _ in range(count))))


STRIKES: dict[str, Strike] = {
    "cut off all": lambda path, _: os.truncate(path, 0),
    "cut off half": lambda path, _: os.truncate(path, _size(path) // 2),
    "cut off after the header": lambda path, _: os.truncate(path, 4096),
    "cut off a byte": lambda path, _: os.truncate(path, max(0, _size(path) - 1)),
    "cut off and grown again": _cut_and_grow,
    "grown": lambda path, _: os.truncate(path, 2 * _size(path) + 1),
    "removed": lambda path, _: path.unlink(),
    "moved": lambda path, _: os.replace(path, _beside(path)),
    "replaced by garbage": lambda path, dice: _replaced(path, dice.randbytes(max(1, _size(path)))),
    "replaced by its copy": lambda path, _: _replaced(path, path.read_bytes()),
    "replaced by another layout": _other_layout,
    "replaced by a link": _link,
    "replaced by a pipe": _pipe,
    "replaced by a folder": _folder,
    "holes in all of it": lambda path, _: _hole(path, 0),
    "holes in the messages": lambda path, _: _hole(path, 4096),
    "garbage in the header": lambda path, dice: _numbers(path, 0, HEAD, dice),
    "garbage in head": lambda path, dice: _numbers(path, HEAD, HEAD + 8, dice),
    "garbage where readers wait": lambda path, dice: _write(path, EVENT, dice.randbytes(4)),
    "garbage in the ring": lambda path, dice: _numbers(path, *_offsets(path)[:2], dice),
    "garbage in the leases": lambda path, dice: _numbers(path, *_offsets(path)[1:], dice),
    "garbage in the messages": lambda path, dice: _numbers(path, _offsets(path)[2], _size(path), dice),
    "garbage everywhere": lambda path, dice: _write(path, 0, dice.randbytes(_size(path))),
    "ones everywhere": lambda path, _: _write(path, 0, b"\xff" * _size(path)),
}


def strike(path: Path, name: str, dice: random.Random) -> bool:
    """Do it, if the file is there and may be opened."""
    try:
        if not path.is_file():
            return False
        STRIKES[name](path, dice)
    except (OSError, struct.error):
        return False  # somebody else was faster, or it is not permitted
    return True


def become_another_user(groups: tuple[int, ...] = ()) -> None:
    """Give up being root, for good."""
    os.setgroups(groups)
    os.setgid(OTHER_USER)
    os.setuid(OTHER_USER)
