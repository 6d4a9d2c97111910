"""The frames of a cycle of CanRobot: Port is a bus, Transmitter what is sent on it, Receiver what all buses answer."""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, TypeVar

import can
import numpy as np
import numpy.typing as npt

from wholebody.drivers.hubo_can import commands, replies
from wholebody.drivers.hubo_can.commands import Do, Sense, command, sensor_request
from wholebody.drivers.hubo_can.frames import MAGNITUDE, POWER_BOARD, SIGN, Frame, Id, Kind
from wholebody.drivers.hubo_can.replies import Power, Tilt, neck_angle, read_status
from wholebody.drivers.hubo_can.wiring import Board, SensorNode, Wiring
from wholebody.messages import ForceTorque, Imu, Measured, MeasuredMotion, MeasuredWrench, State
from wholebody.robots.robot import Robot
from wholebody.rotations import quaternion_of_roll_pitch

Array = npt.NDArray[np.float64]
Handler = Callable[[bytes], bool]
R = TypeVar("R")

CURRENTS_EVERY = 20
CURRENT_ROUNDS = 3
"""A third of the boards at a time: more do not fit into a cycle of 5 ms."""
FINGER_GAIN = 3.0
"""Duty per radian: the hand of Hubo2+ has no position control, so the computer closes that loop."""
FINGER_REST = 0.01
_TWO = struct.Struct("<ii").unpack
_WRENCH = int(MeasuredWrench.FORCE_Z | MeasuredWrench.TORQUE_X | MeasuredWrench.TORQUE_Y)
_MOTION = int(MeasuredMotion.ROLL_AND_PITCH | MeasuredMotion.ANGULAR_VELOCITY_X | MeasuredMotion.ANGULAR_VELOCITY_Y)


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


class Transmitter:
    """What is sent on one bus. References are scaled for all joints at once, by `encode`."""

    def __init__(self, robot: Robot, wiring: Wiring, bus: int) -> None:
        self.boards = tuple(board for board in wiring.active if board.bus == bus)
        self._places = {board.number: [robot.index[joint] for joint in board.joints] for board in self.boards}
        self._motors = [
            (board.number, int(Id.REFERENCE + board.number), places[0], places[-1])
            for board, places in zip(self.boards, self._places.values(), strict=True)
            if board.kind is Kind.MOTORS
        ]
        self._others = [board for board in self.boards if board.kind is not Kind.MOTORS]
        self._every_cycle = _requests(wiring, self.boards, bus)
        self._status = [command(Do.STATUS, board.number) for board in self.boards]
        self._current = [command(Do.CURRENT, board.number) for board in self.boards]

    def references(
        self, wire_form: list[int], held: Array, position: Array, without: Collection[int] = ()
    ) -> list[Frame]:
        """Tell all boards but those of some numbers where to be; `wire_form` is what `encode` makes of all joints."""
        frames = [
            Frame(identifier, (wire_form[first] | wire_form[last] << 24).to_bytes(6, "little"))
            for number, identifier, first, last in self._motors
            if number not in without
        ]
        for board in self._others:
            if board.number not in without:
                places = self._places[board.number]
                frames.append(_by_angle(board, held[places], position[places]))
        return frames

    def requests(self, turn: int, urgent: Collection[int] = ()) -> list[Frame]:
        """Ask for everything of a cycle, the board whose turn it is and `urgent` ones for their status too."""
        frames = list(self._every_cycle)
        if 0 <= turn < len(self._status):
            frames.append(self._status[turn])
        if urgent:
            frames += [
                self._status[at] for at, board in enumerate(self.boards) if board.number in urgent and at != turn
            ]
        return frames

    def currents(self, turn: int) -> list[Frame]:
        """Ask a third of the boards for their currents."""
        return self._current[turn % CURRENT_ROUNDS :: CURRENT_ROUNDS]


def encode(angles: Array, counts_per_radian: Array) -> list[int]:
    """Write angles of all joints as counts in 24 bits, sign and magnitude."""
    counts = np.rint(angles * counts_per_radian)
    size = np.minimum(np.abs(counts), MAGNITUDE).astype(np.int64)
    words: list[int] = (size | np.where(counts < 0, SIGN, 0)).tolist()
    return words


def _by_angle(board: Board, held: Array, position: Array) -> Frame:
    """The reference of a neck, or of a hand, whose position loop is closed here."""
    if board.kind is Kind.NECK:
        return commands.neck(board.number, held.tolist())
    duties = np.clip(FINGER_GAIN * (held - position), -1.0, 1.0)
    duties[np.abs(held - position) < FINGER_REST] = 0.0
    return commands.hand(board.number, duties.tolist())


def _requests(wiring: Wiring, boards: Collection[Board], bus: int) -> list[Frame]:
    frames = [command(Do.ENCODER, board.number, 0) for board in boards]
    frames += [command(Do.ENCODER, board.number, 1) for board in boards if board.kind is Kind.HAND]
    sensors = [sensor for sensor in wiring.sensors if sensor.bus == bus]
    frames += [sensor_request(sensor.number, Sense.WRENCH) for sensor in sensors if not sensor.is_imu]
    frames += [sensor_request(sensor.number, Sense.ACCELERATION) for sensor in sensors if sensor.has_tilt]
    frames += [sensor_request(sensor.number, Sense.IMU) for sensor in sensors if sensor.is_imu]
    if wiring.power_bus == bus:
        frames.append(command(Do.READ_POWER, POWER_BOARD))
    return frames


class Receiver:
    """The newest readings of all buses, and who has not answered.

    A slot is one answer that is due every cycle: a board's encoders (a hand has two halves), a sensor's reading, the
    power board's; `answered` is per slot, to be cleared at the beginning of a cycle. Anything else is noted when it
    comes.
    """

    def __init__(self, robot: Robot, wiring: Wiring, state: State) -> None:
        self.state = state
        self._flags = state.status
        n = len(robot.joint_names)
        self.counts: list[float] = [0.0] * n
        self.garbage = 0
        self.power: Power | None = None
        self.tilts: dict[str, Tilt] = {}
        self.homes = [0] * n  # home flags
        self.status_heard = [0] * n  # how often each joint's status came
        self.slots: list[str] = []  # who answers, in words
        self.slot_bus: list[int] = []
        self.joint_slot = np.full(n, -1)
        self.answered = bytearray()
        self._robot = robot
        self._handlers: tuple[dict[int, Handler], ...] = tuple({} for _ in range(wiring.buses))
        for board in wiring.active:
            self._listen_to_board(board)
        for sensor in wiring.sensors:
            self._listen_to_sensor(sensor)
        if wiring.power_bus is not None:
            slot = self._slot("the power board", wiring.power_bus)
            heard = self._sensor(slot, replies.read_power, self._power)
            self._handlers[wiring.power_bus][Id.ENCODER + POWER_BOARD] = heard

    def hear(self, bus: int, identifier: int, data: bytes) -> None:
        """Take a frame; what makes no sense is counted."""
        handler = self._handlers[bus].get(identifier)
        if handler is None or not handler(data):
            self.garbage += 1

    def _slot(self, who: str, bus: int) -> int:
        self.slots.append(who)
        self.slot_bus.append(bus)
        self.answered.append(0)
        return len(self.slots) - 1

    def _listen_to_board(self, board: Board) -> None:
        handlers, number = self._handlers[board.bus], board.number
        joints = tuple(self._robot.index[joint] for joint in board.joints)
        slot = self._slot(f"board {board}", board.bus)
        self.joint_slot[list(joints)] = slot
        if board.kind is Kind.MOTORS:
            handlers[Id.ENCODER + number] = self._motors(slot, joints[0], joints[-1])
        elif board.kind is Kind.HAND:
            second = self._slot(f"board {board}, second half", board.bus)
            self.joint_slot[list(joints[3:])] = second
            handlers[Id.ENCODER + number] = lambda data: self._hand(slot, joints, data)
        else:
            handlers[Id.ENCODER + number] = lambda data: self._neck(slot, joints, board, data)
        handlers[Id.STATUS + number] = lambda data: self._status(joints, data)
        handlers[Id.CURRENT + number] = lambda data: self._currents(joints, data)

    def _listen_to_sensor(self, sensor: SensorNode) -> None:
        handlers = self._handlers[sensor.bus]
        kind = "imu" if sensor.is_imu else "force_torque"
        place = [each.name for each in self._robot.sensors_of(kind)].index(sensor.name)
        record = getattr(self.state, kind)[place]
        slot = self._slot(f"the sensor of {sensor.name}", sensor.bus)
        if sensor.is_imu:
            handlers[Id.MOTION + sensor.number] = self._sensor(slot, replies.read_motion, partial(self._imu, record))
            return
        force = partial(self._force, record, sensor)
        handlers[Id.FORCE_TORQUE + sensor.number] = self._sensor(slot, replies.read_force_torque, force)
        if sensor.has_tilt:
            other = self._slot(f"the tilt sensor of {sensor.name}", sensor.bus)
            tilt = partial(self.tilts.__setitem__, sensor.name)
            handlers[Id.MOTION + sensor.number] = self._sensor(other, replies.read_tilt, tilt)

    def _motors(self, slot: int, first: int, last: int) -> Handler:
        counts, answered = self.counts, self.answered

        def read(data: bytes) -> bool:
            if len(data) != 8:
                return False
            counts[first], other = _TWO(data)
            if last != first:
                counts[last] = other
            answered[slot] = 1
            return True

        return read

    def _hand(self, slot: int, joints: tuple[int, ...], data: bytes) -> bool:
        reading = replies.read_encoders(data, Kind.HAND)
        if reading is None:
            return False
        for joint, count in zip(joints[reading.first :], reading.counts, strict=False):
            self.counts[joint] = count
        self.answered[slot + (reading.first > 0)] = 1
        return True

    def _neck(self, slot: int, joints: tuple[int, ...], board: Board, data: bytes) -> bool:
        reading = replies.read_encoders(data, board.kind)
        if reading is None:
            return False
        for joint, motor, count in zip(joints, board.motors, reading.counts, strict=False):
            self.counts[joint] = neck_angle(count) * motor.counts_per_radian
        self.answered[slot] = 1
        return True

    def _status(self, joints: tuple[int, ...], data: bytes) -> bool:
        motors = read_status(data, len(joints))
        if motors is None:
            return False
        for joint, motor in zip(joints, motors, strict=True):
            self._flags[joint] = motor.status
            self.homes[joint] = motor.home
            self.status_heard[joint] += 1
        return True

    def _currents(self, joints: tuple[int, ...], data: bytes) -> bool:
        reading = replies.read_currents(data, len(joints))
        if reading is None:
            return False
        places = list(joints)
        self.state.current[places] = reading.amperes
        self.state.measured[places] |= int(Measured.CURRENT)
        if reading.temperature is not None:
            self.state.temperature[places] = reading.temperature
            self.state.measured[places] |= int(Measured.TEMPERATURE)
        return True

    def _force(self, record: ForceTorque, sensor: SensorNode, reading: replies.ForceTorque) -> None:
        x, y, z = sensor.signs
        record.torque[:] = (x * reading.torque_x, y * reading.torque_y, 0.0)
        record.force[:] = (0.0, 0.0, z * reading.force_z)
        record.measured = _WRENCH

    def _imu(self, record: Imu, reading: replies.Motion) -> None:
        record.orientation[:] = quaternion_of_roll_pitch(reading.roll, reading.pitch)
        record.angular_velocity[:] = (reading.roll_rate, reading.pitch_rate, 0.0)
        record.measured = _MOTION

    def _power(self, reading: Power) -> None:
        self.power = reading

    def _sensor(self, slot: int, read: Callable[[bytes], R | None], take: Callable[[R], object]) -> Handler:
        """What takes the readings of a sensor for an answer of its slot."""

        def hear(data: bytes) -> bool:
            reading = read(data)
            if reading is None:
                return False
            take(reading)
            self.answered[slot] = 1
            return True

        return hear
