"""BoardVerbs: what a console asks of the boards, as commands on the bus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from wholebody.drivers.hubo_can.commands import ALL_MOTORS, Do, command
from wholebody.drivers.hubo_can.frames import SENSOR_BOARD, Kind
from wholebody.drivers.hubo_can.replies import HOMED
from wholebody.drivers.hubo_can.wiring import Board
from wholebody.drivers.interface import Answer
from wholebody.messages import ALL_JOINTS, Status, Verb

if TYPE_CHECKING:
    from wholebody.drivers.hubo_can.robot import CanRobot

HOMING_LEAST, HOMING_MOST = 3.0, 30.0
"""Seconds after the command to go home in which a board gets no references, and in which it must have done it."""
FAULTS = (
    Status.JAMMED
    | Status.SATURATED
    | Status.BIG_ERROR
    | Status.ENCODER_ERROR
    | Status.DRIVER_FAULT
    | Status.MOTOR_FAILED
    | Status.TOO_HOT
)


class BoardVerbs:
    """The verbs that boards know, and which joints are on their way home."""

    def __init__(self, robot: CanRobot) -> None:
        self._robot = robot
        self.homing_boards: frozenset[int] = frozenset()  # by number
        self.homing: dict[int, tuple[float, int]] = {}  # joint: since when, and how many statuses had come then
        self._verbs: dict[Verb, Callable[[list[int], Sequence[float]], Answer]] = {
            Verb.STATUS: self._status,
            Verb.HOME: self._home,
            Verb.INITIALIZE: self._initialize,
            Verb.RESET: self._reset,
            Verb.CONTROL: self._control,
            Verb.INITIALIZE_SENSORS: self._sensors,
            Verb.GAINS: self._gains,
        }

    def command(self, verb: Verb, joint: int, values: Sequence[float]) -> Answer:
        """Begin what is asked."""
        if verb not in self._verbs:
            return Answer(False, f"the boards do not know '{verb.name.lower()}'")
        names = self._robot.robot.joint_names
        if joint != ALL_JOINTS and names[joint] in self._robot.unwired:
            return Answer(False, f"{names[joint]} has no active board")
        joints = [at for at, name in enumerate(names) if name not in self._robot.unwired]
        return self._verbs[verb](joints if joint == ALL_JOINTS else [joint], values)

    def follow_homing(self, now: float) -> None:
        """Look who has arrived, and let references through to it again."""
        if not self.homing:
            return
        receiver, names = self._robot.receiver, self._robot.robot.joint_names
        for joint, (since, heard) in list(self.homing.items()):
            asked = receiver.status_heard[joint] > heard
            homed = asked and receiver.homes[joint] == HOMED
            failed = asked and bool(Status(self._robot.status(joint)) & FAULTS)
            if now - since >= HOMING_LEAST and (homed or failed or now - since > HOMING_MOST):
                del self.homing[joint]
                self._robot.wait_near([joint])
                if not homed:
                    self._robot.tell(f"{names[joint]} did not find its home")
        self._note_boards()

    def _status(self, joints: list[int], values: Sequence[float]) -> Answer:
        for board in self._boards(joints):
            self._robot.send(board, command(Do.STATUS, board.number))
        flags = [Status(self._robot.status(joint)) for joint in joints]
        if len(joints) == 1:
            said = ", ".join(flag.name.lower().replace("_", " ") for flag in flags[0] if flag.name) or "off"
            return Answer(True, f"{self._names(joints)}: {said}", int(flags[0]))
        bad = [joint for joint, flag in zip(joints, flags, strict=True) if flag & FAULTS]
        homed = sum(Status.HOMED in flag for flag in flags)
        text = f"{homed} of {len(joints)} joints homed; " + (f"faults: {self._names(bad)}" if bad else "no faults")
        return Answer(True, text, int(sum({int(bit) for flag in flags for bit in flag})))

    def _home(self, joints: list[int], values: Sequence[float]) -> Answer:
        now = self._robot.now()
        able = [joint for joint in joints if self._board(joint).kind is Kind.MOTORS]
        if not able:
            return Answer(False, f"{self._names(joints)} has no home to go to: its board drives by duty")
        for joint in able:
            board = self._board(joint)
            self._robot.send(board, command(Do.GO_HOME, board.number, motor=self._motor(joint)))
            self.homing[joint] = (now, self._robot.receiver.status_heard[joint])
        self._robot.wait_near(able)
        self._note_boards()
        return Answer(True, f"{self._names(able)}: going home")

    def _initialize(self, joints: list[int], values: Sequence[float]) -> Answer:
        boards = self._boards(joints)
        for board in boards:
            self._robot.send(board, command(Do.INITIALIZE, board.number))
        return Answer(True, f"{_shown(boards)}: defaults loaded")

    def _reset(self, joints: list[int], values: Sequence[float]) -> Answer:
        """As Hubo-Ach does: only where there is a fault; it zeroes the encoder, so the joint must go home again."""
        bad = [joint for joint in joints if Status(self._robot.status(joint)) & FAULTS]
        if not bad:
            return Answer(True, "nothing to reset: no faults")
        boards = self._boards(bad)
        for board in boards:
            inside = [joint for joint in bad if self._board(joint) is board]
            which = ALL_MOTORS if len(inside) == len(board.motors) else self._motor(inside[0])
            self._robot.send(
                board,
                command(Do.ZERO_ENCODER, board.number, which),
                command(Do.DRIVER, board.number, 1),
                command(Do.CONTROL_ON, board.number),
            )
        self._robot.wait_near(bad)
        return Answer(True, f"{self._names(bad)}: reset; its zero is where it is now, so home it")

    def _control(self, joints: list[int], values: Sequence[float]) -> Answer:
        if not values or values[0] not in (0, 1):
            return Answer(False, "say 1 for on or 0 for off")
        on = values[0] == 1
        boards = self._boards(joints)
        for board in boards:
            frames = [command(Do.DRIVER, board.number, 1)] if on else []
            self._robot.send(board, *frames, command(Do.CONTROL_ON if on else Do.CONTROL_OFF, board.number))
            self._robot.wait_near([self._robot.robot.index[joint] for joint in board.joints])
        return Answer(True, f"{_shown(boards)}: control {'on' if on else 'off'}")

    def _sensors(self, joints: list[int], values: Sequence[float]) -> Answer:
        for sensor in self._robot.wiring.sensors:
            kind = () if sensor.is_imu else (0,)
            frames = [command(Do.NULL_SENSOR, SENSOR_BOARD + sensor.number, *kind)]
            if sensor.has_tilt:
                frames.append(command(Do.NULL_SENSOR, SENSOR_BOARD + sensor.number, 4))
            self._robot.ports[sensor.bus].send(frames)
        return Answer(True, "all sensors take what they read now for zero")

    def _gains(self, joints: list[int], values: Sequence[float]) -> Answer:
        if len(values) < 3 or not all(0 <= value <= 65535 for value in values[:3]):
            return Answer(False, "give Kp, Ki, Kd of 0 to 65535")
        kp, ki, kd = (round(value) for value in values[:3])
        able = [joint for joint in joints if self._board(joint).kind is Kind.MOTORS]
        if not able:
            return Answer(False, f"{self._names(joints)} has no gains")
        for joint in able:
            board = self._board(joint)
            self._robot.send(board, command(Do.POSITION_GAINS, board.number, kp, ki, kd, motor=self._motor(joint)))
        return Answer(True, f"{self._names(able)}: Kp {kp}, Ki {ki}, Kd {kd}")

    def _note_boards(self) -> None:
        self.homing_boards = frozenset(self._board(joint).number for joint in self.homing)

    def _board(self, joint: int) -> Board:
        return self._robot.wiring.board_of(self._robot.robot.joint_names[joint])

    def _motor(self, joint: int) -> int:
        return self._board(joint).joints.index(self._robot.robot.joint_names[joint])

    def _boards(self, joints: list[int]) -> list[Board]:
        return list({board.number: board for board in map(self._board, joints)}.values())

    def _names(self, joints: list[int]) -> str:
        names = [self._robot.robot.joint_names[joint] for joint in joints]
        return ", ".join(names) if len(names) <= 8 else f"{len(names)} joints"


def _shown(boards: list[Board]) -> str:
    return ", ".join(map(str, boards)) if len(boards) <= 3 else f"{len(boards)} boards"
