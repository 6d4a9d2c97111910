"""SimulatedBoards: the boards, sensors and power board of a robot, that read frames and answer them.

Not published, and so chosen by us: the homing speeds, when a motor counts as jammed or too far off its reference, how
current follows torque, and how a motor heats. Boards keep gains, but the plant has its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wholebody.drivers.hubo_can import commands, replies
from wholebody.drivers.hubo_can.commands import ALL_MOTORS, Command, Do, Sense, read_command, read_sensor_request
from wholebody.drivers.hubo_can.frames import POWER_BOARD, SENSOR_BOARD, Frame, Id, Kind
from wholebody.drivers.hubo_can.replies import ForceTorque, Motion, Tilt, write_status
from wholebody.drivers.hubo_can.simulated.motors import Homing, Lock, Motors
from wholebody.drivers.hubo_can.wiring import Board, Motor, SensorNode, Wiring
from wholebody.drivers.interface import Plant
from wholebody.messages import State
from wholebody.robots.robot import Robot
from wholebody.rotations import roll_pitch_yaw

VOLTAGE = 48.0
IDLE_CURRENT = 2.0  # A of boards and computers: an estimate
STEP = 0.001
"""Seconds between two steps of the boards' own control."""
_COMMAND, _SENSOR_REQUEST, _REFERENCE = int(Id.COMMAND), int(Id.SENSOR_REQUEST), int(Id.REFERENCE)


class SimulatedBoard:
    """One board: which joints are its motors, its beat, and what it remembers."""

    def __init__(self, board: Board, robot: Robot) -> None:
        self.board = board
        self.motors = tuple(robot.index[joint] for joint in board.joints)
        self.lock = Lock()
        self.gains: list[tuple[int, ...]] = [(0, 0, 0)] * len(board.motors)  # Kp, Ki, Kd
        self.alive = True


class SimulatedBoards:
    """All boards of a robot on a plant, in time that goes on in steps."""

    def __init__(self, robot: Robot, plant: Plant, wiring: Wiring, homed: bool = True) -> None:
        wiring.check(robot)
        self.robot, self.wiring = robot, wiring
        self.boards = {board.number: SimulatedBoard(board, robot) for board in wiring.active}
        wired = {motor.joint: motor for board in wiring.boards for motor in board.motors}
        known = [wired.get(name, Motor(name, 1.0)) for name in robot.joint_names]
        by_duty = {joint for board in wiring.boards if board.kind is Kind.HAND for joint in board.joints}
        self.motors = Motors(
            robot,
            plant,
            np.array([motor.counts_per_radian for motor in known]),
            np.array([name in by_duty for name in robot.joint_names]),
            Homing([motor.home_offset for motor in known], [motor.home_direction for motor in known]),
            homed,
        )
        self.sensors = SimulatedSensors(robot, wiring, self.motors.state)
        self.not_understood = 0
        self._steps = 0
        self.next_time = STEP  # when the boards take their next step
        self._do: dict[Do, Callable[[SimulatedBoard, Command], Frame | None]] = {
            Do.STATUS: self._status,
            Do.ENCODER: self._encoder,
            Do.CURRENT: self._current,
            Do.ZERO_ENCODER: self._zero,
            Do.POSITION_GAINS: self._gains,
            Do.DRIVER: self._driver,
            Do.CONTROL_ON: self._control,
            Do.CONTROL_OFF: self._control,
            Do.GO_HOME: self._go_home,
            Do.INITIALIZE: self._initialize,
        }

    def step(self) -> None:
        """Take the next step."""
        self.motors.advance(STEP)
        self._steps += 1
        self.next_time = (self._steps + 1) * STEP

    def receive(self, bus: int, frame: Frame, now: float) -> list[Frame]:
        """Give a frame to all boards of a bus; return what they answer."""
        if frame.id == _COMMAND:
            return self._command(bus, frame.data)
        if frame.id == _SENSOR_REQUEST:
            asked = read_sensor_request(frame.data)
            return self.sensors.answer(bus, *asked) if asked else self._noise()
        board = self.boards.get(frame.id - _REFERENCE)
        if board is None or board.board.bus != bus:
            return self._noise()
        self._follow(board, frame.data, now)
        return []

    def _noise(self) -> list[Frame]:
        self.not_understood += 1
        return []

    def _follow(self, board: SimulatedBoard, data: bytes, now: float) -> None:
        if not board.alive:
            return
        angles: tuple[float, ...] | None
        if board.board.kind is Kind.NECK:
            angles = commands.read_neck(data)
        else:
            counts = commands.read_motors(data) if board.board.kind is Kind.MOTORS else None
            scale = self.motors.counts_per_radian
            angles = counts and tuple(count / scale[motor] for count, motor in zip(counts, board.motors, strict=False))
        if angles is None:
            self.not_understood += 1
            return
        ends = board.lock.arrive(now)
        for motor, angle in zip(board.motors, angles, strict=True):
            self.motors.follow(motor, angle, now, ends)

    def _command(self, bus: int, data: bytes) -> list[Frame]:
        if data and data[0] == POWER_BOARD and self.wiring.power_bus == bus:
            return [self._power()] if read_command(data) == Command(Do.READ_POWER, POWER_BOARD) else self._noise()
        board = self.boards.get(data[0]) if data else None
        if len(data) > 1 and data[1] == commands.DUTIES and board is not None and board.board.bus == bus:
            return self._pwm(board, data)
        command = read_command(data)
        if command is None:
            return self._noise()
        if command.do is Do.NULL_SENSOR:
            self.sensors.null(bus, command.board - SENSOR_BOARD)
            return []
        if board is None or board.board.bus != bus:
            return []
        if not board.alive or command.do not in self._do:
            return []
        answer = self._do[command.do](board, command)
        return [answer] if answer else []

    def _pwm(self, board: SimulatedBoard, data: bytes) -> list[Frame]:
        duties = commands.read_hand(data)
        if duties is None or board.board.kind is not Kind.HAND:
            return self._noise()
        if board.alive:
            for motor, duty in zip(board.motors, duties, strict=True):
                self.motors.duty[motor] = duty
        return []

    def _status(self, board: SimulatedBoard, command: Command) -> Frame:
        return write_status(command.board, [self.motors.status(motor) for motor in board.motors])

    def _encoder(self, board: SimulatedBoard, command: Command) -> Frame:
        if board.board.kind is Kind.NECK:
            angles = [self.motors.encoder[motor] for motor in board.motors]
            counts = [round((angle + np.pi) / (2 * np.pi) * 4096) for angle in angles]
        else:
            counts = self.motors.counts(board.motors)
        return replies.encoders(command.board, counts, board.board.kind, second_half=command.values == (1,))

    def _current(self, board: SimulatedBoard, command: Command) -> Frame:
        hottest = max(self.motors.temperature[motor] for motor in board.motors)
        return replies.currents(command.board, [self.motors.current[motor] for motor in board.motors], hottest)

    def _power(self) -> Frame:
        amperes = IDLE_CURRENT + float(self.motors.current.sum())
        return replies.power(replies.Power(VOLTAGE, amperes, VOLTAGE * amperes))

    def _zero(self, board: SimulatedBoard, command: Command) -> None:
        which = command.values[0]
        self.motors.reset(board.motors if which == ALL_MOTORS else board.motors[which : which + 1])

    def _gains(self, board: SimulatedBoard, command: Command) -> None:
        if command.motor < len(board.motors):
            board.gains[command.motor] = command.values

    def _driver(self, board: SimulatedBoard, command: Command) -> None:
        for motor in board.motors:
            self.motors.driver[motor] = bool(command.values[0])

    def _control(self, board: SimulatedBoard, command: Command) -> None:
        self.motors.set_control(board.motors, command.do is Do.CONTROL_ON)

    def _go_home(self, board: SimulatedBoard, command: Command) -> None:
        if command.motor < len(board.motors):
            self.motors.go_home(board.motors[command.motor])

    def _initialize(self, board: SimulatedBoard, command: Command) -> None:
        board.gains[:] = [(0, 0, 0)] * len(board.motors)


@dataclass
class Node:
    """A sensor, where its reading stands in the state, and what it was nulled by: Mx, My, Fz."""

    wiring: SensorNode
    place: int
    roll: tuple[int, ...]
    pitch: tuple[int, ...]
    null: tuple[float, float, float] = (0.0, 0.0, 0.0)


class SimulatedSensors:
    """All sensors of a robot; they read off a state that somebody else keeps up to date."""

    def __init__(self, robot: Robot, wiring: Wiring, state: State) -> None:
        self._state = state
        self._torque, self._force = state.force_torque.torque, state.force_torque.force
        places = {
            sensor.name: place
            for kind in ("imu", "force_torque")
            for place, sensor in enumerate(robot.sensors_of(kind))
        }
        self.nodes = {
            sensor.number: Node(
                *(sensor, places[sensor.name]),
                roll=tuple(robot.index[joint] for joint in sensor.roll_joints),
                pitch=tuple(robot.index[joint] for joint in sensor.pitch_joints),
            )
            for sensor in wiring.sensors
        }
        self.dead: set[str] = set()

    def answer(self, bus: int, number: int, what: Sense) -> list[Frame]:
        """What the sensors of a bus answer."""
        if what is Sense.IMU:
            asked = [node for node in self.nodes.values() if node.wiring.is_imu]
        else:
            asked = [self.nodes[number]] if number in self.nodes else []
        return [
            frame
            for node in asked
            if node.wiring.bus == bus and node.wiring.name not in self.dead
            for frame in self._answer(node, what)
        ]

    def null(self, bus: int, number: int) -> None:
        """Take what a force-torque sensor reads now for zero."""
        node = self.nodes.get(number)
        if node and node.wiring.bus == bus and not node.wiring.is_imu:
            node.null = self._wrench(node)

    def _answer(self, node: Node, what: Sense) -> list[Frame]:
        number = node.wiring.number
        if node.wiring.is_imu:
            return [replies.motion(number, self._motion(node))] if what is Sense.IMU else []
        if what is Sense.ACCELERATION:
            return [replies.tilt(number, self._tilt(node))] if node.wiring.has_tilt else []
        readings = zip(self._wrench(node), node.null, node.wiring.signs, strict=True)
        values = [sign * (reading - null) for reading, null, sign in readings]
        return [replies.force_torque(number, ForceTorque(*values))]

    def _wrench(self, node: Node) -> tuple[float, float, float]:
        x, y, _ = self._torque[node.place].tolist()
        return x, y, float(self._force[node.place, 2])

    def _motion(self, node: Node) -> Motion:
        sensor = self._state.imu[node.place]
        roll, pitch, _ = roll_pitch_yaw(sensor.orientation).tolist()
        rates = sensor.angular_velocity
        return Motion(roll, pitch, float(rates[0]), float(rates[1]))

    def _tilt(self, node: Node) -> Tilt:
        """The tilt of the pelvis plus the sum of the leg's joints about the same axis: right for small angles."""
        roll, pitch, _ = roll_pitch_yaw(self._state.imu[0].orientation if self._state.imu else (0, 0, 0, 1)).tolist()
        position = self._state.position
        x = roll + sum(float(position[joint]) for joint in node.roll)
        y = pitch + sum(float(position[joint]) for joint in node.pitch)
        return Tilt(x, y, math.cos(x) * math.cos(y))
