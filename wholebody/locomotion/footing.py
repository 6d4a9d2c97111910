"""Footing: feet that come down where the ground is, and not where it was thought to be; the body follows them.

A foot that meets the ground before its time stays where it is, and yields while it is pressed too early. One that finds
none in time goes on down until it does; so long only the other foot bears. The next one is expected to land where the
ground would be if it went on as it lies under both. Heights are of the soles, above the ground at the start.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import numpy.typing as npt

from wholebody.estimation import Balance
from wholebody.locomotion.footsteps import Support
from wholebody.locomotion.gait import SOLES
from wholebody.locomotion.pendulum import GRAVITY
from wholebody.locomotion.swing import FootPoint
from wholebody.locomotion.target import Target
from wholebody.model.compiled import compiled
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.parameters import Bounds, Unit

SUPPORTS: tuple[Support, Support, Support] = ("left", "right", "both")
LEFT, RIGHT, BOTH = range(3)
SWINGS, DOWN = range(2)
"""Of each foot: whether it was planned to swing in the last cycle; whether it has found the ground."""
FROM, DURATION, SINKING, LEVEL, RISING = range(5)
"""The height at which a swing began, and its time, s; how fast a foot sinks that finds no ground, m/s; the height of
the ground under the body, and how fast it rises."""

SMOOTH = 0.5
"""How far a force goes, in one cycle, to what is measured: the noise of one reading shall be no touch."""
UPRIGHT: Array = np.zeros(2)
"""Where the upright axis of level ground points, x and y."""
DEEP = 0.2
"""m/s: a foot that sinks faster has found no ground where level ground is."""
HALFWAY, NEARLY = 0.5, 0.85
"""Shares of a swing: a foot that is pressed before has not left yet; one that lands later is where it shall be."""


@dataclass
class FootingGains:
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


class Footing:
    """One for a walker. `heights` of left and right are where the feet stand, or are told to be in the air.

    `uneven` says whether a foot has landed by now where level ground would not be.
    """

    def __init__(self, model: Model, gains: FootingGains | None = None) -> None:
        self.gains = gains or FootingGains()
        self._weight, self._half = model.total_mass * GRAVITY, half_length(model)
        self.reset()

    def reset(self) -> None:
        """Both feet stand on one level."""
        self.heights, self.uneven = np.zeros(2), False
        self._flags, self._memory, self._forces = np.zeros((2, 2), np.bool_), np.zeros(5), np.zeros(2)
        self._flags[DOWN] = True
        self._pressed = np.zeros((2, 6))
        self._planned, self._found, self._numbers = np.zeros(2), np.zeros(2), np.zeros(6)
        self._rises = np.zeros(2)

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
        self._rises[:] = rise, -rise
        self._planned[:] = target.left.height, target.right.height
        self._found[:] = SUPPORTS.index(target.support), target.left_share
        gains, weight = self.gains, self._weight
        self._numbers[:] = (
            *(gains.touch * weight, gains.bears * weight, gains.descend, gains.deepest * self._half),
            *(gains.give / weight, gains.follow * target.omega),
        )
        self.early = find_ground(
            self._planned,
            self._rises,
            wrench,
            target.phase_left,
            period,
            self._numbers,
            self._forces,
            self.heights,
            self._flags,
            self._memory,
            self._found,
        )
        self.uneven = self.uneven or self.early or bool(self._memory[SINKING] > DEEP)
        left, right = self.heights.tolist()
        return replace(
            target,
            left=FootPoint(target.left.place, left),
            right=FootPoint(target.right.place, right),
            support=SUPPORTS[int(self._found[0])],
            left_share=float(self._found[1]),
            ground=float(self._memory[LEVEL]),
        )

    early = False
    """Whether, at the last call, a foot came down before its time."""

    @property
    def landed(self) -> bool:
        """Whether both feet have found the ground."""
        return bool(self._flags[DOWN].all())


def half_length(model: Model) -> float:
    """Of a sole, m."""
    return float(np.ptp(np.array(model.robot.surface(SOLES[0]).outline)[:, 0])) / 2


@compiled
def find_ground(
    planned: Array, rises: Array, wrench: Array, phase_left: float, period: float, numbers: Array,
    forces: Array, heights: Array, flags: npt.NDArray[np.bool_], memory: Array, found: Array,
) -> bool:  # fmt: skip
    """Move the feet to the ground, and the body after them; `found` is support and left share, planned and then found.

    `numbers` are those of FootingGains in N, m and 1/s; `planned` heights are above level ground; the ground is
    expected to rise by `rises` from the other foot to each.
    """
    touch, bears, descend, deepest, give, follow = numbers
    support, early = int(found[0]), False
    for side in range(2):
        forces[side] += SMOOTH * (wrench[side, 2] - forces[side])
        force, other = forces[side], 1 - side
        if support == other:
            if not flags[SWINGS, side]:
                flags[SWINGS, side], flags[DOWN, side] = True, False
                memory[FROM], memory[DURATION], memory[SINKING] = heights[side], max(phase_left, 1e-3), 0.0
            gone = 1.0 - phase_left / memory[DURATION]
            if flags[DOWN, side]:
                heights[side] += period * give * max(0.0, force - touch)
            else:
                way = gone * gone * (3.0 - 2.0 * gone)
                heights[side] = planned[side] + memory[FROM] + way * (heights[other] + rises[side] - memory[FROM])
                flags[DOWN, side] = gone > HALFWAY and force > touch
                early = flags[DOWN, side] and gone < NEARLY
            continue
        if flags[SWINGS, side]:
            flags[SWINGS, side] = flags[DOWN, side] = False
        if flags[DOWN, side]:
            continue
        if force > bears or heights[side] < heights[other] + rises[side] - deepest:
            flags[DOWN, side] = True
        elif force < touch:
            memory[SINKING] += period * descend
            heights[side] -= period * memory[SINKING]
            found[0], found[1] = other, 1.0 - other
    goal = found[1] * heights[0] + (1.0 - found[1]) * heights[1]
    memory[RISING] += period * follow * (follow * (goal - memory[LEVEL]) - 2.0 * memory[RISING])
    memory[LEVEL] += period * memory[RISING]
    return early
