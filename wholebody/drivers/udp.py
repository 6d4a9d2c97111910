"""UdpRobot and UdpServer: a robot at the other end of a network cable, behind the same interface as any other.

    with Simulation(robot) as simulation, UdpServer(robot, simulation, SteadyClock(0.005), ("0.0.0.0", 7700)) as server:
        server.run()                                                           # on the robot's machine

    with UdpRobot(robot, ("robot.local", 7700)) as far:                        # on the controller's
        Servo(far, far, controller, behavior).run()

Datagrams get lost, come twice and overtake each other; the newest wins, and the rest is counted. Either end may be
killed and started again. The server has one controller at a time: another one is told so until the first falls silent.
"""

from __future__ import annotations

import contextlib
import math
import socket
import time
from collections.abc import Callable
from typing import Annotated, Any, Generic, Self, TypeVar

import numpy as np

from wholebody import security
from wholebody.drivers.datagrams import Address, Bytes, Counters, Datagrams, Heard, Kind, Newest
from wholebody.drivers.interface import Clock, RobotInterface, check_period
from wholebody.errors import NoRobot, RobotTaken, WrongRecord
from wholebody.messages import Record, Reference, State
from wholebody.parameters.parameter import Bounds, Unit
from wholebody.robots.robot import Robot

SLICE = 0.05
"""Seconds after which somebody who waits says hello once more."""
KEPT = 1024
"""References of which it is remembered when they were sent."""


def resolved(address: Address) -> Address:
    """The address in numbers; NoRobot if nobody knows that name."""
    try:
        return socket.gethostbyname(address[0]), address[1]
    except OSError as error:
        raise NoRobot(f"nobody knows where '{address[0]}' is: {error}") from error


M = TypeVar("M", bound=Record)


class RecordBytes(Generic[M]):
    """A record and its bytes."""

    def __init__(self, layout: np.dtype[M]) -> None:
        self._memory: np.ndarray[Any, Any] = np.zeros(1, layout)
        self.record: M = self._memory[0]
        self.raw: Bytes = self._memory.view(np.uint8)

    def take(self, bytes_of_record: Bytes, size: int) -> bool:
        """Take what came in, if it has the right size."""
        if size != len(self.raw):
            return False
        self.raw[:] = bytes_of_record[:size]
        return True


class UdpRobot:
    """A RobotInterface and a Clock: the robot of a UdpServer. Its beat is the arrival of states.

    latency   seconds from sending a reference to hearing, with a state, that it has been written to the robot
    timeout   how long to wait for a server at the start, and for a state in tick(), before giving up
    wanted    the period that the server must have, s; 0 for any
    """

    watchdog = "the UdpServer stops the robot 0.2 s (its `silence`) after the last word"

    def __init__(self, robot: Robot, address: Address, timeout: float = 5.0, wanted: float = 0.0) -> None:
        self.robot, self.address, self._timeout, self._wanted = robot, resolved(address), timeout, wanted
        self._wire = Datagrams(robot, token=security.token())
        self.counters: Counters = self._wire.counters
        self._newest = Newest(self.counters)
        self._state, self._reference = RecordBytes(robot.state_dtype()), RecordBytes(robot.reference_dtype())
        self._sent = np.zeros(KEPT)
        self.latency = math.nan
        self.period = 0.0
        self.missed = 0
        self._heard, self._ticked = 0, 0  # states so far, and how many there were at the last tick
        self._busy = False  # whether another controller has the robot

    def read(self, state: State) -> None:
        """Fill in the newest state that has arrived."""
        self._listen()
        state.copy_from(self._state.record)

    def write(self, reference: Reference) -> None:
        """Send a reference."""
        letter = self._reference
        letter.record.copy_from(reference)
        self._wire.send(Kind.REFERENCE, self.address, letter.raw)
        self._sent[self._wire.number % KEPT] = time.monotonic()

    def stop(self) -> None:
        """Tell the robot to hold every joint, and again, as one may be lost."""
        with contextlib.suppress(Exception):
            for _ in range(3):
                self._wire.send(Kind.STOP, self.address)

    def tick(self) -> float:
        """Wait for a state that is new, and return its time."""
        until = time.monotonic() + self._timeout
        self._listen()
        while self._heard == self._ticked:
            if time.monotonic() > until:
                raise self._why_not()
            self._wire.wait(SLICE)
            self._listen()
            if self._heard == self._ticked:
                self._wire.send(Kind.HELLO, self.address)
        self.missed += self._heard - self._ticked - 1 if self._ticked else 0
        self._ticked = self._heard
        return self._state.record.time

    def __enter__(self) -> Self:
        """Take the robot: say hello until it answers."""
        try:
            self._wire.send(Kind.HELLO, self.address)
            self.tick()
            if self._wanted:
                check_period(f"the server at {self._where}", self.period, self._wanted)
        except BaseException:
            self.stop()
            self._wire.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it and let it go."""
        self.stop()
        self._wire.close()

    def _why_not(self) -> NoRobot | RobotTaken:
        if self._busy:
            return RobotTaken(f"another controller has the robot at {self._where}; end it, and try again")
        return NoRobot(f"no state from {self._where} for {self._timeout:g} s; does its server run, with our token?")

    @property
    def _where(self) -> str:
        return f"{self.address[0]}:{self.address[1]}"

    def _listen(self) -> None:
        """Take all that has arrived; of the states, the newest stays."""
        while (heard := self._wire.receive()) is not None:
            if heard.kind is Kind.STRANGE:
                raise WrongRecord(
                    f"at {self._where} is another robot than '{self.robot.name}', or one with other sensors; "
                    "both sides need the same description"
                )
            if heard.address != self.address:
                self.counters.garbage += 1
            elif heard.kind is Kind.BUSY:
                self._busy = True
            elif heard.kind is Kind.STATE and self._newest.take(heard):
                self._take(heard)

    def _take(self, heard: Heard) -> None:
        if not self._state.take(self._wire.record, heard.size):
            self.counters.garbage += 1
            return
        self._wire.peer = heard.sender
        self._heard, self._busy = self._heard + 1, False
        self.period = heard.period
        self._wire.answered = heard.number
        if self._wire.number - KEPT < heard.answered <= self._wire.number and self._sent[heard.answered % KEPT]:
            self.latency = time.monotonic() - self._sent[heard.answered % KEPT]
            self._sent[heard.answered % KEPT] = 0.0


def udp(
    robot: Robot,
    period: float,
    *,
    host: str = "127.0.0.1",
    port: Annotated[int, Unit("1"), Bounds(1, 65535)] = 7700,
    timeout: Annotated[float, Unit("s"), Bounds(0.0, 600.0)] = 5.0,
) -> UdpRobot:
    """The robot of a UdpServer at the other end of a network cable; the loop beats with the states that arrive.

    host     name or address of the server
    port     UDP port of the server
    timeout  how long to wait for a state before giving up
    """
    return UdpRobot(robot, (host, port), timeout, period)


class UdpServer:
    """Gives a robot to whoever says hello, one at a time: a state every beat, and its newest reference to the robot.

    silence   seconds without a word after which the controller is forgotten, and the robot stopped; where the server
              waits for answers, at least its patience, unless the controller's last word was a stop
    patience  seconds to wait in each beat for the answer to its state: 0 for real time; for a robot in simulated time,
              which would run away otherwise, as long as an answer may take. A controller that says hello after a state
              gets the next one at once
    insecure  whether others than this machine may command it without a token (wholebody.security)
    """

    def __init__(
        self,
        robot: Robot,
        interface: RobotInterface,
        clock: Clock,
        address: Address = ("127.0.0.1", 0),
        *,
        silence: float = 0.2,
        patience: float = 0.0,
        insecure: bool = False,
    ) -> None:
        self.interface, self.clock = interface, clock
        self._silence, self._patience = silence, patience
        self._allowed = silence  # s of silence: more while an answer is awaited, less after a stop
        token = security.token()
        security.check_listening("the UDP server", address[0], lacks=() if token else ("a token",), insecure=insecure)
        self._wire = Datagrams(robot, address, token)
        self.address, self.counters = self._wire.address, self._wire.counters
        self._newest = Newest(self.counters)
        self._state, self._reference = RecordBytes(robot.state_dtype()), RecordBytes(robot.reference_dtype())
        self._controller: Address | None = None
        self._last_heard = -math.inf
        self._new, self._answer = False, 0  # whether there is a reference to write, and to which state
        self._asked = 0  # the state after which the controller asked for another one without an answer

    def run(self, running: Callable[[], bool] = lambda: True) -> None:
        """Serve until told otherwise; then the robot is stopped."""
        try:
            while running():
                self.cycle()
        finally:
            self.interface.stop()

    def cycle(self) -> None:
        """One beat: the state goes out, the newest reference to the robot."""
        time_of_beat = self.clock.tick()
        self.interface.read(self._state.record)
        self._state.record.time = time_of_beat
        self.listen()
        if self._controller is not None:
            self._wire.send(Kind.STATE, self._controller, self._state.raw, self.clock.period)
            if self._patience > 0:
                self._await_answer(self._wire.number)
        if self._new:
            self._new = False
            self._wire.answered = self._newest.number
            self.interface.write(self._reference.record)

    def listen(self) -> None:
        """Take all that has arrived; of the references, the newest stays. Forget a controller that says nothing."""
        while (heard := self._wire.receive()) is not None:
            if heard.kind is Kind.STRANGE:
                self._wire.send(Kind.STRANGE, heard.address)
            elif heard.kind in (Kind.HELLO, Kind.REFERENCE, Kind.STOP):
                self._hear(heard)
        if self._controller is not None and time.monotonic() - self._last_heard > self._allowed:
            self._controller = None
            self.interface.stop()

    def _hear(self, heard: Heard) -> None:
        if self._controller is None:
            self._controller = heard.address
            self._newest.forget()
            self._asked = 0
        elif heard.address != self._controller:
            self._wire.send(Kind.BUSY, heard.address)
            return
        self._wire.peer = heard.sender
        self._last_heard = time.monotonic()
        if not self._newest.take(heard):
            return
        self._allowed = self._silence if heard.kind is Kind.STOP else max(self._silence, self._patience)
        if heard.kind is Kind.HELLO:
            self._asked = heard.answered
        if heard.kind is Kind.STOP:
            self._new = False
            self.interface.stop()
        elif heard.kind is Kind.REFERENCE:
            if self._reference.take(self._wire.record, heard.size):
                self._new, self._answer = True, heard.answered
            else:
                self.counters.garbage += 1

    def _await_answer(self, number: int) -> None:
        until = time.monotonic() + self._patience
        while not (self._new and self._answer >= number) and self._asked < number and self._controller is not None:
            left = until - time.monotonic()
            if left <= 0:
                return
            self._wire.wait(min(left, self._silence))
            self.listen()

    def close(self) -> None:
        """Let go of the socket."""
        self._wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the socket."""
        self.close()
