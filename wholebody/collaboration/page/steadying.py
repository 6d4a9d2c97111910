"""Steadying: the picture of a camera that sways, as one would see from the same place if the body stood upright.

A turn of the camera about its own middle moves pixels by a homography, wherever things are. With the axes of our
cameras (x forward, y left, z up) a pixel (u, v) and a ray r belong together by [u v 1]ᵀ ~ P r,

    P = [[cx, −f, 0], [cy, 0, −f], [1, 0, 0]],

so a pixel of the steady picture comes from P Rᵀ S P⁻¹ [u v 1]ᵀ, R and S the attitudes of the camera as it is and as it
would be.
"""

from __future__ import annotations

import math

import numpy as np

from wholebody.robots.robot import Array


def upright(base_to_world: Array) -> Array:
    """The rotation of a base that faces the same way and neither rolls nor pitches."""
    yaw = math.atan2(base_to_world[1, 0], base_to_world[0, 0])
    cosine, sine = math.cos(yaw), math.sin(yaw)
    return np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])


def turned(base_to_world: Array) -> float:
    """How far a picture has to be turned, rad: the angle between a base and the same base upright."""
    return math.acos(min(1.0, max(-1.0, float(base_to_world[2, 2]))))


def homography(base_to_world: Array, camera_to_base: Array, width: int, height: int, fovy: float) -> Array:
    """From pixels of the steady picture to those of the one that was taken, 3 × 3; fovy in rad."""
    focal = 0.5 * height / math.tan(0.5 * fovy)
    across, down = 0.5 * (width - 1), 0.5 * (height - 1)
    P = np.array([[across, -focal, 0.0], [down, 0.0, -focal], [1.0, 0.0, 0.0]])
    is_, would_be = base_to_world @ camera_to_base, upright(base_to_world) @ camera_to_base
    H = P @ is_.T @ would_be @ np.linalg.inv(P)
    return np.asarray(H / H[2, 2])
