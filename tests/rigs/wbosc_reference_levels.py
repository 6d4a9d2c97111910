"""The reference of singular levels: truncation, and the mean of all truncations, in numpy; see singular.c."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from wholebody.model.layout import Array, Integers
from wholebody.tasks.kinds import UNLIMITED

NEGLIGIBLE = 1e-8
"""θ from which on a step is too small to matter: s(θ) / √θ is 3e-12."""

GIVEN_UP = 0.25
"""λ as a share of μ, which bounds a spring, from which on downwards a direction is shared."""

HAIR = 1e-9
"""By so much of itself θ is below the λ that is just kept."""

ROUNDING = 1e-13
"""The share of G's trace that is added to it at least, so that it can be factored."""


@dataclass(frozen=True)
class Dynamics:
    """What the constraints make of the robot."""

    A_inverse: Array
    h: Array
    S: Array
    Jc: Array
    Jc_rate: Array  # J̇c v
    Jc_inverse: Array  # J̄c
    Nc: Array
    SNc: Array
    phi: Array
    phi_inverse: Array

    def accelerations(self, efforts: Array) -> Array:
        """v̇ = A⁻¹ Ncᵀ (Sᵀ τ − h) − J̄c J̇c v: forward dynamics with the constraints."""
        free: Array = self.A_inverse @ self.Nc.T @ (self.S.T @ efforts - self.h) - self.Jc_inverse @ self.Jc_rate
        return free

    def pushed(self, J: Array) -> Array:
        """J* = J A⁻¹ (S Nc)ᵀ φ⁺; where motors cannot push, neither can a task."""
        J_star: Array = J @ self.A_inverse @ self.SNc.T @ self.phi_inverse
        return J_star


@dataclass(frozen=True)
class Stacked:
    """The rows of a level on v̇: J v̇ = wanted."""

    J: Array
    J_star: Array  # J S̄Nc
    wanted: Array  # ẍ* − J̇ v
    size: Array  # (J A⁻¹ Jᵀ)ᵢᵢ of each row
    free: Array  # (J* φ J*ᵀ)ᵢᵢ: what constraints and motors leave of it
    blocks: Integers  # a number for each row, the same for those that are measured together
    spring: Array  # kp e + ki ∫e dt of each row
    asked: Array  # that, and what the goal's velocity and acceleration ask for
    pull: Array  # kp times the limit of the error
    activation: Array  # how much a row counts


def shared(
    dynamics: Dynamics, levels: Sequence[Stacked], tolerance: float, nothing: float
) -> tuple[Array, tuple[Array, ...]]:
    """∫₀¹ τ(θ) ds(θ), from one step of τ to the next; and the directions that are kept at every θ."""
    mobilities = [block_mobilities(each, nothing) for each in levels]
    rounding = [nothing * np.max(each.size, initial=0.0) for each in levels]
    mean, theta = np.zeros(len(dynamics.S)), 1.0
    missing = [np.zeros((len(each.J), len(each.J))) for each in levels]
    while theta > NEGLIGIBLE:
        below = theta * (1 - HAIR) if theta < 1 else theta
        there = [(each.activation >= 1) | (each.activation > below) for each in levels]
        tau, kept, steps = truncated(dynamics, levels, rounding, Softened(there, mobilities, tolerance, below))
        coming = [each.activation[~rows] for each, rows in zip(levels, there, strict=True)]
        step = max([*steps, *np.concatenate([np.zeros(0), *coming])], default=0.0)
        step = step if step > NEGLIGIBLE else 0.0
        mean += (theta**2 * (3 - 2 * theta) - step**2 * (3 - 2 * step)) * tau
        for level, basis in enumerate(kept):
            missing[level] += np.eye(len(basis)) - basis @ basis.T
        theta = step
    return mean, tuple(_null_space(each) for each in missing)


@dataclass(frozen=True)
class Softened:
    """What makes truncation soft: rows that are not there at θ, bounded springs, and θ itself."""

    there: Sequence[npt.NDArray[np.bool_]]
    mobilities: Sequence[Array]
    tolerance: float
    theta: float


def truncated(
    dynamics: Dynamics, levels: Sequence[Stacked], least: Sequence[float], softened: Softened | None = None
) -> tuple[Array, tuple[Array, ...], list[float]]:
    """τ level by level, the directions each keeps, and the next θ at which each would keep one more.

    Rows that are not there count as zero.
    """
    tau = np.zeros(len(dynamics.S))
    N = np.eye(len(tau))
    kept, steps = [], []
    for index, (level, limit) in enumerate(zip(levels, least, strict=True)):
        here = np.ones(len(level.J)) if softened is None else softened.there[index].astype(float)
        J_star = here[:, None] * level.J_star @ N
        inertia = J_star @ dynamics.phi @ J_star.T
        wanted, regular, rounding = level.wanted, 0.0, limit
        if softened is not None:
            taken, regular = excess(level, inertia, softened.mobilities[index], softened.tolerance)
            wanted, limit = wanted - taken, max(softened.theta * regular, rounding)
        Lambda = truncated_inverse(inertia, limit)
        values, vectors = np.linalg.eigh((inertia + inertia.T) / 2)
        kept.append(vectors[:, values > limit])
        lost = np.max(values[values <= limit], initial=0.0)
        if softened is not None and regular > 0 and lost > rounding:
            steps.append(min(lost / regular, softened.theta))
        F = Lambda @ (here * (wanted - level.J @ dynamics.accelerations(tau)))
        tau = tau + J_star.T @ F
        N = N @ (np.eye(len(N)) - dynamics.phi @ J_star.T @ Lambda @ J_star)
    return tau, tuple(kept), steps


def excess(level: Stacked, inertia: Array, mobilities: Array, tolerance: float = 0.0) -> tuple[Array, float]:
    """μ (G + μ)⁻¹ a of each block, with the least μ ≥ 0 for which ‖(G + μ)⁻¹ p‖ ≤ F = pull / mobility.

    And what counts as regular at the level: a share of its least mobility, which grows with the greatest μ.
    """
    taken, given_up = np.zeros(len(level.J)), 0.0
    for number in np.unique(level.blocks):
        rows = level.blocks == number
        mobility, pull = np.max(mobilities[rows]), np.max(level.pull[rows])
        G = inertia[np.ix_(rows, rows)]
        if not (mobility > 0 and 0 < pull < UNLIMITED and np.trace(G) > 0 and np.any(level.spring[rows])):
            continue
        values, vectors = np.linalg.eigh((G + G.T) / 2)
        values = np.maximum(values, 0.0)
        p, a, strongest = vectors.T @ level.spring[rows], vectors.T @ level.asked[rows], pull / mobility
        floor = ROUNDING * np.trace(G)
        if np.linalg.norm(p / (values + floor)) > strongest:
            most = 2 * np.linalg.norm(p) / strongest
            mu = brentq(_beyond, floor, most, args=(values, p, strongest), xtol=1e-300)
            taken[rows] = vectors @ (mu * a / (values + mu))
            given_up = max(given_up, mu / mobility)
    least = np.min(mobilities[mobilities > 0], initial=np.inf)
    return taken, float(max(tolerance, GIVEN_UP * min(given_up, 1.0)) * least) if np.isfinite(least) else 0.0


def _beyond(mu: float, values: Array, p: Array, strongest: float) -> float:
    """By which share ‖(G + μ)⁻¹ p‖ is beyond its bound."""
    return float(np.linalg.norm(p / (values + mu)) / strongest - 1)


def _null_space(symmetric: Array) -> Array:
    values, vectors = np.linalg.eigh(symmetric)
    basis: Array = vectors[:, values < 1e-14]
    return basis


def block_mobilities(level: Stacked, nothing: float) -> Array:
    """Of each row, the greatest (J* φ J*ᵀ)ᵢᵢ of those that are measured with it."""
    counts = level.free > nothing * level.size
    each = [np.max(level.free[counts & (level.blocks == number)], initial=0.0) for number in level.blocks]
    return np.array(each)


def truncated_inverse(symmetric: Array, least: float) -> Array:
    """The pseudo-inverse, with eigenvalues up to `least` taken for zero."""
    values, vectors = np.linalg.eigh((symmetric + symmetric.T) / 2)
    kept = values > max(least, 0.0)
    inverse: Array = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    return inverse
