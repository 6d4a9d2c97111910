"""Budget: what a cycle of the robot costs on the wires, and so how fast the loop can be.

    budget = Budget.of(exchanges(Wiring.read("hubo2plus")), buses=2)
    budget.mean_use(200), budget.highest_rate        # 0.783, 237.2

In a cycle every board gets its reference and is asked for its encoders, every sensor and the power board are asked,
and one joint is asked for its status, whose bus is at its turn the busiest. Currents, asked every 20th cycle, are left
out, as in the figures of Hubo-Ach. Stuffing is the worst there can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wholebody.drivers.hubo_can import commands, replies
from wholebody.drivers.hubo_can.commands import Do, Sense
from wholebody.drivers.hubo_can.frames import BITRATE, POWER_BOARD, Frame, Kind, worst_bits
from wholebody.drivers.hubo_can.replies import ForceTorque, Motion, MotorStatus, Power, Tilt, write_status
from wholebody.drivers.hubo_can.wiring import Board, SensorNode, Wiring
from wholebody.errors import HardwareError


@dataclass(frozen=True)
class Exchange:
    """The frames of a cycle that go to and from one place, in bits, and the bus they are on."""

    node: str
    what: str
    bits: int
    bus: int


def exchanges(wiring: Wiring) -> tuple[Exchange, ...]:
    """Everything that goes over the wires in a cycle, but the status of one joint."""
    found = [Exchange(board.name, "reference, encoders", _cost(_of_board(board)), board.bus) for board in wiring.active]
    for sensor in wiring.sensors:
        found += [Exchange(sensor.name, what, _cost(frames), sensor.bus) for what, frames in _of_sensor(sensor)]
    if wiring.power_bus is not None:
        frames = [commands.command(Do.READ_POWER, POWER_BOARD), replies.power(Power(0, 0, 0))]
        found.append(Exchange("power board", "voltage, current", _cost(frames), wiring.power_bus))
    return tuple(found)


STATUS_BITS = sum(
    worst_bits(len(frame.data))
    for frame in (commands.command(Do.STATUS, 0), write_status(0, (MotorStatus(), MotorStatus())))
)


@dataclass(frozen=True)
class Budget:
    """Bits per cycle and bus without the status of one joint, which comes on top of one of them."""

    bits: tuple[int, ...]
    status: int = STATUS_BITS

    @classmethod
    def of(cls, all_exchanges: Sequence[Exchange], buses: int) -> Budget:
        """Add up exchanges, bus by bus."""
        return cls(tuple(sum(each.bits for each in all_exchanges if each.bus == bus) for bus in range(buses)))

    @property
    def busiest(self) -> int:
        """Bits of the busiest bus in the cycle in which a joint of it is asked for its status."""
        return max(self.bits) + self.status

    @property
    def mean(self) -> float:
        """Bits per bus if all buses are taken together."""
        return (sum(self.bits) + self.status) / len(self.bits)

    def mean_use(self, rate: float) -> float:
        """The share of all buses' time that is used at a rate (Hz)."""
        return self.mean * rate / BITRATE

    def busiest_use(self, rate: float) -> float:
        """The share of the busiest bus's time that is used at a rate (Hz)."""
        return self.busiest * rate / BITRATE

    @property
    def highest_rate(self) -> float:
        """Hz at which the busiest bus is full."""
        return BITRATE / self.busiest

    @property
    def even_rate(self) -> float:
        """Hz at which all buses would be full if all bits could be split evenly: no split reaches more."""
        return BITRATE / self.mean


def spread(all_exchanges: Sequence[Exchange], buses: int, whole_nodes: bool = True) -> tuple[Exchange, ...]:
    """Distribute exchanges over so many buses, longest first, each to the bus that has least.

    With `whole_nodes` what goes to one board stays on one bus; otherwise a foot's force and tilt may part.
    """
    if buses < 1:
        raise HardwareError(f"{buses} buses; give at least one")
    bundles: dict[str, list[Exchange]] = {}
    for each in all_exchanges:
        bundles.setdefault(each.node if whole_nodes else f"{each.node}: {each.what}", []).append(each)
    load = [0] * buses
    found = []
    for bundle in sorted(bundles.values(), key=lambda bundle: -sum(each.bits for each in bundle)):
        bus = load.index(min(load))
        load[bus] += sum(each.bits for each in bundle)
        found += [replace(each, bus=bus) for each in bundle]
    return tuple(found)


def over(wiring: Wiring, buses: int) -> Wiring:
    """The same robot with its boards distributed over so many buses."""
    place = {each.node: each.bus for each in spread(exchanges(wiring), buses)}
    return replace(
        wiring,
        buses=buses,
        boards=tuple(replace(board, bus=place.get(board.name, board.bus % buses)) for board in wiring.boards),
        sensors=tuple(replace(sensor, bus=place[sensor.name]) for sensor in wiring.sensors),
        power_bus=place.get("power board"),
    )


@dataclass(frozen=True)
class Row:
    """A number of buses, and what it allows: as wired or spread, by whole boards or exchange by exchange."""

    buses: int
    split: str
    budget: Budget


def table(wiring: Wiring, numbers: Sequence[int] = (2, 4, 8)) -> tuple[Row, ...]:
    """What so many buses allow: the robot as it is wired, then its exchanges distributed over more buses."""
    parts = exchanges(wiring)
    rows = [Row(wiring.buses, "as wired", Budget.of(parts, wiring.buses))]
    for buses in numbers:
        rows += [
            Row(buses, split, Budget.of(spread(parts, buses, whole), buses))
            for split, whole in (("by boards", True), ("by exchanges", False))
        ]
    return tuple(rows)


def _of_board(board: Board) -> list[Frame]:
    number, motors = board.number, len(board.motors)
    ask = commands.command(Do.ENCODER, number, 0)
    if board.kind is Kind.MOTORS:
        return [commands.motors(number, (0,)), ask, replies.encoders(number, (0, 0))]
    if board.kind is Kind.HAND:
        halves = [replies.encoders(number, (0,) * motors, Kind.HAND, second_half=half) for half in (False, True)]
        return [commands.hand(number, (0,) * motors), ask, commands.command(Do.ENCODER, number, 1), *halves]
    return [commands.neck(number, (0, 0, 0)), ask, replies.encoders(number, (0, 0, 0), board.kind)]


def _of_sensor(sensor: SensorNode) -> list[tuple[str, list[Frame]]]:
    number = sensor.number
    if sensor.is_imu:
        return [("IMU", [commands.sensor_request(number, Sense.IMU), replies.motion(number, Motion(0, 0, 0, 0))])]
    wrench = [commands.sensor_request(number, Sense.WRENCH), replies.force_torque(number, ForceTorque(0, 0, 0))]
    tilt = [commands.sensor_request(number, Sense.ACCELERATION), replies.tilt(number, Tilt(0, 0, 0))]
    return [("force", wrench)] + ([("tilt", tilt)] if sensor.has_tilt else [])


def _cost(frames: Sequence[Frame]) -> int:
    return sum(worst_bits(len(frame.data)) for frame in frames)
