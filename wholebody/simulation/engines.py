"""Engines: what makes a simulated world go on, by name; each is imported when asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Protocol

from wholebody.errors import UnknownName
from wholebody.robots.robot import Array
from wholebody.simulation.contacts import Touch
from wholebody.simulation.disturbances import Pushes
from wholebody.simulation.observation import Truth
from wholebody.simulation.servo import Servo
from wholebody.simulation.world import World

ENGINES = {
    "mujoco": "wholebody.simulation.physics:Physics",
    "dart": "wholebody.simulation.dart:DartPhysics",
}


class Engine(Protocol):
    """What a Simulation needs of an engine; `world` shows where everything is, whoever moves it."""

    world: World
    peaks: Array | None  # see Simulation.peak_forces; nothing is kept unless there is a place for it

    def start(self, positions: Array, base_to_world: Array | None) -> None:
        """Put the robot on the ground, or its base to a pose, at rest."""

    def settle_sensors(self, servo: Servo) -> None:
        """Compute what sensors measure with the servo in force, without time going on."""

    def replace(self, world: World) -> None:
        """Go on in another world, which differs only in what is carried."""

    def advance(self, servo: Servo, pushes: Pushes) -> None:
        """One control period with the servo's references held."""

    def observe(self, truth: Truth) -> None:
        """Fill in what perfect sensors measure."""

    def touches(self) -> list[Touch]:
        """The robot's contacts, with their forces; none where there are no forces."""


def engine_named(name: str) -> Callable[[World, int], Engine]:
    """The engine of a name: a function of a world and of the physics steps in a control period."""
    if name not in ENGINES:
        raise UnknownName("engine", name, ENGINES)
    module, _, kind = ENGINES[name].partition(":")
    made: Callable[[World, int], Engine] = getattr(import_module(module), kind)
    return made
