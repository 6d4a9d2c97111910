"""Servos: simulated ones, each with its registers, on a Plant.

What a real one does and these do too: it goes to its goal no faster than its moving speed says, holds it for ever if
nobody says more, is limp while its torque is switched off, shows 1024 steps, and answers with its faults. Ours: it
says OVERLOAD while it gives more than its joint's effort, without switching off; 25 °C and 14.8 V are constant.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from wholebody import messages
from wholebody.drivers.dynamixel import registers
from wholebody.drivers.dynamixel.packets import (
    BROADCAST,
    Fault,
    Instruction,
    Request,
    decode_sync_write,
    reply,
)
from wholebody.drivers.dynamixel.registers import GREATEST, SPEED_UNIT, unsigned
from wholebody.drivers.dynamixel.table import Integers, ServoTable
from wholebody.drivers.interface import Plant
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
        self._state = messages.new(robot.state_dtype())
        plant.read(self._state)
        self._sent_to = np.array(self._state.position)  # where each is being led, at its speed
        self._goal = np.array(self._sent_to)
        self._put_all(registers.GOAL_POSITION, table.counts(self._sent_to))

    def advance(self) -> None:
        """Let one step go by."""
        powered = self._memory[:, registers.TORQUE_ENABLE] > 0
        position = self._state.position
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
        turn, load = self.table.direction, self._state.effort / self._effort
        self._overloaded[:] = np.where(np.abs(load) > 1, int(Fault.OVERLOAD), 0)
        self._put_all(registers.PRESENT_POSITION, self.table.counts(self._state.position))
        self._put_all(registers.PRESENT_SPEED, unsigned(turn * self._state.velocity / SPEED_UNIT))
        self._put_all(registers.PRESENT_LOAD, unsigned(turn * load * GREATEST))
        self._shown = True

    def _get(self, joint: int, address: int) -> int:
        return int(self._memory[joint, address]) + 256 * int(self._memory[joint, address + 1])

    def _put_all(self, address: int, values: Integers) -> None:
        self._memory[:, address], self._memory[:, address + 1] = values & 0xFF, values >> 8
