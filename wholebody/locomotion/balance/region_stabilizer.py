"""RegionStabilizer: the thesis's: attitude, static and dynamic balance, chosen by ZMP regions (Stabilizer, Ch. 5).

Safe: only the attitude is controlled, by the support leg. Nearly critical: balance is a second task beside the main
one, the static controller moves the centre of mass with legs and waist so that the zero moment point goes back,
ṗ_zmp = ṗ_com. Critical: the main task is left alone, and the dynamic controller sets the zero moment point through the
accelerations of the centre of mass, of the arms and of the trunk,

    z = c − c̈ / ω² − L̇ / (m g),

shared between them by the weighted pseudo-inverse (Sharing). Where the ground cannot push as far out as it should, L̇
is what is lacking. One goes over into the other in a fixed time by a polynomial with continuous acceleration. When not
even that helps, it asks for a recovery step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Annotated

import numpy as np

from wholebody import _kernels
from wholebody.errors import BadGait, UnknownName
from wholebody.estimation import Balance
from wholebody.locomotion.balance.momentum_sharing import Arms, Sharing, Waist
from wholebody.locomotion.balance.recovery import landing_instead
from wholebody.locomotion.balance.stabilizers import Command, as_planned, turned, upright
from wholebody.locomotion.balance.support_area import Soles, nearest_inside, scaled
from wholebody.locomotion.walking.pattern import Target
from wholebody.locomotion.walking.pendulum import GRAVITY
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.parameters import Bounds, Unit


class Region(IntEnum):
    """How near to its limit the zero moment point is."""

    SAFE = 0  # nothing is to be done
    NEARLY_CRITICAL = 1  # balance is a second task
    CRITICAL = 2  # balance is the only task
    OUTSIDE = 3  # off the feet: measured wrongly, or falling


@dataclass(frozen=True)
class Regions:
    """The support area, scaled about its middle: any convex polygon, of one foot or of both.

    safe             share of the support area in which nothing is to be done
    nearly_critical  share of the support area beyond which balance is the only task
    """

    safe: Annotated[float, Unit("1"), Bounds(0, 1)] = 0.5
    nearly_critical: Annotated[float, Unit("1"), Bounds(0, 1)] = 0.8

    def __post_init__(self) -> None:
        """Refuse regions that are not within each other."""
        if not 0 < self.safe < self.nearly_critical < 1:
            raise BadGait(
                f"regions of {self.safe} and {self.nearly_critical} of the support area; "
                "give 0 < safe < nearly critical < 1"
            )

    def of(self, area: Array, zmp: Array) -> Region:
        """In which region a zero moment point is; corners counter-clockwise."""
        depth = share_of(area, zmp)
        if depth <= self.safe:
            return Region.SAFE
        if depth <= self.nearly_critical:
            return Region.NEARLY_CRITICAL
        return Region.CRITICAL if depth <= 1.0 else Region.OUTSIDE

    def nearest(self, area: Array, zmp: Array, share: float) -> Array:
        """The nearest point of the area scaled to a share of itself."""
        return nearest_inside(scaled(area, share), zmp)


def share_of(area: Array, point: Array) -> float:
    """How large a share of the area, scaled about its middle, just holds the point: 0 in the middle, 1 on the edge."""
    return _kernels.locomotion_share_of_area(np.ascontiguousarray(area, np.float64), np.asarray(point, np.float64))


@dataclass
class RegionGains:
    """How strongly it reacts.

    attitude        how much of its tilt the pelvis is turned back by
    static          how fast the centre of mass moves against a zero moment point that is off
    slow            what is quicker than this is not for the static controller
    proportional    how strongly the ground pushes the divergent component back
    pull            how fast the told centre of mass is drawn to the measured one
    step_threshold  a foot is put elsewhere only if the divergent component will be off by more than this
    switch          how long the static controller takes to hand over to the dynamic one
    arms            the share of their effort that arms give as easily as the ground all it can; they hang if 0
    upright         how fast a trunk that was thrown comes back
    most_lean       how far it is thrown at most
    """

    regions: Regions = field(default_factory=Regions)
    attitude: Annotated[float, Unit("1"), Bounds(0, 2)] = 0.3
    static: Annotated[float, Unit("1/s"), Bounds(0, 20)] = 1.0
    slow: Annotated[float, Unit("s"), Bounds(0.01, 5)] = 0.3
    proportional: Annotated[float, Unit("1/s"), Bounds(0, 20)] = 2.0
    pull: Annotated[float, Unit("1/s"), Bounds(0, 50)] = 10.0
    step_threshold: Annotated[float, Unit("m"), Bounds(0, 1)] = 0.02
    switch: Annotated[float, Unit("s"), Bounds(0.01, 2)] = 0.1
    arms: Annotated[float, Unit("1"), Bounds(0, 1)] = 0.35
    upright: Annotated[float, Unit("1/s"), Bounds(0, 50)] = 3.0
    most_lean: Annotated[float, Unit("rad"), Bounds(0, 1)] = 0.6


MODES = frozenset({"attitude", "static", "dynamic"})
FARTHEST = 0.03
"""m: how far the static controller moves the centre of mass."""
SMOOTHING = 0.02
"""s."""


class Smoothed:
    """A signal that may jump, through two lags of SMOOTHING: its first derivative does not jump."""

    def __init__(self, size: int) -> None:
        self._once, self.value = np.zeros(size), np.zeros(size)

    def follow(self, signal: Array | float, period: float) -> Array:
        """One period nearer."""
        share = period / (SMOOTHING + period)
        self._once = self._once + share * (signal - self._once)
        self.value = self.value + share * (self._once - self.value)
        return self.value


class RegionStabilizer:
    """See the file's docstring. `region` is where the zero moment point was in the last cycle.

    `modes` says which of the controllers work; the dynamic one without the static one works in all regions.
    """

    feels_ground = False
    believes = None

    def __init__(
        self, model: Model, gains: RegionGains | None = None, steps: bool = True, modes: frozenset[str] = MODES
    ) -> None:
        unknown = modes - MODES
        if unknown:
            raise UnknownName("mode of balance", min(unknown), MODES)
        self.gains = gains or RegionGains()
        self.steps = steps
        self.modes = modes
        self.sharing = Sharing(model)
        self.arms, self.waist = Arms(model, self.sharing.joints), Waist(model)
        self._weight = model.total_mass * GRAVITY
        self._soles = Soles(model.robot)
        self.reset()

    def reset(self) -> None:
        """Begin anew, from a robot at rest."""
        self.region = Region.SAFE
        self._shift = np.zeros(2)  # of the static controller
        self._off = np.zeros(2)  # of the zero moment point, without what is quick
        self._com: Array | None = None  # of the dynamic one
        self._velocity = np.zeros(2)
        self._progress = 0.0  # of the switch from static to dynamic
        self._share, self._rate = Smoothed(1), Smoothed(2)  # of the dynamic controller; of the static one's shift
        self._attitude = np.zeros(2)
        self._lean, self._leaning = np.zeros(2), np.zeros(2)  # of the trunk that is thrown
        self._moment = np.zeros(2)  # L̇ of arms and trunk, N·m: turning forward counts along x
        self.arms.reset()

    def correct(self, target: Target, balance: Balance, period: float) -> Command:
        """What to do in this cycle."""
        gains, command = self.gains, as_planned(target)
        area = self._soles.area(target.support, target.left.place, target.right.place)
        self.region = gains.regions.of(area, balance.cop_in_world[:2])
        dcm = target.divergent(balance.com_in_world, balance.com_velocity)
        off = dcm - target.dcm
        wanted = target.zmp + (1.0 + gains.proportional / target.omega) * off
        urgent = self.region >= Region.CRITICAL or gains.regions.of(area, wanted) >= Region.CRITICAL
        share = self._switched(urgent or "static" not in self.modes, period) if "dynamic" in self.modes else 0.0
        slow = self._static(target, balance, area, period)
        zmp = nearest_inside(area, wanted)
        fast = self._dynamic(target, balance, zmp, period)
        command.com[:2] = (1.0 - share) * slow + share * fast
        command.zmp = (1.0 - share) * target.zmp + share * zmp
        command.left_share = target.left_share_at(command.zmp)
        command.feed_forward = True
        acceleration = target.omega**2 * (balance.com_in_world[:2] - target.com - zmp + target.zmp)
        self._share_out(command, share * acceleration, share * self._weight * (wanted - zmp), target.body.yaw, period)
        if self.waist.joints:
            bent = self.waist.bend((1.0 - share) * self._shift @ upright(target.body.yaw)[:2, :2])
            command.others[self.waist.joints] = bent
        if "attitude" in self.modes:
            self._hold_attitude(balance, period)
        self._turn_trunk(command)
        if self.steps:
            if (wanted != zmp).any():
                command.landing = landing_instead(target, off, zmp - target.zmp, gains.step_threshold)
            command.falling = bool((nearest_inside(area, dcm) != dcm).any())
        return command

    def _switched(self, urgent: bool, period: float) -> float:
        """How far the dynamic controller has taken over: s³ (10 − 15 s + 6 s²), smooth up to acceleration.

        Smoothed, it stays so if it turns back half-way.
        """
        step = period / self.gains.switch
        self._progress = min(1.0, self._progress + step) if urgent else max(0.0, self._progress - 0.2 * step)
        s = self._progress
        return float(self._share.follow(s**3 * (10.0 - 15.0 * s + 6.0 * s * s), period)[0])

    def _static(self, target: Target, balance: Balance, area: Array, period: float) -> Array:
        """ċ = −k (z − z_ref) while z, without what is quick, is out of the safe region; else slowly back.

        A blow makes z swing about where it was: nothing to lean against. The rate is smoothed, so that no region makes
        the acceleration jump.
        """
        self._off += period / self.gains.slow * (balance.cop_in_world[:2] - target.zmp - self._off)
        region = self.gains.regions.of(area, target.zmp + self._off)
        leans = region > Region.SAFE and "static" in self.modes
        rate = -self.gains.static * self._off if leans else -0.5 * self._shift
        rate = np.clip(rate, *((way - self._shift) / (2.0 * SMOOTHING) for way in (-FARTHEST, FARTHEST)))
        self._shift = self._shift + period * self._rate.follow(rate, period)
        return np.asarray(target.com + self._shift)

    def _dynamic(self, target: Target, balance: Balance, zmp: Array, period: float) -> Array:
        """c̈ = ω² (c − z − L̇ / (m g)), drawn to the centre of mass that is measured."""
        if self._com is None:
            self._com, self._velocity = target.com.copy(), target.com_velocity.copy()
        k = self.gains.pull
        pull = k * k * (balance.com_in_world[:2] - self._com) + 2.0 * k * (balance.com_velocity[:2] - self._velocity)
        self._velocity = self._velocity + period * (
            target.omega**2 * (self._com - zmp + target.pull - self._moment / self._weight) + pull
        )
        self._com = self._com + period * self._velocity
        return self._com

    def _share_out(self, command: Command, acceleration: Array, moment: Array, yaw: float, period: float) -> None:
        """Arms swing, the trunk is thrown, and legs do the rest, for a wanted acceleration and L̇, in world."""
        to_world = upright(yaw)[:2, :2]
        acceleration, moment = acceleration @ to_world, moment @ to_world
        before = self.arms.speed
        command.others = self.arms.swing(self.sharing.arms(acceleration, moment, self.gains.arms), period)
        by_arms = self.sharing.angular @ (self.arms.speed - before) / period
        self._throw_trunk(to_world @ np.linalg.solve(self.sharing.inertia, moment - by_arms), period)
        self._moment = moment @ to_world.T

    def _throw_trunk(self, push: Array, period: float) -> None:
        """Turn the trunk towards where ξ runs away: while it gains speed it pushes the other way."""
        gains = self.gains
        push = push - 2.0 * gains.upright * self._leaning - gains.upright**2 * self._lean
        self._leaning = self._leaning + period * push
        self._lean = self._lean + period * self._leaning
        size = math.hypot(*self._lean)
        if size > gains.most_lean:
            self._lean *= gains.most_lean / size
            self._leaning *= 0.0

    def _hold_attitude(self, balance: Balance, period: float) -> None:
        """Turn the pelvis against its tilt, roll and pitch, with a lag of a tenth of a second."""
        self._attitude += period / 0.1 * (-self.gains.attitude * (balance.lean - self._lean) - self._attitude)
        self._attitude *= min(1.0, 0.2 / max(math.hypot(*self._attitude), 1e-9))

    def _turn_trunk(self, command: Command) -> None:
        ahead, aside = self._lean + self._attitude
        if math.hypot(ahead, aside) > 1e-9:
            command.rotation = turned(np.array([-aside, ahead, 0.0])) @ command.rotation
