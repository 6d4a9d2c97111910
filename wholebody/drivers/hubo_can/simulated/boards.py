"""SimulatedBoards: the boards, sensors and power board of a robot, that read frames and answer them.

Not published, and so chosen by us: the homing speeds, when a motor counts as jammed or too far off its reference, how
current follows torque, and how a motor heats. Gains are kept and can be read back, but the plant has its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from wholebody.drivers.hubo_can import commands, references, replies
from wholebody.drivers.hubo_can.commands import (
    ALL_MOTORS,
    BoardParameters,
    Command,
    Do,
    MotorParameters,
    read_command,
    read_sensor_request,
)
from wholebody.drivers.hubo_can.frames import POWER_BOARD, SENSOR_BOARD, Frame, Id, Kind
from wholebody.drivers.hubo_can.replies import write_status
from wholebody.drivers.hubo_can.simulated.homing import Homing
from wholebody.drivers.hubo_can.simulated.motors import Lock, Motors
from wholebody.drivers.hubo_can.simulated.sensors import SimulatedSensors
from wholebody.drivers.hubo_can.wiring import Board, Motor, Wiring
from wholebody.drivers.interface import Plant
from wholebody.robots.robot import Robot

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
        self.parameters = BoardParameters(board_type=len(board.motors))
        self.defaults = tuple(_defaults(motor) for motor in board.motors)
        self.motor_parameters = list(self.defaults)
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
            Do.PAGE: self._page,
            Do.HOME_SEARCH: self._home_search,
            Do.SPEED_LIMITS: self._speed_limits,
            Do.LOWER_LIMIT: self._limit,
            Do.UPPER_LIMIT: self._limit,
            Do.ERROR_BOUNDS: self._error_bounds,
            Do.INITIALIZE: self._initialize,
            Do.BOARD_INFO: self._info,
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
            angles = references.read_neck(data)
        else:
            counts = references.read_motors(data) if board.board.kind is Kind.MOTORS else None
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
        if len(data) > 1 and data[1] == references.CODE and board is not None and board.board.bus == bus:
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
        duties = references.read(data, len(board.motors))
        if duties is None:
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
        kp, ki, kd = command.values
        self._remember(board, command.motor, kp=kp, ki=ki, kd=kd)

    def _driver(self, board: SimulatedBoard, command: Command) -> None:
        for motor in board.motors:
            self.motors.driver[motor] = bool(command.values[0])

    def _control(self, board: SimulatedBoard, command: Command) -> None:
        self.motors.set_control(board.motors, command.do is Do.CONTROL_ON)

    def _go_home(self, board: SimulatedBoard, command: Command) -> None:
        if command.motor < len(board.motors):
            self.motors.go_home(board.motors[command.motor])

    def _page(self, board: SimulatedBoard, command: Command) -> Frame | None:
        number = command.values[0]
        if number in commands.BOARD_PAGES:
            return commands.write_board(command.board, board.parameters, number)
        for motor, parameters in enumerate(board.motor_parameters):
            page = number - commands.motor_page(motor, 0)
            if 1 <= page <= 6:
                return commands.write_motor(command.board, parameters, page)
        return None

    def _home_search(self, board: SimulatedBoard, command: Command) -> None:
        limit, direction, offset = command.values
        if self._remember(board, command.motor, search_limit=limit, search_direction=direction, home_offset=offset):
            motor = board.motors[command.motor]
            self.motors.homing.offset[motor] = offset / self.motors.counts_per_radian[motor]

    def _speed_limits(self, board: SimulatedBoard, command: Command) -> None:
        acceleration, velocity = command.values
        self._remember(board, command.motor, max_acceleration=acceleration, max_velocity=velocity)

    def _limit(self, board: SimulatedBoard, command: Command) -> None:
        enable, counts = command.values
        lower = command.do is Do.LOWER_LIMIT
        known = {"lower_limit": counts} if lower else {"upper_limit": counts}
        if self._remember(board, command.motor, **known) and enable & 2:
            motor = board.motors[command.motor]
            angle = counts / self.motors.counts_per_radian[motor] if enable & 1 else np.inf * (-1 if lower else 1)
            (self.motors.lower if lower else self.motors.upper)[motor] = angle

    def _error_bounds(self, board: SimulatedBoard, command: Command) -> None:
        difference, most, encoder = command.values
        board.parameters = replace(
            board.parameters, input_difference=difference, max_error=most, max_encoder_error=encoder
        )
        for motor in board.motors:
            self.motors.max_error[motor] = most / abs(self.motors.counts_per_radian[motor])

    def _initialize(self, board: SimulatedBoard, command: Command) -> None:
        board.motor_parameters = list(board.defaults)
        for motor in board.motors:
            self.motors.lower[motor], self.motors.upper[motor] = -np.inf, np.inf

    def _info(self, board: SimulatedBoard, command: Command) -> Frame:
        return Frame(Id.BOARD_INFO + command.board, bytes((command.board, len(board.motors))))

    def _remember(self, board: SimulatedBoard, motor: int, **values: int) -> bool:
        if motor >= len(board.motors):
            return False
        board.motor_parameters[motor] = replace(board.motor_parameters[motor], **values)
        return True


def _defaults(motor: Motor) -> MotorParameters:
    return MotorParameters(
        search_direction=int(motor.home_direction > 0),
        home_offset=round(motor.home_offset * motor.counts_per_radian),
    )
