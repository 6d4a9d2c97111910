"""Both feet together: how they share the weight, and the sum of their places, which acts on the pendulum of Pattern."""

from __future__ import annotations

import math

import numpy as np

from wholebody.locomotion.footsteps import Feet
from wholebody.locomotion.pendulum import ORDERS
from wholebody.locomotion.swing import from_rest_to_rest
from wholebody.model.layout import Array

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
