"""Rack: simulated boards on their wires, all in one time that whoever holds the rack lets go by.

rack = Rack(robot, Drives(robot))
rack.send(0, frame)          # as the computer would
rack.advance(0.005)          # 5 ms later
rack.received[0]             # what went through: Delivery(time, sender, frame)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable

from wholebody.errors import HardwareError, UnknownName
from wholebody.hardware.can.frames import Frame
from wholebody.hardware.can.simulated_boards import SimulatedBoards
from wholebody.hardware.can.wire import NEVER, NO_FAULTS, Delivery, Faults, Wire
from wholebody.hardware.can.wiring import Wiring
from wholebody.hardware.plant import Plant
from wholebody.robots.robot import Robot

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
