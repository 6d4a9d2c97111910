"""Film: what a run that keeps real time is filmed with: it notes where the robot is, and another process draws that."""

from __future__ import annotations

import contextlib
import math
import subprocess
from pathlib import Path
from typing import Any, Self

from wholebody.channels import Channel
from wholebody.processes import lifecycle
from wholebody.processes.pictures import FILM_RATE, KEPT, film_channel, film_record
from wholebody.processes.registry import FILM
from wholebody.robots.robot import Robot
from wholebody.simulation import Simulation

PATIENCE = 120.0
"""s. How long the film may take when the run is over."""


class Film:
    """The world's end: note() every period; leaving the `with` block waits until the film is drawn."""

    def __init__(self, robot: Robot, name: str, folder: Path, description: str, scene: str) -> None:
        self._channel = Channel(film_channel(name), film_record(robot), depth=KEPT)
        self._writer = self._channel.writer()
        self._next = -math.inf
        self._drawer = lifecycle.spawn(FILM, name=name, robot=description, scene=scene, folder=folder)

    def note(self, simulation: Simulation) -> None:
        """Remember where the robot is, if it is time to."""
        if simulation.time < self._next - simulation.period / 2:
            return
        self._next = max(self._next, simulation.time) + 1 / FILM_RATE
        message, base = self._writer.message, simulation.base_to_world
        message.position[:] = simulation.truth.position
        message.base[:] = (*base[:3, 3], *_roll_pitch_yaw(base))
        self._writer.put()

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Say that it is over, and wait for what is still to be drawn."""
        self._writer.message.over = True
        self._writer.put()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._drawer.process.wait(PATIENCE)
        self._drawer.end()
        self._writer.close()
        self._channel.close()


def _roll_pitch_yaw(frame: Any) -> tuple[float, float, float]:
    pitch = -math.asin(min(1.0, max(-1.0, float(frame[2, 0]))))
    return math.atan2(frame[2, 1], frame[2, 2]), pitch, math.atan2(frame[1, 0], frame[0, 0])
