"""Recording: the messages of an MCAP file that a Recorder wrote, as records of the channels they came from."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from wholebody.channels.layout import LARGEST, Layout
from wholebody.channels.recording.cdr import Cdr, Dtype
from wholebody.channels.recording.recorder import LABEL, LAYOUT, mcap_module
from wholebody.errors import BadRecording, UnknownName
from wholebody.messages import Record

DAMAGED = (ValueError, RuntimeError, EOFError, LookupError, OverflowError, MemoryError, struct.error)
"""What a reader raises at bytes that are none of its format, such as a length beyond all memory."""


@dataclass(frozen=True)
class Played:
    """A message: its channel, when it was put (seconds of the recorder's CLOCK_MONOTONIC), its number, its record."""

    channel: str
    stamp: float
    sequence: int
    record: Any


@dataclass
class Recording:
    """A file to read, as often as one likes.

        recording = Recording("run.mcap")
        for each in recording.messages(["robot.state"]):
            each.stamp, each.record["position"]

    A file that ends in the middle, because its recorder was killed or the disk was full, is read up to there, and
    `whole` is False afterwards.
    """

    file: Path
    whole: bool = True
    layouts: dict[str, Dtype] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def __init__(self, file: str | Path) -> None:
        self.file, self.whole, self.layouts, self.counts = Path(file), True, {}, {}
        for _ in self._read(None):
            pass

    def messages(self, channels: Sequence[str] = ()) -> Iterator[Played]:
        """All messages in the order of the file, of all channels or of some."""
        for name in channels:
            if name not in self.layouts:
                raise UnknownName("channel in the recording", name, self.layouts)
        yield from self._read(set(channels) or set(self.layouts))

    def table(self, channel: str, kind: type[Record] | None = None) -> Any:
        """All records of a channel as one array, of a kind if one is given, and their stamps as another."""
        found = list(self.messages([channel]))
        layout = self.layouts[channel]
        records = np.zeros(len(found), layout if kind is None else kind.of(layout))
        for index, each in enumerate(found):
            records[index] = each.record
        return np.array([each.stamp for each in found]), records

    def _read(self, wanted: set[str] | None) -> Iterator[Played]:
        records = mcap_module("records")
        damaged = mcap_module("exceptions").McapError
        tracks: dict[int, tuple[str, Cdr] | None] = {}
        offset = 0
        try:
            with open(self.file, "rb") as stream:
                for record in _records(stream):
                    if isinstance(record, records.Metadata) and record.name == LABEL:
                        offset = int(record.metadata["offset"])
                    elif isinstance(record, records.Channel):
                        tracks[record.id] = self._track(record)
                    elif isinstance(record, records.Message):
                        yield from self._message(record, tracks.get(record.channel_id), wanted, offset)
        except OSError as error:
            raise BadRecording(f"{self.file} cannot be read: {error.strerror}") from error
        except (damaged, *DAMAGED) as error:
            if not self.layouts:
                raise BadRecording(f"{self.file} is no MCAP file: {error}") from None
            self.whole = False

    def _track(self, record: Any) -> tuple[str, Cdr] | None:
        if LAYOUT not in record.metadata:
            return None
        name = record.topic.removeprefix("/").replace("/", ".")
        if name not in self.layouts:
            self.layouts[name] = Layout(record.metadata[LAYOUT]).dtype
        return name, Cdr(name, self.layouts[name])

    def _message(self, message: Any, track: Any, wanted: set[str] | None, offset: int) -> Iterator[Played]:
        if track is None:
            return
        name, cdr = track
        if wanted is None:
            self.counts[name] = self.counts.get(name, 0) + 1
        elif name in wanted:
            storage = np.zeros(1, cdr.dtype)
            cdr.decode(message.data, storage.view(np.uint8).reshape(-1))
            yield Played(name, (message.log_time - offset) * 1e-9, message.sequence, storage[0])


def _records(stream: Any) -> Iterator[Any]:
    """All records of a file; parts that are larger than can be, packed or unpacked, are refused (ours have 1 MB)."""
    reading, chunk = mcap_module("stream_reader"), mcap_module("records").Chunk
    for record in reading.StreamReader(stream, emit_chunks=True, record_size_limit=LARGEST).records:
        if isinstance(record, chunk):
            yield from reading.breakup_chunk(_unpacked(record))
        else:
            yield record


def _unpacked(chunk: Any) -> Any:
    if chunk.compression != "lz4":
        return chunk
    frame: Any = import_module("lz4.frame")  # comes with mcap
    data = frame.LZ4FrameDecompressor().decompress(chunk.data, max_length=LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError(f"a part of it is unpacked to more than {LARGEST >> 20} MB")
    return replace(chunk, data=data, compression="")
