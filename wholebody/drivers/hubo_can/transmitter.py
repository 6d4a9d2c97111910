"""Asking: the frames that CanRobot sends on one bus: references, and requests in the order of Hubo-Ach's cycle."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import can
import numpy as np
import numpy.typing as npt

from wholebody.drivers.hubo_can import references
from wholebody.drivers.hubo_can.commands import Do, Sense, command, sensor_request
from wholebody.drivers.hubo_can.frames import MAGNITUDE, POWER_BOARD, SIGN, Frame, Id, Kind
from wholebody.drivers.hubo_can.wiring import Board, Wiring
from wholebody.robots.robot import Robot

Array = npt.NDArray[np.float64]

CURRENTS_EVERY = 20
CURRENT_ROUNDS = 3
"""A third of the boards at a time: more do not fit into a cycle of 5 ms."""
FINGER_GAIN = 3.0
"""Duty per radian: the hand of Hubo2+ has no position control, so the computer closes that loop."""
FINGER_REST = 0.01


class Asking:
    """What one bus is sent. References are scaled for all joints at once, by `encode`."""

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
                frames.append(_other(board, held[places], position[places]))
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


def _other(board: Board, held: Array, position: Array) -> Frame:
    if board.kind is Kind.HAND:
        duties = np.clip(FINGER_GAIN * (held - position), -1.0, 1.0)
        duties[np.abs(held - position) < FINGER_REST] = 0.0
        return references.hand(board.number, duties.tolist())
    if board.kind is Kind.NECK:
        return references.neck(board.number, held.tolist())
    counts = round(float(held[0]) * board.motors[0].counts_per_radian)
    return references.wrist(board.number, counts, (0.0, 0.0))


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
