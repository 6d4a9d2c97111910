"""Simulated moteus controllers on their CAN-FD buses, in virtual time, or in real time in a process of their own."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from wholebody import messages
from wholebody.drivers.hubo_can.frames import Frame
from wholebody.drivers.hubo_can.simulated.wire import COMPUTER, NO_FAULTS, Faults, Wire
from wholebody.drivers.interface import Plant
from wholebody.drivers.joint_drives import Drives
from wholebody.drivers.moteus import frames
from wholebody.drivers.moteus.frames import NOMINAL, Mode, Part, Type, framed, length, unframed
from wholebody.drivers.moteus.wiring import Wiring
from wholebody.drivers.simulated_devices import serve_lines
from wholebody.errors import HardwareError
from wholebody.robots.robot import Robot

STEP = 0.001
"""s between two steps of the controllers' own loop; a real one is faster."""
DEFAULT_TIMEOUT = 0.1
"""s, `servo.default_timeout_s`: a command that says nothing of its watchdog."""
VOLTS, CELSIUS = 24.0, 30.0


class Controllers:
    """All controllers of a robot; a joint is driven by the plant.

    As real ones do, they: begin stopped, which is limp; follow a position, a velocity or a torque; when no command
    comes in time go into timeout, where they hold still and obey nothing but a stop; answer who wants an answer.
    """

    def __init__(self, robot: Robot, wiring: Wiring, plant: Plant, step: float = STEP) -> None:
        self.wiring, self.plant, self.step, self.now = wiring, plant, step, 0.0
        count, n = len(wiring.id), len(robot.joint_names)
        self.mode = np.full(count, int(Mode.STOPPED))
        self.fault = np.zeros(count, np.int64)
        self.dead = set[int]()  # controllers, by their place: they hear and say nothing
        self.home = np.full(count, 2)
        self.registers = [dict[int, float]() for _ in range(count)]  # of the newest command
        self.until = np.full(count, math.inf)  # when the watchdog runs out
        self._at = {(bus, number): at for at, (bus, number) in enumerate(zip(wiring.bus, wiring.id, strict=True))}
        self._joints = np.array(wiring.joints, np.intp)
        self._state = messages.new(robot.state_dtype())
        plant.read(self._state)
        self._target = np.array(self._state.position)
        self._powered = np.zeros(n, bool)
        self._speed = np.zeros(n)

    def advance(self) -> None:
        """Let one step go by."""
        self.now += self.step
        for at in np.flatnonzero(self.now > self.until):
            self._time_out(int(at))
        self._target += self._speed * self.step
        self.plant.advance(self.step, self._target, self._powered)
        self.plant.read(self._state)

    def hear(self, bus: int, frame: Frame) -> Frame | None:
        """Do what a frame says; the answer, if one is wanted."""
        at = self._at.get((bus, frame.id & 0x7F))
        if at is None or at in self.dead:
            return None
        try:
            said = list(frames.parts(frame.data))
        except (HardwareError, ValueError):
            return None
        answers = b""
        written: dict[int, float] = {}
        for part in said:
            if part.kind == frames.WRITE:
                written |= {part.first + number: value for number, value in enumerate(part.values)}
            elif part.kind == frames.READ:
                answers += self._answer(at, part)
        if frames.MODE in written:
            self._take(at, written)
        if not frame.id & frames.REPLY_WANTED:
            return None
        return Frame(self.wiring.id[at] << 8 | frame.id >> 8 & 0x7F, frames.padded(answers))

    def _take(self, at: int, written: dict[int, float]) -> None:
        """A new command; what it does not say is as the registers' defaults say."""
        joint, mode = self._joints[at], int(written[frames.MODE])
        if mode == Mode.STOPPED:
            self.mode[at], self.fault[at], self.until[at] = mode, 0, math.inf
            self._powered[joint], self._speed[joint] = False, 0.0
            return
        if mode != Mode.POSITION or self.mode[at] in (Mode.FAULT, Mode.TIMEOUT):
            return
        self.mode[at], self.registers[at] = mode, written
        timeout = written.get(frames.WATCHDOG, 0.0) or DEFAULT_TIMEOUT
        self.until[at] = math.inf if math.isnan(timeout) else self.now + timeout
        position, turns = written.get(frames.COMMAND_POSITION, 0.0), self.wiring.turns[at]
        free = written.get(frames.KP_SCALE, 1.0) == 0
        if not math.isnan(position):
            self._target[joint] = position / turns + self.wiring.zero[at]
        elif free or not self._powered[joint]:  # else it goes on from where it was to be
            self._target[joint] = self._state.position[joint]
        self._powered[joint] = not free
        self._speed[joint] = written.get(frames.COMMAND_VELOCITY, 0.0) / turns
        if isinstance(self.plant, Drives):
            effort = written.get(frames.COMMAND_TORQUE, 0.0) * turns * 2 * math.pi
            self.plant.load[joint] = effort if free else 0.0

    def _time_out(self, at: int) -> None:
        joint = self._joints[at]
        self.mode[at], self.until[at] = int(Mode.TIMEOUT), math.inf
        self._target[joint], self._speed[joint], self._powered[joint] = self._state.position[joint], 0.0, True

    def break_down(self, at: int, fault: int) -> None:
        """Let a controller have a fault: it is limp until it is told to stop."""
        self.mode[at], self.fault[at], self.until[at] = int(Mode.FAULT), fault, math.inf
        self._powered[self._joints[at]] = False

    def _answer(self, at: int, part: Part) -> bytes:
        joint, turns = self._joints[at], self.wiring.turns[at]
        known = {
            frames.MODE: float(self.mode[at]),
            frames.POSITION: float((self._state.position[joint] - self.wiring.zero[at]) * turns),
            frames.VELOCITY: float(self._state.velocity[joint] * turns),
            frames.TORQUE: float(self._state.effort[joint] / (turns * 2 * math.pi)),
            frames.HOME_STATE: float(self.home[at]),
            frames.VOLTAGE: VOLTS,
            frames.TEMPERATURE: CELSIUS,
            frames.FAULT: float(self.fault[at]),
        }
        return frames.reply(
            Type(part.type), part.first, *(known.get(part.first + at, 0.0) for at in range(len(part.values)))
        )


class BusLine:
    """One bus with its controllers, as a line that a computer is at the end of."""

    done = 0.0

    def __init__(self, number: int, controllers: Controllers, faults: Faults = NO_FAULTS, seed: int = 0) -> None:
        self.wire = Wire(faults, seed, NOMINAL, length)
        self._number, self._controllers = number, controllers
        self._replies = deque[tuple[float, bytes]]()

    @property
    def idle(self) -> bool:
        """Whether nothing is on its way."""
        return not self.wire.busy

    def submit(self, now: float, packets: Sequence[bytes]) -> None:
        """Queue what a computer sends."""
        for frame in (each for packet in packets for each in unframed(packet)):
            self.wire.put(now, COMPUTER, frame)

    def run(self, now: float) -> None:
        """Let all go through that is through by now."""
        while self.wire.next_time <= now:
            delivery = self.wire.step()
            if delivery is None:
                continue
            if delivery.sender == COMPUTER:
                answer = self._controllers.hear(self._number, delivery.frame)
                if answer is not None:
                    self.wire.put(delivery.time, answer.id, answer)
            else:
                self._replies.append((delivery.time, framed(delivery.frame)))

    def take(self, now: float) -> bytes:
        """The answers that are through by now, each once."""
        taken = b""
        while self._replies and self._replies[0][0] <= now:
            taken += self._replies.popleft()[1]
        return taken


class SimulatedMoteus:
    """Controllers and buses with a common time, which goes by only in advance()."""

    def __init__(
        self, robot: Robot, plant: Plant | None = None, *, wiring: Wiring | None = None, faults: Faults = NO_FAULTS
    ) -> None:
        self.wiring = wiring or Wiring.of(robot)
        self.controllers = Controllers(robot, self.wiring, plant or Drives(robot))
        self.lines = [BusLine(bus, self.controllers, faults, bus) for bus in range(self.wiring.buses)]
        self.now = 0.0
        self._steps = 0

    def advance(self, seconds: float) -> None:
        """Let time go by: buses and controllers step by step."""
        self.now += seconds
        step = self.controllers.step
        while (self._steps + 1) * step <= self.now + 1e-9:
            self._steps += 1
            for line in self.lines:
                line.run(self._steps * step)
            self.controllers.advance()
        for line in self.lines:
            line.run(self.now)


def serve(
    robot: Robot,
    plant: Plant | None = None,
    *,
    wiring: Wiring | None = None,
    ready: Callable[[list[int]], None] | None = None,
) -> None:
    """Be a robot's controllers in real time, one UDP port a bus, until SIGTERM or SIGINT."""
    serve_lines(SimulatedMoteus(robot, plant, wiring=wiring), lambda stream: (stream,), ready=ready)
