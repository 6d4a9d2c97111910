"""Stabilizers: how a walk or a stance that sensors find disturbed is kept from falling; one interface, by name.

stabilizer = stabilizer_named("dcm", model)
command = stabilizer.correct(target, balance, period)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Protocol

import numpy as np

from wholebody import _kernels, plugins
from wholebody.estimation import Balance, SupportNoise
from wholebody.locomotion.walking.footsteps import Place
from wholebody.locomotion.walking.pattern import Target
from wholebody.locomotion.walking.pendulum import GRAVITY
from wholebody.locomotion.walking.swing import FootPoint
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.parameters import Bounds, Unit

NONE: Array = np.zeros(0)
_TURN, _FRAME = np.eye(3), np.eye(4)  # to copy: an array of a list of lists takes four times as long


@dataclass(slots=True)
class Command:
    """What the legs are to do now, and what the ground is to do in return."""

    com: Array  # in world, 3 numbers
    com_velocity: Array  # x and y
    rotation: Array  # of the pelvis, 3 × 3
    soles: tuple[Array, Array]  # left and right, 4 × 4, in world
    zmp: Array  # where the ground is to push
    left_share: float  # of the weight
    feed_forward: bool = False  # whether joints are led against their load and their lag
    level_swing: bool = False  # whether feet of recovery steps are levelled by the measured tilt
    landing: Place | None = None  # where the foot that swings is to be put instead
    falling: bool = False  # whether only a step would help
    others: Array = field(default_factory=lambda: NONE)  # how far joints beside the legs are from the posture, or none


class Stabilizer(Protocol):
    """Turns what is planned and what is sensed into what is to be done."""

    feels_ground: bool
    """Whether feet are to come down where they feel the ground, and to be turned until they lie on it."""

    @property
    def believes(self) -> SupportNoise | None:
        """What the estimator is to believe of sensors and ground, if not the usual."""
        ...

    def reset(self) -> None:
        """Begin anew, from a robot at rest."""

    def correct(self, target: Target, balance: Balance, period: float) -> Command:
        """What to do in this cycle."""
        ...


def stabilizer_named(name: str, model: Model) -> Stabilizer:
    """The stabilizer of a name, for a robot: an entry point of `wholebody.stabilizers`, or path/to/file.py:Class.

    Ours: none (the pattern alone), dcm (feedback of the divergent component), rough (the same with feet that feel the
    ground), regions (the thesis's), ankle and damping (two simple ones of Hubo-Ach).
    """
    make: Callable[[Model], Stabilizer] = plugins.load("stabilizers", name)
    return make(model)


def as_planned(target: Target) -> Command:
    """Do what the pattern says."""
    com = np.array([target.com[0], target.com[1], target.height + target.ground])
    return Command(
        com,
        target.com_velocity,
        upright(target.body.yaw),
        (sole_to_world(target.left), sole_to_world(target.right)),
        target.zmp,
        target.left_share,
    )


def upright(yaw: float) -> Array:
    """A rotation about the vertical."""
    rotation = _TURN.copy()
    rotation[0, 0] = rotation[1, 1] = math.cos(yaw)
    rotation[1, 0] = sine = math.sin(yaw)
    rotation[0, 1] = -sine
    return rotation


def turned(vector: Array) -> Array:
    """The rotation by a rotation vector, 3 × 3 (Rodrigues)."""
    rotation = np.empty((3, 3))
    _kernels.locomotion_rotation(vector, rotation)
    return rotation


def sole_to_world(foot: FootPoint) -> Array:
    """The 4 × 4 frame of a sole that is level."""
    (x, y, yaw), z = foot
    frame = _FRAME.copy()
    frame[0, 0] = frame[1, 1] = math.cos(yaw)
    frame[1, 0] = sine = math.sin(yaw)
    frame[0, 1], frame[0, 3], frame[1, 3], frame[2, 3] = -sine, x, y, z
    return frame


class OpenLoop:
    """No stabilizer: what others are compared with."""

    feels_ground = False
    believes = None

    def __init__(self, model: Model) -> None:
        self.model = model

    def reset(self) -> None:
        """There is nothing to forget."""

    def correct(self, target: Target, balance: Balance, period: float) -> Command:
        """What was planned."""
        return as_planned(target)


@dataclass
class AnkleGains:
    """How strongly the ankles turn.

    proportional  K_p, of the tilt
    derivative    K_d, of how fast it tilts
    farthest      how far an ankle may turn
    """

    proportional: Annotated[float, Unit("1"), Bounds(0, 5)] = 0.3
    derivative: Annotated[float, Unit("s"), Bounds(0, 1)] = 0.05
    farthest: Annotated[float, Unit("rad"), Bounds(0, 0.5)] = 0.15


class AnkleBalance:
    """Both soles are turned against the tilt, which is the same as turning the ankles."""

    feels_ground = False
    believes = None

    def __init__(self, model: Model, gains: AnkleGains | None = None) -> None:
        self.model, self.gains = model, gains or AnkleGains()

    def reset(self) -> None:
        """There is nothing to forget."""

    def correct(self, target: Target, balance: Balance, period: float) -> Command:
        """What was planned, with the ankles turned."""
        command, gains = as_planned(target), self.gains
        (ahead, aside), (roll, pitch, _) = balance.lean, balance.turning
        tilt, turning = np.array([-aside, ahead, 0.0]), np.array([roll, pitch, 0.0])  # rotation vectors
        wanted = gains.proportional * tilt + gains.derivative * turning
        turn = turned(np.clip(wanted, -gains.farthest, gains.farthest))
        command.soles = (_turned_about_itself(command.soles[0], turn), _turned_about_itself(command.soles[1], turn))
        return command


def _turned_about_itself(sole: Array, turn: Array) -> Array:
    result = sole.copy()
    result[:3, :3] = turn @ sole[:3, :3]
    return result


RATE = 20.0  # Hz, of the filter as it was published


@dataclass
class DampingGains:
    """The published numbers; a unit of force is half the robot's weight (Hubo's is about the published 200 N).

    stiffness  k_z: how far legs bend under a unit of force
    length     L: of the filter, in periods of 1/20 s
    most       how far they bend at most
    """

    stiffness: Annotated[float, Unit("rad"), Bounds(0, 2)] = 0.28
    length: Annotated[float, Unit("1"), Bounds(1, 400)] = 5.0
    most: Annotated[float, Unit("rad"), Bounds(0, 1)] = 0.4


class LegDamping:
    """The centre of mass goes down by what legs bent by d lose in height."""

    feels_ground = False
    believes = None

    def __init__(self, model: Model, gains: DampingGains | None = None) -> None:
        self.gains = gains or DampingGains()
        self._weight = model.total_mass * GRAVITY
        self.reset()

    def reset(self) -> None:
        """Stand tall."""
        self.bend = 0.0

    def correct(self, target: Target, balance: Balance, period: float) -> Command:
        """What was planned, lower."""
        gains, command = self.gains, as_planned(target)
        push = (float(balance.wrench_in_sole[:, 2].sum()) - self._weight) / self._weight
        aim = min(max(gains.stiffness * push, -gains.most), gains.most)
        self.bend += RATE * period / gains.length * (aim - self.bend)
        command.com[2] -= max(0.0, self.bend) * 0.5 * target.height
        return command
