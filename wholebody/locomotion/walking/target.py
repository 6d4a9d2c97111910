"""Target: where all of a walking robot is to be at an instant, as a pattern plans it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from wholebody.locomotion.walking.footsteps import Feet, Place, Side, Support
from wholebody.locomotion.walking.pendulum import ORDERS
from wholebody.locomotion.walking.swing import FootPoint, from_rest_to_rest
from wholebody.model.layout import Array


@dataclass(frozen=True, slots=True)
class Target:
    """Where all is to be at an instant, in world."""

    time: float
    support: Support
    left: FootPoint
    right: FootPoint
    zmp: Array  # where the ground pushes
    dcm: Array
    com: Array
    com_velocity: Array
    height: float  # of the centre of mass
    omega: float
    left_share: float  # of the weight
    phase_left: float  # s, to the end of the phase
    landing: Place | None  # where the foot that swings will be put
    caught: float  # m, by which the divergent component then goes along with a landing that is put a metre further
    pull: Array = field(default_factory=lambda: np.zeros(2))  # from the pendulum's zero moment point to the ground's
    ground: float = 0.0  # m: of the ground under the body, above that at the start

    def divergent(self, com: Array, velocity: Array) -> Array:
        """ξ = c + ċ / ω of a centre of mass that moves so, x and y."""
        return np.asarray(com[:2] + velocity[:2] / self.omega)

    def left_share_at(self, zmp: Array) -> float:
        """Of the weight, if the ground pushes there instead: another than planned only of a robot that stands."""
        if not math.isinf(self.phase_left) or self.support != "both":
            return self.left_share
        return borne_by_left(zmp, np.array(self.left.place[:2]), np.array(self.right.place[:2]))

    def foot(self, side: Side) -> FootPoint:
        """One of the feet."""
        return self.left if side == "left" else self.right

    @property
    def body(self) -> Place:
        """Between the feet."""
        return Feet(self.left.place, self.right.place).middle


FACTORIALS: Array = np.array([math.factorial(order) for order in range(ORDERS)], dtype=float)


def borne_by_left(point: Array, left: Array, right: Array) -> float:
    """Of the weight, if the ground pushes at a point: (p − r) · (l − r) / |l − r|², of feet that push at l and r."""
    (px, py), (lx, ly), (rx, ry) = point.tolist(), left.tolist(), right.tolist()
    x, y = lx - rx, ly - ry
    share: float = ((px - rx) * x + (py - ry) * y) / max(x * x + y * y, 1e-9)
    return min(max(share, 0.0), 1.0)


def sum_of(feet: Feet) -> Array:
    """Of their places, x and y."""
    return np.array([feet.left.x + feet.right.x, feet.left.y + feet.right.y])


def swung(before: Feet, after: Feet, duration: float) -> Array:
    """The sum of both feet's places and its derivatives when one of them begins to swing, if any: 6 × 2."""
    derivatives = from_rest_to_rest(sum_of(after) - sum_of(before), duration)
    derivatives[0] += sum_of(before)
    return derivatives


def later(derivatives: Array, duration: float) -> Array:
    """Those of the same polynomial some time later: its Taylor series."""
    terms = duration ** np.arange(ORDERS) / FACTORIALS
    return np.array([terms[: ORDERS - order] @ derivatives[order:] for order in range(ORDERS)])
