"""One frame as seen from another: placement, velocity, Jacobian and bias of any chain, from either of its ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wholebody.model.layout import Array

if TYPE_CHECKING:
    from wholebody.model.snapshot import Snapshot


@dataclass(frozen=True)
class Relative:
    """How a frame is placed and moves for an observer on another frame, the root; in the axes of the root.

    placement  frame_to_root, 4 × 4
    velocity   of the frame's origin, then angular: J v
    jacobian   J, 6 × nv: zero, but for rounding, in the columns of joints that are not between the two
    bias       J̇ v: the rate of `velocity` at v̇ = 0
    """

    placement: Array
    velocity: Array
    jacobian: Array
    bias: Array


def relative_motion(snapshot: Snapshot, frame: int, root: int) -> Relative:
    """What an observer on the root sees of a frame.

    With R and p₀ of the root, r = p − p₀, and u, ω, a, α of both frames (those of the root with ₀):

        position      x = Rᵀ r
        velocity      Rᵀ (u − u₀ − ω₀ × r),                                  Rᵀ (ω − ω₀)
        acceleration  Rᵀ (a − a₀ − α₀ × r − 2 ω₀ × (u − u₀) + ω₀ × (ω₀ × r)),  Rᵀ (α − α₀ − ω₀ × ω)

    So a chain reversed has J_rev = −[Rᵀ (Jᵖ + p × Jᵒ); Rᵀ Jᵒ] with R, p, J of the chain itself. (Eq. 3.27 leaves out Rᵀ
    before Jᵒ, which no planar chain notices.)
    """
    R, r = snapshot.rotation(root), snapshot.position(frame) - snapshot.position(root)
    J, J0 = snapshot.jacobian(frame), snapshot.jacobian(root)
    bias, bias0 = snapshot.bias(frame), snapshot.bias(root)
    velocity, velocity0 = snapshot.velocity(frame), snapshot.velocity(root)
    away, w, w0 = velocity[:3] - velocity0[:3], velocity[3:], velocity0[3:]
    turned = np.cross(w0, r)
    linear = bias[:3] - bias0[:3] - np.cross(bias0[3:], r) - 2.0 * np.cross(w0, away) + np.cross(w0, turned)
    angular = bias[3:] - bias0[3:] - np.cross(w0, w)
    placement = np.eye(4)
    placement[:3, :3], placement[:3, 3] = R.T @ snapshot.rotation(frame), R.T @ r
    jacobian = np.vstack([R.T @ (J[:3] - J0[:3] + np.cross(r, J0[3:].T).T), R.T @ (J[3:] - J0[3:])])
    return Relative(
        placement,
        np.concatenate([R.T @ (away - turned), R.T @ (w - w0)]),
        jacobian,
        np.concatenate([R.T @ linear, R.T @ angular]),
    )
