"""How a robot carries out what people ask: the parameters of WalkingBody, which QUERY PARAM and SET know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from wholebody.parameters import Bounds, Unit
from wholebody.parameters.reflection import Parameters
from wholebody.robots import Robot
from wholebody.robots.geometry import height

USUAL_HEIGHT = 1.3
"""m. Of the robot that the lengths below are for; those of others are in proportion."""


@dataclass
class WalkingSettings:
    """How it walks.

    step   how long a step of MOVE WALKING is
    aside  how far a step to the side goes
    speed  how fast keys and sticks make it walk
    turn   how fast they make it turn
    """

    step: Annotated[float, Unit("m"), Bounds(0.02, 0.3)] = 0.15
    aside: Annotated[float, Unit("m"), Bounds(0.005, 0.1)] = 0.025
    speed: Annotated[float, Unit("m/s"), Bounds(0.02, 0.5)] = 0.15
    turn: Annotated[float, Unit("rad/s"), Bounds(0.05, 1.0)] = 0.25


@dataclass
class GotoSettings:
    """How it goes somewhere.

    range      how far it stays away from walls and objects
    tolerance  how near it has to come
    """

    range: Annotated[float, Unit("m"), Bounds(0.1, 3.0)] = 0.4
    tolerance: Annotated[float, Unit("m"), Bounds(0.02, 1.0)] = 0.08


@dataclass
class HeadSettings:
    """How it looks around.

    speed  how fast the head turns
    """

    speed: Annotated[float, Unit("rad/s"), Bounds(0.05, 2.0)] = 0.6


@dataclass
class UseSettings:
    """How it uses things.

    force    how strongly a hand presses on something
    seconds  how long it holds something up
    """

    force: Annotated[float, Unit("N"), Bounds(1.0, 15.0)] = 6.0
    seconds: Annotated[float, Unit("s"), Bounds(0.0, 60.0)] = 3.0


@dataclass
class BodySettings:
    """All of them."""

    walking: WalkingSettings = field(default_factory=WalkingSettings)
    goto: GotoSettings = field(default_factory=GotoSettings)
    head: HeadSettings = field(default_factory=HeadSettings)
    use: UseSettings = field(default_factory=UseSettings)

    @classmethod
    def of(cls, robot: Robot) -> BodySettings:
        """Those that suit a robot's size."""
        usual, scale = WalkingSettings(), height(robot) / USUAL_HEIGHT
        walking = WalkingSettings(usual.step * scale, usual.aside * scale, usual.speed * scale**0.5, usual.turn)
        return cls(walking=walking)

    def parameters(self) -> Parameters:
        """As parameters by path: walking.step, goto.range …"""
        parameters = Parameters()
        parameters.add_attributes("walking", self.walking)
        parameters.add_attributes("goto", self.goto)
        parameters.add_attributes("head", self.head)
        parameters.add_attributes("use", self.use)
        return parameters
