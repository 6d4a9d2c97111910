"""Efforts at rest: what joints need to hold a posture on contacts that only push up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wholebody.model.model import Model
from wholebody.motion.captured_gait import Flags
from wholebody.motion.trajectory import Array


def efforts_at_rest(model: Model, frames: Sequence[str], q: Array, bearing: Flags) -> Array:
    """τ = g − Σ Jᵢᵀ fᵢ for rows of configurations, rows × joints; bearing (rows × frames) says which frames bear.

    The loads fᵢ point up and hold the robot's weight W at its centre of mass c: Σf = W, Σ f p = W c; of those the
    smallest, where there are many. Where nothing bears, the robot hangs at its base.
    """
    indices = [model.frame(frame) for frame in frames]
    efforts = np.empty((len(q), len(model.joint_names)))
    for row, (configuration, bears) in enumerate(zip(q, bearing, strict=True)):
        at, standing = model.at(configuration), [index for index, on in zip(indices, bears, strict=True) if on]
        rest = at.g.copy()
        if standing:
            points = np.array([at.position(index) for index in standing])
            matrix = np.vstack([np.ones(len(points)), points[:, 0], points[:, 1]])
            x, y, _ = at.com_in_world
            loads = np.linalg.lstsq(matrix, model.total_mass * 9.81 * np.array([1.0, x, y]), rcond=None)[0]
            for index, load in zip(standing, loads, strict=True):
                rest -= at.jacobian(index)[2] * load
        efforts[row] = rest[model.nv - len(model.joint_names) :]
    return efforts


def hardest(model: Model, efforts: Array) -> tuple[str, float]:
    """The joint that works hardest, and the share of its limit that it needs."""
    shares = np.abs(efforts).max(axis=0) / [joint.effort for joint in model.robot.moving]
    return model.joint_names[int(shares.argmax())], float(shares.max())
