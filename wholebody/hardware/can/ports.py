"""Port: a bus of python-can as CanRobot uses it, with plain Frames and no exceptions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import can

from wholebody.hardware.can.frames import Frame


class Port:
    """One bus. What cannot be sent is counted; the robot's boards go on with what they had."""

    def __init__(self, bus: can.BusABC) -> None:
        self.bus: Any = bus
        self.unsent = 0
        self.trouble = ""  # why the last frames could not be sent, if so
        self._many = hasattr(bus, "send_frames")

    def send(self, frames: Sequence[Frame]) -> None:
        """Send frames one after the other."""
        sent = 0
        try:
            if self._many:
                self.bus.send_frames(frames)
            else:
                for identifier, data in frames:
                    self.bus.send(can.Message(arbitration_id=identifier, data=data, is_extended_id=False))
                    sent += 1
            self.trouble = ""
        except (can.CanError, OSError) as error:
            self.unsent += len(frames) - sent
            self.trouble = str(error)

    def receive(self, timeout: float) -> Sequence[tuple[float, int, bytes]]:
        """Take the frames that are there, or wait for the first: (time, identifier, data)."""
        try:
            if self._many:
                frames: Sequence[tuple[float, int, bytes]] = self.bus.receive_frames(timeout)
                return frames
            found = []
            message = self.bus.recv(timeout)
            while message is not None:
                if not (message.is_extended_id or message.is_error_frame or message.is_remote_frame):
                    found.append((message.timestamp, message.arbitration_id, bytes(message.data)))
                message = self.bus.recv(0)
            return found
        except (can.CanError, OSError) as error:
            self.trouble = str(error)
            return ()
