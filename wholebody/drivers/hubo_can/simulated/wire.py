"""Wire: one CAN bus in a time of its own: frames queue, the lowest identifier goes first, each takes its bits.

Nobody sleeps here. Whoever drives it asks when the next frame is through (`next_time`) and lets it go through
(`step`), so that the same wire runs in real time and in time that is stepped.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields
from typing import NamedTuple

from wholebody.drivers.hubo_can.frames import BITRATE, ERROR_FRAME, INTERMISSION, Frame, bits
from wholebody.drivers.hubo_can.simulated.boards import SimulatedBoards
from wholebody.drivers.hubo_can.wiring import Wiring
from wholebody.drivers.interface import Plant
from wholebody.errors import HardwareError, UnknownName
from wholebody.robots.robot import Robot

NEVER = float("inf")
LONGEST_QUEUE = 256
"""Frames that a sender can have waiting."""


@dataclass(frozen=True)
class Faults:
    """How often, of all frames, something goes wrong (0 … 1), and the seconds by which a late one is late.

    A corrupted frame is what CAN is made for: everybody notices, it costs an error frame and goes again. An undetected
    one arrives with a bit turned.
    """

    loss: float = 0.0
    delay: float = 0.0
    corruption: float = 0.0
    undetected: float = 0.0
    seconds: float = 0.002

    def __post_init__(self) -> None:
        """Check that shares are shares."""
        for name in ("loss", "delay", "corruption", "undetected"):
            if not 0 <= getattr(self, name) <= 1:
                raise HardwareError(f"{name} of {getattr(self, name)} frames in one; give 0 to 1")
        if self.corruption == 1:
            raise HardwareError("a bus that corrupts every frame never gets one through; give a corruption below 1")
        if not 0 <= self.seconds < NEVER:
            raise HardwareError(f"a delay of {self.seconds} s; give 0 or more")


NO_FAULTS = Faults()


@dataclass
class Traffic:
    """What a wire has carried so far."""

    frames: int = 0
    bits: int = 0
    lost: int = 0
    delayed: int = 0
    corrupted: int = 0
    undetected: int = 0
    refused: int = 0  # by a sender's full queue

    def as_dict(self) -> dict[str, int]:
        """The counts by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


class Delivery(NamedTuple):
    """A frame that all but its sender have received, and when."""

    time: float
    sender: Hashable
    frame: Frame


class Wire:
    """A bus of 1 Mbit/s. Each sender's frames go in their order; senders compete frame by frame, by identifier.

    `length` says how many bits a frame takes; those of CAN-FD are counted at the rate of its identifier.
    """

    def __init__(
        self,
        faults: Faults = NO_FAULTS,
        seed: int = 0,
        bitrate: float = BITRATE,
        length: Callable[[Frame], int] = bits,
    ) -> None:
        self.faults, self._length = faults, length
        self.traffic = Traffic()
        self._bit = 1.0 / bitrate
        self._chance = random.Random(seed)
        self._queues: dict[Hashable, deque[tuple[float, Frame]]] = {}
        self._heads: list[tuple[int, int, Hashable]] = []  # identifier, number, sender: who wants to send next
        self._late: list[tuple[float, int, Delivery]] = []
        self._number = 0
        self._free = 0.0  # when the bus is free again
        self._current: tuple[float, Hashable, Frame, bool] | None = None  # until, sender, frame, whether it is good

    def put(self, time: float, sender: Hashable, frame: Frame) -> None:
        """Queue a frame to be sent; a sender with a full queue loses it."""
        queue = self._queues.setdefault(sender, deque())
        if len(queue) >= LONGEST_QUEUE:
            self.traffic.refused += 1
            return
        queue.append((time, frame))
        if len(queue) == 1:
            self._stand_for(sender, frame)

    @property
    def next_time(self) -> float:
        """When something happens next: a frame is through, or gives up; never, if nobody has anything to send."""
        if self._current is None and self._heads:
            self._begin()
        soonest = self._current[0] if self._current else NEVER
        return min(soonest, self._late[0][0]) if self._late else soonest

    @property
    def busy(self) -> bool:
        """Whether anything is on its way."""
        return bool(self._current or self._heads or self._late)

    def step(self) -> Delivery | None:
        """Let what is next happen, at `next_time`; return the frame that was delivered, if one was."""
        if self._late and self._late[0][0] <= self.next_time:
            return heapq.heappop(self._late)[2]
        if self._current is None:
            return None
        time, sender, frame, good = self._current
        self._current = None
        if not good:
            return None
        return self._deliver(time, sender, frame)

    def _stand_for(self, sender: Hashable, frame: Frame) -> None:
        self._number += 1
        heapq.heappush(self._heads, (frame.id, self._number, sender))

    def _begin(self) -> None:
        """Let the lowest identifier have the bus."""
        _, _, sender = heapq.heappop(self._heads)
        queue = self._queues[sender]
        since, frame = queue.popleft()
        start = max(self._free, since)
        length = self._length(frame)
        if self.faults.corruption and self._chance.random() < self.faults.corruption:
            self.traffic.corrupted += 1
            length = self._chance.randrange(1, length - INTERMISSION) + ERROR_FRAME + INTERMISSION
            queue.appendleft((since, frame))
            self._stand_for(sender, frame)
            self._current = (start + length * self._bit, sender, frame, False)
        else:
            if queue:
                self._stand_for(sender, queue[0][1])
            else:
                del self._queues[sender]
            self._current = (start + (length - INTERMISSION) * self._bit, sender, frame, True)
        self.traffic.bits += length
        self._free = start + length * self._bit

    def _deliver(self, time: float, sender: Hashable, frame: Frame) -> Delivery | None:
        self.traffic.frames += 1
        faults = self.faults
        if faults.loss and self._chance.random() < faults.loss:
            self.traffic.lost += 1
            return None
        if faults.undetected and frame.data and self._chance.random() < faults.undetected:
            self.traffic.undetected += 1
            turned = int.from_bytes(frame.data, "big") ^ 1 << self._chance.randrange(8 * len(frame.data))
            frame = Frame(frame.id, turned.to_bytes(len(frame.data), "big"))
        if faults.delay and self._chance.random() < faults.delay:
            self.traffic.delayed += 1
            self._number += 1
            late = time + faults.seconds
            heapq.heappush(self._late, (late, self._number, Delivery(late, sender, frame)))
            return None
        return Delivery(time, sender, frame)


COMPUTER = "computer"
KEPT = 4096
"""Frames that wait to be read; older ones are dropped, as a real receiver drops them."""


class Rack:
    """Boards and one wire per bus. `received` has, per bus, all that went through, whoever sent it."""

    def __init__(
        self,
        robot: Robot,
        plant: Plant,
        wiring: Wiring | None = None,
        faults: Faults = NO_FAULTS,
        seed: int = 0,
        homed: bool = True,
    ) -> None:
        wiring = wiring or Wiring.read(robot.name)
        self.robot, self.wiring = robot, wiring
        self.boards = SimulatedBoards(robot, plant, wiring, homed)
        self.wires = tuple(Wire(faults, seed + bus) for bus in range(wiring.buses))
        self.received: tuple[deque[Delivery], ...] = tuple(deque(maxlen=KEPT) for _ in self.wires)
        self.time = 0.0

    def send(self, bus: int, frame: Frame, sender: Hashable = COMPUTER) -> None:
        """Queue a frame of a computer's on a bus, now."""
        self.wires[bus].put(self.time, sender, frame)

    def advance(self, seconds: float) -> None:
        """Let time go by."""
        self.advance_to(self.time + seconds)

    def advance_to(self, until: float) -> None:
        """Let time go by until an instant: frames go through and boards take their steps, in the order of time."""
        boards, wires, bus = self.boards, self.wires, 0
        while True:
            soonest = NEVER
            for at, wire in enumerate(wires):
                if (due := wire.next_time) < soonest:
                    soonest, bus = due, at
            if boards.next_time <= min(soonest, until):
                self.time = boards.next_time
                boards.step()
            elif soonest <= until:
                self.time = soonest
                if delivery := wires[bus].step():
                    self._deliver(bus, delivery)
            else:
                break
        self.time = until

    def _deliver(self, bus: int, delivery: Delivery) -> None:
        self.received[bus].append(delivery)
        if isinstance(delivery.sender, int):  # a board: boards do not listen to each other
            return
        for answer in self.boards.receive(bus, delivery.frame, delivery.time):
            self.wires[bus].put(delivery.time, answer.id, answer)

    def set_faults(self, faults: Faults) -> None:
        """Let the wires lose, delay and corrupt frames from now on."""
        for wire in self.wires:
            wire.faults = faults

    def break_joint(self, joint: str, what: str = "jam", broken: bool = True) -> None:
        """Let a joint jam, lose its encoder or draw too much ('jam', 'encoder', 'over-current'), or mend it."""
        injected = self.boards.motors.injected
        kinds = {"jam": injected.jammed, "encoder": injected.encoder, "over-current": injected.over_current}
        if what not in kinds:
            raise UnknownName("fault of a joint", what, kinds)
        if joint not in self.robot.index:
            raise UnknownName("joint", joint, self.robot.joint_names)
        kinds[what][self.robot.index[joint]] = broken

    def kill_board(self, name: str, dead: bool = True) -> None:
        """Take the power from a board or a sensor, or give it back; its motors are limp and it says nothing."""
        for board in self.boards.boards.values():
            if board.board.name == name:
                board.alive = not dead
                self.boards.motors.injected.dead[list(board.motors)] = dead
                return
        if name not in {sensor.name for sensor in self.wiring.sensors}:
            known = [board.board.name for board in self.boards.boards.values()]
            raise HardwareError(f"no board or sensor '{name}' in the rack; there are: {', '.join(known)}")
        (self.boards.sensors.dead.add if dead else self.boards.sensors.dead.discard)(name)
