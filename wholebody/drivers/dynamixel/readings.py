"""Readings: what servos have said of themselves, the last that came from each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from wholebody.drivers.dynamixel.packets import CHECK_SIZE, READ_SIZE, split
from wholebody.drivers.dynamixel.registers import GREATEST, SPEED_UNIT, signed
from wholebody.drivers.dynamixel.table import ServoTable
from wholebody.messages import Measured, State
from wholebody.robots.robot import Robot

MEASURED = int(Measured.POSITION | Measured.VELOCITY | Measured.EFFORT | Measured.TEMPERATURE)
_PRESENT = np.dtype([("position", "<u2"), ("speed", "<u2"), ("load", "<u2"), ("voltage", "u1"), ("temperature", "u1")])
_SETTINGS = np.dtype([("torque", "u1"), ("others", "u1", (5,)), ("goal", "<u2"), ("speed", "<u2")])


class Readings:
    """By joint: position, velocity, effort, temperature, faults, torque switch and goal, and who did not answer."""

    def __init__(self, robot: Robot, table: ServoTable) -> None:
        n = len(table.joints)
        self._table = table
        self._joint = {number: joint for joint, number in enumerate(table.servo)}
        self._effort = np.array([joint.effort for joint in robot.moving])
        self.position, self.velocity, self.effort = np.zeros(n), np.zeros(n), np.zeros(n)
        self.temperature, self.goal = np.zeros(n), np.zeros(n)
        self.faults = np.zeros(n, np.uint8)
        self.seen, self.checked, self.powered = np.zeros(n, bool), np.zeros(n, bool), np.zeros(n, bool)
        self.silent = np.zeros(n, np.int64)  # questions in a row without an answer
        self.spoilt = 0  # bytes that belonged to no packet
        self._asked, self._answered = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self._rest = [b""] * len(table.lines)
        self._raw, self._raw_settings = bytearray(n * READ_SIZE), bytearray(n * CHECK_SIZE)
        self._present: npt.NDArray[Any] = np.frombuffer(self._raw, _PRESENT)
        self._settings: npt.NDArray[Any] = np.frombuffer(self._raw_settings, _SETTINGS)

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
        found = split(self._rest[line] + received)
        self._rest[line], self.spoilt = found.rest, self.spoilt + found.spoilt
        for packet in found.packets:  # servo, length, faults, data, checksum; split has checked them
            joint = self._joint.get(packet[2])
            size = len(packet) - 6
            if joint is None:
                continue
            if size == READ_SIZE:
                self._raw[joint * READ_SIZE : (joint + 1) * READ_SIZE] = packet[5:-1]
                self.faults[joint], self.seen[joint], self.silent[joint] = packet[4], True, 0
                self._answered[joint] += 1
            elif size == CHECK_SIZE:
                self._raw_settings[joint * CHECK_SIZE : (joint + 1) * CHECK_SIZE] = packet[5:-1]
                self.checked[joint] = True
        self._understand()

    def forget_questions(self) -> None:
        """Count from here on."""
        self._asked[:] = self._answered[:] = self.silent[:] = 0

    def fill(self, state: State) -> None:
        """Fill in a state; sensors that are on no line are said not to be measured."""
        state.position[:], state.velocity[:], state.effort[:] = self.position, self.velocity, self.effort
        state.acceleration[:], state.current[:], state.temperature[:] = 0.0, 0.0, self.temperature
        state.measured[:] = np.where(self.seen, MEASURED, 0)
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
        table, present, seen = self._table, self._present, self.seen
        np.copyto(self.position, table.positions(present["position"]), where=seen)
        np.multiply(table.direction * SPEED_UNIT, signed(present["speed"]), out=self.velocity)
        np.multiply(table.direction * self._effort / GREATEST, signed(present["load"]), out=self.effort)
        np.copyto(self.temperature, present["temperature"])
        np.copyto(self.goal, table.positions(self._settings["goal"]), where=self.checked)
        np.not_equal(self._settings["torque"], 0, out=self.powered)
