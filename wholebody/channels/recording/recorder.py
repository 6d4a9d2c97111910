"""Recorder: writes every message of channels into an MCAP file, from a process of its own.

with Recorder("run.mcap", ["robot.*"]) as recorder:
    while running:
        recorder.record()

The file has ROS 2 definitions of all messages, so that other people's tools open it (Foxglove, rosbag2).
"""

from __future__ import annotations

import errno
import fnmatch
import importlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from wholebody.channels import directory
from wholebody.channels._ring import wait_any
from wholebody.channels.channel import Channel, Reader
from wholebody.channels.recording.cdr import Cdr
from wholebody.errors import BadRecording, ChannelError, ChannelGone, MissingExtra, NotAChannel

CHUNK = 256 * 1024
STEP = 4 * 1024 * 1024
"""Bytes of room that are taken in advance."""
ROOM = 2 * CHUNK + 256 * 1024
"""Bytes that must be there before a message is added: for its chunk, and to close the file."""
LOOK_EVERY = 0.5
"""Seconds after which it looks for new channels."""
PAUSE = 0.01
"""Seconds from one look at the channels to the next. A writer makes no system call then, as it would for a reader
that waits, and is not driven out of its caches by a recorder that wakes up right behind it in every cycle."""
SHALLOW = 64
"""A channel that keeps fewer messages is waited for all the same: they could be gone after a pause."""
MOST_AT_ONCE, MOST_WAITED_FOR = 4096, 64
LAYOUT, LABEL = "wholebody.layout", "wholebody.monotonic_to_unix_ns"


PutBeside = Callable[[str, str, str, bytes, float], None]
"""Puts a message that is on no channel: topic, type, definition, CDR, and when (s of time.monotonic())."""


@dataclass
class _Track:
    """A channel that is recorded."""

    reader: Reader
    cdr: Cdr
    number: int
    file: tuple[int, int] | None
    count: int = 0
    lost: int = 0
    lost_before: int = 0  # of a channel of the same name that was removed


def mcap_module(name: str) -> Any:
    """A module of the library that writes and reads the files, if it is installed."""
    try:
        importlib.import_module("lz4.frame")
        return importlib.import_module(f"mcap.{name}")
    except ImportError:
        raise MissingExtra("mcap and lz4", "log") from None


class Recorder:
    """Records channels whose names match any of some patterns, each message once and in order.

    When the disk is full it stops writing and `full` says so; the file is closed in good order then, with all that came
    before. Messages that were overwritten before it could take them are counted in `lost`.

    beside  called each time, with what puts messages that are on no channel: standard ones, for other people's tools
    """

    def __init__(
        self, file: str | Path, patterns: Sequence[str] = ("*",), beside: Callable[[PutBeside], None] | None = None
    ) -> None:
        mcap = mcap_module("writer")
        self._beside, self._topics = beside, dict[str, int]()
        self.file, self.patterns = Path(file), tuple(patterns)
        self.full = False
        self._tracks: dict[str, _Track] = {}
        self._shallow: list[Reader] = []
        self._refused: dict[str, str] = {}
        self._looked = 0.0
        self._since_unix = time.time_ns() - time.monotonic_ns()
        try:
            self._stream = open(self.file, "wb")  # noqa: SIM115
            self._taken = 0
            self._take_room()
        except OSError as error:
            raise BadRecording(f"{self.file} cannot be written: {error.strerror}") from error
        self._writer: Any = mcap.Writer(self._stream, chunk_size=CHUNK, compression=mcap.CompressionType.LZ4)
        self._writer.start(profile="ros2", library="wholebody")
        self._writer.add_metadata(LABEL, {"offset": str(self._since_unix)})

    @property
    def count(self) -> int:
        """Messages written."""
        return sum(each.count for each in self._tracks.values())

    @property
    def lost(self) -> int:
        """Messages that were overwritten before they could be taken."""
        return sum(each.lost for each in self._tracks.values())

    @property
    def counts(self) -> dict[str, int]:
        """Messages written, by channel."""
        return {name: each.count for name, each in self._tracks.items()}

    def record(self, timeout: float = PAUSE) -> int:
        """Pause, and take what came meanwhile; how many messages that were."""
        now = time.monotonic()
        if now - self._looked > LOOK_EVERY:
            self._looked = now
            self._look()
        before = self.count
        self._pause(min(timeout, PAUSE))
        self._drain_all()
        if self._beside is not None:
            self._beside(self._put_beside)
        return self.count - before

    def _pause(self, seconds: float) -> None:
        if self._shallow:
            wait_any(self._shallow[:MOST_WAITED_FOR], seconds)
        else:
            time.sleep(seconds)

    def close(self) -> None:
        """Take what is left, and close the file in good order."""
        if self._stream.closed:
            return
        self._look()
        self._drain_all()
        self._finish()

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _drain_all(self) -> None:
        for track in self._tracks.values():
            self._drain(track)

    def _drain(self, track: _Track) -> None:
        reader = track.reader
        for _ in range(MOST_AT_ONCE):
            if self.full or not self._next(reader):
                return
            if not self._take_room():
                return
            when = reader.stamp_ns + self._since_unix
            self._writer.add_message(
                track.number, when, track.cdr.encode(reader.raw), when, reader.sequence & 0xFFFFFFFF
            )
            track.count += 1
            track.lost = track.lost_before + reader.missed_total

    def _put_beside(self, topic: str, kind: str, definition: str, data: bytes, stamp: float) -> None:
        """Write a message that is on no channel; one that reads the file as ours passes it by."""
        if self.full or not self._take_room():
            return
        if topic not in self._topics:
            schema = self._writer.register_schema(kind, "ros2msg", definition.encode())
            self._topics[topic] = self._writer.register_channel(topic, "cdr", schema)
        when = int(stamp * 1e9) + self._since_unix
        self._writer.add_message(self._topics[topic], when, data, when)

    def _next(self, reader: Reader) -> bool:
        """Take the next message of a channel; one that was pulled away has none, and is not waited for any more."""
        try:
            return reader.next()
        except (ChannelGone, NotAChannel):
            self._shallow = [each for each in self._shallow if each is not reader]
            return False

    def _take_room(self) -> bool:
        """See that there is room for the next message; if the disk is full, `full` is set."""
        at = self._stream.tell()
        room = ROOM + at // 256  # the index at the end grows with the file
        if at + room <= self._taken:
            return True
        for step in (STEP, CHUNK):
            try:
                os.posix_fallocate(self._stream.fileno(), at, room + step)
            except OSError as error:
                if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                    raise
                continue
            self._taken = at + room + step
            return True
        self.full = True
        return False

    def _finish(self) -> None:
        try:
            self._writer.finish()
        finally:
            self._stream.flush()
            self._stream.truncate(self._stream.tell())
            self._stream.close()
            for each in self._tracks.values():
                each.reader.close()

    def _look(self) -> None:
        """Begin with channels that are new, or made anew."""
        for name in directory.names():
            track = self._tracks.get(name)
            if name in self._refused or (track and track.file == directory.identity(name)):
                continue
            if track:
                self._drain(track)
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in self.patterns):
                try:
                    self._begin(name)
                except ChannelError as error:
                    self._refused[name] = str(error)
                self._drain_all()  # to open many takes longer than a channel keeps what it has

    def _begin(self, name: str) -> None:
        file, before = directory.identity(name), self._tracks.get(name)
        channel = Channel(name)
        cdr = Cdr(name, channel.dtype)
        schema = self._writer.register_schema(cdr.name, "ros2msg", cdr.definition.encode())
        about = {LAYOUT: channel.layout.text}
        topic = "/" + name.replace(".", "/")
        number = self._writer.register_channel(topic, "cdr", schema, about)
        self._tracks[name] = track = _Track(channel.reader(grace=0.0), cdr, number, file)
        if before:
            track.count, track.lost, track.lost_before = before.count, before.lost, before.lost
            self._shallow = [each for each in self._shallow if each is not before.reader]
            before.reader.close()
        if channel.depth < SHALLOW:
            self._shallow.append(track.reader)
