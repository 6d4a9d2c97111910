"""ServoRobot: a robot on lines of Dynamixel servos, as a RobotInterface with Boards.

Each write sends all goals and asks the servos how they are; each read takes what has come back since, so a state is one
period old. A servo that does not answer keeps its last value and is counted; after HOLLOW periods its joint shows
ENCODER_ERROR. Measured are position, velocity, temperature, and as effort the share of its greatest torque with which a
servo drives its motor (of X servos their current, and no temperature). Neither an IMU nor force-torque sensors are on
these lines. Servos know their angle as soon as they have power, so there is nothing to search: to go home is to go to
zero, slowly. X servos stop by themselves when they hear nothing for a while: their Bus Watchdogs are armed.

A joint that is switched on, sent home or called away from home is led at HOMING_SPEED until it is where it was sent;
one that went home stays there until its reference changes. The goal of a limp joint follows it, so that nothing jumps
when it is switched on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Annotated, Self

import numpy as np
import numpy.typing as npt

from wholebody.drivers import simulated_devices
from wholebody.drivers.dynamixel.packets import Fault
from wholebody.drivers.dynamixel.ports import Port, SerialPort
from wholebody.drivers.dynamixel.table import SHARE, ServoTable, Traffic, traffic
from wholebody.drivers.interface import Answer
from wholebody.errors import HardwareError
from wholebody.messages import ALL_JOINTS, Measured, Mode, Reference, State, Status, Verb
from wholebody.parameters.parameter import Bounds, Unit
from wholebody.robots.robot import Robot

MEASURED = int(Measured.POSITION | Measured.VELOCITY | Measured.EFFORT | Measured.TEMPERATURE)
HOMING_SPEED = 0.5  # rad/s
HOLLOW = 40  # readings in a row that did not come
SELDOM = 50  # cycles between two questions to a servo like that, because each costs the line a timeout
ATTEMPTS = 25
_OF_FAULT = {
    Fault.VOLTAGE: Status.DRIVER_FAULT,
    Fault.OVERHEATING: Status.TOO_HOT,
    Fault.OVERLOAD: Status.SATURATED,
}


def dynamixel(
    robot: Robot,
    period: float,
    name: str,
    *,
    devices: Sequence[str] = (),
    servos: str = "",
    watchdog: Annotated[float, Unit("s"), Bounds(0.02, 2.54)] = 0.2,
) -> ServoRobot:
    """Dynamixel servos on serial lines (protocols 1.0 and 2.0); without devices, simulated servos.

    devices   serial devices in the order of the servo table, such as /dev/ttyUSB0,/dev/ttyUSB1; none: simulated servos
    servos    YAML file with a table of servos; none: that of the robot, if it is ours
    watchdog  after how long without a packet servos of protocol 2.0 stop by themselves
    """
    if devices:
        table = ServoTable.of(robot, len(devices), servos)
        serial: list[Port] = [SerialPort(device, table.baud, table.kind) for device in devices]
        return ServoRobot(robot, serial, period, simulated=False, servos=servos, watchdog=watchdog)
    found = simulated_devices.announced(name, "give devices=/dev/ttyUSB0, or begin them: wholebody start")
    return ServoRobot(
        robot,
        [simulated_devices.DatagramPort(number) for number in found.ports],
        period,
        servos=servos,
        watchdog=watchdog,
    )


class ServoRobot:
    """The robot on one or several lines of servos."""

    modes = frozenset({Mode.POSITION})

    def __init__(
        self,
        robot: Robot,
        ports: Port | Sequence[Port],
        period: float = 0.005,
        simulated: bool | None = None,
        servos: str = "",
        watchdog: float = 0.2,
    ) -> None:
        self._ports: list[Port] = list(ports) if isinstance(ports, Sequence) else [ports]
        self.robot, self.period = robot, period
        self.simulated = all(port.simulated for port in self._ports) if simulated is None else simulated
        self.table = table = ServoTable.of(robot, len(self._ports), servos)
        self.kind, self.timeout = table.kind, watchdog
        self.readings = Readings(robot, table)
        self.traffic: dict[str, Traffic] = traffic(table)
        n = len(table.joints)
        self._goal, self._led_to = np.zeros(n), np.zeros(n)  # where joints are sent, and how far they are led by now
        self._slow = np.zeros(n, bool)
        self._homing = np.zeros(n, bool)  # at zero, or on the way, until its reference changes
        self._passed_over = np.zeros(n)  # the reference that a joint at home does not follow
        self._powered = np.zeros(n, bool)  # as it is wanted
        self._full = np.array([max(1, round(joint.velocity / self.kind.speed_unit)) for joint in robot.moving])
        self._check = [self.kind.ask_check(servo) for servo in table.servo]
        self._on = [table.on(line) for line in range(len(table.lines))]
        self._turn, self._cycle = [0] * len(self._on), 0
        self._to_arm = False  # whether watchdogs are to be armed with the next goals
        self._exchange = max(each.read_time + each.check_time for each in self.traffic.values())
        if any(each.reads_within(period) == 0 for each in self.traffic.values()):
            raise HardwareError(
                f"a period of {period} s is too short for the servo lines; the least is {self._least():.4f} s"
            )
        self._zero = np.array([float(np.clip(0.0, joint.lower, joint.upper)) for joint in robot.moving])

    @property
    def unanswered(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """How often each joint's servo was asked and did not answer in time."""
        return self.readings.unanswered

    def read(self, state: State) -> None:
        """Fill in what has come back by now."""
        for line, port in enumerate(self._ports):
            self.readings.take(line, port.receive())
        self.readings.fill(state)
        state.reference[:] = self._goal
        state.status[:] = self._status()

    def write(self, reference: Reference) -> None:
        """Send the goals of the mask, and ask the next servos how they are."""
        follows = reference.mask & (reference.mode == Mode.POSITION) & np.isfinite(reference.position)
        np.copyto(self._passed_over, reference.position, where=follows & np.isnan(self._passed_over))
        called = self._homing & follows & (reference.position != self._passed_over)
        self._slow |= called
        self._homing &= ~called
        np.copyto(self._goal, reference.position, where=follows & ~self._homing)
        self._send()

    def stop(self) -> None:
        """Hold every joint where it was last seen."""
        with contextlib.suppress(Exception):
            self._homing[:] = False
            np.copyto(self._goal, self.readings.position, where=self.readings.seen)
            np.copyto(self._led_to, self._goal)
            for line, port in enumerate(self._ports):
                port.send([self._goals(line)])

    def command(self, verb: Verb, joint: int, values: Sequence[float]) -> Answer:
        """Home, switch on and off, reset, or say how a servo is."""
        table: dict[Verb, Callable[[list[int], Sequence[float]], str]] = {
            Verb.STATUS: self._tell,
            Verb.HOME: self._home,
            Verb.INITIALIZE: lambda joints, _: self._switch(joints, True),
            Verb.RESET: self._reset,
            Verb.CONTROL: lambda joints, given: self._switch(joints, given[0] > 0),
        }
        if verb not in table:
            return Answer(
                False, f"servos know no {verb.name.lower()}; they know {', '.join(v.name.lower() for v in table)}"
            )
        joints = list(range(len(self.table.joints))) if joint == ALL_JOINTS else [joint]
        text = table[verb](joints, values)
        status = self._status()[joints]
        return Answer(True, text, int(np.bitwise_and.reduce(status)), self.readings.figures(joints[0]))

    def __enter__(self) -> Self:
        """Take the servos as they are: what holds goes on holding what it held, what is limp stays limp."""
        try:
            self._take_over()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, and let the lines go; the servos hold."""
        self.stop()
        self._close()

    def _take_over(self) -> None:
        settings, readings, servo = self.kind.settings(), self.readings, self.table.servo
        for _ in range(ATTEMPTS):
            for line, port in enumerate(self._ports):
                missing = [j for j in self._on[line] if not (readings.seen[j] and readings.checked[j])]
                asked = [packet for j in missing for packet in (*self.kind.ask([servo[j]]), self._check[j])]
                port.send([*settings, *asked])
            self._ports[0].wait(0.004 + len(self.table.joints) * max(0.001, 1.5 * self._exchange))
            for line, port in enumerate(self._ports):
                readings.take(line, port.receive())
            if readings.seen.all() and readings.checked.all():
                break
        if not readings.seen.any():
            raise HardwareError(
                "no servo answers: is the robot switched on, its bus plugged in, the simulator running?"
            )
        self._powered[:] = readings.powered
        np.copyto(self._goal, np.where(readings.powered, readings.goal, readings.position))
        np.copyto(self._led_to, self._goal)
        readings.forget_questions()
        self._to_arm = True

    def _close(self) -> None:
        for port in self._ports:
            with contextlib.suppress(Exception):
                port.close()

    def _send(self) -> None:
        self._cycle += 1
        self._lead()
        for line, port in enumerate(self._ports):
            switches = self._switches(self._on[line])
            asked = self._next(line, sum(map(len, switches)))
            self.readings.ask(line, asked)
            check = self._on[line][self._cycle % len(self._on[line])]
            arm = self.kind.arm(self.timeout) if self._to_arm else []
            ask = self.kind.ask([self.table.servo[joint] for joint in asked])
            port.send([*arm, self._goals(line), *switches, *ask, self._check[check]])
        self._to_arm = False

    def _lead(self) -> None:
        """Lead slow joints on by a step, and let limp ones lead."""
        far = HOMING_SPEED * self.period
        step = np.where(self._slow, np.clip(self._goal - self._led_to, -far, far), self._goal - self._led_to)
        self._led_to += step
        limp = ~(self.readings.powered & self._powered)
        self._slow |= limp
        np.copyto(self._led_to, self.readings.position, where=limp & self.readings.seen)
        self._slow &= limp | (np.abs(step) >= far)

    def _next(self, line: int, besides: int) -> list[int]:
        """Whose turn it is to be read, when so many bytes are to be sent besides."""
        on, load = self._on[line], list(self.traffic.values())[line]
        if self._cycle % SELDOM:
            on = tuple(joint for joint in on if self.readings.silent[joint] <= HOLLOW)
        count = min(len(on), load.reads_within(self.period, load.seconds(besides)))
        first = self._turn[line]
        self._turn[line] = first + count
        return [on[(first + number) % len(on)] for number in range(count)]

    def _goals(self, line: int) -> bytes:
        counts = self.table.counts(self._led_to)
        return self.kind.goals(
            {self.table.servo[joint]: (int(counts[joint]), int(self._full[joint])) for joint in self._on[line]}
        )

    def _switches(self, joints: Sequence[int]) -> list[bytes]:
        """Torque switches that are not as they are wanted, said again until they are seen to be."""
        wrong = [j for j in joints if self.readings.checked[j] and self.readings.powered[j] != self._powered[j]]
        if not wrong:
            return []
        return [self.kind.switch({self.table.servo[joint]: bool(self._powered[joint]) for joint in wrong})]

    def _status(self) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
        readings = self.readings
        status = np.where(readings.powered, int(Status.DRIVER_ON | Status.CONTROL_ON), 0).astype(np.uint32)
        status[readings.seen & ~(self._homing & self._slow)] |= np.uint32(Status.HOMED)
        status[readings.silent > HOLLOW] |= np.uint32(Status.ENCODER_ERROR)
        status[self._goal < self.table.lower - self.kind.step] |= np.uint32(Status.POSITION_BELOW_MINIMUM)
        status[self._goal > self.table.upper + self.kind.step] |= np.uint32(Status.POSITION_ABOVE_MAXIMUM)
        for fault, flag in _OF_FAULT.items():
            status[(readings.faults & int(fault)) > 0] |= np.uint32(flag)
        return status

    def _home(self, joints: list[int], _: Sequence[float]) -> str:
        self._switch(joints, True)
        self._slow[joints], self._homing[joints], self._passed_over[joints] = True, True, np.nan
        self._goal[joints] = self._zero[joints]
        return f"going to zero at {HOMING_SPEED} rad/s"

    def _switch(self, joints: list[int], on: bool) -> str:
        self._powered[joints] = on
        self._to_arm = True  # a watchdog that has run out is set again
        return "switched on" if on else "switched off: limp"

    def _reset(self, joints: list[int], _: Sequence[float]) -> str:
        self.readings.faults[joints] = 0
        self._to_arm = True
        return "faults forgotten; those that persist come back with the next reading"

    def _tell(self, joints: list[int], _: Sequence[float]) -> str:
        joint = joints[0]
        faults = Fault(int(self.readings.faults[joint])).name or "none"
        own = f"; stops by itself {self.timeout:g} s after a last packet" if self.kind.arm(self.timeout) else ""
        return f"servo {self.table.servo[joint]}: faults {faults.lower()}, {self.unanswered[joint]} unanswered{own}"

    def _least(self) -> float:
        return max((each.write_time + each.check_time + each.read_time) / SHARE for each in self.traffic.values())


class Readings:
    """By joint: position, velocity, effort, temperature, faults, torque switch and goal, and who did not answer."""

    def __init__(self, robot: Robot, table: ServoTable) -> None:
        n = len(table.joints)
        self._table = table
        self._joint = {each: joint for joint, each in enumerate(zip(table.line, table.servo, strict=True))}
        self._effort = np.array([joint.effort for joint in robot.moving])
        self.position, self.velocity, self.effort = np.zeros(n), np.zeros(n), np.zeros(n)
        self.temperature, self.goal = np.zeros(n), np.zeros(n)
        self.faults = np.zeros(n, np.uint8)
        self.seen, self.checked, self.powered = np.zeros(n, bool), np.zeros(n, bool), np.zeros(n, bool)
        self.silent = np.zeros(n, np.int64)  # questions in a row without an answer
        self.spoilt = 0  # bytes that belonged to no packet
        self._asked, self._answered = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self._rest = [b""] * len(table.lines)
        self._raw = np.zeros((n, table.kind.reading.size), np.uint8)
        self._raw_settings = np.zeros((n, table.kind.check.size), np.uint8)
        self._measured = MEASURED if table.kind.measures_temperature else MEASURED & ~int(Measured.TEMPERATURE)

    @property
    def unanswered(self) -> npt.NDArray[np.int64]:
        """How many questions to each servo have not been answered; the newest one may still be."""
        missing: npt.NDArray[np.int64] = np.maximum(self._asked - self._answered - (self.silent > 0), 0)
        return missing

    def ask(self, line: int, joints: Sequence[int]) -> None:
        """Note who is asked now; what is left of earlier replies can no longer be completed."""
        asked = list(joints)
        self._asked[asked] += 1
        self.silent[asked] += 1
        self.spoilt += len(self._rest[line])
        self._rest[line] = b""

    def take(self, line: int, received: bytes) -> None:
        """Take in what has come on a line."""
        if not received:
            return
        kind = self._table.kind
        found = kind.packets.split(self._rest[line] + received)
        self._rest[line], self.spoilt = found.rest, self.spoilt + found.spoilt
        for packet in found.packets:
            try:
                reply = kind.packets.decode_reply(packet)
            except HardwareError:  # an echo of what was asked
                continue
            joint, data = self._joint.get((line, reply.servo)), np.frombuffer(reply.data, np.uint8)
            if joint is None:
                continue
            if len(data) == self._raw.shape[1]:
                self._raw[joint], self.seen[joint], self.silent[joint] = data, True, 0
                self._answered[joint] += 1
                if kind.measures_temperature:  # protocol 1.0 tells faults in each reply
                    self.faults[joint] = int(reply.faults)
            elif len(data) == self._raw_settings.shape[1]:
                self._raw_settings[joint], self.checked[joint] = data, True
        self._understand()

    def forget_questions(self) -> None:
        """Count from here on."""
        self._asked[:] = self._answered[:] = self.silent[:] = 0

    def fill(self, state: State) -> None:
        """Fill in a state; sensors that are on no line are said not to be measured."""
        state.position[:], state.velocity[:], state.effort[:] = self.position, self.velocity, self.effort
        state.acceleration[:], state.current[:], state.temperature[:] = 0.0, 0.0, self.temperature
        state.measured[:] = np.where(self.seen, self._measured, 0)
        imu, wrench, base = state.imu, state.force_torque, state.base
        imu.orientation[:], imu.measured[:] = (0.0, 0.0, 0.0, 1.0), 0
        imu.angular_velocity[:], imu.linear_acceleration[:] = 0.0, 0.0
        wrench.force[:], wrench.torque[:], wrench.measured[:] = 0.0, 0.0, 0
        base.orientation[:], base.known = (0.0, 0.0, 0.0, 1.0), False

    def figures(self, joint: int) -> tuple[float, ...]:
        """Position, effort, temperature, and how often it did not answer."""
        values = (self.position[joint], self.effort[joint], self.temperature[joint], self.unanswered[joint])
        return tuple(float(value) for value in values)

    def _understand(self) -> None:
        """Turn the registers of all servos into the quantities of their joints."""
        table, kind = self._table, self._table.kind
        counts, speed, share, celsius = kind.measured(self._raw)
        np.copyto(self.position, table.positions(counts), where=self.seen)
        np.multiply(table.direction, speed, out=self.velocity)
        np.multiply(table.direction * self._effort, share, out=self.effort)
        np.copyto(self.temperature, celsius)
        on, goal, faults = kind.checked(self._raw_settings)
        np.copyto(self.goal, table.positions(goal), where=self.checked)
        np.copyto(self.powered, on)
        if faults is not None:
            np.copyto(self.faults, faults)
