"""Servos: simulated ones, each with its registers, on a Plant.

What a real one does and these do too: it goes to its goal no faster than its moving speed says, holds it for ever if
nobody says more, is limp while its torque is switched off, shows 1024 steps, and answers with its faults. Ours: it
says OVERLOAD while it gives more than its joint's effort, without switching off; 25 °C and 14.8 V are constant.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType

import numpy as np

from wholebody.drivers.dynamixel import registers
from wholebody.drivers.dynamixel.packets import (
    BAUD,
    BROADCAST,
    Fault,
    Instruction,
    Request,
    decode_sync_write,
    reply,
    split,
)
from wholebody.drivers.dynamixel.ports import STAMP
from wholebody.drivers.dynamixel.registers import GREATEST, SPEED_UNIT, unsigned
from wholebody.drivers.dynamixel.simulated_line import Line, LineFaults
from wholebody.drivers.dynamixel.table import Integers, ServoTable
from wholebody.drivers.interface import Plant
from wholebody.drivers.joint_drives import Drives
from wholebody.realtime import until_told
from wholebody.robots.robot import Robot

STEP = 0.001
FACTORY = MappingProxyType(
    {
        registers.RETURN_DELAY: 250,
        registers.STATUS_LEVEL: 2,
        registers.TORQUE_LIMIT: 0xFF,
        registers.TORQUE_LIMIT + 1: 0x03,
        registers.PRESENT_VOLTAGE: 148,
        registers.PRESENT_TEMPERATURE: 25,
    }
)
WRITABLE = range(registers.RETURN_DELAY, registers.PRESENT_POSITION)


class Servos:
    """All servos of a robot. `faults` are added to their replies; those in `dead` hear and say nothing."""

    def __init__(self, robot: Robot, table: ServoTable, plant: Plant, step: float = STEP) -> None:
        self.table, self.plant, self.step = table, plant, step
        n = len(table.joints)
        self.joint = {number: joint for joint, number in enumerate(table.servo)}
        self.faults = np.zeros(n, np.uint8)
        self.dead: set[int] = set()  # joints
        self._effort = np.array([joint.effort for joint in robot.moving])
        self._fastest = np.array([joint.velocity for joint in robot.moving])
        self._memory = np.zeros((n, registers.SIZE), np.uint8)
        for address, value in FACTORY.items():
            self._memory[:, address] = value
        self._shown = False  # whether registers show the state
        self._overloaded = np.zeros(n, np.uint8)
        self._state = np.zeros(1, robot.state_dtype())[0]
        plant.read(self._state)
        self._sent_to = np.array(self._state["position"])  # where each is being led, at its speed
        self._goal = np.array(self._sent_to)
        self._put_all(registers.GOAL_POSITION, table.counts(self._sent_to))

    def advance(self) -> None:
        """Let one step go by."""
        powered = self._memory[:, registers.TORQUE_ENABLE] > 0
        position = self._state["position"]
        np.copyto(self._sent_to, position, where=~powered)
        far = self._speed() * self.step
        self._sent_to += np.clip(self._goal - self._sent_to, -far, far)
        self.plant.advance(self.step, self._sent_to, powered)
        self.plant.read(self._state)
        self._shown = False

    def hear(self, request: Request) -> bytes | None:
        """Do what a request says; return the reply of the servo that was asked, if it gives one."""
        if request.instruction is Instruction.SYNC_WRITE:
            address, parts = decode_sync_write(request.parameters)
            for number, data in parts.items():
                if number in self.joint:
                    self._write(self.joint[number], address, data)
            return None
        if request.servo == BROADCAST:
            for joint in range(len(self.faults)):
                self._answer(joint, request)
            return None
        if request.servo not in self.joint or self.joint[request.servo] in self.dead:
            return None
        joint = self.joint[request.servo]
        faults, data = self._answer(joint, request)
        level = self._memory[joint, registers.STATUS_LEVEL]
        needed = {Instruction.PING: 0, Instruction.READ: 1}.get(request.instruction, 2)
        return reply(request.servo, faults | self._complaints(joint), data) if level >= needed else None

    def return_delay(self, number: int) -> float:
        """How long a servo takes before it answers, in seconds."""
        return float(self._memory[self.joint[number], registers.RETURN_DELAY]) * 2e-6

    def _answer(self, joint: int, request: Request) -> tuple[int, bytes]:
        given = request.parameters
        match request.instruction:
            case Instruction.READ if len(given) == 2 and given[0] + given[1] <= registers.SIZE:
                self._show()
                return 0, self._memory[joint, given[0] : given[0] + given[1]].tobytes()
            case Instruction.WRITE if len(given) >= 2:
                return self._write(joint, given[0], given[1:]), b""
            case Instruction.PING:
                return 0, b""
        return int(Fault.RANGE), b""

    def _write(self, joint: int, address: int, data: bytes) -> int:
        if joint in self.dead:
            return 0
        if address not in WRITABLE or address + len(data) - 1 not in WRITABLE:
            return int(Fault.RANGE)
        kept = self._memory[joint].copy()
        self._memory[joint, address : address + len(data)] = np.frombuffer(data, np.uint8)
        goal = self._get(joint, registers.GOAL_POSITION)
        if goal > GREATEST:
            self._memory[joint] = kept
            return int(Fault.ANGLE_LIMIT)
        self._goal[joint] = self.table.position(joint, goal)
        return 0

    def _complaints(self, joint: int) -> int:
        return int(self.faults[joint]) | int(self._overloaded[joint])

    def _speed(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        low, high = self._memory[:, registers.MOVING_SPEED], self._memory[:, registers.MOVING_SPEED + 1]
        counts = low + 256.0 * (high & 0x03)
        return np.where(counts > 0, np.minimum(counts * SPEED_UNIT, self._fastest), self._fastest)

    def _show(self) -> None:
        """Bring the registers of what is measured up to date, for all at once."""
        if self._shown:
            return
        turn, load = self.table.direction, self._state["effort"] / self._effort
        self._overloaded[:] = np.where(np.abs(load) > 1, int(Fault.OVERLOAD), 0)
        self._put_all(registers.PRESENT_POSITION, self.table.counts(self._state["position"]))
        self._put_all(registers.PRESENT_SPEED, unsigned(turn * self._state["velocity"] / SPEED_UNIT))
        self._put_all(registers.PRESENT_LOAD, unsigned(turn * load * GREATEST))
        self._shown = True

    def _get(self, joint: int, address: int) -> int:
        return int(self._memory[joint, address]) + 256 * int(self._memory[joint, address + 1])

    def _put_all(self, address: int, values: Integers) -> None:
        self._memory[:, address], self._memory[:, address + 1] = values & 0xFF, values >> 8


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
