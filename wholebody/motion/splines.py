"""Splines through waypoints: cubic, quintic, cubic with virtual points, and the quartic one of key frames.

    cubic      velocity or acceleration given at each end; acceleration continuous, and it may jump at the ends
    quintic    velocity and acceleration given at each end; jerk and its rate continuous
    via_cubic  velocity and acceleration given at each end; acceleration continuous: cubics all along
    quartic    velocity and acceleration given at each end; acceleration continuous, no virtual points in between
    monotone   at rest at both ends; acceleration continuous, and no piece goes beyond its two waypoints

All take positions (one row per waypoint, or one number each) and times, which begin at 0 and increase.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial

import numpy as np
import numpy.typing as npt
from scipy.interpolate import BPoly, BSpline, CubicSpline, make_interp_spline
from scipy.linalg import solve_banded
from scipy.spatial.transform import Rotation

from wholebody.errors import BadMotion
from wholebody.motion.trajectory import Array, PiecewisePolynomial, Sample, Trajectory

Given = npt.ArrayLike | None


@dataclass(frozen=True, eq=False)
class End:
    """How a spline begins or ends: velocity and acceleration, one number for all or one for each; None: left free."""

    velocity: Given = 0.0
    acceleration: Given = 0.0


REST = End()
STOP = End(acceleration=None)
NATURAL = End(velocity=None)
FREE = End(None, None)

Spline = Callable[[npt.ArrayLike, npt.ArrayLike], PiecewisePolynomial]


def cubic(positions: npt.ArrayLike, times: npt.ArrayLike, start: End = STOP, end: End = STOP) -> PiecewisePolynomial:
    """The cubic spline with continuous acceleration; of each end, velocity or acceleration is given, or neither.

    Where neither is given, the piece at that end goes on from its neighbour (not a knot).
    """
    x, t = waypoints(positions, times)
    conditions: list[str | tuple[int, Array]] = []
    for which, given in (("start", start), ("end", end)):
        if given.velocity is not None and given.acceleration is not None:
            raise BadMotion(
                f"the {which} of a cubic spline takes a velocity or an acceleration, not both: "
                "leave one None, or use via_cubic, quartic or quintic"
            )
        if given.velocity is not None:
            conditions.append((1, _numbers(given.velocity, x, f"{which} velocity")))
        elif given.acceleration is not None:
            conditions.append((2, _numbers(given.acceleration, x, f"{which} acceleration")))
        else:
            conditions.append("not-a-knot")
    spline = CubicSpline(t, x, bc_type=tuple(conditions))
    return PiecewisePolynomial(t, spline.c[::-1].transpose(1, 0, 2))


def quintic(
    positions: npt.ArrayLike,
    times: npt.ArrayLike,
    start: End = REST,
    end: End = REST,
    *,
    velocities: Given = None,
    accelerations: Given = None,
) -> PiecewisePolynomial:
    """The quintic spline, smooth up to the fourth derivative; or with velocity and acceleration of each waypoint given.

    If velocities are given, start and end do not count, and accelerations are zero unless they are given too.
    """
    x, t = waypoints(positions, times)
    if velocities is None and accelerations is None:
        return _b_spline(5, x, t, np.empty(0), start, end)
    v, a = (np.zeros(x.shape) if each is None else _like(each, x) for each in (velocities, accelerations))
    pieces = BPoly.from_derivatives(t, np.stack([x, v, a], axis=1))
    powers = np.stack([pieces(t[:-1], nu=k) / factorial(k) for k in range(6)], axis=1)
    return PiecewisePolynomial(t, powers)


def via_cubic(
    positions: npt.ArrayLike,
    times: npt.ArrayLike,
    start: End = REST,
    end: End = REST,
    *,
    virtual: tuple[float, float] | None = None,
) -> PiecewisePolynomial:
    """The piecewise cubic with via points, continuous acceleration, and velocity and acceleration given at both ends.

        xᵢ(t) = (t − tᵢ)³ aᵢ + (t − tᵢ)² bᵢ + (t − tᵢ) cᵢ + dᵢ

    The four conditions at the ends are two more than cubics between the waypoints can meet, so the first and the last
    piece are cut in two, at the times `virtual`, where position follows from continuity. With two waypoints these are
    three cubics: twelve coefficients, three conditions at each end and three at each virtual point. Unless told,
    they stand at thirds of a single piece, and else in the middle of the first and of the last piece.
    """
    x, t = waypoints(positions, times)
    if virtual is None:
        share = 1 / 3 if len(t) == 2 else 1 / 2
        virtual = (t[0] + share * (t[1] - t[0]), t[-1] - share * (t[-1] - t[-2]))
    first, last = virtual
    if not (t[0] < first < t[1] and t[-2] < last < t[-1] and first < last):
        raise BadMotion(
            f"the virtual points stand in the first and in the last piece, one after the other: between {t[0]:g} and "
            f"{t[1]:g} s, and between {t[-2]:g} and {t[-1]:g} s, not at {first:g} and {last:g} s"
        )
    return _b_spline(3, x, t, np.array(virtual), start, end)


def quartic(positions: npt.ArrayLike, times: npt.ArrayLike, start: End = REST, end: End = REST) -> PiecewisePolynomial:
    """Fourth-order interpolation of key frames: quartic first and last pieces, cubics between ("4-3-4").

    Acceleration is continuous and begins and ends as given, so jerk is finite everywhere; a cubic spline can begin
    with the right velocity only, and one of quartics all along, with continuous jerk, swings: its even degree lets
    errors travel undamped from end to end. Unknown are the accelerations aᵢ of the inner waypoints, and continuous
    velocity gives one equation for each, between neighbours. With Δᵢ = xᵢ₊₁ − xᵢ and hᵢ = tᵢ₊₁ − tᵢ:

        cubic    vᵢ = Δᵢ/hᵢ − hᵢ(2aᵢ + aᵢ₊₁)/6,  vᵢ₊₁ = Δᵢ/hᵢ + hᵢ(aᵢ + 2aᵢ₊₁)/6
        quartic  v₁ = 2Δ₀/h₀ − v₀ + h₀(a₁ − a₀)/6, and its mirror image at the end

    Two waypoints are joined by two quartics that meet half-way with continuous jerk.
    """
    x, t = waypoints(positions, times)
    if len(t) == 2:
        return _b_spline(4, x, t, np.array([t[1] / 2]), start, end)
    v0, a0 = _both(start, x, "start")
    v1, a1 = _both(end, x, "end")
    h, slope = np.diff(t), np.diff(x, axis=0) / np.diff(t)[:, None]
    before, after = (
        slope[:-1].copy(),
        slope[1:].copy(),
    )  # what velocity at inner waypoints is without their accelerations
    left, right = h[:-1] / 3, h[1:] / 3
    before[0], left[0] = 2 * slope[0] - v0 - h[0] * a0 / 6, h[0] / 6
    after[-1], right[-1] = 2 * slope[-1] - v1 + h[-1] * a1 / 6, h[-1] / 6
    bands = np.stack([np.append(0.0, h[1:-1] / 6), left + right, np.append(h[1:-1] / 6, 0.0)])
    a = np.vstack([a0, solve_banded((1, 1), bands, after - before), a1])
    return PiecewisePolynomial(t, _quartic_ends(x, a, h[:, None], slope, v0, v1))


def monotone(positions: npt.ArrayLike, times: npt.ArrayLike) -> PiecewisePolynomial:
    """Quintic pieces that never go beyond the two waypoints they join, from rest to rest.

    Acceleration is zero at every waypoint, and velocity too where a joint turns back; elsewhere it is the harmonic mean
    of the slopes Δ/h on both sides, at most 5/4 of the lesser. In Bernstein's form the velocity of a piece has the
    coefficients v₀, v₀, 5Δ/h − 2v₀ − 2v₁, v₁, v₁, which then all have the sign of Δ, and so has the velocity.
    """
    x, t = waypoints(positions, times)
    slope = np.diff(x, axis=0) / np.diff(t)[:, None]
    before, after = slope[:-1], slope[1:]
    onwards = before * after > 0
    mean = 2 * before * after / np.where(onwards, before + after, 1.0)
    most = 1.25 * np.minimum(np.abs(before), np.abs(after))
    v = np.zeros(x.shape)
    v[1:-1] = np.where(onwards, np.clip(mean, -most, most), 0.0)
    return quintic(x, t, velocities=v)


def _quartic_ends(x: Array, a: Array, h: Array, slope: Array, v0: Array, v1: Array) -> Array:
    """Coefficients of the pieces, from positions and accelerations at their ends and the velocities at both ends."""
    c = np.zeros((len(h), 5, x.shape[1]))
    c[:, 0] = x[:-1]
    c[:, 1] = slope - h * (2 * a[:-1] + a[1:]) / 6
    c[:, 2] = a[:-1] / 2
    c[:, 3] = (a[1:] - a[:-1]) / (6 * h)
    for piece in (0, -1):
        first = piece == 0
        v = v0 if first else 2 * slope[-1] - v1 - h[-1] * (a[-2] - a[-1]) / 6
        D = (slope[piece] - v - a[:-1][piece] * h[piece] / 2) / h[piece] ** 2  # c₃ + c₄h
        A = (a[1:][piece] - a[:-1][piece]) / h[piece]  # 6c₃ + 12c₄h
        c[piece, 1], c[piece, 3], c[piece, 4] = v, 2 * D - A / 6, (A / 6 - D) / h[piece]
    return c


def _b_spline(degree: int, x: Array, t: Array, virtual: Array, start: End, end: End) -> PiecewisePolynomial:
    """The spline of a degree with knots at inner waypoints and virtual points, from conditions at both ends."""
    conditions = [
        list(zip((1, 2), _both(given, x, which), strict=True)) for which, given in (("start", start), ("end", end))
    ]
    knots = np.sort(np.concatenate([t, virtual]))
    padded = np.concatenate([np.full(degree, t[0]), knots, np.full(degree, t[-1])])
    spline: BSpline = make_interp_spline(t, x, degree, t=padded, bc_type=tuple(conditions))
    powers = [spline(knots[:-1], nu=k) / factorial(k) for k in range(degree + 1)]
    return PiecewisePolynomial(knots, np.stack(powers, axis=1))


def waypoints(positions: npt.ArrayLike, times: npt.ArrayLike) -> tuple[Array, Array]:
    """Positions with one row per waypoint and their times, checked."""
    x, t = np.array(positions, np.float64), np.array(times, np.float64)
    if x.ndim == 1:
        x = x[:, None]
    if x.ndim != 2 or t.ndim != 1 or len(x) != len(t):
        raise BadMotion(f"each waypoint has one time: there are positions of shape {x.shape}, times of shape {t.shape}")
    if len(t) < 2:
        raise BadMotion(f"a motion needs two waypoints or more, not {len(t)}")
    for i in range(len(t)):
        if not np.isfinite(x[i]).all():
            raise BadMotion(f"waypoint {i} has the position {x[i][~np.isfinite(x[i])][0]}")
        if not np.isfinite(t[i]) or (i and t[i] <= t[i - 1]):
            raise BadMotion(f"times increase: at waypoint {i}, {t[i]:g} s comes after {t[i - 1]:g} s")
    if t[0] != 0.0:
        raise BadMotion(f"the first waypoint has time 0, not {t[0]:g} s")
    return x, t


def _both(given: End, x: Array, which: str) -> tuple[Array, Array]:
    if given.velocity is None or given.acceleration is None:
        raise BadMotion(f"this spline needs both velocity and acceleration at its {which}; use cubic to leave one free")
    return _numbers(given.velocity, x, f"{which} velocity"), _numbers(given.acceleration, x, f"{which} acceleration")


def _numbers(given: npt.ArrayLike, x: Array, what: str) -> Array:
    values = np.asarray(given, np.float64)
    if values.shape not in ((), (x.shape[1],)):
        raise BadMotion(f"{what}: one number, or {x.shape[1]} as positions have, not an array of shape {values.shape}")
    if not np.isfinite(values).all():
        raise BadMotion(f"{what} is {values}")
    return np.broadcast_to(values, x.shape[1:]).copy()


def _like(given: npt.ArrayLike, x: Array) -> Array:
    values = np.array(given, np.float64)
    if values.ndim == 1 and x.shape[1] == 1:
        values = values[:, None]
    if values.shape != x.shape or not np.isfinite(values).all():
        raise BadMotion(f"velocities and accelerations are numbers of the shape of positions, {x.shape}")
    return values


class PoseTrajectory(Trajectory):
    """A frame's motion through poses: p(t) = p₀ + Σ βᵢ(t) Δpᵢ,  R(t) = R₀ Πᵢ exp(βᵢ(t) φᵢ),  φᵢ = log(Rᵢᵀ Rᵢ₊₁).

    βᵢ is the spline through 0 at the waypoints up to i, and 1 at those after it. So position is the spline through
    the positions, and rotation goes exactly through the rotations, by the shorter way round, is as smooth as the
    spline, and is the spline of the angle where all turn about one axis.

    poses   one row each: 7 numbers (x y z, quaternion x y z w), or 4 × 4 transforms
    spline  any function of positions and times: cubic, quintic, via_cubic or quartic

    A sample has position (x y z, quaternion x y z w) and velocity and acceleration (linear, then angular, in world).
    """

    def __init__(self, poses: npt.ArrayLike, times: npt.ArrayLike, spline: Spline = quintic) -> None:
        given = _seven_numbers(np.array(poses, np.float64))
        numbers, instants = waypoints(given, times)
        rotations = Rotation.from_quat(numbers[:, 3:])
        turns = (rotations[:-1].inv() * rotations[1:]).as_rotvec()
        after = np.tri(len(instants), len(turns), -1)  # 1 where the waypoint comes after the piece
        self._spline = spline(np.hstack([numbers[:, :3], after]), instants)
        self._start, self._turns = rotations[0], turns

    @property
    def duration(self) -> float:
        return self._spline.duration

    def sample(self, times: npt.ArrayLike) -> Sample:
        """Poses, velocities and accelerations: one row for each time.

        With u = A φᵢ, A the rotation so far:  ω̇ += ω × β̇ u + β̈ u;  ω += β̇ u;  A ← A exp(β φᵢ).
        """
        now = self._spline.sample(times)
        so_far = self._start
        w, dw = np.zeros((2, len(now.time), 3))
        for i, phi in enumerate(self._turns, 3):
            u = so_far.apply(phi)
            dw += now.acceleration[:, i, None] * u + now.velocity[:, i, None] * np.cross(w, u)
            w += now.velocity[:, i, None] * u
            so_far = so_far * Rotation.from_rotvec(now.position[:, i, None] * phi)
        pairs = ((now.position, so_far.as_quat(canonical=True)), (now.velocity, w), (now.acceleration, dw))
        return Sample(now.time, *(np.hstack([linear[:, :3], angular]) for linear, angular in pairs))


def _seven_numbers(poses: Array) -> Array:
    """Position and unit quaternion of each pose, from either form."""
    if poses.ndim == 3 and poses.shape[1:] == (4, 4):
        for i, pose in enumerate(poses):
            R = pose[:3, :3]
            orthogonal = np.abs(R.T @ R - np.eye(3)).max() < 1e-6 and np.linalg.det(R) > 0
            if not orthogonal or not np.allclose(pose[3], (0.0, 0.0, 0.0, 1.0)):
                raise BadMotion(f"pose {i} is no rotation and translation:\n{pose}")
        return np.hstack([poses[:, :3, 3], Rotation.from_matrix(poses[:, :3, :3]).as_quat()])
    if poses.ndim != 2 or poses.shape[1] != 7:
        raise BadMotion(f"poses are rows of 7 numbers or 4 × 4 transforms, not an array of shape {poses.shape}")
    for i, pose in enumerate(poses):
        length = np.linalg.norm(pose[3:])
        if not abs(length - 1) < 1e-3:
            raise BadMotion(
                f"pose {i} has a quaternion of length {length:.4g}, and only those of length 1 are rotations"
            )
    return poses
