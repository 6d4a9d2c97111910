"""GroundAdaptation: feet that come down where the ground is, and not where it was thought to be; the body follows them.

A foot that meets the ground before its time stays where it is, and yields while it is pressed too early. One that finds
none in time goes on down until it does; so long only the other foot bears. The next one is expected to land where the
ground would be if it went on as it lies under both. Heights are of the soles, above the ground at the start.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from wholebody import _kernels
from wholebody.estimation import Balance
from wholebody.locomotion.balance.stabilizers import Command, turned
from wholebody.locomotion.walking.footsteps import Support
from wholebody.locomotion.walking.gait import SOLES
from wholebody.locomotion.walking.pattern import Target
from wholebody.locomotion.walking.pendulum import GRAVITY
from wholebody.locomotion.walking.swing import FootPoint
from wholebody.messages import Floats, Record, numbers_of, packed
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.parameters import Bounds, Unit

SUPPORTS: tuple[Support, Support, Support] = ("left", "right", "both")


class GroundContact(Record):
    """GroundContact of locomotion.h; two numbers are of the left and the right foot.

    heights       of the soles
    forces        smoothed
    swings        whether the foot was planned to swing in the last cycle
    down          whether it has found the ground
    start_height  at which a swing began, and its duration
    sinking       how fast a foot sinks that finds no ground
    level         of the ground under the body, and how fast it is rising
    """

    heights: Annotated[Floats, 2]
    forces: Annotated[Floats, 2]
    swings: Annotated[Floats, 2]
    down: Annotated[Floats, 2]
    start_height: float
    duration: float
    sinking: float
    level: float
    rising: float


GROUND_CONTACT = GroundContact.of(packed(GroundContact))
UPRIGHT: Array = np.zeros(2)
"""Where the upright axis of level ground points, x and y."""
DEEP = 0.2
"""m/s: a foot that sinks faster has found no ground where level ground is."""


@dataclass
class GroundAdaptationGains:
    """How ground is felt.

    touch    a foot that is pressed by so much of the weight touches the ground
    bears    one that is pressed by so much has landed for good
    descend  how quickly a foot gains speed downward that finds no ground
    deepest  how far below the other foot it goes at most, in half lengths of a sole
    give     how fast a foot yields that touches before it is to bear, for each weight on it
    follow   how fast the body rises and sinks to its height above the feet, in ω of its pendulum
    """

    touch: Annotated[float, Unit("1"), Bounds(0.01, 1)] = 0.08
    bears: Annotated[float, Unit("1"), Bounds(0.01, 1)] = 0.15
    descend: Annotated[float, Unit("m/s²"), Bounds(0, 20)] = 3.0
    deepest: Annotated[float, Unit("1"), Bounds(0, 2)] = 0.3
    give: Annotated[float, Unit("m/s"), Bounds(0, 2)] = 0.2
    follow: Annotated[float, Unit("1"), Bounds(0, 10)] = 1.5


class GroundAdaptation:
    """One for a walker. `heights` of left and right are where the feet stand, or are told to be in the air.

    `uneven` says whether a foot has landed by now where level ground would not be.
    """

    def __init__(self, model: Model, gains: GroundAdaptationGains | None = None) -> None:
        self.gains = gains or GroundAdaptationGains()
        self._weight, self._half = model.total_mass * GRAVITY, half_length(model)
        self.reset()

    def reset(self) -> None:
        """Both feet stand on one level."""
        contact = np.zeros(1, GROUND_CONTACT)
        self._contact: GroundContact = contact[0]
        self._numbers, self._gains = numbers_of(contact), np.zeros(6)
        self.heights, self._forces, self._down = self._contact.heights, self._contact.forces, self._contact.down
        self._down[:], self.uneven = 1.0, False
        self._pressed = np.zeros((2, 6))

    def feel(self, target: Target, balance: Balance, period: float, ground: Array = UPRIGHT) -> Target:
        """The target, with feet and body at the heights of the ground, and borne by the feet that found it.

        `ground` says where its upright axis points, x and y, under both feet: it is expected to go on so.
        """
        return self._adapt(target, balance.wrench_in_sole, period, ground)

    def feel_nothing(self, target: Target, period: float, ground: Array = UPRIGHT) -> Target:
        """The same without sensors: feet land when they are planned to, on ground that goes on as under the other."""
        self._pressed[0, 2] = 0.0 if target.support == "right" else self._weight
        self._pressed[1, 2] = 0.0 if target.support == "left" else self._weight
        self._forces[:] = self._pressed[:, 2]
        return self._adapt(target, self._pressed, period, ground)

    def _adapt(self, target: Target, wrench: Array, period: float, ground: Array) -> Target:
        (x, y, _), (other_x, other_y, _) = target.left.place, target.right.place
        rise = float(ground[0] * (other_x - x) + ground[1] * (other_y - y))
        gains, weight = self.gains, self._weight
        self._gains[:] = (
            *(gains.touch * weight, gains.bears * weight, gains.descend, gains.deepest * self._half),
            *(gains.give / weight, gains.follow * target.omega),
        )
        self.early, support, left_share = _kernels.locomotion_find_ground(
            *(self._numbers, self._gains, wrench, target.left.height, target.right.height, rise),
            *(target.phase_left, period, SUPPORTS.index(target.support), target.left_share),
        )
        self.uneven = self.uneven or self.early or self._contact.sinking > DEEP
        left, right = self.heights.tolist()
        return replace(
            target,
            left=FootPoint(target.left.place, left),
            right=FootPoint(target.right.place, right),
            support=SUPPORTS[support],
            left_share=left_share,
            ground=self._contact.level,
        )

    early = False
    """Whether, at the last call, a foot came down before its time."""

    @property
    def landed(self) -> bool:
        """Whether both feet have found the ground."""
        return bool(self._down.all())


def half_length(model: Model) -> float:
    """Of a sole, m."""
    return float(np.ptp(np.array(model.robot.surface(SOLES[0]).outline)[:, 0])) / 2


NOTICED = 0.012
"""rad: ground that is turned by more is not level."""
LEAST = 1e-6
"""rad: a foot that is turned by less is level."""


class FootCompliance(Record):
    """FootCompliance of locomotion.h."""

    leans: Annotated[Floats, (2, 2)]
    rates: Annotated[Floats, (2, 2)]
    rises: Annotated[Floats, 2]
    ground: Annotated[Floats, 2]


FOOT_COMPLIANCE = FootCompliance.of(packed(FootCompliance))


@dataclass
class SoleComplianceGains:
    """How feet yield; lengths are in half lengths of a sole.

    turn     k: how fast a foot is turned that is pressed elsewhere than it shall be
    hurry    h: how quickly it gains speed
    usual    how far off pressure is anyway
    loaded   a foot that bears less of the weight shows nothing
    follow   how fast a foot that lies flat is turned as the ground is
    flat     a foot lies flat if its weight is within this share of the sole
    level    how fast a foot in the air is turned as both feet have found the ground
    fastest  how fast a foot is turned at most
    most     how far a foot is turned at most
    """

    turn: Annotated[float, Unit("rad/s"), Bounds(0, 10)] = 0.22
    hurry: Annotated[float, Unit("rad/s²"), Bounds(0, 200)] = 27.5
    usual: Annotated[float, Unit("1"), Bounds(0, 2)] = 0.27
    loaded: Annotated[float, Unit("1"), Bounds(0, 1)] = 0.1
    follow: Annotated[float, Unit("1/s"), Bounds(0, 50)] = 15.0
    flat: Annotated[float, Unit("1"), Bounds(0, 1)] = 0.9
    level: Annotated[float, Unit("1/s"), Bounds(0, 50)] = 15.0
    fastest: Annotated[float, Unit("rad/s"), Bounds(0, 10)] = 1.0
    most: Annotated[float, Unit("rad"), Bounds(0, 0.5)] = 0.2


class SoleCompliance:
    """One for a walker; it changes the soles of a command.

    `leans` say where the upright axis of each sole points, x and y in world, and `ground` what both have in common;
    `rises` is by how much each sole rose as it was turned.
    """

    def __init__(self, model: Model, gains: SoleComplianceGains | None = None) -> None:
        self.gains = gains or SoleComplianceGains()
        self._weight, self._half = model.total_mass * GRAVITY, half_length(model)
        outlines = [np.array(model.robot.surface(sole).outline) for sole in SOLES]
        middles, halves = [each.mean(axis=0) for each in outlines], [np.ptp(each, axis=0) / 2 for each in outlines]
        self._gains = np.concatenate([np.zeros(9), [self._weight], *middles, *halves])
        self.reset()

    def reset(self) -> None:
        """Both feet are level, until they are seen to stand otherwise."""
        self._begins = True
        memory = np.zeros(1, FOOT_COMPLIANCE)
        feet: FootCompliance = memory[0]
        self.leans, self.ground, self.rises = feet.leans, feet.ground, feet.rises
        self._feet = numbers_of(memory)

    def correct(self, command: Command, balance: Balance, period: float, uneven: bool = True) -> None:
        """Turn the feet; `uneven` says whether ground was found where level ground would not be."""
        (left, right), gains, half = command.soles, self.gains, self._half
        if self._begins:  # as it stands, so that nothing leaps
            self.leans[:], self._begins = balance.sole_to_world[:, :2, 2], False
        uneven = uneven or float(np.abs(self.leans).max()) > NOTICED
        self._gains[:9] = (
            *(gains.turn / half, gains.hurry / half, gains.usual * half, gains.loaded * self._weight),
            *(gains.follow, gains.level, gains.fastest, gains.most),
            gains.flat,
        )
        _kernels.locomotion_turn_feet(
            *(self._feet, self._gains, left, right, command.zmp),
            *(balance.wrench_in_sole, balance.cop_in_sole, balance.sole_to_world),
            *(command.left_share, period, uneven),
        )
        self.hold(command)

    def hold(self, command: Command) -> None:
        """Leave the feet turned as they are."""
        if np.abs(self.leans).max() > LEAST:
            left, right = command.soles
            command.soles = (turned_about_itself(left, self.leans[0]), turned_about_itself(right, self.leans[1]))


def turned_about_itself(sole: Array, lean: Array) -> Array:
    """A level sole whose upright axis points x, y aside."""
    result = np.empty((4, 4))
    _kernels.locomotion_turn_sole(sole, lean, result)
    return result


@dataclass
class SwingLevellingGains:
    """How a foot of a recovery step is levelled.

    rise  how fast it is levelled while it swings
    fall  how fast it is let back when it has landed
    most  by how much at most
    """

    rise: Annotated[float, Unit("1/s"), Bounds(0, 200)] = 20.0
    fall: Annotated[float, Unit("1/s"), Bounds(0, 200)] = 5.0
    most: Annotated[float, Unit("rad"), Bounds(0, 0.5)] = 0.25


class SwingLevelling:
    """One for a walker; it changes the soles of a command."""

    def __init__(self, gains: SwingLevellingGains | None = None) -> None:
        self.gains = gains or SwingLevellingGains()
        self.reset()

    def reset(self) -> None:
        """Both feet are as planned."""
        self._turns = np.zeros((2, 2))  # roll and pitch that each foot is turned back by

    def correct(self, command: Command, target: Target, balance: Balance, period: float) -> None:
        """Turn back the feet in the air, and those that landed not long ago."""
        gains = self.gains
        away = balance.lean - command.rotation[:2, 2]
        size = math.hypot(*away)
        tilt = np.array([-away[1], away[0]]) * min(1.0, gains.most / max(size, 1e-9))
        swings = (target.support == "right", target.support == "left")
        for side, swinging in enumerate(swings):
            rate = gains.rise * (tilt - self._turns[side]) if swinging else -gains.fall * self._turns[side]
            self._turns[side] += period * rate
        left, right = command.soles
        command.soles = (
            turned_back(left, right[:3, 3], self._turns[0]),
            turned_back(right, left[:3, 3], self._turns[1]),
        )


def turned_back(sole: Array, about: Array, roll_and_pitch: Array) -> Array:
    """A pose turned by less than half a turn, backwards, about a point."""
    if float(roll_and_pitch @ roll_and_pitch) < 1e-10:
        return sole
    back = turned(np.array([-roll_and_pitch[0], -roll_and_pitch[1], 0.0]))
    result = sole.copy()
    result[:3, :3] = back @ sole[:3, :3]
    result[:3, 3] = about + back @ (sole[:3, 3] - about)
    return result
