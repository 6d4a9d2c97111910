"""PacedSimulation: a simulation that takes as long as the real world would."""

from __future__ import annotations

from typing import Any

from wholebody.hardware import SteadyClock
from wholebody.simulation import Simulation


class PacedSimulation(Simulation):
    """A Simulation whose beats come in real time; beats that went by are counted, and simulated time waits for them."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._beat = SteadyClock(self.period)

    def tick(self) -> float:
        """Wait for the beat, then let one control period go by."""
        self._beat.tick()
        return super().tick()

    @property
    def missed(self) -> int:  # type: ignore[override]
        """Beats of real time that went by unused."""
        return self._beat.missed
