"""CanPort: a CAN-FD bus of this machine, by python-can, as the end of a line that never waits."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import Any

import can

from wholebody.drivers.hubo_can.frames import Frame
from wholebody.drivers.moteus.frames import framed, unframed
from wholebody.errors import HardwareError


class CanPort:
    """A bus, such as can0 of SocketCAN. What cannot be sent at once is counted in `unsent`."""

    simulated = False

    def __init__(self, channel: str, interface: str = "socketcan") -> None:
        try:
            self._bus: Any = can.Bus(channel, interface=interface, fd=True)
        except (can.CanError, OSError, ValueError) as error:
            raise HardwareError(
                f"cannot open the CAN bus {channel}: {error}; is it up, with FD? "
                f"ip link set {channel} up type can bitrate 1000000 dbitrate 5000000 fd on"
            ) from error
        self.unsent = 0

    def send(self, packets: Sequence[bytes]) -> None:
        """Send frames one after the other."""
        for frame in (each for packet in packets for each in unframed(packet)):
            message = can.Message(
                arbitration_id=frame.id,
                data=frame.data,
                is_extended_id=frame.id > 0x7FF,
                is_fd=True,
                bitrate_switch=True,
            )
            try:
                self._bus.send(message, timeout=0)
            except (can.CanError, OSError):
                self.unsent += 1

    def receive(self) -> bytes:
        """Take the frames that have come."""
        found = b""
        with contextlib.suppress(can.CanError, OSError):
            while (message := self._bus.recv(0)) is not None:
                if not (message.is_error_frame or message.is_remote_frame):
                    found += framed(Frame(message.arbitration_id, bytes(message.data)))
        return found

    def wait(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)

    def close(self) -> None:
        """Let go of the bus."""
        self._bus.shutdown()
