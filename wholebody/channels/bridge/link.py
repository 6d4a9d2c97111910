"""Link: a session of zenoh between machines, with endpoints by name and nothing found by itself."""

from __future__ import annotations

import contextlib
import json
import re
import struct
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from wholebody import security
from wholebody.channels import _ring
from wholebody.errors import BridgeError, MissingExtra, NotSecured

if TYPE_CHECKING:
    import zenoh

USER = "wholebody"
"""Whose password the token is, for zenoh."""
# A link slower than its messages must drop them, not queue them: so all buffers on the way are small.
_CONFIGURATION: dict[str, Any] = {
    "mode": "peer",
    "listen/exit_on_failure": True,
    "listen/timeout_ms": 0,
    "connect/exit_on_failure": False,
    "connect/timeout_ms": -1,
    "connect/retry": {"period_init_ms": 100, "period_max_ms": 300, "period_increase_factor": 2},
    "open/return_conditions": {"connect_scouted": False, "declares": False},
    "scouting/multicast/enabled": False,
    "scouting/gossip/enabled": False,
    "transport/shared_memory/enabled": False,
    "transport/link/tcp/so_sndbuf": 32768,
    "transport/link/tcp/so_rcvbuf": 32768,
    "transport/link/tx/lease": 3000,
    "transport/link/tx/queue/size/data_high": 16,  # messages: what comes while the sending thread waits for its turn
    "transport/link/tx/queue/congestion_control/drop/max_wait_before_drop_fragments": 1_000_000,
    "transport/link/rx/max_message_size": _ring.PAYLOAD_MAX + _ring.TEXT_MAX + 65536,
}


def open_link(listen: Iterable[str] = (), connect: Iterable[str] = (), insecure: bool = False) -> zenoh.Session:
    """Open a session at endpoints; BridgeError if one cannot be listened on. It connects again and again, for ever.

    Beyond this machine it is encrypted, and both sides show that they know the token (wholebody.security), unless
    `insecure`; NotSecured if there are no keys.
    """
    try:
        import zenoh
    except ImportError as error:
        raise MissingExtra("eclipse-zenoh", "net") from error
    zenoh.init_log_from_env_or("error")
    listening = [_listening(each, insecure) for each in listen]
    connecting = [_connecting(each, insecure) for each in connect]
    endpoints = {"listen/endpoints": listening, "connect/endpoints": connecting}
    encrypted = any(each.startswith("tls/") for each in (*listening, *connecting))
    configuration = zenoh.Config()
    with _protection(encrypted) as protection:
        for key, value in {**_CONFIGURATION, **endpoints, **protection}.items():
            configuration.insert_json5(key, json.dumps(value))
        try:
            return zenoh.open(configuration)
        except zenoh.ZError as error:
            raise _refused(str(error), listening) from error


def _listening(where: str, insecure: bool) -> str:
    """An endpoint to listen at, with TLS if others can reach it."""
    host, ours = where[4:].rpartition(":")[0], security.keys()
    if where.startswith("tls/"):
        if not ours.can_listen:
            raise NotSecured(f"there are no keys in {security.folder()} to listen at {where} with: wholebody keys make")
        return where
    lacks = () if ours.can_listen and not insecure else ("TLS", "a token")
    others = security.check_listening("the link between machines", host, lacks=lacks, insecure=insecure)
    return f"tls/{where[4:]}" if others and not lacks else where


def _connecting(where: str, insecure: bool) -> str:
    """An endpoint to connect to, with TLS if it is another machine's and we have its certificate and the token."""
    host, ours = where[4:].rpartition(":")[0], security.keys()
    if where.startswith("tls/"):
        if not ours.can_connect:
            raise NotSecured(f"{security.folder()} lacks robot.pem or token, to connect to {where}; copy them there")
        return where
    if security.is_loopback(host):
        return where
    if ours.can_connect and not insecure:
        return f"tls/{where[4:]}"
    security.say_insecure(f"the link to {where} has neither TLS nor a token")
    return where


@contextlib.contextmanager
def _protection(encrypted: bool) -> Iterator[dict[str, Any]]:
    """What zenoh has to know of our keys; it wants the token in a file, which is ours alone and goes again."""
    if not encrypted:
        yield {}
        return
    ours = security.keys()
    tls = {"root_ca_certificate": str(ours.certificate), "listen_certificate": str(ours.certificate)}
    if ours.key is not None:
        tls["listen_private_key"] = str(ours.key)
    else:
        del tls["listen_certificate"]
    with tempfile.NamedTemporaryFile("w", prefix="wholebody-") as known:  # 0600
        known.write(f"{USER}:{ours.token}\n")
        known.flush()
        login = {"user": USER, "password": ours.token, "dictionary_file": known.name}
        yield {f"transport/link/tls/{key}": value for key, value in tls.items()} | {
            f"transport/auth/usrpwd/{key}": value for key, value in login.items()
        }


def endpoint(text: str) -> str:
    """Return what zenoh calls the endpoint: tcp/HOST:PORT, or tls/HOST:PORT if it was typed like that."""
    match = re.fullmatch(r"(tcp/|tls/)?([^\s/#?:]+|\[[0-9a-fA-F:.%\w]+\]):(\d{1,5})", text.strip())
    if match is None or not 0 < int(match[3]) < 65536:
        raise BridgeError(f"'{text}' is no endpoint; give HOST:PORT, such as 192.168.1.5:7447 or 0.0.0.0:7447")
    return f"{match[1] or 'tcp/'}{match[2]}:{match[3]}"


def _refused(reason: str, listen: list[str]) -> BridgeError:
    where = ", ".join(listen)
    if "os error 98" in reason:
        return BridgeError(f"cannot listen on {where}: the port is taken, perhaps by another bridge; choose another")
    if "os error 99" in reason:
        return BridgeError(f"cannot listen on {where}: this machine has no such address; 0.0.0.0 means all it has")
    if "os error 13" in reason:
        return BridgeError(f"cannot listen on {where}: not permitted; ports below 1024 belong to the system")
    return BridgeError(f"cannot open the link: {reason.partition(' at /')[0]}")


VERSION = 1

_MESSAGE = struct.Struct("<4sHxxQQQq")
_QUESTION = struct.Struct("<4sHxxQQQ")
_ANSWER = struct.Struct("<4sHxxQQqqII")

SOURCES_PER_PROCESS = 1 << 16
DRIFT = 200e-6  # how fast two quartz clocks may drift apart, generously


class Message(NamedTuple):
    """The head of a message; `HEAD` bytes, then the payload as it stood in the channel."""

    source: int
    layout_hash: int
    sequence: int
    stamp_ns: int

    def pack_into(self, buffer: bytearray) -> None:
        """Write the head to the beginning of the buffer."""
        _MESSAGE.pack_into(buffer, 0, b"WBme", VERSION, *self)

    @classmethod
    def parse(cls, data: bytes) -> Self | None:
        """Read the head of a message; None if this is none of ours."""
        if len(data) <= _MESSAGE.size:
            return None
        magic, version, *rest = _MESSAGE.unpack_from(data)
        return cls(*rest) if magic == b"WBme" and version == VERSION else None


HEAD = _MESSAGE.size


class Question(NamedTuple):
    """What an importer has already: 0 where it has nothing."""

    source: int
    layout_hash: int
    sequence: int

    def pack(self) -> bytes:
        """Return the question as bytes."""
        return _QUESTION.pack(b"WBqu", VERSION, *self)

    @classmethod
    def parse(cls, data: bytes) -> Self | None:
        """Read a question; None if this is none of ours."""
        if len(data) != _QUESTION.size:
            return None
        magic, version, *rest = _QUESTION.unpack(data)
        return cls(*rest) if magic == b"WBqu" and version == VERSION else None


@dataclass(frozen=True)
class Answer:
    """What an exporter has, and when it was asked and answered; layout_hash 0 if its channel does not exist."""

    source: int
    layout_hash: int
    depth: int
    received_ns: int
    sent_ns: int
    layout_text: str = ""
    message: bytes = b""

    @property
    def process(self) -> int:
        """The exporting process, whichever of its sources this is."""
        return self.source // SOURCES_PER_PROCESS

    def pack(self) -> bytes:
        """Return the answer as bytes."""
        text = self.layout_text.encode()
        times = self.received_ns, self.sent_ns
        head = _ANSWER.pack(b"WBan", VERSION, self.source, self.layout_hash, *times, self.depth, len(text))
        return head + text + self.message

    @classmethod
    def parse(cls, data: bytes) -> Self | None:
        """Read an answer; None if this is none of ours."""
        if len(data) < _ANSWER.size:
            return None
        magic, version, source, layout_hash, received, sent, depth, size = _ANSWER.unpack_from(data)
        rest = data[_ANSWER.size :]
        if magic != b"WBan" or version != VERSION or size > len(rest):
            return None
        try:
            return cls(source, layout_hash, depth, received, sent, rest[:size].decode(), rest[size:])
        except UnicodeDecodeError:
            return None


class Exchange(NamedTuple):
    """A question's answer, with the local times of both."""

    asked_ns: int
    answer: Answer
    arrived_ns: int

    @property
    def round_trip_ns(self) -> int:
        """Time on the way, there and back."""
        return max(0, (self.arrived_ns - self.asked_ns) - (self.answer.sent_ns - self.answer.received_ns))

    @property
    def offset_ns(self) -> int:
        """How far the far clock is ahead, if both ways took equally long."""
        return ((self.answer.received_ns - self.asked_ns) + (self.answer.sent_ns - self.arrived_ns)) // 2

    def uncertainty_ns(self, now_ns: int) -> float:
        """How wrong the offset may be by now."""
        return self.round_trip_ns / 2 + DRIFT * (now_ns - self.arrived_ns)


class FarClock:
    """How far another machine's CLOCK_MONOTONIC is ahead of ours, from questions and answers, as NTP does it.

    A question leaves at t0, is received at t1 and answered at t2 (far clock), the answer arrives at t3:

        offset = ((t1 − t0) + (t2 − t3)) / 2,   uncertainty = ((t3 − t0) − (t2 − t1)) / 2 + drift × (now − t3)

    All uncertainties grow equally, so the exchange that has the smallest keeps it until a better one comes.
    """

    def __init__(self) -> None:
        self._best: Exchange | None = None

    @property
    def offset_ns(self) -> int:
        """The best guess; 0 before the first exchange."""
        return self._best.offset_ns if self._best else 0

    def compare(self, new: Exchange) -> None:
        """Take in the times of one more exchange."""
        best = self._best
        if best is not None:
            mine, its = new.uncertainty_ns(new.arrived_ns), best.uncertainty_ns(new.arrived_ns)
            jumped = abs(new.offset_ns - best.offset_ns) > mine + its  # a clock stood still, in a suspended laptop say
            if its < mine and not jumped:
                return
        self._best = new
