"""Simulated boards in real time, which hold what they were told, whoever comes and goes (`wholebody process boards`).

A datagram that is no burst of frames is a request: break a joint, kill a board, spoil the wires, or say how it is.
"""

from __future__ import annotations

import json
import math
import select
import socket
import time
from collections.abc import Iterator
from dataclasses import asdict
from operator import itemgetter
from typing import Any

from wholebody.drivers.hubo_can.frames import Frame
from wholebody.drivers.hubo_can.simulated.bus import CONTROL, address, open_socket, pack, unpack
from wholebody.drivers.hubo_can.simulated.wire import Faults, Rack
from wholebody.drivers.interface import Plant
from wholebody.drivers.joint_drives import Drives
from wholebody.drivers.names import default_name
from wholebody.errors import HardwareError, WholebodyError
from wholebody.realtime import until_told
from wholebody.robots.robot import Robot

IDLE = 0.005
"""Seconds that boards sleep when nothing comes and nothing is on its way."""
AHEAD = 0.02
"""Seconds that time may run ahead of the clock while frames are on their way."""
LONGEST_SLEEP = 0.05
"""Seconds that boards fall behind before they skip what they missed: the machine was asleep."""


def channels(name: str, buses: int) -> list[str]:
    """What the buses of the robot of a name are called."""
    return [f"{name}.can{bus}" for bus in range(buses)]


class Station:
    """A rack in real time, reachable by any process through the names of its buses."""

    def __init__(self, rack: Rack, name: str = "") -> None:
        self.rack, self.name = rack, name or default_name()
        self.overrun = 0  # datagrams that a reader was too slow for
        self._began = time.monotonic()
        self._sockets: list[socket.socket] = []
        self._peers: list[dict[bytes, None]] = []
        for channel in channels(self.name, len(rack.wires)):
            try:
                self._sockets.append(open_socket(address(channel)))
            except OSError as error:
                self.close()
                raise HardwareError(
                    f"simulated bus {channel} is run by another process ({error}); stop that, or give another name"
                ) from None
            self._peers.append({})

    def turn(self) -> None:
        """Wait a little for frames, put each on its wire at the time it was sent, and let time catch up.

        As long as a wire is busy time runs ahead, and frames leave here before they are through, stamped with when they
        will be; whoever receives them holds them back until then. So it does not matter if this process is late.
        """
        select.select(self._sockets, [], [], IDLE)
        now = self._now()
        if now - self.rack.time > LONGEST_SLEEP:
            self._began += now - self.rack.time - IDLE
            now = self._now()
        bursts = [burst for bus, each in enumerate(self._sockets) for burst in self._receive(bus, each)]
        for sent, bus, peer, frames in sorted(bursts, key=itemgetter(0)):
            self.rack.advance_to(max(min(sent - self._began, now), self.rack.time))
            for frame in frames:
                self.rack.send(bus, frame, peer)
        self.rack.advance_to(max(now if not bursts else 0.0, self.rack.time))
        while self.rack.time < now + AHEAD and any(wire.busy for wire in self.rack.wires):
            self.rack.advance_to(min(wire.next_time for wire in self.rack.wires))
        for bus in range(len(self._sockets)):
            self._forward(bus)

    def close(self) -> None:
        """Leave the buses."""
        for each in self._sockets:
            each.close()

    def _now(self) -> float:
        return time.monotonic() - self._began

    def _receive(self, bus: int, at: socket.socket) -> Iterator[tuple[float, int, bytes, list[Frame]]]:
        """Take what is there: when it was sent, on which bus, by whom, and the frames; answer requests at once."""
        while True:
            try:
                datagram, peer = at.recvfrom(65536)
            except BlockingIOError:
                return
            if datagram[:1] == CONTROL and peer:
                self._send(bus, CONTROL + json.dumps(self._control(datagram[1:])).encode(), peer)
            elif peer:
                self._peers[bus][peer] = None
                frames = unpack(datagram)
                if frames and math.isfinite(frames[0].time):
                    yield frames[0].time, bus, peer, [Frame(each.id, each.data) for each in frames]

    def _forward(self, bus: int) -> None:
        received = self.rack.received[bus]
        if not received:
            return
        for peer in list(self._peers[bus]):
            others = [(self._began + each.time, each.frame) for each in received if each.sender != peer]
            if others and not self._send(bus, pack(others), peer):
                del self._peers[bus][peer]
        received.clear()

    def _send(self, bus: int, datagram: bytes, peer: bytes) -> bool:
        try:
            self._sockets[bus].sendto(datagram, peer)
        except BlockingIOError:
            self.overrun += 1
        except OSError:
            return False
        return True

    def _control(self, text: bytes) -> dict[str, Any]:
        try:
            asked = json.loads(text)
            what = asked.pop("do")
            if what == "faults":
                self.rack.set_faults(Faults(**asked))
            elif what == "break":
                self.rack.break_joint(**asked)
            elif what == "kill":
                self.rack.kill_board(**asked)
            elif what != "report":
                raise HardwareError(f"boards cannot '{what}'; they can: faults, break, kill, report")
        except (WholebodyError, ValueError, TypeError, KeyError, AttributeError) as error:
            return {"error": str(error)}
        motors = self.rack.boards.motors
        return {
            "time": self.rack.time,
            "position": motors.position.tolist(),
            "goal": motors.segments.goal.tolist(),
            "control": motors.control.tolist(),
            "locked": {board.board.name: board.lock.locked for board in self.rack.boards.boards.values()},
            "traffic": [wire.traffic.as_dict() for wire in self.rack.wires],
            "overrun": self.overrun,
        }


class Remote:
    """What a test or a console can do to the boards in another process."""

    def __init__(self, name: str = "", timeout: float = 5.0) -> None:
        self._address = address(channels(name or default_name(), 1)[0])
        self._timeout = timeout

    def report(self) -> dict[str, Any]:
        """How the boards are: time, positions, goals, traffic."""
        return self._ask(do="report")

    def set_faults(self, faults: Faults) -> None:
        """Let the wires lose, delay and corrupt frames from now on."""
        self._ask(do="faults", **asdict(faults))

    def break_joint(self, joint: str, what: str = "jam", broken: bool = True) -> None:
        """Let a joint jam, lose its encoder or draw too much ('jam', 'encoder', 'over-current'), or mend it."""
        self._ask(do="break", joint=joint, what=what, broken=broken)

    def kill_board(self, name: str, dead: bool = True) -> None:
        """Take the power from a board or a sensor, or give it back."""
        self._ask(do="kill", name=name, dead=dead)

    def _ask(self, **what: Any) -> dict[str, Any]:
        with open_socket() as own:
            own.settimeout(self._timeout)
            try:
                own.sendto(CONTROL + json.dumps(what).encode(), self._address)
                answer: dict[str, Any] = json.loads(own.recv(65536)[1:])
            except OSError as error:
                raise HardwareError(f"no simulated boards answer ({error}); start them") from None
        if "error" in answer:
            raise HardwareError(answer["error"])
        return answer


def run_boards(robot: Robot, plant: Plant | None = None, name: str = "") -> None:
    """Run the simulated boards of a robot until SIGTERM or SIGINT; without a plant, on Drives."""
    station = Station(Rack(robot, plant or Drives(robot)), name)
    goes_on = until_told()
    try:
        while goes_on():
            station.turn()
    finally:
        station.close()
