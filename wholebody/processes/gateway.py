"""What answers other machines as a process, `wholebody process gateway`; `wholebody run` begins it."""

from __future__ import annotations

from wholebody.channels.bridge.gateway import Gateway
from wholebody.processes.main import Ready
from wholebody.realtime import sleep_until_told


def gateway(endpoint: str, name: str = "", *, ready: Ready) -> None:
    """Answer other machines until SIGTERM or SIGINT."""
    with Gateway(endpoint):
        ready()
        sleep_until_told()
