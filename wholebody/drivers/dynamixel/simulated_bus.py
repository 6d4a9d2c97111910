"""SimulatedServos: all servos of a robot on their lines, in virtual time, or in real time in a process of their own."""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Callable, Iterator, Sequence

from wholebody.drivers.dynamixel.packets import (
    BAUD,
    split,
)
from wholebody.drivers.dynamixel.ports import STAMP
from wholebody.drivers.dynamixel.simulated_line import Line, LineFaults
from wholebody.drivers.dynamixel.simulated_servos import STEP, Servos
from wholebody.drivers.dynamixel.table import ServoTable
from wholebody.drivers.interface import Plant
from wholebody.drivers.joint_drives import Drives
from wholebody.realtime import until_told
from wholebody.robots.robot import Robot

PORTS = (24110, 24111)
"""UDP ports on this machine at which simulated lines are found, unless told otherwise"""


CATCH_UP = 0.1
"""s that a process which was held up makes good; more are left out"""


class SimulatedServos:
    """Servos and lines with a common time, which goes by only in advance()."""

    def __init__(
        self,
        robot: Robot,
        plant: Plant | None = None,
        *,
        lines: int | None = None,
        baud: float = BAUD,
        faults: LineFaults | None = None,
        step: float = STEP,
    ) -> None:
        self.table = ServoTable.of(robot, lines)
        self.servos = Servos(robot, self.table, plant or Drives(robot), step)
        self.lines = [Line(self.servos, baud, faults) for _ in self.table.lines]
        self.now = 0.0
        self._steps = 0

    def advance(self, seconds: float) -> None:
        """Let time go by: lines and servos step by step, so that what is read is as old as it would be."""
        self.now += seconds
        while (self._steps + 1) * self.servos.step <= self.now + 1e-9:
            self._steps += 1
            for line in self.lines:
                line.run(self._steps * self.servos.step)
            self.servos.advance()
        for line in self.lines:
            line.run(self.now)

    def ports(self) -> list[SteppedPort]:
        """The ends of the lines, for a robot in the same process."""
        return [SteppedPort(self, line) for line in self.lines]


class SteppedPort:
    """A Port in virtual time."""

    simulated = True

    def __init__(self, simulated: SimulatedServos, line: Line) -> None:
        self._simulated, self._line = simulated, line

    def send(self, packets: Sequence[bytes]) -> None:
        """Begin to send."""
        self._line.submit(self._simulated.now, packets)

    def receive(self) -> bytes:
        """Take what is through."""
        return self._line.take(self._simulated.now)

    def wait(self, seconds: float) -> None:
        """Let virtual time go by, for all lines."""
        self._simulated.advance(seconds)

    def close(self) -> None:
        """There is nothing to let go of."""


def serve(
    robot: Robot,
    plant: Plant | None = None,
    *,
    ports: Sequence[int] = PORTS,
    lines: int | None = None,
    faults: LineFaults | None = None,
    step: float = STEP,
    ready: Callable[[list[int]], None] | None = None,
    goes_on: Callable[[], bool] | None = None,
) -> None:
    """Be a robot's servos in real time, one UDP port a line (0: any free one), until SIGTERM or SIGINT.

    `ready` is told the ports. Whoever spoke last on a line gets its replies, so a restarted daemon just goes on.
    """
    simulated = SimulatedServos(robot, plant, lines=lines, faults=faults, step=step)
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in simulated.lines]
    with contextlib.ExitStack() as stack:
        for each, number in zip(sockets, [*ports, *[0] * len(sockets)][: len(sockets)], strict=True):
            stack.enter_context(each)
            each.bind(("127.0.0.1", number))
            each.setblocking(False)
        if ready is not None:
            ready([each.getsockname()[1] for each in sockets])
        _loop(simulated, sockets, goes_on or until_told())


def _loop(simulated: SimulatedServos, sockets: list[socket.socket], goes_on: Callable[[], bool]) -> None:
    asker: list[tuple[str, int] | None] = [None] * len(sockets)
    start = time.monotonic() - simulated.now
    while goes_on():
        select.select(sockets, [], [], _until_next(simulated))
        start += max(0.0, time.monotonic() - start - simulated.now - CATCH_UP)
        asked = [each for number, end in enumerate(sockets) for each in _asked(end, number, asker)]
        for moment, number, packets in sorted(asked):
            simulated.advance(max(0.0, moment - start - simulated.now))
            simulated.lines[number].submit(simulated.now, packets)
        simulated.advance(max(0.0, time.monotonic() - start - simulated.now))
        for end, line, to in zip(sockets, simulated.lines, asker, strict=True):
            if to is not None and (replies := line.take(simulated.now)):
                with contextlib.suppress(OSError):
                    end.sendto(replies, to)


def _asked(
    end: socket.socket, number: int, asker: list[tuple[str, int] | None]
) -> Iterator[tuple[float, int, tuple[bytes, ...]]]:
    """The requests that have come on a line, each with its time, but none from the future."""
    with contextlib.suppress(OSError):
        while True:
            datagram, asker[number] = end.recvfrom(65536)
            if len(datagram) > STAMP.size:
                (moment,) = STAMP.unpack_from(datagram)
                yield min(moment, time.monotonic()), number, split(datagram[STAMP.size :]).packets


def _until_next(simulated: SimulatedServos) -> float:
    """Seconds until a line has more to say: a little less often than its packets, to save the machine's time."""
    busy = any(not line.idle or line.done > simulated.now for line in simulated.lines)
    return 0.001 if busy else 0.005
