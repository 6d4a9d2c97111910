"""The driver simulation: the robot in MuJoCo in the process of the loop, in real time or as fast as it goes."""

from __future__ import annotations

from typing import Annotated, Any

from wholebody.drivers import SteadyClock
from wholebody.parameters.parameter import Bounds, Unit
from wholebody.robots.robot import Robot
from wholebody.simulation.simulation import Simulation


def simulation(
    robot: Robot,
    period: float,
    *,
    scene: str = "flat",
    posture: str | None = None,
    seed: Annotated[int, Unit("1"), Bounds(0)] = 0,
    real_time: bool = True,
    step: Annotated[float, Unit("s"), Bounds(1e-5, 0.1)] = 0.001,
) -> Simulation:
    """The robot in MuJoCo in the process of the loop, in real time or as fast as it goes.

    scene      what stands around it
    posture    in which posture of its description it begins
    seed       of the noise of its sensors
    real_time  no: as fast as it goes
    step       of the physics
    """
    kind = PacedSimulation if real_time else Simulation
    return kind(robot, scene, posture=posture, seed=seed, step=min(step, period), control_period=period)


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
