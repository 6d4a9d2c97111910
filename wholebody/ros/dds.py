"""Participant: readers and writers of topics by DDS, through the C library of cyclonedds, with messages as bytes.

participant = Participant(domain=0)                     # of this machine alone, by its loopback
writer = participant.writer("rt/chatter", String)
reader = participant.reader("rt/chatter", String)
writer.put(String("hello")); reader.take()

No type information is sent: older versions of Cyclone DDS end at the sight of newer ones'. On the loopback nothing
comes in from elsewhere either: Cyclone DDS listens on all interfaces, so its sockets are held to it (SO_BINDTODEVICE).
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import socket
import stat
import threading
from ctypes import POINTER, byref, c_char, c_char_p, c_int32, c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, Self, TypeVar
from xml.sax.saxutils import quoteattr

from wholebody.errors import BadBinding, BadMessage, MissingExtra
from wholebody.ros.cdr import decode, encode
from wholebody.ros.dds_types import Descriptor, descriptor
from wholebody.ros.message import Message

DOMAINS = 233
"""How many domains there are."""
LOOPBACK = "lo"
MOST_NODES = 32
"""Participants that find each other on one machine without multicast, as ROS 2 has it."""
PORTS, PORTS_OF_DOMAIN = 7400, 250
"""The first port of domain 0, and how many each domain has, by the standard."""
AT_ONCE = 64
DATA, ANY = 2, 0
DATA_AVAILABLE = 1 << 8
FIELDS = ("sample_state", "view_state", "instance_state")

M = TypeVar("M", bound=Message)


@dataclass(frozen=True)
class Quality:
    """Quality of service: reliable or best effort, kept for late joiners or not, how many are kept."""

    reliable: bool = True
    transient: bool = False
    depth: int = 10


USUAL = Quality()
SENSORS = Quality(reliable=False, depth=5)
"""As ROS 2's profile for sensor data."""
LATCHED = Quality(transient=True, depth=1)
"""As robot_state_publisher and tf2 have it for what is said once."""


class _Bytes(ctypes.Structure):
    _fields_ = (("base", c_char_p), ("length", c_size_t))


class _Info(ctypes.Structure):
    """dds_sample_info."""

    _fields_ = (
        *((name, c_uint32) for name in FIELDS),
        ("valid", ctypes.c_bool),
        ("stamp", c_int64),
        ("instance", c_uint64),
        ("publication", c_uint64),
        ("ranks", c_uint32 * 5),
    )


@cache
def library() -> Any:
    """The library, loaded when it is first needed; MissingExtra if cyclonedds is not installed."""
    found = importlib.util.find_spec("cyclonedds")
    if found is None or found.origin is None:
        raise MissingExtra("cyclonedds", "ros")
    package = Path(found.origin).parent
    files = sorted([*package.parent.glob("cyclonedds.libs/libddsc*"), *package.glob(".dylibs/libddsc*")])
    if not files:
        raise BadBinding(f"{package} brings no libddsc; install cyclonedds 11 from a wheel")
    loaded = ctypes.CDLL(str(files[0]))
    handle, pointer = c_int32, c_void_p
    arguments: dict[str, tuple[Any, ...]] = {
        "dds_create_domain": (c_uint32, c_char_p),
        "dds_create_participant": (c_uint32, pointer, pointer),
        "dds_create_topic": (handle, POINTER(Descriptor), c_char_p, pointer, pointer),
        "dds_create_reader": (handle, handle, pointer, pointer),
        "dds_create_writer": (handle, handle, pointer, pointer),
        "dds_delete": (handle,),
        "dds_get_guid": (handle, pointer),
        "dds_get_entity_sertype": (handle, POINTER(pointer)),
        "dds_writecdr": (handle, pointer),
        "dds_takecdr": (handle, POINTER(pointer), c_uint32, POINTER(_Info), c_uint32),
        "dds_create_waitset": (handle,),
        "dds_set_status_mask": (handle, c_uint32),
        "dds_waitset_attach": (handle, handle, c_int64),
        "dds_waitset_wait": (handle, pointer, c_size_t, c_int64),
        "dds_get_matched_subscriptions": (handle, pointer, c_size_t),
        "dds_get_matched_publications": (handle, pointer, c_size_t),
    }
    for name, kinds in arguments.items():
        getattr(loaded, name).argtypes = kinds
    none: dict[str, tuple[Any, ...]] = {
        "dds_delete_qos": (pointer,),
        "dds_qset_reliability": (pointer, c_uint32, c_int64),
        "dds_qset_durability": (pointer, c_uint32),
        "dds_qset_history": (pointer, c_uint32, c_int32),
        "dds_qset_userdata": (pointer, c_char_p, c_size_t),
        "ddsi_serdata_to_ser": (pointer, c_size_t, c_size_t, pointer),
        "ddsi_serdata_unref": (pointer,),
    }
    for name, kinds in none.items():
        getattr(loaded, name).argtypes, getattr(loaded, name).restype = kinds, None
    loaded.dds_create_qos.restype = pointer
    loaded.ddsi_serdata_from_ser_iov.argtypes = (pointer, c_uint32, c_size_t, POINTER(_Bytes), c_size_t)
    loaded.ddsi_serdata_from_ser_iov.restype = pointer
    loaded.ddsi_serdata_size.argtypes, loaded.ddsi_serdata_size.restype = (pointer,), c_uint32
    return loaded


def domain_of(said: str | None = None) -> int:
    """The domain: what is said, or ROS_DOMAIN_ID, or 0."""
    text = (os.environ.get("ROS_DOMAIN_ID", "") if said is None else said) or "0"
    if not text.isdigit() or int(text) >= DOMAINS:
        raise BadBinding(f"a ROS domain (ROS_DOMAIN_ID) is a number from 0 to {DOMAINS - 1}, not '{text}'")
    return int(text)


def configuration(network: str) -> str:
    """What Cyclone DDS is told: the one interface that it may use, by name or address."""
    kind = "address" if network[:1].isdigit() or ":" in network else "name"
    general = f"<Interfaces><NetworkInterface {kind}={quoteattr(network)}/></Interfaces>"
    if network != LOOPBACK:
        return f"<CycloneDDS><Domain Id='any'><General>{general}</General></Domain></CycloneDDS>"
    peers = "<Peers><Peer Address='127.0.0.1'/></Peers>"
    found = f"<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>{MOST_NODES}</MaxAutoParticipantIndex>"
    return (
        f"<CycloneDDS><Domain Id='any'><General>{general}<AllowMulticast>false</AllowMulticast></General>"
        f"<Discovery>{found}{peers}</Discovery></Domain></CycloneDDS>"
    )


_domains: dict[int, str] = {}
_lock = threading.Lock()


def _open_domain(domain: int, network: str) -> None:
    """Make a domain, before its first participant: a process has one configuration of each."""
    with _lock:
        if domain in _domains:
            if _domains[domain] != network:
                raise BadBinding(f"domain {domain} of this process is on '{_domains[domain]}' already, not '{network}'")
            return
        result = library().dds_create_domain(domain, configuration(network).encode())
        if result < 0:
            raise BadBinding(f"DDS cannot begin on the network '{network}' ({result}); give an interface of `ip link`")
        _domains[domain] = network


def _keep_out_others(domain: int) -> None:
    """Hold the sockets of a domain to the loopback."""
    ports = range(PORTS + PORTS_OF_DOMAIN * domain, PORTS + PORTS_OF_DOMAIN * (domain + 1))
    for number in map(int, os.listdir("/proc/self/fd")):
        try:
            if not stat.S_ISSOCK(os.fstat(number).st_mode):
                continue
            found = socket.socket(fileno=os.dup(number))
        except OSError:  # closed meanwhile
            continue
        with found:
            if found.type == socket.SOCK_DGRAM and found.family == socket.AF_INET and found.getsockname()[1] in ports:
                found.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, LOOPBACK.encode())


class Participant:
    """A participant of a domain, on the loopback unless a network is given by name or address."""

    def __init__(self, domain: int = 0, network: str = "", user_data: str = "") -> None:
        self._c, self.domain, self.network = library(), domain, network or LOOPBACK
        _open_domain(domain, self.network)
        self._topics: dict[str, tuple[int, type[Message]]] = {}
        quality = self._c.dds_create_qos()
        self._c.dds_qset_userdata(quality, user_data.encode(), len(user_data))
        self._entity = self._c.dds_create_participant(domain, quality, None)
        self._c.dds_delete_qos(quality)
        if self._entity > 0 and self.network == LOOPBACK:
            _keep_out_others(domain)
        if self._entity < 0:
            raise BadBinding(
                f"no participant of domain {domain} on '{self.network}' ({self._entity}): is the interface up, and are "
                f"there fewer than {MOST_NODES} on this machine? (`ip link`)"
            )

    @property
    def gid(self) -> bytes:
        """Its number."""
        return _gid(self._entity)

    def writer(self, topic: str, kind: type[M], quality: Quality = USUAL, about: str = "") -> Writer[M]:
        """A writer of a topic; `about` is its user data."""
        return Writer(self._endpoint(self._c.dds_create_writer, topic, kind, quality, about), kind)

    def reader(self, topic: str, kind: type[M], quality: Quality = USUAL, about: str = "") -> Reader[M]:
        """A reader of a topic."""
        return Reader(self._endpoint(self._c.dds_create_reader, topic, kind, quality, about), kind, self._entity)

    def close(self) -> None:
        """Leave the domain, with all readers and writers."""
        if self._entity > 0:
            self._c.dds_delete(self._entity)
            self._entity = 0

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _endpoint(self, create: Any, topic: str, kind: type[Message], quality: Quality, about: str) -> int:
        c = self._c
        options = c.dds_create_qos()
        c.dds_qset_reliability(options, int(quality.reliable), 0)
        c.dds_qset_durability(options, int(quality.transient))
        c.dds_qset_history(options, 0, quality.depth)
        if about:
            c.dds_qset_userdata(options, about.encode(), len(about))
        entity: int = create(self._entity, self._topic(topic, kind), options, None)
        c.dds_delete_qos(options)
        if entity < 0:
            raise BadBinding(f"DDS refuses '{topic}' ({entity})")
        return entity

    def _topic(self, name: str, kind: type[Message]) -> int:
        if name not in self._topics:
            entity = self._c.dds_create_topic(self._entity, byref(descriptor(kind)), name.encode(), None, None)
            if entity < 0:
                raise BadBinding(
                    f"'{name}' is no name of a topic ({entity}): words of letters, digits and _, / between"
                )
            self._topics[name] = entity, kind
        entity, there = self._topics[name]
        if there is not kind:
            raise BadBinding(f"topic '{name}' has {there.ros} already, so it cannot have {kind.ros}")
        return entity


def _gid(entity: int) -> bytes:
    found = (c_uint8 * 16)()
    library().dds_get_guid(entity, found)
    return bytes(found)


class _Endpoint(Generic[M]):
    """A reader or a writer."""

    def __init__(self, entity: int, kind: type[M]) -> None:
        self._c, self._entity, self.kind = library(), entity, kind
        self.gid = _gid(entity)

    def close(self) -> None:
        """Take it back."""
        if self._entity > 0:
            self._c.dds_delete(self._entity)
            self._entity = 0


class Writer(_Endpoint[M]):
    """Writes a topic; it never waits for who reads."""

    def __init__(self, entity: int, kind: type[M]) -> None:
        super().__init__(entity, kind)
        self._type = c_void_p()
        self._c.dds_get_entity_sertype(entity, byref(self._type))
        self._bytes = _Bytes()

    def put(self, message: M) -> None:
        """Write a message."""
        self.put_bytes(encode(message))

    def put_bytes(self, data: bytes) -> None:
        """Write the bytes of one; BadMessage if they are none of its type."""
        data += bytes(-len(data) % 4)
        self._bytes.base, self._bytes.length = data, len(data)
        sample = self._c.ddsi_serdata_from_ser_iov(self._type, DATA, 1, byref(self._bytes), len(data))
        if not sample:
            raise BadMessage(f"{len(data)} bytes are no {self.kind.ros}")
        self._c.dds_writecdr(self._entity, sample)  # when nobody keeps up, the next one is newer

    @property
    def readers(self) -> int:
        """How many readers there are."""
        return int(self._c.dds_get_matched_subscriptions(self._entity, None, 0))


class Reader(_Endpoint[M]):
    """Reads a topic; only `wait` waits."""

    def __init__(self, entity: int, kind: type[M], participant: int) -> None:
        super().__init__(entity, kind)
        self._participant, self._waiting = participant, 0
        self._samples, self._infos = (c_void_p * AT_ONCE)(), (_Info * AT_ONCE)()

    def take(self) -> list[M]:
        """What came since the last time, oldest first."""
        return [decode(self.kind, each) for each in self.take_bytes()]

    def take_bytes(self) -> list[bytes]:
        """The same as bytes."""
        count: int = self._c.dds_takecdr(self._entity, self._samples, AT_ONCE, self._infos, ANY)
        found = []
        for index in range(count):
            sample = self._samples[index]
            if self._infos[index].valid:
                size: int = self._c.ddsi_serdata_size(sample)
                data = (c_char * size)()
                self._c.ddsi_serdata_to_ser(sample, 0, size, data)
                found.append(data.raw)
            self._c.ddsi_serdata_unref(sample)
        return found

    def wait(self, seconds: float) -> bool:
        """Wait until something has come that was not taken; False if nothing does in time."""
        if not self._waiting:
            self._waiting = self._c.dds_create_waitset(self._participant)
            self._c.dds_set_status_mask(self._entity, DATA_AVAILABLE)
            self._c.dds_waitset_attach(self._waiting, self._entity, 0)
        return bool(self._c.dds_waitset_wait(self._waiting, None, 0, int(seconds * 1e9)) > 0)

    @property
    def writers(self) -> int:
        """How many writers there are."""
        return int(self._c.dds_get_matched_publications(self._entity, None, 0))
