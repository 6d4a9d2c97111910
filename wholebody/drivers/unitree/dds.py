"""Participant, Writer, Reader: topics of fixed size by DDS (Cyclone's C library), without a word on their types.

A sample is a block of bytes as it is on the wire; no type information is announced, because participants of older
Cyclones have been seen to crash at that of newer ones. A topic that is named like theirs, and whose type is, is theirs.

Nothing leaves the machine and nothing from elsewhere is heard unless another interface is named.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from wholebody.errors import HardwareError, MissingExtra, NetworkWarning

LOOPBACK = "lo"
PARTICIPANTS = 60
"""On one machine, that find each other on its loopback interface."""
AT_ONCE = 16
"""Samples that a reader keeps, and takes at once."""
_ARRAY_OF_WORDS = 0x01080300  # instruction of Cyclone's serializer: here is an array of 32-bit numbers
_RELIABLE, _KEEP_LAST = 1, 0

_CONFIGURATION = """\
<CycloneDDS><Domain Id="any">
  <General><Interfaces><NetworkInterface name="{interface}"/></Interfaces></General>
  <Discovery>{tag}<ParticipantIndex>auto</ParticipantIndex>
    <MaxAutoParticipantIndex>{participants}</MaxAutoParticipantIndex>{peers}</Discovery>
</Domain></CycloneDDS>"""


class _TypeData(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_uint32))


class _TopicType(ctypes.Structure):
    """dds_topic_descriptor_t."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("alignment", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("key_count", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
        ("keys", ctypes.c_void_p),
        ("instruction_count", ctypes.c_uint32),
        ("instructions", ctypes.POINTER(ctypes.c_uint32)),
        ("xml", ctypes.c_char_p),
        ("type_information", _TypeData),
        ("type_mapping", _TypeData),
        ("representations", ctypes.c_uint32),
    )


class _SampleInfo(ctypes.Structure):
    """dds_sample_info_t."""

    _fields_ = (
        ("sample_state", ctypes.c_uint32),
        ("view_state", ctypes.c_uint32),
        ("instance_state", ctypes.c_uint32),
        ("valid", ctypes.c_bool),
        ("source_time", ctypes.c_int64),
        ("instance", ctypes.c_uint64),
        ("publication", ctypes.c_uint64),
        ("counts", ctypes.c_uint32 * 5),
    )


class Participant:
    """One of those who share a domain's topics: on one interface, or with a tag only those who have the same tag."""

    def __init__(self, interface: str = LOOPBACK, domain: int = 0, tag: str = "") -> None:
        self._library = library = _library()
        before = _sockets()
        self._domain = _Domain.of(domain, _configuration(interface, tag))
        self._handle = _checked(library.dds_create_participant(domain, None, None), f"join domain {domain}")
        self._open = True
        if interface == LOOPBACK:
            _keep_on_loopback(_sockets() - before)

    def writer(self, topic: str, kind: str, size: int) -> Writer:
        """Publish a topic, reliably to whoever asks for that; a sample that cannot be sent at once is superseded."""
        create, made = self._library.dds_create_writer, self._topic(topic, kind, size)
        with _quality(kept=1) as quality:
            self._library.dds_qset_reliability(quality, _RELIABLE, 0)
            return Writer(_checked(create(self._handle, made, quality, None), f"publish {topic}"))

    def reader(self, topic: str, kind: str, size: int) -> Reader:
        """Subscribe to a topic, whether it is published reliably or not."""
        create, made = self._library.dds_create_reader, self._topic(topic, kind, size)
        with _quality(kept=AT_ONCE) as quality:
            return Reader(_checked(create(self._handle, made, quality, None), f"subscribe to {topic}"), size)

    def _topic(self, topic: str, kind: str, size: int) -> int:
        code = (ctypes.c_uint32 * 4)(_ARRAY_OF_WORDS, 0, size // 4, 0)
        described = _TopicType(size, 4, 0, 0, kind.encode(), None, 2, code, b"", _TypeData(), _TypeData(), 0)
        create = self._library.dds_create_topic
        return _checked(create(self._handle, ctypes.byref(described), topic.encode(), None, None), f"name {topic}")

    def close(self) -> None:
        """Leave, with all its writers and readers."""
        if self._open:
            self._open = False
            self._library.dds_delete(self._handle)
            self._domain.leave()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave."""
        self.close()


class Writer:
    """Publishes samples of one topic."""

    def __init__(self, handle: int) -> None:
        self._handle, self._write = handle, _library().dds_write

    def write(self, sample: npt.NDArray[np.uint8]) -> bool:
        """Publish a sample; False if that is not possible now."""
        return self.write_at(sample.ctypes.data)

    def write_at(self, address: int) -> bool:
        """The same of bytes at an address, which costs less than to ask an array where it is."""
        return bool(self._write(self._handle, address) >= 0)


class Reader:
    """Takes the samples of one topic."""

    def __init__(self, handle: int, size: int) -> None:
        self._handle, self._take = handle, _library().dds_take
        self._memory = np.zeros((AT_ONCE, size), np.uint8)
        self._samples = list(self._memory)
        self._places = (ctypes.c_void_p * AT_ONCE)(*(row.ctypes.data for row in self._memory))
        self._infos = (_SampleInfo * AT_ONCE)()

    def take(self) -> Sequence[npt.NDArray[np.uint8]]:
        """The samples that have come since the last call, the newest last; they are valid until the next call."""
        count = self._take(self._handle, self._places, self._infos, AT_ONCE, AT_ONCE)
        if count <= 0:
            return ()
        return [self._samples[each] for each in range(count) if self._infos[each].valid]

    def close(self) -> None:
        """Take no more."""
        _library().dds_delete(self._handle)


class _Domain:
    """A domain of this process; it is made with a configuration once, and all its participants share that."""

    open: dict[int, _Domain] = {}  # noqa: RUF012 - shared by all, as the library's own list is

    def __init__(self, number: int, configuration: str) -> None:
        self.number, self.configuration, self.participants = number, configuration, 0
        make = _library().dds_create_domain
        self._handle = _checked(
            make(number, configuration.encode()), f"open domain {number} (does this process use it otherwise?)"
        )

    @classmethod
    def of(cls, number: int, configuration: str) -> _Domain:
        """The domain of a number, made now unless it is there with the same configuration."""
        found = cls.open.get(number)
        if found is not None and found.configuration != configuration:
            raise HardwareError(f"this process uses DDS domain {number} on another interface; give another domain=")
        domain = found or cls.open.setdefault(number, cls(number, configuration))
        domain.participants += 1
        return domain

    def leave(self) -> None:
        """One participant less; without any the domain is closed."""
        self.participants -= 1
        if not self.participants:
            del self.open[self.number]
            _library().dds_delete(self._handle)


@contextlib.contextmanager
def _quality(kept: int) -> Iterator[int]:
    """A quality of service that keeps so many samples."""
    library = _library()
    quality = library.dds_create_qos()
    library.dds_qset_history(quality, _KEEP_LAST, kept)
    try:
        yield quality
    finally:
        library.dds_delete_qos(quality)


def _configuration(interface: str, tag: str) -> str:
    there = [name for _, name in socket.if_nameindex()]
    if interface not in there:
        raise HardwareError(f"no network interface '{interface}'; there are {', '.join(there)}")
    peers = '<Peers><Peer Address="127.0.0.1"/></Peers>' if interface == LOOPBACK else ""
    return _CONFIGURATION.format(
        interface=interface, tag=f"<Tag>{tag}</Tag>" if tag else "", participants=PARTICIPANTS, peers=peers
    )


def _sockets() -> set[int]:
    """The open sockets of this process, by their file numbers."""
    found = set()
    for each in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/self/fd/{each}").startswith("socket:"):
                found.add(int(each))
    return found


def _keep_on_loopback(sockets: set[int]) -> None:
    """Let sockets hear this machine alone; Cyclone binds them to all addresses, whatever its configuration says."""
    for number in sockets:
        with socket.socket(fileno=os.dup(number)) as opened:
            try:
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, LOOPBACK.encode())
            except OSError as error:
                warnings.warn(
                    f"other machines can reach the DDS topics of this process ({error}): let a firewall keep UDP ports "
                    "7400 and above from them, or take a kernel of 5.7 or later",
                    NetworkWarning,
                    stacklevel=3,
                )
                return


def _checked(code: int, what: str) -> int:
    if code < 0:
        said = _library().dds_strretcode(code).decode()
        raise HardwareError(f"DDS could not {what}: {said}")
    return code


@cache
def _library() -> Any:
    """Cyclone's C library, which comes with its Python package."""
    try:
        from cyclonedds.__library__ import library_path
    except ImportError:
        raise MissingExtra("cyclonedds", "ros") from None
    library = ctypes.CDLL(str(library_path))
    entity, pointer = ctypes.c_int32, ctypes.c_void_p
    library.dds_create_domain.argtypes = [ctypes.c_uint32, ctypes.c_char_p]
    library.dds_create_participant.argtypes = [ctypes.c_uint32, pointer, pointer]
    library.dds_create_topic.argtypes = [entity, pointer, ctypes.c_char_p, pointer, pointer]
    library.dds_create_writer.argtypes = library.dds_create_reader.argtypes = [entity, entity, pointer, pointer]
    library.dds_create_qos.argtypes, library.dds_create_qos.restype = [], pointer
    library.dds_delete_qos.argtypes = [pointer]
    library.dds_qset_reliability.argtypes = [pointer, ctypes.c_int, ctypes.c_int64]
    library.dds_qset_history.argtypes = [pointer, ctypes.c_int, ctypes.c_int32]
    library.dds_write.argtypes = [entity, pointer]
    library.dds_take.argtypes = [entity, pointer, pointer, ctypes.c_size_t, ctypes.c_uint32]
    library.dds_delete.argtypes = [entity]
    library.dds_strretcode.argtypes, library.dds_strretcode.restype = [ctypes.c_int32], ctypes.c_char_p
    return library
