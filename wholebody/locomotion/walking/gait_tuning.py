"""When the swinging foot passes its via point: the time t_m at which the hip's torque varies least (Stabilizer, 3.9).

The leg is a double pendulum that hangs from the hip, and Newton's method finds where the standard deviation of the
hip's torque has its minimum. The foot goes as robots swing it here; the thesis's piecewise cubic with continuous
acceleration (Eq. 3.16, Fig. 3.26) is the other choice of a path, and has its minimum elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from wholebody.errors import BadFootsteps, BadGait
from wholebody.kinematics import Collisions
from wholebody.kinematics.collision import link_pairs
from wholebody.locomotion.balance.stabilizers import as_planned
from wholebody.locomotion.walking.footsteps import Feet, Footstep, Place, in_place, to_place, within
from wholebody.locomotion.walking.gait import SOLES, Gait
from wholebody.locomotion.walking.legs import Legs, leg_joints, load_on_one_leg
from wholebody.locomotion.walking.pattern import Pattern
from wholebody.locomotion.walking.swing import Swing
from wholebody.locomotion.walking.walker import Walker
from wholebody.model import DoublePendulum, Model
from wholebody.model.layout import Array
from wholebody.model.snapshot import Snapshot
from wholebody.motion import via_cubic

SAMPLES = 120
EARLIEST, LATEST = 0.2, 0.8


def as_swung(swing: LegSwing, via: float, times: Array) -> Array:
    """Where the leg's end is as robots swing it here, by `Swing`: x and z at each of the times."""
    (x, z), (goal, ground) = swing.start, swing.end
    places = Place(x, 0.0, 0.0), Place(goal, 0.0, 0.0)
    foot = Swing(*places, 0.0, swing.duration, swing.lift, via, heights=(z, ground), gently=swing.gently)
    points = [foot.at(float(time)) for time in times]
    return np.array([(point.place.x, point.height) for point in points])


def by_cubics(swing: LegSwing, via: float, times: Array) -> Array:
    """The same by the thesis's cubics, through a via point above the middle of the way; they know no gentle landing."""
    (x, z), (goal, ground) = swing.start, swing.end
    middle = ((x + goal) / 2, max(z, ground) + swing.lift)
    path = via_cubic([swing.start, middle, swing.end], [0.0, via * swing.duration, swing.duration])
    places: Array = path.sample(times).position
    return places


@dataclass(frozen=True)
class LegSwing:
    """A swing of a leg that is a pendulum: its end goes from one place below the hip to another, over a via point."""

    leg: DoublePendulum
    start: tuple[float, float]  # x and z from the hip, m
    end: tuple[float, float]
    lift: float  # m, of the via point above the higher end
    duration: float  # s
    gently: float = 0.0  # as in Gait
    path: Callable[[LegSwing, float, Array], Array] = as_swung

    def __post_init__(self) -> None:
        """Refuse what the leg does not reach."""
        longest = self.leg.upper + self.leg.lower
        for x, z in (self.start, self.end):
            if math.hypot(x, z) >= longest:
                raise BadGait(f"a leg of {longest:.3f} m does not reach {x:g}, {z:g} m below its hip")

    def hip_torque(self, via: float) -> Array:
        """Over time, if the via point is passed at this share of the duration."""
        times = np.linspace(0.0, self.duration, SAMPLES)
        q = np.array([self._angles(*place) for place in self.path(self, via, times)])
        v = np.gradient(q, times, axis=0, edge_order=2)
        a = np.gradient(v, times, axis=0, edge_order=2)
        return np.array([self.leg.inverse_dynamics(*row)[0] for row in zip(q, v, a, strict=True)])

    def deviation(self, via: float) -> float:
        """The standard deviation of the hip's torque, N·m."""
        return float(np.std(self.hip_torque(via)))

    def best_via(self) -> float:
        """t_m as a share of the duration."""
        return newton_minimum(self.deviation, 0.5, EARLIEST, LATEST)

    def _angles(self, x: float, z: float) -> tuple[float, float]:
        """Of hip and knee, the knee bent as people's are."""
        upper, lower = self.leg.upper, self.leg.lower
        cosine = (x * x + z * z - upper**2 - lower**2) / (2 * upper * lower)
        knee = math.acos(min(1.0, max(-1.0, cosine)))
        hip = math.atan2(-x, -z) - math.atan2(lower * math.sin(knee), upper + lower * math.cos(knee))
        return hip, knee


def via_of(model: Model, gait: Gait, length: float) -> float:
    """t_m of a robot's steps of a length, as a share of the swing: what `Gait.via` is to be.

    gait = replace(gait, via=via_of(model, gait, 0.2))
    """
    return leg_swing(model, gait, length).best_via()


def leg_swing(model: Model, gait: Gait, length: float) -> LegSwing:
    """The swing of a robot's steps of a length.

    From step to step a foot goes twice the length; the hip is then half-way, as high above the sole as in "stand" but
    for what the gait's centre of mass is lower. The leg's end is where its lower mass is, above the sole by as much as
    that is in "stand"; a length out of the pendulum's reach counts as the longest within it.
    """
    q = model.posture("stand")
    at, (hip, knee) = model.at(q), pitch_joints(model, q)
    leg = DoublePendulum.of_limb(model, q, hip, knee)
    hip_height = float(at.position(model.frame(model.robot.joint(hip).child))[2])
    knee_height = float(at.position(model.frame(model.robot.joint(knee).child))[2])
    sole_height = float(at.position(model.surface(SOLES[1]))[2])
    lowered = float(at.com_in_world[2]) - sole_height - gait.height
    end = min(hip_height - knee_height + leg.lower - max(lowered, 0.0), 0.98 * (leg.upper + leg.lower))
    share = math.hypot(length, end) / (leg.upper + leg.lower)
    reach = length if share < 0.98 else math.sqrt(max((0.98 * (leg.upper + leg.lower)) ** 2 - end**2, 0.0))
    return LegSwing(leg, (-reach, -end), (reach, -end), gait.lift, gait.single_support, gait.gently)


def pitch_joints(model: Model, q: Array) -> tuple[str, str]:
    """The first two joints of the right leg that turn it forward and back: hip and knee."""
    at, robot = model.at(q), model.robot
    found = []
    for column in robot.group("right_leg"):
        joint = robot.moving[column]
        turning = at.jacobian(model.frame(joint.child))[3:, 6 + column]
        if abs(turning[1]) > 0.9 * float(np.linalg.norm(turning)):
            found.append(joint.name)
    if len(found) < 2:
        raise BadGait(f"'{robot.name}' has no hip and knee in its group 'right_leg' that turn about the lateral axis")
    return found[0], found[1]


def newton_minimum(
    function: Callable[[float], float], start: float, lowest: float, highest: float, width: float = 0.01
) -> float:
    """x ← x − f′ / f″ with differences of a width, kept between bounds; downhill where f curves the wrong way."""
    x = start
    for _ in range(25):
        below, here, above = (function(x + k * width) for k in (-1, 0, 1))
        slope, curve = (above - below) / (2 * width), (above - 2 * here + below) / width**2
        step = -slope / curve if curve > 0 else -math.copysign(0.1, slope)
        after = min(max(x + min(max(step, -0.1), 0.1), lowest + width), highest - width)
        if abs(after - x) < 1e-4:
            return after
        x = after
    return x


STEPS = 3
INTERVAL = 0.01
"""s from one look at the joints to the next."""
SHARE = 0.85
"""Of the velocity that joints can have; the rest is for balance."""
EASY, HIGHEST = 0.8, 6
"""Share of its effort limit that a joint may need on one leg; and how often the body is raised by half a percent."""
STRAIGHTEST = 0.3
"""rad: how far knees stay bent on the longest step, if they stand bent twice as far."""
SHORTEST = 0.2
"""Of the length that was asked for: a robot that cannot do that much walks so, and its joints lag."""
GROWN = 0.0
"""Share by which the shapes of legs are grown that are not to touch."""
LEAST_TURN = 0.2
"""Of the turn of a step that was asked for."""
OUT_OF_REACH = 1e-3
"""m: a sole that stays further from where it is to be is out of the legs' reach."""
ROUNDS = 5
"""Of halving the interval in which the longest step, or the widest turn, is."""


def fit(walker: Walker) -> None:
    """Fit a robot's gait to what its legs can do: how high it stands, how long its steps are, how far they turn."""
    gait = replace(walker.gait, height=easy_height(walker.model, walker.gait))
    legs, feet, length = Legs(walker.model), walker.pattern.feet, gait.limits.length
    share = _most(lambda share: steps_easily(legs, gait, feet, length * share), SHORTEST)
    turned = _most(turns_freely(legs, gait, feet), LEAST_TURN)
    if share == turned == 1.0 and gait.height == walker.gait.height:
        return
    limits = gait.limits
    limits = replace(limits, length=length * share, in_need=limits.in_need * share, turn=limits.turn * turned)
    walker.gait = replace(gait, limits=limits)
    walker.pattern = Pattern(walker.gait, feet)


def easy_height(model: Model, gait: Gait) -> float:
    """The height of the centre of mass at which no joint is near its effort limit on one leg: knees bent less.

    The gait's own height, if that is easy enough, or if standing higher does not help.
    """
    for height in gait.height * (1.0 + 0.005 * np.arange(HIGHEST)):
        if load_on_one_leg(model, replace(gait, height=float(height))).share <= EASY:
            return float(height)
    return gait.height


def _most(fits: Callable[[float], bool], least: float) -> float:
    """The greatest share, up to 1, with which something fits; the least, if that does not."""
    if fits(1.0):
        return 1.0
    share, too_much = least, 1.0
    for _ in range(ROUNDS):
        half = (share + too_much) / 2
        share, too_much = (half, too_much) if fits(half) else (share, half)
    return share


def steps_easily(legs: Legs, gait: Gait, feet: Feet, length: float) -> bool:
    """Whether joints follow steps of a length, and knees stay bent: a straight leg has nothing left for balance."""
    least = min(STRAIGHTEST, 0.5 * float(np.abs(legs.model.posture("stand")[7:][legs.knees]).min()))
    needs = needed(legs, gait, feet, length)
    return needs.speed <= SHARE and needs.knee >= least


class Needs(NamedTuple):
    """What planned steps need: the greatest share of a joint's velocity limit; the least bend of a knee, rad."""

    speed: float
    knee: float


def needed(legs: Legs, gait: Gait, feet: Feet, length: float) -> Needs:
    """What some steps of a length need."""
    steps = to_place(feet, Place(STEPS * length, 0.0, 0.0), replace(gait.limits, length=length))
    speed, knee = Speed(legs), np.inf
    for time, _ in rehearsed(legs, gait, feet, steps, INTERVAL):
        if speed.look(time) > 0.0:
            knee = min(knee, float(np.abs(legs.joints[legs.knees]).min()))
    return Needs(speed.greatest, knee)


class Speed:
    """How fast joints of legs go, in shares of their velocity limits: now, and the greatest so far."""

    def __init__(self, legs: Legs) -> None:
        self._legs, self._columns = legs, np.concatenate(legs.columns)
        self._fastest = np.array([legs.model.robot.moving[column].velocity for column in self._columns])
        self._before, self._time, self.greatest = np.zeros(0), 0.0, 0.0

    def look(self, time: float) -> float:
        """The greatest since the last look; at first legs come from far away, which does not count."""
        joints, now = self._legs.joints[self._columns], 0.0
        if len(self._before) and time > 0.1:
            now = float(np.max(np.abs(joints - self._before) / self._fastest)) / (time - self._time)
        self._before, self._time, self.greatest = joints, time, max(self.greatest, now)
        return now


def turns_freely(legs: Legs, gait: Gait, feet: Feet) -> Callable[[float], bool]:
    """Whether steps turned by a share of the gait's are within range and velocity of the hips and keep the legs apart.

    What steps on the spot cannot reach either, or not as fast, is no fault of the turn.
    """
    touching, often, farthest, spot = Touching(legs.model), 3 * INTERVAL, 0.0, Speed(legs)
    for time, _ in rehearsed(legs, gait, feet, in_place(feet, STEPS, gait.limits), often):
        spot.look(time)
        farthest = max(farthest, legs.reach)
    farthest, fastest = farthest + OUT_OF_REACH, max(SHARE, 1.01 * spot.greatest)

    def fits(share: float) -> bool:
        limits = replace(gait.limits, turn=gait.limits.turn * share)
        for angle in (STEPS * limits.turn, -STEPS * limits.turn):
            try:
                steps = to_place(feet, Place(0.0, 0.0, angle), limits)
            except BadFootsteps:  # feet that have no room to turn, which whoever asks for a turn is told
                continue
            speed = Speed(legs)
            for time, seen in rehearsed(legs, gait, feet, steps, often):
                if legs.reach > farthest or speed.look(time) > fastest or touching.at(seen):
                    return False
        return True

    return fits


class Touching:
    """Whether the legs touch each other: links of one with links of the other, but for those that do in "stand"."""

    def __init__(self, model: Model) -> None:
        robot = model.robot
        left, right = ({joint.child for joint in robot.moving if joint.name in names} for names in leg_joints(robot))
        pairs = link_pairs(robot, ())
        others = {(one, other) for one, other in pairs if not ({one, other} & left and {one, other} & right)}
        self._collisions: Collisions | None = None
        if len(others) < len(pairs):
            found = Collisions(model, GROWN, ignore=others)
            stands = {(touch.one, touch.other) for touch in found.check(model.posture("stand"))}
            self._collisions = Collisions(model, GROWN, ignore=others | stands) if stands else found

    def at(self, seen: Snapshot) -> bool:
        """Whether they do so here."""
        return self._collisions is not None and self._collisions.collides(seen)


def rehearsed(
    legs: Legs, gait: Gait, feet: Feet, steps: Sequence[Footstep], interval: float
) -> Iterator[tuple[float, Snapshot]]:
    """The legs, instant by instant, as they take steps as planned."""
    pattern = Pattern(gait, feet)
    pattern.follow(within(steps, feet, gait.limits), 0.0)
    for time in np.arange(0.0, gait.begin + (len(steps) + 1) * gait.step_time, interval):
        command = as_planned(pattern.at(float(time)))
        yield float(time), legs.balance(command.com, command.rotation, command.soles)
