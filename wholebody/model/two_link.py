"""The RR chain, two links that turn in the sagittal plane, with both derivatives, also seen from its other end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadRobot, BadState
from wholebody.model.layout import Array
from wholebody.robots.robot import Joint, Link, Placement, Robot

POINT = 1e-12
"""kg·m²: the inertia that stands for none in a Robot, which refuses a joint that moves no inertia."""


@dataclass(frozen=True)
class TwoLink:
    """Two links in the x-z plane, hanging from a frame A at rest: lengths l_AB (fixed), l_BC and l_CD, in metres.

    Axes are x forward, y left, z up. Both joints turn about y: θ₁ is zero when link BC hangs straight down, θ₂ is of
    CD relative to BC. Frame D is at the end of CD, turned with it, and has the axes of A at θ = 0. With
    s₁ = sin θ₁, s₁₂ = sin(θ₁ + θ₂) and so on, the origin of D in A and its rotation are

        p = (−l_BC s₁ − l_CD s₁₂,  0,  −l_AB − l_BC c₁ − l_CD c₁₂),   R = R_y(θ₁ + θ₂).

    Jacobians have six rows, linear then angular, of the origin of D in the axes of A.
    """

    offset: float
    upper: float
    lower: float

    def __post_init__(self) -> None:
        """Check the lengths."""
        for name in ("offset", "upper", "lower"):
            value = getattr(self, name)
            if not (np.isfinite(value) and (value > 0 or (name == "offset" and value == 0))):
                raise BadRobot(f"the length '{name}' of a two-link chain is {value}; it must be above 0 (offset: or 0)")

    def placement(self, q: npt.ArrayLike) -> Array:
        """D_to_A, 4 × 4 (Eq. 3.41)."""
        s1, c1, s12, c12 = _angles(q)
        return _in_plane(
            s12, c12, -self.upper * s1 - self.lower * s12, -self.offset - self.upper * c1 - self.lower * c12
        )

    def jacobian(self, q: npt.ArrayLike) -> Array:
        """J with velocity = J θ̇, 6 × 2 (Eq. 3.43)."""
        s1, c1, s12, c12 = _angles(q)
        J = np.zeros((6, 2))
        J[0] = -self.upper * c1 - self.lower * c12, -self.lower * c12
        J[2] = self.upper * s1 + self.lower * s12, self.lower * s12
        J[4] = 1.0
        return J

    def hessian(self, q: npt.ArrayLike) -> Array:
        """H with Hᵢⱼₖ = ∂Jᵢⱼ/∂θₖ, 6 × 2 × 2 (Eq. 3.44–3.46); each slice Hᵢ is symmetric."""
        s1, c1, s12, c12 = _angles(q)
        H = np.zeros((6, 2, 2))
        H[0] = self.lower * s12
        H[2] = self.lower * c12
        H[0, 0, 0] += self.upper * s1
        H[2, 0, 0] += self.upper * c1
        return H

    def jacobian_rate(self, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """J̇ = H θ̇, 6 × 2, so that the acceleration is J θ̈ + J̇ θ̇ = J θ̈ + θ̇ᵀ H θ̇ (Eq. 3.11)."""
        rate: Array = self.hessian(q) @ pair("v", v)
        return rate

    def reversed_placement(self, q: npt.ArrayLike) -> Array:
        """A_to_D of the reversed chain, D at rest (Eq. 3.51): the inverse of `placement` at −q.

            p = (l_AB s₁₂ + l_BC s₂,  0,  l_CD + l_AB c₁₂ + l_BC c₂),   R = R_y(θ₁ + θ₂)

        Angles count the other way round here, as they do for a leg that stands: A leans forward when they grow.
        """
        (_, _, s12, c12), (s2, c2) = _angles(q), _sine_cosine(pair("q", q)[1])
        return _in_plane(
            s12, c12, self.offset * s12 + self.upper * s2, self.lower + self.offset * c12 + self.upper * c2
        )

    def reversed_jacobian(self, q: npt.ArrayLike) -> Array:
        """J of the reversed chain, of A in the axes of D, 6 × 2; columns in the order θ₁, θ₂ (Eq. 3.55)."""
        (_, _, s12, c12), (s2, c2) = _angles(q), _sine_cosine(pair("q", q)[1])
        J = np.zeros((6, 2))
        J[0] = self.offset * c12, self.offset * c12 + self.upper * c2
        J[2] = -self.offset * s12, -self.offset * s12 - self.upper * s2
        J[4] = 1.0
        return J

    def robot(self, upper_mass: float = 1.0, lower_mass: float = 1.0) -> Robot:
        """The same chain as a Robot, bolted to the world at A, with a point mass at C and one at D.

        Its joints are `upper` and `lower`; the link `tip` has the frame D.
        """
        bob = (POINT,) * 3 + (0.0,) * 3
        links = (
            Link("base"),
            Link("upper", upper_mass, (0.0, 0.0, -self.upper), bob),
            Link("lower", lower_mass, (0.0, 0.0, -self.lower), bob),
            Link("tip"),
        )
        y = (0.0, 1.0, 0.0)
        joints = (
            Joint("upper", "continuous", "base", "upper", Placement((0.0, 0.0, -self.offset)), y),
            Joint("lower", "continuous", "upper", "lower", Placement((0.0, 0.0, -self.upper)), y),
            Joint("tip", "fixed", "lower", "tip", Placement((0.0, 0.0, -self.lower))),
        )
        return Robot("two_link", links, joints, floating=False)


def _in_plane(sine: float, cosine: float, x: float, z: float) -> Array:
    """R_y of the angle with that sine and cosine, and the position (x, 0, z)."""
    return np.array([[cosine, 0.0, sine, x], [0.0, 1.0, 0.0, 0.0], [-sine, 0.0, cosine, z], [0.0, 0.0, 0.0, 1.0]])


def _angles(q: npt.ArrayLike) -> tuple[float, float, float, float]:
    """s₁, c₁, s₁₂, c₁₂."""
    first, second = pair("q", q)
    return *_sine_cosine(first), *_sine_cosine(first + second)


def _sine_cosine(angle: float) -> tuple[float, float]:
    return float(np.sin(angle)), float(np.cos(angle))


def pair(name: str, given: npt.ArrayLike) -> Array:
    """The two numbers of the two joints; BadState if they are not two."""
    values = np.asarray(given, np.float64)
    if values.shape != (2,):
        raise BadState(f"{name} of a two-link chain has two numbers, not shape {values.shape}")
    return values
