"""Angles inside the closed form: cosine and sine for as long as can be, because arctangents cost the most."""

from __future__ import annotations

import math

import numpy as np

from wholebody.kinematics.vectors import Three, across, cross, dot
from wholebody.model.compiled import compiled

Two = tuple[float, float]  # cosine and sine of an angle
Roots = tuple[float, float, float, float, bool]  # cos φ, sin φ, cos δ, sin δ, whether there are any

FREE = 1e-10  # rad, m: so near to a singularity a joint can be anywhere, and keeps the value it has
LIMIT_SLACK = 1e-9  # rad


@compiled
def placed(angle: float, lower: float, upper: float, near: float) -> float:
    """The same angle give or take whole turns: as near to a value as can be, but within limits if it can."""
    turn = 2.0 * math.pi
    angle -= turn * np.floor((angle - near) * (0.5 / math.pi) + 0.5)
    less = turn if (angle > upper + LIMIT_SLACK) & (angle - turn >= lower - LIMIT_SLACK) else 0.0
    more = turn if (angle < lower - LIMIT_SLACK) & (angle + turn <= upper + LIMIT_SLACK) else 0.0
    return angle - less + more


@compiled
def crossing(A: float, B: float, c: float, free: float, straight: float) -> Roots:
    """A cos θ + B sin θ = c: θ = φ ± δ, as (cos φ, sin φ, cos δ, sin δ ≥ 0, whether there is such a θ).

    If there is none, φ comes nearest; if A = B = 0, it is the value given as free. A δ below straight is zero.
    """
    R = math.sqrt(A * A + B * B)
    if R < FREE * FREE:
        return math.cos(free), math.sin(free), 1.0, 0.0, abs(c) < FREE
    x, cosine, sine = c / R, A / R, B / R
    if x >= 1.0 - 0.5 * straight * straight:
        return cosine, sine, 1.0, 0.0, x <= 1.0
    if x <= -1.0 + 0.5 * straight * straight:
        return -cosine, -sine, 1.0, 0.0, x >= -1.0
    return cosine, sine, x, math.sqrt((1.0 - x) * (1.0 + x)), True


@compiled
def sharper(roots: Roots, c: float, far: float, tilt: float) -> Roots:
    """The same roots with δ from sin δ ~ √(far² − tilt²), where 1 − cos δ has lost its digits.

    For two perpendicular axes that meet, i and j: far is the distance of w from the axis i, tilt the height of u along
    the axis j; both are small together when an arm is nearly straight.
    """
    square = (far - abs(tilt)) * (far + abs(tilt))
    if not (roots[3] > 0.0 and square > 0.0):
        return roots
    length = math.sqrt(c * c + square)
    return roots[0], roots[1], c / length, math.sqrt(square) / length, True


@compiled
def root(roots: Roots, sign: float) -> Two:
    """Cosine and sine of φ ± δ."""
    cos_phi, sin_phi, cos_delta, sin_delta = roots[0], roots[1], roots[2], sign * roots[3]
    return cos_phi * cos_delta - sin_phi * sin_delta, sin_phi * cos_delta + cos_phi * sin_delta


@compiled
def aligning(x: Three, y: Three, axis: Three, free: float) -> Two:
    """Cosine and sine of the turn about an axis from x towards y; of that given as free if one is on the axis."""
    x, y = across(x, axis), across(y, axis)
    if dot(x, x) < FREE * FREE or dot(y, y) < FREE * FREE:
        return math.cos(free), math.sin(free)
    c, s = dot(x, y), dot(axis, cross(x, y))
    length = math.sqrt(c * c + s * s)
    return c / length, s / length


@compiled
def euler(m: Three, n: Three, free: float) -> tuple[Two, Two, Two, bool]:
    """W = Rz(q₁) Ry(q₂) Rz(q₃) by its second and third columns m, n: q₁, q₂ ≥ 0, q₃, and whether unique.

    Each angle as two numbers in the ratio of its cosine and sine. At q₂ = 0 or π only q₁ ± q₃ counts: q₁ keeps the
    value given as free. q₂ and q₃ are computed from q₁, so the rotation is exact however near to that.
    """
    length = math.sqrt(n[0] * n[0] + n[1] * n[1])
    unique = length > FREE
    c, s = (n[0] / length, n[1] / length) if unique else (math.cos(free), math.sin(free))
    left = cross(m, n)
    return (c, s), (n[2], c * n[0] + s * n[1]), (c * m[1] - s * m[0], c * left[1] - s * left[0]), unique
