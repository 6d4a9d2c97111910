"""Listening: what CanRobot makes of the frames of all buses, and who has not answered.

A slot is one answer that is due every cycle: a board's encoders (a hand has two halves), a sensor's reading, the
power board's. Anything else is noted when it comes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np

from wholebody.drivers.hubo_can import replies
from wholebody.drivers.hubo_can.frames import POWER_BOARD, Frame, Id, Kind
from wholebody.drivers.hubo_can.replies import Power, Tilt, neck_angle, read_status
from wholebody.drivers.hubo_can.wiring import Board, SensorNode, Wiring
from wholebody.messages import ForceTorque, Imu, Measured, MeasuredMotion, MeasuredWrench, State
from wholebody.robots.robot import Robot
from wholebody.rotations import quaternion_of_roll_pitch

_TWO = struct.Struct("<ii").unpack
_WRENCH = int(MeasuredWrench.FORCE_Z | MeasuredWrench.TORQUE_X | MeasuredWrench.TORQUE_Y)
_MOTION = int(MeasuredMotion.ROLL_AND_PITCH | MeasuredMotion.ANGULAR_VELOCITY_X | MeasuredMotion.ANGULAR_VELOCITY_Y)

Handler = Callable[[bytes], bool]


class Listening:
    """The newest readings. `answered` is per slot, to be cleared at the beginning of a cycle."""

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
        self.slots: list[str] = []  # who answers, for people
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
            self._handlers[wiring.power_bus][Id.ENCODER + POWER_BOARD] = lambda data: self._power(slot, data)

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
            handlers[Id.ENCODER + number] = lambda data: self._three(slot, joints, board, data)
        handlers[Id.STATUS + number] = lambda data: self._status(joints, data)
        handlers[Id.CURRENT + number] = lambda data: self._currents(number, joints, data)

    def _listen_to_sensor(self, sensor: SensorNode) -> None:
        handlers = self._handlers[sensor.bus]
        kind = "imu" if sensor.is_imu else "force_torque"
        place = [each.name for each in self._robot.sensors_of(kind)].index(sensor.name)
        record = getattr(self.state, kind)[place]
        slot = self._slot(f"the sensor of {sensor.name}", sensor.bus)
        if sensor.is_imu:
            handlers[Id.MOTION + sensor.number] = lambda data: self._imu(slot, record, data)
            return
        handlers[Id.FORCE_TORQUE + sensor.number] = lambda data: self._force(slot, record, sensor, data)
        if sensor.has_tilt:
            other = self._slot(f"the tilt sensor of {sensor.name}", sensor.bus)
            handlers[Id.MOTION + sensor.number] = lambda data: self._tilt(other, sensor.name, data)

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
        reading = replies.read_encoders(Frame(Id.ENCODER, data), Kind.HAND)
        if reading is None:
            return False
        for joint, count in zip(joints[reading.first :], reading.counts, strict=False):
            self.counts[joint] = count
        self.answered[slot + (reading.first > 0)] = 1
        return True

    def _three(self, slot: int, joints: tuple[int, ...], board: Board, data: bytes) -> bool:
        reading = replies.read_encoders(Frame(Id.ENCODER, data), board.kind)
        if reading is None:
            return False
        for joint, motor, count in zip(joints, board.motors, reading.counts, strict=False):
            angle = neck_angle(count) if board.kind is Kind.NECK else count / motor.counts_per_radian
            self.counts[joint] = angle * motor.counts_per_radian
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

    def _currents(self, number: int, joints: tuple[int, ...], data: bytes) -> bool:
        reading = replies.read_currents(Frame(Id.CURRENT + number, data), len(joints))
        if reading is None:
            return False
        places = list(joints)
        self.state.current[places] = reading.amperes
        self.state.measured[places] |= int(Measured.CURRENT)
        if reading.temperature is not None:
            self.state.temperature[places] = reading.temperature
            self.state.measured[places] |= int(Measured.TEMPERATURE)
        return True

    def _force(self, slot: int, record: ForceTorque, sensor: SensorNode, data: bytes) -> bool:
        reading = replies.read_force_torque(data)
        if reading is None:
            return False
        x, y, z = sensor.signs
        record.torque[:] = (x * reading.torque_x, y * reading.torque_y, 0.0)
        record.force[:] = (0.0, 0.0, z * reading.force_z)
        record.measured = _WRENCH
        self.answered[slot] = 1
        return True

    def _imu(self, slot: int, record: Imu, data: bytes) -> bool:
        reading = replies.read_motion(data)
        if reading is None:
            return False
        record.orientation[:] = quaternion_of_roll_pitch(reading.roll, reading.pitch)
        record.angular_velocity[:] = (reading.roll_rate, reading.pitch_rate, 0.0)
        record.measured = _MOTION
        self.answered[slot] = 1
        return True

    def _tilt(self, slot: int, name: str, data: bytes) -> bool:
        reading = replies.read_tilt(data)
        if reading is None:
            return False
        self.tilts[name] = reading
        self.answered[slot] = 1
        return True

    def _power(self, slot: int, data: bytes) -> bool:
        reading = replies.read_power(data)
        if reading is None:
            return False
        self.power = reading
        self.answered[slot] = 1
        return True
