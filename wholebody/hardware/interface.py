"""RobotInterface and Clock: all that a control loop knows of a robot, be it real, miniature or simulated.

with robot:
    while running:
        clock.tick()
        robot.read(state)
        controller(state, reference)
        robot.write(reference)
"""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self, runtime_checkable

import numpy as np

Record = np.void
"""One message: a record of `robot.state_dtype()` or `robot.reference_dtype()`, such as a channel's `message`."""


@runtime_checkable
class RobotInterface(Protocol):
    """A robot that can be read, commanded and stopped. Leaving its `with` block stops it."""

    def read(self, state: Record) -> None:
        """Fill in what was measured last. It does not wait."""

    def write(self, reference: Record) -> None:
        """Command the joints of the reference's mask; the others go on with what they had."""

    def stop(self) -> None:
        """Hold every joint where it is. It never raises and may be called at any time."""

    def __enter__(self) -> Self:
        """Take the robot."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it and let it go."""


@runtime_checkable
class Clock(Protocol):
    """What a control loop waits for: the beat of real time, or the simulator's next period in simulated time."""

    @property
    def period(self) -> float:
        """Seconds from one beat to the next."""

    def tick(self) -> float:
        """Wait for the next beat, and return its time in seconds: what the loop takes for now."""
