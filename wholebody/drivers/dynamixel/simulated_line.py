"""Line: a simulated serial line in virtual time: so many bits a second, one packet at a time, lossy on request."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wholebody.drivers.dynamixel.packets import BAUD, BITS_PER_BYTE, decode_request
from wholebody.drivers.dynamixel.ports import REPLY_TIMEOUT
from wholebody.drivers.dynamixel.simulated_servos import Servos
from wholebody.errors import HardwareError


@dataclass(frozen=True)
class LineFaults:
    """How bad a line is: chances that a packet is lost or has a byte changed, and seconds added to every reply."""

    loss: float = 0.0
    corruption: float = 0.0
    delay: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what is no chance."""
        if not (0 <= self.loss <= 1 and 0 <= self.corruption <= 1 and 0 <= self.delay < 1):
            raise HardwareError(f"{self}: chances are 0 to 1, a delay less than a second")


class Line:
    """Carries requests to servos and replies back, each when its last bit is through."""

    def __init__(self, servos: Servos, baud: float = BAUD, faults: LineFaults | None = None) -> None:
        self.faults = faults or LineFaults()
        self.busy = 0.0  # s, in all
        self._servos, self._byte = servos, BITS_PER_BYTE / baud
        self._is_bad = self.faults.loss > 0 or self.faults.corruption > 0
        self._random = np.random.default_rng(self.faults.seed)
        self._queue: deque[bytes] = deque()
        self._free = 0.0  # from when on the line is free
        self._replies: deque[tuple[float, bytes]] = deque()

    @property
    def done(self) -> float:
        """From when on there is nothing more to come, but for what is still to be sent."""
        return self._free

    @property
    def idle(self) -> bool:
        """Whether nothing is to be sent."""
        return not self._queue

    def submit(self, now: float, packets: Sequence[bytes]) -> None:
        """Begin to send these, and forget what is unsent of the last ones; no packet is broken off."""
        begun = [self._queue[0]] if self._queue and self._free < now else []
        self._queue = deque([*begun, *packets])
        if not begun:
            self._free = max(self._free, now)

    def run(self, now: float) -> None:
        """Do all that is through by now."""
        while self._queue and self._free + len(self._queue[0]) * self._byte <= now:
            packet = self._queue.popleft()
            through = self._free + len(packet) * self._byte
            self.busy += len(packet) * self._byte
            self._free = self._exchange(packet, through)

    def take(self, now: float) -> bytes:
        """The replies that are through by now, each once."""
        taken = b""
        while self._replies and self._replies[0][0] <= now:
            taken += self._replies.popleft()[1]
        return taken

    def _exchange(self, packet: bytes, sent: float) -> float:
        """Let the servos hear a packet; return when the line is free again."""
        request = decode_request(packet)
        answer = self._heard(packet)
        if answer is None:
            return sent + REPLY_TIMEOUT if request.is_answered else sent
        begins = sent + self._servos.return_delay(request.servo) + self.faults.delay
        ends = begins + len(answer) * self._byte
        self.busy += ends - sent
        arrived = self._through(answer)
        if arrived is not answer:  # what asked waits for a reply that it can read
            ends = max(ends, sent + REPLY_TIMEOUT)
        if arrived is not None:
            self._replies.append((ends, arrived))
        return ends

    def _heard(self, packet: bytes) -> bytes | None:
        """What the servos answer to what they hear; a spoilt packet is no packet, or none that they know."""
        arrived = self._through(packet)
        try:
            return self._servos.hear(decode_request(arrived)) if arrived is not None else None
        except HardwareError:
            return None

    def _through(self, packet: bytes) -> bytes | None:
        """What comes out at the other end: the packet, a spoilt one, or nothing."""
        if not self._is_bad:
            return packet
        lost, spoilt = self._random.random(2)
        if lost < self.faults.loss:
            return None
        if spoilt < self.faults.corruption:
            at = int(self._random.integers(len(packet)))
            changed = bytearray(packet)
            changed[at] ^= int(self._random.integers(1, 256))
            return bytes(changed)
        return packet
