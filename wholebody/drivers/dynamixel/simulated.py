"""Simulated servos on their lines, in virtual time, or in real time in a process of their own.

Servo, its registers on a Plant; Line, a serial line that carries packets one at a time; SimulatedServos, both together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from wholebody import messages
from wholebody.drivers.dynamixel import packets, packets2
from wholebody.drivers.dynamixel.kinds import GREATEST_CURRENT
from wholebody.drivers.dynamixel.packets import BROADCAST, GREATEST, Fault, Instruction, Request, unsigned
from wholebody.drivers.dynamixel.ports import REPLY_TIMEOUT
from wholebody.drivers.dynamixel.table import BITS_PER_BYTE, Integers, ServoTable
from wholebody.drivers.interface import Plant
from wholebody.drivers.joint_drives import Drives
from wholebody.drivers.simulated_devices import serve_lines
from wholebody.errors import HardwareError
from wholebody.robots.robot import Robot

STEP = 0.001
"""s between two steps of the servos' own control."""
FACTORY = {
    "1.0": MappingProxyType(
        {
            packets.RETURN_DELAY: 250,
            packets.STATUS_LEVEL: 2,
            packets.TORQUE_LIMIT: 0xFF,
            packets.TORQUE_LIMIT + 1: 0x03,
            packets.PRESENT_VOLTAGE: 148,
            packets.PRESENT_TEMPERATURE: 25,
        }
    ),
    "2.0": MappingProxyType({packets2.RETURN_DELAY: 250, packets2.STATUS_LEVEL: 2, packets2.OPERATING_MODE: 3}),
}
WRITABLE = {
    "1.0": range(packets.RETURN_DELAY, packets.PRESENT_POSITION),
    "2.0": range(packets2.RETURN_DELAY, packets2.PRESENT_CURRENT),
}


class Servos:
    """All servos of a robot. `faults` are added to their replies; those in `dead` hear and say nothing.

    What a real one does and these do too: it goes to its goal no faster than its moving speed says, holds it for ever
    if nobody says more, is limp while its torque is switched off, shows 1024 steps, and answers with its faults. Ours:
    it says OVERLOAD while it gives more than its joint's effort, without switching off; 25 °C and 14.8 V are constant.
    One of protocol 2.0 whose Bus Watchdog runs out stops where it is, and takes no goal until that is set to 0.
    """

    def __init__(self, robot: Robot, table: ServoTable, plant: Plant, step: float = STEP) -> None:
        self.table, self.plant, self.step, self.kind = table, plant, step, table.kind
        self._of = table.kind.packets  # where registers are
        self._is_new = table.kind.protocol == "2.0"
        self._writable = WRITABLE[table.kind.protocol]
        n = len(table.joints)
        self.joint = {number: joint for joint, number in enumerate(table.servo)}
        self.faults = np.zeros(n, np.uint8)
        self.dead: set[int] = set()  # joints
        self._effort = np.array([joint.effort for joint in robot.moving])
        self._fastest = np.array([joint.velocity for joint in robot.moving])
        self._heard = np.zeros(n)  # s since a packet
        self._memory = np.zeros((n, self._of.REGISTERS), np.uint8)
        for address, value in FACTORY[table.kind.protocol].items():
            self._memory[:, address] = value
        self._shown = False  # whether registers show the state
        self._overloaded = np.zeros(n, np.uint8)
        self._state = messages.new(robot.state_dtype())
        plant.read(self._state)
        self._sent_to = np.array(self._state.position)  # where each is being led, at its speed
        self._goal = np.array(self._sent_to)
        self._put_all(self._of.GOAL_POSITION, table.counts(self._sent_to), 4 if self._is_new else 2)

    def advance(self) -> None:
        """Let one step go by."""
        powered = self._memory[:, self._of.TORQUE_ENABLE] > 0
        self._watch(powered)
        position = self._state.position
        np.copyto(self._sent_to, position, where=~powered)
        far = self._speed() * self.step
        self._sent_to += np.clip(self._goal - self._sent_to, -far, far)
        self.plant.advance(self.step, self._sent_to, powered)
        self.plant.read(self._state)
        self._shown = False

    def _watch(self, powered: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        """Stop those whose Bus Watchdog has run out."""
        if self._is_new:
            self._heard += self.step
            limit = self._memory[:, packets2.BUS_WATCHDOG]
            over = powered & (limit > 0) & (limit != packets2.RAN_OUT) & (self._heard > limit * packets2.WATCHDOG_UNIT)
            limit[over] = packets2.RAN_OUT
            np.copyto(self._goal, self._sent_to, where=over)

    def hear(self, request: Request) -> bytes | None:
        """Do what a request says; return the reply of the servo that was asked, if it gives one."""
        self._heard[:] = 0.0
        if request.instruction is Instruction.SYNC_WRITE:
            address, parts = self._of.decode_sync_write(request.parameters)
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
        level = self._memory[joint, self._of.STATUS_LEVEL]
        needed = {Instruction.PING: 0, Instruction.READ: 1}.get(request.instruction, 2)
        if level < needed:
            return None
        complaints = self._complaints(joint)
        if self._is_new:
            complaints = packets2.ALERT if complaints else 0
        packet: bytes = self._of.reply(request.servo, faults | complaints, data)
        return packet

    def return_delay(self, number: int) -> float:
        """How long a servo takes before it answers, in seconds."""
        return float(self._memory[self.joint[number], self._of.RETURN_DELAY]) * 2e-6

    def _answer(self, joint: int, request: Request) -> tuple[int, bytes]:
        try:
            if request.instruction is Instruction.READ:
                address, count = self._of.read_of(request.parameters)
                if address + count <= self._memory.shape[1]:
                    self._show()
                    return 0, self._memory[joint, address : address + count].tobytes()
            elif request.instruction is Instruction.WRITE:
                return self._write(joint, *self._of.write_of(request.parameters)), b""
            elif request.instruction is Instruction.PING:
                return 0, b""
        except HardwareError:
            pass
        return int(Fault.RANGE), b""

    def _write(self, joint: int, address: int, data: bytes) -> int:
        if joint in self.dead:
            return 0
        if address not in self._writable or address + len(data) - 1 not in self._writable:
            return int(Fault.RANGE)
        if self._is_new and address >= packets2.BUS_WATCHDOG + 2 and self._ran_out(joint):
            return int(Fault.RANGE)  # goals are read-only
        kept = self._memory[joint].copy()
        self._memory[joint, address : address + len(data)] = np.frombuffer(data, np.uint8)
        goal = self._get(joint, self._of.GOAL_POSITION, 4 if self._is_new else 2)
        if goal > self.kind.greatest:
            self._memory[joint] = kept
            return int(Fault.ANGLE_LIMIT)
        if not (self._is_new and self._ran_out(joint)):
            self._goal[joint] = self.table.position(joint, goal)
        return 0

    def _ran_out(self, joint: int) -> bool:
        return bool(self._memory[joint, packets2.BUS_WATCHDOG] == packets2.RAN_OUT)

    def _complaints(self, joint: int) -> int:
        return int(self.faults[joint]) | int(self._overloaded[joint])

    def _speed(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        at = packets2.PROFILE_VELOCITY if self._is_new else packets.MOVING_SPEED
        low, high = self._memory[:, at], self._memory[:, at + 1]
        counts = low + 256.0 * (high & 0x03)
        return np.where(counts > 0, np.minimum(counts * self.kind.speed_unit, self._fastest), self._fastest)

    def _show(self) -> None:
        """Bring the registers of what is measured up to date, for all at once."""
        if self._shown:
            return
        turn, load = self.table.direction, self._state.effort / self._effort
        self._overloaded[:] = np.where(np.abs(load) > 1, int(Fault.OVERLOAD), 0)
        position, speed = self.table.counts(self._state.position), turn * self._state.velocity / self.kind.speed_unit
        if self._is_new:
            self._memory[:, packets2.HARDWARE_ERROR] = self._overloaded | self.faults
            self._put_all(packets2.PRESENT_POSITION, position, 4)
            self._put_all(packets2.PRESENT_VELOCITY, np.rint(speed).astype(np.int64), 4)
            current = np.clip(np.rint(turn * load * GREATEST_CURRENT), -32767, 32767)
            self._put_all(packets2.PRESENT_CURRENT, current.astype(np.int64))
        else:
            self._put_all(packets.PRESENT_POSITION, position)
            self._put_all(packets.PRESENT_SPEED, unsigned(speed))
            self._put_all(packets.PRESENT_LOAD, unsigned(turn * load * GREATEST))
        self._shown = True

    def _get(self, joint: int, address: int, size: int = 2) -> int:
        return int.from_bytes(self._memory[joint, address : address + size].tobytes(), "little")

    def _put_all(self, address: int, values: Integers, size: int = 2) -> None:
        for byte in range(size):
            self._memory[:, address + byte] = values >> 8 * byte & 0xFF


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

    def __init__(self, servos: Servos, baud: float = 0.0, faults: LineFaults | None = None) -> None:
        self.faults = faults or LineFaults()
        self.busy = 0.0  # s, in all
        self._servos, self._byte = servos, BITS_PER_BYTE / (baud or servos.table.baud)
        self._decode = servos.kind.packets.decode_request
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
        request: Request = self._decode(packet)
        arrived = self._through(packet)
        try:
            heard = self._decode(arrived) if arrived is not None else None
        except HardwareError:  # a spoilt packet is no packet, or none that they know
            heard = None
        if request.instruction is not Instruction.SYNC_READ:
            answer = self._servos.hear(heard) if heard is not None else None
            if answer is None:
                return sent + REPLY_TIMEOUT if request.is_answered else sent
            return self._reply(sent, request.servo, answer)
        for servo in request.parameters[4:]:
            one = Request(servo, Instruction.READ, request.parameters[:4])
            answer = self._servos.hear(one) if heard == request else None
            if answer is None:  # the next one answers only to one that it heard before it
                return sent + REPLY_TIMEOUT
            sent = self._reply(sent, servo, answer)
        return sent

    def _reply(self, sent: float, servo: int, answer: bytes) -> float:
        """Let a servo answer; return when the line is free again."""
        begins = sent + self._servos.return_delay(servo) + self.faults.delay
        ends = begins + len(answer) * self._byte
        self.busy += ends - sent
        arrived = self._through(answer)
        if arrived is not answer:  # what asked waits for a reply that it can read
            ends = max(ends, sent + REPLY_TIMEOUT)
        if arrived is not None:
            self._replies.append((ends, arrived))
        return ends

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


class SimulatedServos:
    """Servos and lines with a common time, which goes by only in advance()."""

    def __init__(
        self,
        robot: Robot,
        plant: Plant | None = None,
        *,
        lines: int | None = None,
        baud: float = 0.0,
        faults: LineFaults | None = None,
        step: float = STEP,
        servos: str = "",
    ) -> None:
        self.table = ServoTable.of(robot, lines, servos)
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
    ports: Sequence[int] = (),
    lines: int | None = None,
    faults: LineFaults | None = None,
    step: float = STEP,
    ready: Callable[[list[int]], None] | None = None,
    goes_on: Callable[[], bool] | None = None,
    servos: str = "",
) -> None:
    """Be a robot's servos in real time, one UDP port a line (any free one unless given), until SIGTERM or SIGINT.

    `ready` is told the ports. Whoever spoke last on a line gets its replies, so a restarted daemon just goes on.
    """
    simulated = SimulatedServos(robot, plant, lines=lines, faults=faults, step=step, servos=servos)
    serve_lines(
        simulated,
        lambda stream: simulated.table.kind.packets.split(stream).packets,
        ports=ports,
        ready=ready,
        goes_on=goes_on,
    )
