"""A frame as seen from another: position, velocity, acceleration at v̇ = 0, and Jacobian, for off the loop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wholebody.model.layout import Array
from wholebody.model.snapshot import Snapshot


@dataclass(frozen=True)
class Relative:
    """A point of a frame, in the axes of the reference: linear before angular."""

    position: Array
    rotation: Array
    jacobian: Array  # 6 × nv
    bias: Array  # 6


def seen_from(snapshot: Snapshot, frame: int, point: Array, reference: int) -> Relative:
    """A point of a frame, as seen from a reference frame that moves; −1 is the world."""
    p, R, J, a, w = _carried(snapshot, frame, snapshot.rotation(frame) @ point)
    if reference < 0:
        return Relative(p, R, J, a)
    origin = snapshot.position(reference)
    r = p - origin
    _, R0, J0, a0, w0 = _carried(snapshot, reference, r)  # the reference's own point where the point is
    velocity, bias = (J - J0) @ snapshot.v, a - a0
    bias[:3] -= 2 * skew(w0) @ velocity[:3]  # Coriolis
    bias[3:] -= skew(w0) @ w
    return Relative(R0.T @ r, R0.T @ R, _turned(R0.T, J - J0), _turned(R0.T, bias))


def _carried(snapshot: Snapshot, frame: int, d: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Place, rotation, Jacobian, J̇ v and angular velocity of a point at d (world axes) from a frame's origin."""
    J, a, w = np.array(snapshot.jacobian(frame)), np.array(snapshot.bias(frame)), snapshot.velocity(frame)[3:]
    J[:3] -= skew(d) @ J[3:]
    a[:3] += skew(a[3:]) @ d + skew(w) @ skew(w) @ d
    return snapshot.position(frame) + d, snapshot.rotation(frame), J, a, w


def skew(a: Array) -> Array:
    """[a]×, with [a]× b = a × b; np.cross takes ten times as long."""
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _turned(R: Array, six: Array) -> Array:
    return np.concatenate([R @ six[:3], R @ six[3:]])
