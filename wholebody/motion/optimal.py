"""Motions as fast as limits allow: jerk-limited from state to state (ruckig), time-optimal along a path (toppra)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.interpolate import PchipInterpolator

from wholebody.errors import BadMotion, LimitsExceeded, MissingExtra
from wholebody.motion.limits import Limits
from wholebody.motion.splines import FREE, NATURAL, End, cubic
from wholebody.motion.trajectory import Array, PiecewisePolynomial, Sample, Trajectory, instants

MARGIN = 1e-6  # the share by which a time-optimal motion is slower than it might be, for rounding


class JerkLimited(Trajectory):
    """The fastest motion from one state to another, all joints arriving together, made by `jerk_limited`."""

    def __init__(self, profiles: Any) -> None:
        self._profiles = profiles

    @property
    def duration(self) -> float:
        return float(self._profiles.duration)

    def sample(self, times: npt.ArrayLike) -> Sample:
        asked = instants(times)
        inside = np.clip(asked, 0.0, self.duration)
        rows = np.array([self._profiles.at_time(float(t)) for t in inside]).reshape(len(asked), 3, -1)
        rows[asked != inside, 1:] = 0.0
        return Sample(asked, rows[:, 0], rows[:, 1], rows[:, 2])


def jerk_limited(
    start: npt.ArrayLike | Sample,
    goal: npt.ArrayLike | Sample,
    limits: Limits,
) -> JerkLimited:
    """The fastest motion from start to goal within velocity, acceleration and jerk limits.

    start, goal  positions, at rest; or samples of any trajectory, with velocity and acceleration

    LimitsExceeded if it leaves the range of a joint in between, as it must if the joint is too fast to stop in time.
    """
    try:
        import ruckig
    except ImportError as error:
        raise MissingExtra("ruckig", "motion") from error
    n = len(limits.names)
    problem = ruckig.InputParameter(n)
    states = [_state(given, limits, what) for what, given in (("start", start), ("goal", goal))]
    problem.current_position, problem.current_velocity, problem.current_acceleration = (list(x) for x in states[0])
    problem.target_position, problem.target_velocity, problem.target_acceleration = (list(x) for x in states[1])
    problem.max_velocity = _finite(limits, limits.velocity, "velocity")
    problem.max_acceleration = _finite(limits, limits.acceleration, "acceleration")
    problem.max_jerk = _finite(limits, limits.jerk, "jerk")
    profiles = ruckig.Trajectory(n)
    try:
        result = ruckig.Ruckig(n).calculate(problem, profiles)
    except ruckig.RuckigError as error:
        raise BadMotion(f"there is no such motion: {error}") from None
    if result not in (ruckig.Result.Working, ruckig.Result.Finished):
        raise BadMotion(f"there is no such motion: {result}")
    extrema = np.array([(bound.min, bound.max) for bound in profiles.position_extrema]).T
    beyond = list(limits.violations("position", extrema, lambda row: ("lowest", "highest")[row]))
    if beyond:
        raise LimitsExceeded("the motion", beyond)
    return JerkLimited(profiles)


class Retimed(Trajectory):
    """A trajectory played to another clock: x(s(t)), ẋ = x′ṡ, ẍ = x″ṡ² + x′s̈."""

    def __init__(self, path: Trajectory, clock: PiecewisePolynomial) -> None:
        self.path, self.clock = path, clock

    @property
    def duration(self) -> float:
        return self.clock.duration

    def sample(self, times: npt.ArrayLike) -> Sample:
        clock = self.clock.sample(times)
        path = self.path.sample(np.clip(clock.position[:, 0], 0.0, self.path.duration))
        s, ss = clock.velocity, clock.acceleration
        return Sample(clock.time, path.position, path.velocity * s, path.acceleration * s**2 + path.velocity * ss)


def slowed(trajectory: Trajectory, factor: float) -> Retimed:
    """The same motion in `factor` times the time."""
    if not (np.isfinite(factor) and factor > 0):
        raise BadMotion(f"a motion can be slowed by a positive factor, not by {factor}")
    return Retimed(trajectory, PiecewisePolynomial([0.0, trajectory.duration * factor], [[[0.0], [1.0 / factor]]]))


def time_optimal(path: Trajectory | npt.ArrayLike, limits: Limits, grid: int = 1000) -> Retimed:
    """The fastest motion along a path, from rest to rest, within velocity and acceleration limits.

    path  a trajectory, of which only the path counts, not the speed; or waypoints, joined by a natural cubic spline
    grid  the number of parts in which the path is looked at; a trajectory is followed through twice as many points

    Between grid points it can exceed what was planned: the whole is slowed until its highest peak fits.
    """
    try:
        import toppra
        from toppra import algorithm, constraint
    except ImportError as error:
        raise MissingExtra("toppra", "motion") from error
    ends, waypoints = (FREE, _places(path, 2 * grid)) if isinstance(path, Trajectory) else (NATURAL, path)
    route = _through(waypoints, ends)
    n = len(limits.names)
    if route.at(0.0).position.shape != (n,):
        raise BadMotion(f"the path has {route.at(0.0).position.size} numbers, and there are limits of {n} joints")
    toppra.setup_logging("ERROR")
    most = [np.array(_finite(limits, getattr(limits, what), what)) for what in ("velocity", "acceleration")]
    bounds = [np.stack([-each, each], axis=1) for each in most]
    constraints = [constraint.JointVelocityConstraint(bounds[0]), constraint.JointAccelerationConstraint(bounds[1])]
    constraints[1].set_discretization_type(constraint.DiscretizationType.Interpolation)
    points = np.linspace(0.0, route.duration, grid + 1)
    knots = route.sample(route.times).position
    curve = toppra.SplineInterpolator(route.times, knots, "natural" if ends is NATURAL else "not-a-knot")
    _, speeds, _ = algorithm.TOPPRA(constraints, curve, gridpoints=points).compute_parameterization(0, 0)
    if speeds is None or not np.isfinite(speeds).all():
        raise BadMotion("no motion along this path keeps the limits; is it smooth, and are the limits positive?")
    worst = _worst(route, points, speeds, *most)
    return Retimed(route, _clock(points, speeds / (max(worst, 1.0) * (1 + MARGIN))))


def _worst(route: PiecewisePolynomial, points: Array, speeds: Array, velocity: Array, acceleration: Array) -> float:
    """Factor by which a motion along a cubic route must be slower to keep its limits: max(|ẋ|/ẋ_max, √(|ẍ|/ẍ_max)).

    s̈ is constant between grid points, so ṡ² is linear in s there, and between knots of the route x′ and
    ẍ = x″ṡ² + x′s̈ are quadratic. Three values of each give its highest peak, however narrow; ẋ = x′ṡ peaks where ẍ = 0.
    """
    ends = np.union1d(points, route.times)
    middle, half = (ends[:-1] + ends[1:]) / 2, np.diff(ends) / 2
    part = np.clip(np.searchsorted(points, middle, side="right") - 1, 0, len(points) - 2)
    second = (np.diff(speeds**2) / np.diff(points) / 2)[part, None]

    def squared_speed(u: Array | float) -> Array:
        there: Array = np.interp(middle[:, None] + half[:, None] * u, points, speeds**2)
        return there

    inside = {u: route.sample(middle + half * u) for u in (-0.5, 0.0, 0.5)}
    slope = _quadratic([now.velocity for now in inside.values()])
    rate = _quadratic([now.acceleration * squared_speed(u) + now.velocity * second for u, now in inside.items()])
    with np.errstate(divide="ignore", invalid="ignore"):
        peak = -rate[1] / (2 * rate[0])
        root = np.sqrt(rate[1] ** 2 - 4 * rate[0] * rate[2])
        # The second form of each root is the one that rounding spares.
        far = -(rate[1] + np.copysign(root, rate[1])) / 2
        still = (far / rate[0], rate[2] / far)
    one = np.ones_like(peak)
    highest = [np.abs(_value(rate, u)) / acceleration for u in (-one, one, _within(peak))]
    fastest = [
        np.abs(_value(slope, u)) * np.sqrt(squared_speed(u)) / velocity for u in (-one, one, *map(_within, still))
    ]
    return max(float(np.max(fastest)), float(np.sqrt(np.max(highest))))


def _quadratic(values: Sequence[Array]) -> tuple[Array, Array, Array]:
    """Coefficients of the parabola through three values at −½, 0 and ½, highest power first."""
    low, middle, high = values
    return 2 * (low - 2 * middle + high), high - low, middle


def _value(powers: tuple[Array, Array, Array], u: Array) -> Array:
    return (powers[0] * u + powers[1]) * u + powers[2]


def _within(u: Array) -> Array:
    """Where a peak is inside −1 … 1; elsewhere its nearer end, and −1 if there is none."""
    return np.clip(np.nan_to_num(u, nan=-1.0), -1.0, 1.0)


def _clock(points: Array, speeds: Array) -> PiecewisePolynomial:
    """s(t) with constant s̈ between grid points: h = 2Δs/(ṡᵢ + ṡᵢ₊₁)."""
    h = 2 * np.diff(points) / (speeds[:-1] + speeds[1:])
    powers = np.stack([points[:-1], speeds[:-1], np.diff(speeds) / h / 2], axis=1)
    return PiecewisePolynomial(np.concatenate([[0.0], np.cumsum(h)]), powers[:, :, None])


def _places(path: Trajectory, count: int) -> Array:
    """Points at equal distances along a trajectory: where it stops, time goes on and the path does not."""
    x = path.sample(np.linspace(0.0, path.duration, 20 * count + 1)).position
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1))])
    if not way[-1] > 0:
        raise BadMotion("the path begins and ends at the same place, and goes nowhere between")
    moving = np.concatenate([[True], np.diff(way) > 1e-12 * way[-1]])
    places: Array = PchipInterpolator(way[moving], x[moving])(np.linspace(0.0, way[moving][-1], count + 1))
    return places


def _through(waypoints: npt.ArrayLike, ends: End) -> PiecewisePolynomial:
    """A spline through waypoints whose clock goes with the distance between them."""
    x = np.array(waypoints, np.float64)
    if x.ndim != 2 or len(x) < 2:
        raise BadMotion(f"a path is two waypoints or more, one row each, not an array of shape {x.shape}")
    apart = np.linalg.norm(np.diff(x, axis=0), axis=1)
    if not (apart > 0).all():
        row = int(np.argmin(apart > 0))
        raise BadMotion(f"waypoints {row} and {row + 1} are not two different places")
    return cubic(x, np.concatenate([[0.0], np.cumsum(apart)]), ends, ends)


def _state(given: npt.ArrayLike | Sample, limits: Limits, what: str) -> Array:
    rows = (given.position, given.velocity, given.acceleration) if isinstance(given, Sample) else (given,)
    state = np.zeros((3, len(limits.names)))
    for row, values in zip(state, rows, strict=False):
        numbers = np.asarray(values, np.float64)
        if numbers.shape != row.shape or not np.isfinite(numbers).all():
            raise BadMotion(f"the {what} needs {len(row)} finite numbers, one for each joint, not {numbers}")
        row[:] = numbers
    return state


def _finite(limits: Limits, values: Array, what: str) -> list[float]:
    for name, value in zip(limits.names, values, strict=True):
        if not np.isfinite(value):
            raise BadMotion(f"joint {name} has no {what} limit, and this motion needs one: Limits.of(robot, {what}=…)")
    return [float(value) for value in values]
