"""run: the daemon's process, from taking the robot to letting it go."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from wholebody.daemon.contract import Contract
from wholebody.daemon.cycle import STAGES, Cycle
from wholebody.daemon.outlets import Outlets
from wholebody.daemon.timing import Spread
from wholebody.hardware.clocks import SteadyClock
from wholebody.hardware.interface import Clock, RobotInterface
from wholebody.realtime import realtime
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
    with Outlets(robot, name, STAGES) as outlets, interface:
        cycle = Cycle(robot, interface, clock, outlets, contract)
        with _ended_by_signals(cycle) as ending:
            cycle.begin()
            if prepare is not None:
                prepare(cycle)
            if priority is not None:
                realtime(priority)
            while not ending.asked:
                cycle.once()
        interface.stop()
        return Summary(cycle.number, clock.missed, cycle.timing.table())


class _Ended(BaseException):
    """Leaves a wait for a beat that may never come."""


@dataclass
class _Ending:
    asked: bool = False


@contextmanager
def _ended_by_signals(cycle: Cycle) -> Iterator[_Ending]:
    """SIGTERM and SIGINT end the loop after the cycle under way, or at once if it waits for a beat."""
    ending = _Ending()

    def end(number: int, frame: FrameType | None) -> None:
        ending.asked = True
        if cycle.waiting:
            raise _Ended

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield ending
    except _Ended:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
