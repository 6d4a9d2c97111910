"""CanRobot: a robot on CAN buses, real or simulated, as the daemon sees it.

    with CanRobot(robot, [can.Bus("can0", "socketcan"), can.Bus("can1", "socketcan")]) as hubo: ...

The frames of a cycle are sent at once, so a real bus needs a queue for them: ip link set can0 txqueuelen 100.

A write tells every board its reference. A read asks every board and sensor, one board for its status, a third of them
every 20th time for their currents, and collects the answers for as long as they may take: the time of all frames on
the wire and 0.18 ms for each answer, but never more than 0.9 periods. What does not come keeps its last value and is
counted in `lost`; a board silent for 20 cycles is reported (`take_events`), is no longer called measured, and is no
longer waited for. With `patience` 0 a read takes what is there, which is then one cycle old.

Only what is measured is called measured: of force and torque Mx, My and Fz, of the IMU roll, pitch and their rates.
The state has no place for the tilt of the feet and for the power supply: they are in `tilts` and `power`.

A joint that was homed, reset or switched on stays where it is until a reference comes near it, so that nothing jumps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Self

import can
import numpy as np
import numpy.typing as npt

from wholebody import messages
from wholebody.drivers.hubo_can.board_commands import BoardVerbs
from wholebody.drivers.hubo_can.budget import Budget, exchanges
from wholebody.drivers.hubo_can.bus_io import CURRENTS_EVERY, Port, Receiver, Transmitter, encode
from wholebody.drivers.hubo_can.frames import BITRATE, READ_TIMEOUT, worst_bits
from wholebody.drivers.hubo_can.replies import Power, Tilt
from wholebody.drivers.hubo_can.wiring import Board, Wiring
from wholebody.drivers.interface import Answer
from wholebody.errors import HardwareError
from wholebody.messages import Measured, Mode, Reference, State, Status, Verb
from wholebody.robots.robot import Robot

SILENT_AFTER = 20
NEAR = 0.05
"""rad within which a reference must be for a joint that waits to follow it."""
TRIES, SEARCH = 20, 2.0
"""Reads after which a board that has not answered yet is taken for missing, if others have; s, if none has."""


class CanRobot:
    """A RobotInterface, and Boards, on one python-can bus for each bus of the wiring."""

    modes = frozenset({Mode.POSITION})

    def __init__(
        self,
        robot: Robot,
        buses: Sequence[can.BusABC],
        wiring: Wiring | None = None,
        period: float = 0.005,
        patience: float | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        wiring = wiring or Wiring.read(robot.name)
        wiring.check(robot)
        if len(buses) != wiring.buses:
            raise HardwareError(f"{robot.name} is wired to {wiring.buses} buses; {len(buses)} were given")
        cost = Budget.of(exchanges(wiring), wiring.buses).busiest / BITRATE
        if not period >= cost:
            raise HardwareError(
                f"a cycle takes up to {cost * 1e3:.2f} ms on the busiest of {wiring.buses} buses, so a period of "
                f"{period * 1e3:g} ms is too short; give a longer one, or wire the boards to more buses"
            )
        self.robot, self.wiring, self.period = robot, wiring, period
        self.simulated = all(getattr(bus, "simulated", False) for bus in buses)
        self.ports = tuple(Port(bus) for bus in buses)
        n = len(robot.joint_names)
        self._state = messages.new(robot.state_dtype())
        self._position, self._velocity = self._state.position, self._state.velocity
        self._measured = self._state.measured
        self.receiver = Receiver(robot, wiring, self._state)
        self._transmitters = tuple(Transmitter(robot, wiring, bus) for bus in range(wiring.buses))
        motors = {motor.joint: motor for board in wiring.active for motor in board.motors}
        self.unwired = tuple(name for name in robot.joint_names if name not in motors)
        self._scale = np.array([motors[j].counts_per_radian if j in motors else 1.0 for j in robot.joint_names])
        self._wired = np.array([name in motors for name in robot.joint_names])
        self.held = np.zeros(n)
        self.waiting = np.ones(n, bool)  # for a reference near where they are
        self._heard = np.zeros(n, np.int64)  # cycle of the last encoder reading; 0: never
        self.lost = np.zeros(len(self.receiver.slots), np.int64)
        self._silent = np.zeros(len(self.receiver.slots), np.int64)
        self._waited_for = self._slots_by_bus()
        self.late = 0
        self.cycle = 0
        self.now = now
        self._events: list[str] = []
        self._trouble = ""
        self._boards = {board.number: [robot.index[joint] for joint in board.joints] for board in wiring.active}
        self._verbs = BoardVerbs(self)
        self.patience = self._default_patience() if patience is None else patience

    @property
    def tilts(self) -> dict[str, Tilt]:
        """The tilt of the feet, by sensor name."""
        return self.receiver.tilts

    @property
    def power(self) -> Power | None:
        """What the power board said last."""
        return self.receiver.power

    def take_events(self) -> list[str]:
        """What happened since this was asked last: boards that fell silent or came back, a dead bus."""
        events, self._events = self._events, []
        return events

    def write(self, reference: Reference) -> None:
        """Tell all boards where to be: the joints of the mask as the reference says, the others as before."""
        mask, wanted = reference.mask, reference.position
        if self.waiting.any():
            self.waiting &= ~(mask & (np.abs(wanted - self._position) < NEAR) & (self._heard > 0))
        np.copyto(self.held, wanted, where=mask & np.isfinite(wanted))
        self._tell()

    def read(self, state: State) -> None:
        """Ask all boards and sensors, wait for the answers as long as they may take, and fill in what is known."""
        if self.patience > 0:
            self._ask()
            self._collect(self.now() + self.patience)
        else:
            self._collect(self.now())
            self._ask()
        state.copy_from(self._state)
        for joint in self._verbs.homing:
            state.status[joint] &= ~np.uint32(Status.HOMED)  # not before references go through again

    def stop(self) -> None:
        """Hold every joint where it is."""
        known = self._heard > 0
        np.copyto(self.held, self._position, where=known)
        self._tell()

    def command(self, verb: Verb, joint: int, values: Sequence[float]) -> Answer:
        """Begin what is asked, for a joint or for ALL_JOINTS; what is for a board is for all joints on it."""
        return self._verbs.command(verb, joint, values)

    def __enter__(self) -> Self:
        """Take the robot: find all boards, hear how they are, and hold every joint where it is."""
        until = self.now() + SEARCH
        while self.now() < until and not (self._heard > 0)[self._wired].all():
            self._ask()
            self._collect(self.now() + max(self.patience, self.period))
            if self.cycle == TRIES and (self._heard > 0).any():
                break
        if not (self._heard > 0).any():
            where = self.ports[0].trouble or "check power and cables, and the bit rate of 1 Mbit/s"
            raise HardwareError(f"no board of {self.robot.name} answers: {where}")
        for _ in range(2 * len(self._boards)):  # every board has its turn, twice
            if all(times for times, there in zip(self.receiver.status_heard, self._heard, strict=True) if there):
                break
            self._ask()
            self._collect(self.now() + max(self.patience, self.period))
        np.copyto(self.held, self._position)
        self.waiting[:] = self._heard == 0
        self._velocity[:] = 0.0
        self.lost[:] = 0
        return self

    def __exit__(self, *_: object) -> None:
        """Hold, and leave the buses; the boards go on holding."""
        self.stop()
        for port in self.ports:
            port.bus.shutdown()

    def send(self, board: Board, *frames: Any) -> None:
        """Send frames to a board outside the cycle."""
        self.ports[board.bus].send(frames)

    def wait_near(self, joints: Sequence[int]) -> None:
        """Let joints stay where they are until a reference comes near them."""
        self.waiting[list(joints)] = True

    def tell(self, event: str) -> None:
        """Note an event."""
        self._events.append(event)

    def status(self, joint: int) -> int:
        """The Status flags of a joint."""
        return int(self._state.status[joint])

    def _tell(self) -> None:
        # A joint that waits goes on with where it is, so that control comes on gently.
        if self.waiting.any():
            np.copyto(self.held, self._position, where=self.waiting & (self._heard > 0))
        words = encode(self.held, self._scale)
        quiet = self._verbs.homing_boards
        if not self._heard[self._wired].all():
            quiet = quiet | {number for number, joints in self._boards.items() if not self._heard[joints].all()}
        for port, transmitter in zip(self.ports, self._transmitters, strict=True):
            port.send(transmitter.references(words, self.held, self._position, quiet))
        self._notice_trouble()

    def _ask(self) -> None:
        before = sum(self.receiver.answered)
        for bus, port in enumerate(self.ports):
            for _, identifier, data in port.receive(0.0):
                self.receiver.hear(bus, identifier, data)
        if self.cycle:
            late = sum(self.receiver.answered) - before
            if late:
                self.late += late
                self._update()
            self._settle()
        self.cycle += 1
        self.receiver.answered[:] = bytes(len(self.lost))
        turn = self.cycle % len(self._boards)
        urgent = self._verbs.homing_boards
        for port, transmitter in zip(self.ports, self._transmitters, strict=True):
            frames = transmitter.requests(turn, urgent)
            turn -= len(transmitter.boards)
            if self.cycle % CURRENTS_EVERY == 0:
                frames = frames + transmitter.currents(self.cycle // CURRENTS_EVERY)
            port.send(frames)
        self._notice_trouble()

    def _collect(self, deadline: float) -> None:
        receiver, now = self.receiver, self.now
        for bus, port in enumerate(self.ports):
            waited_for, answered = self._waited_for[bus], receiver.answered
            while True:
                for _, identifier, data in port.receive(max(deadline - now(), 0.0)):
                    receiver.hear(bus, identifier, data)
                if all(answered[slot] for slot in waited_for) or now() >= deadline:
                    break
        self._update()

    def _update(self) -> None:
        """Positions and velocities of what came."""
        answered = np.frombuffer(self.receiver.answered, np.uint8)
        fresh = self._wired & (answered[self.receiver.joint_slot] > 0) & (self._heard < self.cycle)
        position = np.array(self.receiver.counts) / self._scale
        cycles = np.maximum(self.cycle - self._heard, 1)
        velocity = (position - self._position) / (cycles * self.period)
        velocity[(self._heard == 0) | self.waiting] = 0.0
        np.copyto(self._velocity, velocity, where=fresh)
        np.copyto(self._position, position, where=fresh)
        self._heard[fresh] = self.cycle
        self._measured[fresh] |= int(Measured.POSITION | Measured.VELOCITY)
        self._verbs.follow_homing(self.now())

    def _settle(self) -> None:
        """Count who did not answer to the last requests, before there are new ones."""
        missing = np.frombuffer(self.receiver.answered, np.uint8) == 0
        back = ~missing & (self._silent >= SILENT_AFTER)
        self.lost += missing
        self._silent = np.where(missing, self._silent + 1, 0)
        gone = self._silent == SILENT_AFTER
        if back.any() or gone.any():
            self._tell_of(np.flatnonzero(gone), np.flatnonzero(back))
            self._waited_for = self._slots_by_bus()

    def _tell_of(self, gone: npt.NDArray[np.intp], back: npt.NDArray[np.intp]) -> None:
        for slot in gone:
            self._events.append(f"{self.receiver.slots[slot]} has been silent for {SILENT_AFTER} cycles")
            joints = self.receiver.joint_slot == slot
            self._measured[joints] = 0
            self._velocity[joints] = 0.0
        for slot in back:
            self._events.append(f"{self.receiver.slots[slot]} answers again")
            self.waiting |= self.receiver.joint_slot == slot

    def _slots_by_bus(self) -> list[list[int]]:
        """Who is waited for, bus by bus."""
        where = self.receiver.slot_bus
        awake = [slot for slot in range(len(where)) if self._silent[slot] < SILENT_AFTER]
        return [[slot for slot in awake if where[slot] == bus] for bus in range(len(self.ports))]

    def _notice_trouble(self) -> None:
        trouble = next((port.trouble for port in self.ports if port.trouble), "")
        if trouble and trouble != self._trouble:
            self._events.append(trouble)
        self._trouble = trouble

    def _default_patience(self) -> float:
        """What all frames of a cycle take, and 0.18 ms for each answer to come; but the loop must keep its period."""
        answers = len(self.receiver.slots)
        frames = sum(len(each.requests(-1)) + len(each.boards) for each in self._transmitters) + answers
        wire = frames * worst_bits(8) / BITRATE / len(self.ports)
        return min(wire + answers * READ_TIMEOUT, 0.9 * self.period)
