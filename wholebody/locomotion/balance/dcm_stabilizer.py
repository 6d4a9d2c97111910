"""DcmStabilizer: feedback of the divergent component of motion by the ankles, the centre of mass, and steps.

    z* = z + (1 + k/ω) (ξ − ξ_ref) + kᵢ ∫(ξ − ξ_ref),  kept inside the support area,

is where the ground is to push so that ξ comes back. The ankles are led to push there at once. The centre of mass that
the legs are told is a pendulum over z* that is drawn to the one that is measured,

    c̈ = ω² (c − z*) + k₁ (c_measured − c) + k₂ (ċ_measured − ċ),

so that stiff joints yield to a push instead of tipping the robot over an edge of its foot. What z* cannot bring back
because the foot is too small, the next step does: its foot is put as far aside as ξ will be off when it lands.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from wholebody import _kernels
from wholebody.estimation import Balance, SupportNoise
from wholebody.locomotion.balance.recovery import landing_instead
from wholebody.locomotion.balance.stabilizers import Command, as_planned
from wholebody.locomotion.balance.support_area import Soles, nearest_inside, scaled
from wholebody.locomotion.walking.pattern import Target
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.parameters import Bounds, Unit

MOVING_GROUND = SupportNoise(creep=0.2, level=0.1, vibration=1.5)
"""What the estimator may believe of ground that is neither level nor at rest: then gravity alone says where up is."""


@dataclass
class DcmGains:
    """How strongly it reacts.

    proportional    k: how strongly the ground pushes ξ back
    integral        kᵢ: how strongly it pushes back what stays off
    position        k₁: how strongly the told centre of mass is drawn to the measured one
    velocity        k₂: the same of their velocities
    lean            how strongly the trunk turns towards where ξ runs away, out of reach
    give            how fast the trunk yields to a push
    forget          how fast a tilt becomes usual
    find_out        how long it stands until the sensors know how
    most_error      the greatest tilt that is taken for the sensors' error
    unnoticed       a tilt so small is no push
    reach           share of the support area beyond which ξ makes the trunk lean
    upright         how fast the trunk comes back
    most_lean       how far the trunk leans at most
    margin          share of the sole's half width that is kept free along its edges
    step_threshold  a foot is put elsewhere only if ξ will be off by more than this
    """

    proportional: Annotated[float, Unit("1/s"), Bounds(0, 20)] = 4.0
    integral: Annotated[float, Unit("1/s"), Bounds(0, 20)] = 0.5
    position: Annotated[float, Unit("1/s²"), Bounds(0, 2000)] = 100.0
    velocity: Annotated[float, Unit("1/s"), Bounds(0, 200)] = 20.0
    lean: Annotated[float, Unit("1/(m s²)"), Bounds(0, 5000)] = 200.0
    give: Annotated[float, Unit("1/s"), Bounds(0, 100)] = 80.0
    forget: Annotated[float, Unit("1/s"), Bounds(0, 10)] = 1.0
    find_out: Annotated[float, Unit("s"), Bounds(0, 10)] = 0.4
    most_error: Annotated[float, Unit("rad"), Bounds(0, 1)] = 0.05
    unnoticed: Annotated[float, Unit("rad"), Bounds(0, 1)] = 0.004
    reach: Annotated[float, Unit("1"), Bounds(0, 1)] = 0.95
    upright: Annotated[float, Unit("1/s"), Bounds(0, 50)] = 3.0
    most_lean: Annotated[float, Unit("rad"), Bounds(0, 1)] = 0.6
    margin: Annotated[float, Unit("1"), Bounds(0, 0.9)] = 0.02
    step_threshold: Annotated[float, Unit("m"), Bounds(0, 1)] = 0.02


class DcmStabilizer:
    """See the file's docstring. `steps` says whether footsteps may be moved."""

    feels_ground = False
    believes: SupportNoise | None = None

    def __init__(self, model: Model, gains: DcmGains | None = None, steps: bool = True) -> None:
        self.gains = gains or (
            DcmGains() if steps else DcmGains(lean=4000.0, reach=0.6)
        )  # the trunk is all it has then
        self.steps = steps
        outline = np.array(model.robot.surface("left_sole").outline)
        self._robot, self._half = model.robot, float(np.abs(outline - outline.mean(axis=0)).min())
        self._margin, self._soles = 0.0, Soles(model.robot)
        self.reset()

    def reset(self) -> None:
        """Begin anew, from a robot at rest."""
        self._began, self._feedback, self._gains = False, np.zeros((6, 2)), np.zeros(4)
        self._trunk = np.zeros((2, 2))
        self._lean, self._leaning = self._trunk  # towards x and y, rad and rad/s
        self._usual, self._stood = np.zeros(2), 0.0  # the tilt that is no push, and for how long it stands, s

    def correct(self, target: Target, balance: Balance, period: float) -> Command:
        """What to do in this cycle."""
        gains = self.gains
        com, com_velocity, _, dcm, off, zmp = feedback = self._feedback  # DcmFeedback of locomotion.h
        if not self._began:
            com[:], com_velocity[:], self._began = *self._begin(target, balance), True
        area = self._within(gains.margin).area(target.support, target.left.place, target.right.place)
        self._gains[:] = gains.proportional, gains.integral, gains.position, gains.velocity
        kept, falling = _kernels.locomotion_feed_back_dcm(
            *(feedback, area, target.zmp, target.dcm, target.pull, balance.com_in_world, balance.com_velocity),
            *(self._gains, target.omega, period),
        )
        command = as_planned(target)
        command.com[:2], command.com_velocity = com, com_velocity.copy()
        command.zmp, command.left_share = zmp.copy(), target.left_share_at(zmp)
        command.feed_forward = command.level_swing = True
        push = np.zeros(2)
        if math.isinf(target.phase_left):  # walking, ξ is out of the area all the time
            push = gains.lean * (dcm - nearest_inside(scaled(area, gains.reach), dcm)) + self._yielding(balance, period)
        else:
            self._stood = 0.0
        _kernels.locomotion_lean_trunk(self._trunk, push, gains.upright, gains.most_lean, period, command.rotation)
        if self.steps:
            if kept:
                command.landing = landing_instead(target, off, zmp - target.zmp, gains.step_threshold)
            command.falling = falling
        return command

    def _begin(self, target: Target, balance: Balance) -> tuple[Array, Array]:
        """Position and velocity of the pendulum in its first cycle: as the robot is to stand."""
        return target.com, target.com_velocity

    def _within(self, margin: float) -> Soles:
        """The soles without their edges."""
        if margin != self._margin:
            self._margin, self._soles = margin, Soles(self._robot, margin=margin * self._half)
        return self._soles

    def _yielding(self, balance: Balance, period: float) -> Array:
        """How a trunk that was pushed out of its way goes along, as if it were not held so stiffly.

        A tilt that is there all the time is the sensors' error, and no push: to go along with it would never end. On
        soft ankles it yields by itself, and to go along with the tilt that they make would be to fall.
        """
        gains, turning = self.gains, balance.turning
        if balance.flexion.any():
            return np.zeros(2)
        away = balance.lean - self._lean
        self._stood += period
        if self._stood < gains.find_out:
            self._usual = away.copy()
        self._usual += min(1.0, period * gains.forget) * (away - self._usual)
        size = math.hypot(*self._usual)
        self._usual *= min(1.0, gains.most_error / max(size, 1e-9))
        away = away - self._usual
        speed = np.array([turning[1], -turning[0]]) - self._leaning
        share = max(0.0, 1.0 - gains.unnoticed / max(math.hypot(*away), 1e-9))
        return np.asarray(share * (gains.give**2 * away + 2.0 * gains.give * speed))


class RoughStabilizer(DcmStabilizer):
    """The same for ground that is higher, lower or otherwise turned than planned, or that moves.

    Feet come down where they feel the ground, and lie as it does. The trunk does not yield to its tilt here: a tilt
    that the ground makes is no push, and to go along with it would be to fall.
    """

    feels_ground = True
    believes = MOVING_GROUND

    def __init__(self, model: Model) -> None:
        super().__init__(model, DcmGains(give=0.0))

    def _begin(self, target: Target, balance: Balance) -> tuple[Array, Array]:
        """As the robot stands: on a slope it leans, and its centre of mass is not above its feet."""
        self._lean[:] = balance.lean
        return balance.com_in_world[:2], np.zeros(2)
