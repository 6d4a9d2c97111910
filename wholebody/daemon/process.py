"""run: the daemon's process, from taking the robot to letting it go."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from wholebody.daemon.channels import RobotChannels
from wholebody.daemon.cycle import STAGES, Cycle
from wholebody.daemon.timing import Contract, Spread
from wholebody.drivers.interface import Clock, RobotInterface, SteadyClock
from wholebody.realtime import Ended, realtime, when_told
from wholebody.robots.robot import Robot


@dataclass(frozen=True)
class Summary:
    """How a run of the daemon went."""

    cycles: int
    missed: int
    table: list[Spread]


def run(
    robot: Robot,
    interface: RobotInterface,
    name: str = "",
    contract: Contract | None = None,
    clock: Clock | None = None,
    *,
    prepare: Callable[[Cycle], None] | None = None,
    priority: int | None = None,
) -> Summary:
    """Own the robot until SIGTERM or SIGINT; an error of the robot stops it and ends the run.

    The clock is real time unless another is given, such as a simulator's. `prepare` may set filters before the first
    cycle. With a priority the process is a real-time one.
    """
    contract = contract or Contract()
    clock = clock or SteadyClock(contract.period)
    ending = _Ending()
    with suppress(Ended), when_told(ending.ask), RobotChannels(robot, name, STAGES) as channels, interface:
        ending.cycle = cycle = Cycle(robot, interface, clock, channels, contract)
        cycle.begin()
        if prepare is not None:
            prepare(cycle)
        if priority is not None:
            realtime(priority)
        with suppress(Ended):
            while not ending.asked:
                cycle.once()
        interface.stop()
        channels.tell("ended", "the daemon was told to end, and has stopped the robot")
        return Summary(cycle.number, clock.missed, cycle.timing.table())
    return Summary(0, 0, [])


class _Ending:
    """SIGTERM and SIGINT end the loop after the cycle under way, or at once if it waits or has not begun."""

    def __init__(self) -> None:
        self.asked = False
        self.cycle: Cycle | None = None

    def ask(self) -> None:
        """Somebody wants the end."""
        self.asked = True
        if self.cycle is None or self.cycle.waiting:
            raise Ended
