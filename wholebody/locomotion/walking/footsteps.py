"""Footsteps: where feet are put, from a distance, a turn, a velocity or a list; and whether legs can do it.

A walk is a path of the body, and each foot is put beside the place that the body will have reached when it lands.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, NamedTuple

import numpy as np

from wholebody.errors import BadFootsteps
from wholebody.model.layout import Array
from wholebody.model.support import convex_hull
from wholebody.parameters import Bounds, Unit

Side = Literal["left", "right"]
Support = Side | Literal["both"]
OUTWARD: dict[Side, float] = {"left": 1.0, "right": -1.0}
OTHER: dict[Side, Side] = {"left": "right", "right": "left"}
SLACK = 1e-6
"""m or rad. By which a step may be beyond a limit: by rounding, and by soles that do not quite point ahead."""
MOST_STEPS = 200
"""In one order: all of them are planned within one cycle, before the daemon takes the controller for silent."""


class Place(NamedTuple):
    """A place on the ground, in world: m, m, rad."""

    x: float
    y: float
    yaw: float

    def beside(self, forward: float, leftward: float, turn: float = 0.0) -> Place:
        """The place so far away from here, along one's own axes."""
        cosine, sine = math.cos(self.yaw), math.sin(self.yaw)
        return Place(
            self.x + cosine * forward - sine * leftward, self.y + sine * forward + cosine * leftward, self.yaw + turn
        )

    def seen_from(self, other: Place) -> Place:
        """The same place along the axes of another; the inverse of `beside`."""
        dx, dy = self.x - other.x, self.y - other.y
        cosine, sine = math.cos(other.yaw), math.sin(other.yaw)
        turn = math.remainder(self.yaw - other.yaw, math.tau)
        return Place(cosine * dx + sine * dy, cosine * dy - sine * dx, turn)

    def way_from(self, other: Place) -> Place:
        """The same, but whole circles between them count."""
        return self.seen_from(other)._replace(yaw=self.yaw - other.yaw)

    def moved(self, velocity: Velocity, time: float) -> Place:
        """Where a constant velocity leads in some time: along an arc of a circle."""
        turn = velocity.turn * time
        along = time if abs(turn) < 1e-9 else math.sin(turn) / velocity.turn
        across = 0.5 * turn * time if abs(turn) < 1e-9 else (1.0 - math.cos(turn)) / velocity.turn
        forward = along * velocity.forward - across * velocity.leftward
        return self.beside(forward, across * velocity.forward + along * velocity.leftward, turn)


class Velocity(NamedTuple):
    """How the body moves, in its own axes: m/s, m/s, rad/s."""

    forward: float = 0.0
    leftward: float = 0.0
    turn: float = 0.0


class Footstep(NamedTuple):
    """One foot put somewhere."""

    side: Side
    at: Place


class Feet(NamedTuple):
    """Where both feet stand."""

    left: Place
    right: Place

    def of(self, side: Side) -> Place:
        """One of them."""
        return self.left if side == "left" else self.right

    def after(self, step: Footstep) -> Feet:
        """Both, once the step is done."""
        return Feet(step.at, self.right) if step.side == "left" else Feet(self.left, step.at)

    @property
    def middle(self) -> Place:
        """The place between them, turned half-way."""
        turn = math.remainder(self.right.yaw - self.left.yaw, math.tau)
        return Place((self.left.x + self.right.x) / 2, (self.left.y + self.right.y) / 2, self.left.yaw + turn / 2)


@dataclass(frozen=True)
class StepLimits:
    """How far one foot can be put from the other.

    length     of the longest step, forward or backward
    spacing    of feet that stand side by side
    narrowest  how near a foot may come to the other, sideways
    widest     how far it may go away from the other, sideways
    turn       by how much a foot may be turned in a step
    in_need    the longest step to keep from falling
    room       of both soles, which do not meet where one of them is turned; None if their shape is not known
    """

    length: Annotated[float, Unit("m"), Bounds(0.01, 2.0)] = 0.25
    spacing: Annotated[float, Unit("m"), Bounds(0.0, 2.0)] = 0.187
    narrowest: Annotated[float, Unit("m"), Bounds(0.0, 2.0)] = 0.16
    widest: Annotated[float, Unit("m"), Bounds(0.0, 2.0)] = 0.32
    turn: Annotated[float, Unit("rad"), Bounds(0.01, 2.0)] = 0.4
    in_need: Annotated[float, Unit("m"), Bounds(0.0, 2.0)] = 0.3
    room: SoleRoom | None = None

    def __post_init__(self) -> None:
        """Refuse limits between which no foot can be put."""
        if not 0.0 < self.narrowest <= self.spacing <= self.widest:
            raise BadFootsteps(
                f"feet {self.spacing} m apart, at least {self.narrowest} and at most {self.widest}: "
                "give them in this order, and positive"
            )

    def check(self, steps: Sequence[Footstep], feet: Feet) -> None:
        """BadFootsteps if a step is too long, crosses the other leg, turns too far, or moves one foot twice."""
        if len(steps) > MOST_STEPS:
            raise BadFootsteps(f"{len(steps)} steps at once; give {MOST_STEPS} at most")
        last: Side | None = None
        for number, step in enumerate(steps, start=1):
            if step.side == last:
                raise BadFootsteps(f"step {number} moves the {step.side} foot again; feet take turns")
            self._check_one(number, step, feet.of(OTHER[step.side]))
            feet, last = feet.after(step), step.side

    def _check_one(self, number: int, step: Footstep, support: Place) -> None:
        if not all(math.isfinite(value) for value in step.at):
            raise BadFootsteps(f"step {number} has no place: {tuple(step.at)}; give three finite numbers")
        fault = self._fault(step, support)
        if fault:
            raise BadFootsteps(f"step {number} ({step.side}) {fault}")

    def _fault(self, step: Footstep, support: Place) -> str:
        """Why a step cannot be done; nothing if it can."""
        forward, leftward, turn = step.at.seen_from(support)
        aside = OUTWARD[step.side] * leftward
        if abs(forward) > self.length + SLACK:
            more = 1000 * (abs(forward) - self.length)
            return f"is {abs(forward):.3f} m long, {more:.3g} mm more than this robot's longest, {self.length:.3f} m"
        if abs(turn) > self.turn + SLACK:
            more = abs(turn) - self.turn
            return f"turns {abs(turn):.3f} rad, {more:.3g} more than this robot turns in a step, {self.turn:.3f} rad"
        if aside > self.widest + SLACK:
            more = 1000 * (aside - self.widest)
            most = f"{more:.3g} mm more than this robot's most, {self.widest:.3f} m"
            return f"is {aside:.3f} m beside the other foot, {most}"
        least = self.least_aside(step.side, forward, turn)
        if aside < least - SLACK:
            what = "crosses the other leg" if aside < 0 else "is too near to the other foot"
            turned = f" when turned by {abs(turn):.3f} rad" if least > self.narrowest else ""
            return f"{what}: {aside:.3f} m beside it; at least {least:.3g} m are needed{turned}"
        return ""

    def least_aside(self, side: Side, forward: float, turn: float) -> float:
        """How near, sideways, a foot may come to the other that is put so far ahead of it and turned against it."""
        if self.room is None:
            return self.narrowest
        return max(self.narrowest, self.room.aside(side == "left", forward, turn))

    def stand(self, feet: Feet) -> bool:
        """Whether feet can stand so: also nearer to each other than steps put them, if their soles do not meet."""
        forward, aside, turn = feet.left.seen_from(feet.right)
        least = self.narrowest if self.room is None else self.room.aside(True, forward, turn) - self.room.gap
        return abs(forward) <= self.length and abs(turn) <= self.turn and least <= aside <= self.widest

    def kept(self, step: Footstep, support: Place) -> Footstep:
        """The step, or the nearest to it that can be done to keep from falling."""
        forward, leftward, turn = step.at.seen_from(support)
        forward, turn = (
            min(max(x, -most), most) for x, most in ((forward, max(self.length, self.in_need)), (turn, self.turn))
        )
        aside = min(max(OUTWARD[step.side] * leftward, self.least_aside(step.side, forward, turn)), self.widest)
        return Footstep(step.side, support.beside(forward, OUTWARD[step.side] * aside, turn))

    def clamped(self, velocity: Velocity, step_time: float) -> Velocity:
        """The velocity, or the fastest in its direction that steps of that time allow."""
        if not all(math.isfinite(value) for value in velocity):
            raise BadFootsteps(f"a velocity of {tuple(velocity)}; give finite numbers")
        if self._can_do(velocity, step_time):
            return velocity
        slow, fast = 0.0, 1.0
        for _ in range(40):
            half = (slow + fast) / 2
            slow, fast = (half, fast) if self._can_do(_times(velocity, half), step_time) else (slow, half)
        return _times(velocity, slow)

    def _can_do(self, velocity: Velocity, step_time: float) -> bool:
        """Whether four steps at a velocity, with either foot first, are within the limits."""
        body = Place(0.0, 0.0, 0.0)
        feet = Feet(*(beside_body(body, side, self.spacing).at for side in OUTWARD))
        for first in OUTWARD:
            steps = along(body, velocity, step_time, 4, self.spacing, first)
            for number, step in enumerate(steps[1:], start=1):
                support = steps[number - 1].at
                if self._fault(step, support):
                    return False
            if self._fault(steps[0], feet.of(OTHER[first])):
                return False
        return True

    def fewest(self, way: Velocity) -> int:
        """In how many even steps, at least, feet go a way: one that a velocity leads along in a second."""
        aside = min(self.spacing - self.narrowest, self.widest - self.spacing)  # feet close by as much as they open
        asked = max(abs(way.forward) / self.length, abs(way.turn) / self.turn)
        if abs(way.leftward) > SLACK:
            if aside < 0.01 * self.spacing:
                raise BadFootsteps(
                    f"feet stand {self.spacing:g} m apart and may come no nearer than {self.narrowest:g} m, nor go "
                    f"further apart than {self.widest:g} m: so they go nowhere aside; give them a spacing between"
                )
            asked = max(asked, abs(way.leftward) / aside)
        if asked > MOST_STEPS:
            raise BadFootsteps(f"so far away that it takes {asked:.0f} steps; give a goal within {MOST_STEPS} of them")
        count = math.ceil(asked - 1e-9)
        while count and not self._can_do(_times(way, 1.0 / count), 1.0):  # soles that turn need room
            count += 1
            if count > MOST_STEPS:
                raise BadFootsteps(f"feet {self.spacing:g} m apart have no room to turn; give them a wider spacing")
        return count


def _times(velocity: Velocity, factor: float) -> Velocity:
    return Velocity(*(factor * value for value in velocity))


def beside_body(body: Place, side: Side, spacing: float) -> Footstep:
    """The foot put beside a place of the body."""
    return Footstep(side, body.beside(0.0, OUTWARD[side] * spacing / 2))


def first_side(velocity: Velocity) -> Side:
    """Which foot begins: the one on the side that one goes or turns to, or the right one."""
    return "left" if velocity.leftward > 0 or (velocity.leftward == 0 and velocity.turn > 0) else "right"


def along(
    body: Place, velocity: Velocity, step_time: float, count: int, spacing: float, first: Side
) -> tuple[Footstep, ...]:
    """So many steps at a velocity."""
    steps, side = [], first
    for _ in range(count):
        body = body.moved(velocity, step_time)
        steps.append(beside_body(body, side, spacing))
        side = OTHER[side]
    return tuple(steps)


def to_place(feet: Feet, goal: Place, limits: StepLimits, first: Side | None = None) -> tuple[Footstep, ...]:
    """The fewest even steps from where the feet stand to a place, seen from between them, and one to close the feet.

    `goal` is in the axes of the body: (0.5, 0, 0) is half a metre forward, (0, 0, π/2) a quarter turn to the left.
    """
    if not all(math.isfinite(value) for value in goal):
        raise BadFootsteps(f"a goal of {tuple(goal)}; give three finite numbers")
    whole = _straight(goal)
    count = limits.fewest(whole)
    if count == 0:
        return ()
    begin = first or first_side(whole)
    body = feet.middle
    steps = along(body, whole, 1.0 / count, count, limits.spacing, begin)
    closing = beside_body(body.moved(whole, 1.0), OTHER[steps[-1].side], limits.spacing)
    return (*steps, closing)


def within(steps: Sequence[Footstep], feet: Feet, limits: StepLimits) -> tuple[Footstep, ...]:
    """Steps that were planned from between the feet, with what is too far from feet that stand uneven cut off."""
    at_leisure, kept = replace(limits, in_need=0.0), list[Footstep]()
    for step in steps:
        kept.append(at_leisure.kept(step, feet.of(OTHER[step.side])))
        feet = feet.after(kept[-1])
    return tuple(kept)


def in_place(feet: Feet, count: int, limits: StepLimits, first: Side = "right") -> tuple[Footstep, ...]:
    """So many steps on the spot."""
    if not 0 <= count <= MOST_STEPS:
        raise BadFootsteps(f"{count} steps; give a number from 0 to {MOST_STEPS}")
    return along(feet.middle, Velocity(), 1.0, count, limits.spacing, first)


def _straight(goal: Place) -> Velocity:
    """The constant velocity that leads to a place in one second: the logarithm of a planar motion."""
    turn = goal.yaw
    half = 0.5 * turn
    stretch = 1.0 if abs(turn) < 1e-9 else half / math.tan(half)
    return Velocity(stretch * goal.x + half * goal.y, stretch * goal.y - half * goal.x, turn)


Outline = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class SoleRoom:
    """The corners of both soles in their frames, of any shape, and how far they stay from each other sideways, m."""

    left: Outline
    right: Outline
    gap: float = 0.0
    _outward: tuple[Array, Array] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Keep both soles convex, with y pointing away from the other foot."""
        object.__setattr__(self, "_outward", (_mirrored(self.left, 1.0), _mirrored(self.right, -1.0)))

    def aside(self, left_steps: bool, forward: float, turn: float) -> float:
        """m. The least distance aside of a foot that is put so far ahead of the other and turned against it.

        −∞ if it is so far ahead, or behind, that it is not beside the other at all.
        """
        left, right = self._outward
        steps, stays, outward = (left, right, turn) if left_steps else (right, left, -turn)
        return aside(stays * (1.0, -1.0), steps, forward, outward) + self.gap


def _mirrored(outline: Iterable[tuple[float, float]], sign: float) -> Array:
    return convex_hull(np.array([(x, sign * y) for x, y in outline]))


def aside(stays: Array, steps: Array, forward: float, turn: float) -> float:
    """How far to the left a convex polygon, turned and put ahead, just touches another: −∞ if it is not beside it.

    Both borders are straight between corners, so the least distance is that at a corner of the one or of the other.
    """
    cosine, sine = math.cos(turn), math.sin(turn)
    turned = steps @ np.array([[cosine, sine], [-sine, cosine]]) + (forward, 0.0)
    return float(
        max((border(stays, turned[:, 0]) - turned[:, 1]).max(), (stays[:, 1] + border(-turned, -stays[:, 0])).max())
    )


def border(corners: Array, x: Array) -> Array:
    """The greatest y of a polygon at each x; −∞ where it is not."""
    (ax, ay), (bx, by) = corners.T, np.roll(corners, -1, axis=0).T
    x = x[:, None]
    upright = ax == bx
    share = np.where(upright, 0.0, (x - ax) / np.where(upright, 1.0, bx - ax))
    y = np.where(upright, np.maximum(ay, by), ay + share * (by - ay))
    beside = (np.minimum(ax, bx) <= x) & (x <= np.maximum(ax, bx))
    most: Array = np.where(beside, y, -np.inf).max(axis=1)
    return most
