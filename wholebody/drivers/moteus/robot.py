"""MoteusRobot: joints that moteus controllers move, on CAN-FD buses, as the daemon sees them.

Each write tells every controller what to do and asks it how it is, in one frame of 32 bytes; each read takes what has
come back since, so a state is one period old. A controller that does not answer keeps its last value and is counted;
after SILENT periods its joint shows ENCODER_ERROR and is no longer called measured.

Every command arms the controller's own watchdog (register 0x027): if no other comes in time, it damps its joint by
itself, and does not move again before it is reset. A joint that is off is asked only, and stays limp; one that is
switched on holds where it is. A controller that does not know its output (home state below 2) is not homed: its
position may be off by turns of its rotor, and the daemon does not move it.
"""

from __future__ import annotations

import contextlib
import math
import struct
from collections.abc import Sequence
from typing import Annotated, Self

import numpy as np
import numpy.typing as npt

from wholebody.drivers import simulated_devices
from wholebody.drivers.dynamixel.ports import Port
from wholebody.drivers.hubo_can.frames import Frame
from wholebody.drivers.interface import Answer
from wholebody.drivers.moteus import frames
from wholebody.drivers.moteus.frames import REPLY_WANTED, Mode, Type, framed, unframed
from wholebody.drivers.moteus.ports import CanPort
from wholebody.drivers.moteus.wiring import Wiring
from wholebody.errors import BadPeriod, HardwareError
from wholebody.messages import ALL_JOINTS, Measured, Reference, State, Status, Verb
from wholebody.messages import Mode as ReferenceMode
from wholebody.parameters.parameter import Bounds, Unit
from wholebody.robots.robot import Robot

SILENT = 20
"""Questions in a row without an answer, after which a controller is silent."""
ATTEMPTS = 25
SHARE = 0.95
"""of a period that a bus may be busy"""
MEASURED = int(Measured.POSITION | Measured.VELOCITY | Measured.EFFORT | Measured.TEMPERATURE)
OVER_TEMPERATURE = (38, 100, 101)
_COMMAND = struct.Struct("<5s3f2s2h2sh5s")
_HEAD = (
    frames.write(Type.INT8, frames.MODE, Mode.POSITION) + frames.write(Type.FLOAT, frames.COMMAND_POSITION, 0, 0, 0)[:2]
)
_SCALES = frames.write(Type.INT16, frames.KP_SCALE, 0, 0)[:2]
_WATCHDOG = frames.write(Type.INT16, frames.WATCHDOG, 0)[:2]
ASK = frames.read(Type.FLOAT, frames.MODE, 4) + frames.read(Type.INT8, frames.VOLTAGE, 3)
STOP = frames.write(Type.INT8, frames.MODE, Mode.STOPPED)
_ASK_HOME = frames.read(Type.INT8, frames.HOME_STATE, 1)
_ANSWER = struct.Struct("<3s4f2s3b")
_ANSWER_HEAD, _ANSWER_MIDDLE = frames.reply(Type.FLOAT, 0, 0, 0, 0, 0)[:3], frames.reply(Type.INT8, 0xD, 0, 0, 0)[:2]
_FULL = 32767


def moteus(
    robot: Robot,
    period: float,
    name: str,
    *,
    buses: Sequence[str] = (),
    interface: str = "socketcan",
    motors: str = "",
    watchdog: Annotated[float, Unit("s"), Bounds(0.01, 2.0)] = 0.1,
) -> MoteusRobot:
    """Joints moved by moteus controllers on CAN-FD buses of 1 and 5 Mbit/s; without buses, simulated controllers.

    buses      channels in the order of the wiring, such as can0,can1; none: simulated controllers
    interface  which interface of python-can the buses have
    motors     YAML file: which controller moves which joint, sign and gear; none: 1, 2, 3 … in the joints' order
    watchdog   after how long without a command a controller damps its joint by itself
    """
    wiring = Wiring.of(robot, motors, len(buses))
    if buses:
        if len(buses) != wiring.buses:
            raise HardwareError(f"{robot.name} is wired to {wiring.buses} buses; {len(buses)} were given")
        return MoteusRobot(robot, wiring, [CanPort(each, interface) for each in buses], period, watchdog)
    found = simulated_devices.announced(name, "give buses=can0, or begin them: wholebody start")
    return MoteusRobot(
        robot, wiring, [simulated_devices.DatagramPort(number) for number in found.ports], period, watchdog
    )


class MoteusRobot:
    """A RobotInterface with Boards."""

    modes = frozenset({ReferenceMode.POSITION, ReferenceMode.VELOCITY, ReferenceMode.EFFORT})
    watchdog = "each controller damps its joint 0.1 s (its `watchdog`) after the last command"

    def __init__(
        self, robot: Robot, wiring: Wiring, ports: Sequence[Port], period: float = 0.005, watchdog: float = 0.1
    ) -> None:
        self.robot, self.wiring, self.period, self.timeout = robot, wiring, period, watchdog
        self._ports = list(ports)
        self.simulated = all(port.simulated for port in ports)
        _check(wiring, period, watchdog)
        n, self._count = len(robot.joint_names), len(wiring.id)
        self._joints = np.array(wiring.joints, np.intp)
        self._where = {(bus, number): at for at, (bus, number) in enumerate(zip(wiring.bus, wiring.id, strict=True))}
        self._on_bus = [[at for at in range(self._count) if wiring.bus[at] == bus] for bus in range(len(ports))]
        # By controller: mode, position, velocity, torque of the shaft, volts, °C, fault; NaN until it has answered.
        self._seen = np.full((self._count, 7), math.nan)
        self._home = np.zeros(self._count, np.int64)
        self._silent = np.zeros(self._count, np.int64)
        self.unanswered = np.zeros(self._count, np.int64)
        self.spoilt = 0  # frames that were none
        self._on = np.zeros(self._count, bool)
        self._stops = set[int]()  # controllers that are to be told to stop, once
        self._mode = np.zeros(n, np.uint8)
        self._goal = np.zeros((n, 3))  # position, velocity, effort

    # The robot.

    def read(self, state: State) -> None:
        """Fill in what has come back by now."""
        self._listen()
        joints, turns, seen = self._joints, self.wiring.turns, np.nan_to_num(self._seen)
        state.position[joints] = seen[:, 1] / turns + self.wiring.zero
        state.velocity[joints] = seen[:, 2] / turns
        state.effort[joints] = seen[:, 3] * turns * 2 * math.pi
        state.temperature[joints] = seen[:, 5]
        state.status[joints] = self._status()
        there = ~np.isnan(self._seen[:, 0]) & (self._silent <= SILENT)
        state.measured[joints] = np.where(there, MEASURED, 0)
        state.imu.measured[:], state.imu.orientation[:] = 0, (0.0, 0.0, 0.0, 1.0)
        state.force_torque.measured[:] = 0
        state.base.orientation[:], state.base.known = (0.0, 0.0, 0.0, 1.0), False

    def write(self, reference: Reference) -> None:
        """Tell the joints of the mask; the others are told again what they were."""
        wanted = np.stack((reference.position, reference.velocity, reference.effort), axis=1)
        used = np.take_along_axis(wanted, np.minimum(reference.mode, 2)[:, None].astype(np.intp), axis=1)[:, 0]
        follows = reference.mask & np.isfinite(used) & (reference.mode <= ReferenceMode.EFFORT)
        np.copyto(self._goal, wanted, where=follows[:, None])
        np.copyto(self._mode, reference.mode, where=follows)
        self._send()

    def stop(self) -> None:
        """Hold every joint where it was last seen."""
        with contextlib.suppress(Exception):
            self._hold(range(self._count))
            self._send()

    def command(self, verb: Verb, joint: int, values: Sequence[float]) -> Answer:
        """Switch controllers on and off, reset them, or say how one is."""
        chosen = [at for at in range(self._count) if joint in (ALL_JOINTS, self.wiring.joints[at])]
        if not chosen:
            return Answer(False, f"no controller moves {self.robot.joint_names[joint]}")
        on = verb in (Verb.INITIALIZE, Verb.HOME) or (verb is Verb.CONTROL and values[0] > 0)
        if on or verb in (Verb.CONTROL, Verb.RESET):
            self._stops.update(chosen)  # which clears faults, and what the watchdog did
            self._hold(chosen)
            self._on[chosen] = on
            lost = [self.robot.joint_names[self.wiring.joints[at]] for at in chosen if self._home[at] < 2]
            if verb is Verb.HOME and lost:
                return Answer(
                    False, f"{', '.join(lost)}: not known where; set its output with moteus_tool, then start again"
                )
            return Answer(True, "switched on, held where they are" if on else "faults cleared, switched off: limp")
        if verb is Verb.STATUS:
            return self._tell(chosen[0])
        return Answer(False, f"moteus knows no {verb.name.lower()}; it knows status, home, initialize, reset, control")

    # Taking it and letting it go.

    def __enter__(self) -> Self:
        """Take the controllers as they are: what holds goes on holding, what is limp stays limp."""
        try:
            self._find()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Hold; the controllers damp their joints when their watchdogs have run out."""
        self.stop()
        self._close()

    def _find(self) -> None:
        ask = frames.padded(ASK + _ASK_HOME)
        for _ in range(ATTEMPTS):
            missing = np.isnan(self._seen[:, 0])
            if not missing.any():
                break
            for bus, port in enumerate(self._ports):
                port.send([framed(self._frame(at, ask)) for at in self._on_bus[bus] if missing[at]])
            self._ports[0].wait(0.005 + 0.0005 * self._count)
            self._listen()
        if np.isnan(self._seen[:, 0]).all():
            raise HardwareError("no moteus controller answers: is there power, the bus up with FD, the wiring right?")
        self._on[:] = self._seen[:, 0] == Mode.POSITION
        self._hold(range(self._count))
        self._silent[:] = self.unanswered[:] = 0

    def _close(self) -> None:
        for port in self._ports:
            with contextlib.suppress(Exception):
                port.close()

    # What is sent.

    def _frame(self, at: int, data: bytes) -> Frame:
        return Frame(REPLY_WANTED | frames.HOST << 8 | self.wiring.id[at], data)

    def _send(self) -> None:
        limit = round(self.timeout * 1000)
        self._silent += 1
        shafts = self._shafts()
        for bus, port in enumerate(self._ports):
            port.send([framed(self._frame(at, self._told(at, shafts[at], limit))) for at in self._on_bus[bus]])
        self._stops.clear()

    def _told(self, at: int, shaft: npt.NDArray[np.float64], limit: int) -> bytes:
        """What a controller is told, and asked."""
        if at in self._stops:
            return frames.padded(STOP + ASK)
        if not self._on[at]:
            return frames.padded(ASK)
        free = self._mode[self.wiring.joints[at]] == ReferenceMode.EFFORT
        gain = 0 if free else _FULL
        return _COMMAND.pack(_HEAD, *shaft, _SCALES, gain, gain, _WATCHDOG, limit, ASK)

    def _shafts(self) -> npt.NDArray[np.float64]:
        """Position, velocity and torque that each shaft is told, in revolutions; no position where none is wanted."""
        wiring, goal, mode = self.wiring, self._goal[self._joints], self._mode[self._joints]
        position = (goal[:, 0] - wiring.zero) * wiring.turns
        return np.stack(
            (
                np.where(mode == ReferenceMode.POSITION, position, math.nan),
                np.where(mode == ReferenceMode.VELOCITY, goal[:, 1] * wiring.turns, 0.0),
                np.where(mode == ReferenceMode.EFFORT, goal[:, 2] / (wiring.turns * 2 * math.pi), 0.0),
            ),
            axis=1,
        )

    def _hold(self, controllers: Sequence[int]) -> None:
        for at in controllers:
            if not math.isnan(self._seen[at, 1]):
                joint = self.wiring.joints[at]
                self._goal[joint] = (self._seen[at, 1] / self.wiring.turns[at] + self.wiring.zero[at], 0.0, 0.0)
                self._mode[joint] = ReferenceMode.POSITION

    # What is heard.

    def _listen(self) -> None:
        for bus, port in enumerate(self._ports):
            for frame in unframed(port.receive()):
                at = self._where.get((bus, frame.id >> 8 & 0x7F))
                if at is None or frame.id & 0x7F != frames.HOST:
                    continue
                self._hear(at, frame.data)
        self.unanswered += self._silent == SILENT

    def _hear(self, at: int, data: bytes) -> None:
        if len(data) >= _ANSWER.size and data[:3] == _ANSWER_HEAD and data[19:21] == _ANSWER_MIDDLE:
            _, mode, position, velocity, torque, _, volts, celsius, fault = _ANSWER.unpack_from(data)
            if math.isfinite(position + velocity + torque):
                self._seen[at] = (mode, position, velocity, torque, volts / 2, celsius, fault)
                self._silent[at] = 0
            data = data[_ANSWER.size :]
        try:
            for part in frames.parts(data):
                if part.kind == frames.REPLY and part.first == frames.HOME_STATE and part.values:
                    self._home[at] = int(part.values[0])
        except (HardwareError, ValueError):
            self.spoilt += 1

    def _status(self) -> npt.NDArray[np.uint32]:
        mode, fault = np.nan_to_num(self._seen[:, 0]), np.nan_to_num(self._seen[:, 6])
        status = np.where(mode == Mode.POSITION, int(Status.DRIVER_ON | Status.CONTROL_ON), 0).astype(np.uint32)
        status[self._home >= 2] |= np.uint32(Status.HOMED)
        status[(mode == Mode.FAULT) | (mode == Mode.TIMEOUT)] |= np.uint32(Status.DRIVER_FAULT)
        status[np.isin(fault, OVER_TEMPERATURE)] |= np.uint32(Status.TOO_HOT)
        status[self._silent > SILENT] |= np.uint32(Status.ENCODER_ERROR)
        return status

    def _tell(self, at: int) -> Answer:
        mode, position, _, torque, volts, celsius, fault = (float(each) for each in np.nan_to_num(self._seen[at]))
        names = {int(each): each.name.lower().replace("_", " ") for each in Mode}
        text = (
            f"moteus {self.wiring.id[at]} on bus {self.wiring.bus[at]}: {names.get(int(mode), f'mode {int(mode)}')}, "
            f"fault {int(fault)}, {volts:g} V; damps by itself {self.timeout * 1e3:g} ms after a last command"
        )
        return Answer(True, text, int(self._status()[at]), (position, torque, celsius, volts))


def _check(wiring: Wiring, period: float, watchdog: float) -> None:
    """Raise an error if buses cannot carry what a period needs, or watchdogs would run out between two commands."""
    command, answer = Frame(REPLY_WANTED | 1, bytes(_COMMAND.size)), Frame(1 << 8, frames.padded(bytes(_ANSWER.size)))
    busiest = max(wiring.bus.count(bus) for bus in range(wiring.buses))
    least = busiest * (frames.seconds(command) + frames.seconds(answer)) / SHARE
    if not period >= least:
        raise BadPeriod(
            f"{busiest} controllers on a bus need {least * 1e3:.2f} ms, more than a period of {period * 1e3:g} ms; "
            "give a longer one, or wire them to more buses"
        )
    if watchdog < 3 * period:
        raise BadPeriod(
            f"a watchdog of {watchdog:g} s with a period of {period:g} s; give watchdog={3 * period:g} or more"
        )
