"""Link: a session of zenoh between machines, with endpoints by name and nothing found by itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from wholebody.channels import _ring
from wholebody.errors import BridgeError, MissingExtra

if TYPE_CHECKING:
    import zenoh

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
    "transport/link/tx/queue/congestion_control/drop/max_wait_before_drop_fragments": 1_000_000,
    "transport/link/rx/max_message_size": _ring.PAYLOAD_MAX + _ring.TEXT_MAX + 65536,
}


def open_link(listen: Iterable[str] = (), connect: Iterable[str] = ()) -> zenoh.Session:
    """Open a session at endpoints; BridgeError if one cannot be listened on. It connects again and again, for ever."""
    try:
        import zenoh
    except ImportError as error:
        raise MissingExtra("eclipse-zenoh", "net") from error
    zenoh.init_log_from_env_or("error")
    configuration, listening = zenoh.Config(), list(listen)
    endpoints = {"listen/endpoints": listening, "connect/endpoints": list(connect)}
    for key, value in {**_CONFIGURATION, **endpoints}.items():
        configuration.insert_json5(key, json.dumps(value))
    try:
        return zenoh.open(configuration)
    except zenoh.ZError as error:
        raise _refused(str(error), listening) from error


def endpoint(text: str) -> str:
    """Return what zenoh calls the endpoint: tcp/HOST:PORT."""
    match = re.fullmatch(r"(?:tcp/)?([^\s/#?:]+|\[[0-9a-fA-F:.%\w]+\]):(\d{1,5})", text.strip())
    if match is None or not 0 < int(match[2]) < 65536:
        raise BridgeError(f"'{text}' is no endpoint; give HOST:PORT, such as 192.168.1.5:7447 or 0.0.0.0:7447")
    return f"tcp/{match[1]}:{match[2]}"


def _refused(reason: str, listen: list[str]) -> BridgeError:
    where = ", ".join(listen)
    if "os error 98" in reason:
        return BridgeError(f"cannot listen on {where}: the port is taken, perhaps by another bridge; choose another")
    if "os error 99" in reason:
        return BridgeError(f"cannot listen on {where}: this machine has no such address; 0.0.0.0 means all it has")
    if "os error 13" in reason:
        return BridgeError(f"cannot listen on {where}: not permitted; ports below 1024 belong to the system")
    return BridgeError(f"cannot open the link: {reason.partition(' at /')[0]}")
