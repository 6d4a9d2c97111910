"""Motions as fast as limits allow: that they keep them, and that they use them."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wholebody import robots
from wholebody.errors import BadMotion, LimitsExceeded
from wholebody.motion import Limits, Sample, Trajectory, jerk_limited, quintic, slowed, time_optimal


def some_limits(rng, joints=4):
    return Limits.make(
        joints,
        velocity=rng.uniform(0.5, 5, joints),
        acceleration=rng.uniform(1, 30, joints),
        jerk=rng.uniform(10, 500, joints),
    )


def densely(trajectory, count=4000):
    return trajectory.sample(np.linspace(0, trajectory.duration, count))


@given(st.integers(0, 2**32))
@settings(max_examples=30)
def test_a_jerk_limited_motion_keeps_all_limits_and_arrives(seed):
    rng = np.random.default_rng(seed)
    limits = some_limits(rng)
    a, b = rng.normal(size=(2, 4))
    trajectory = jerk_limited(a, b, limits)
    now = densely(trajectory)
    jerk = np.diff(now.acceleration, axis=0) / np.diff(now.time)[:, None]
    assert (np.abs(now.velocity) <= limits.velocity * (1 + 1e-9) + 1e-12).all()
    assert (np.abs(now.acceleration) <= limits.acceleration * (1 + 1e-9) + 1e-12).all()
    assert (np.abs(jerk) <= limits.jerk * (1 + 1e-5) + 1e-5).all()
    assert np.allclose(now.position[[0, -1]], [a, b], atol=1e-9)
    assert np.allclose(now.velocity[[0, -1]], 0, atol=1e-8)


def test_a_jerk_limited_motion_goes_on_from_where_another_is():
    limits = some_limits(np.random.default_rng(0))
    first = jerk_limited(np.zeros(4), np.ones(4), limits)
    there = first.at(0.4 * first.duration)
    second = jerk_limited(there, -np.ones(4), limits)
    for quantity in ("position", "velocity", "acceleration"):
        assert np.allclose(getattr(second.at(0.0), quantity), getattr(there, quantity), atol=1e-9)
    assert np.allclose(second.at(second.duration).position, -1.0)


def test_a_jerk_limited_motion_that_leaves_the_range_of_a_joint_is_refused():
    limits = Limits.make(("hip", "knee"), lower=-1, upper=1, velocity=2, acceleration=5, jerk=50)
    fast = Sample(np.zeros(()), np.array([0.0, 0.9]), np.array([0.0, 2.0]), np.zeros(2))
    with pytest.raises(LimitsExceeded, match=r"highest: joint knee has position 1.* its limit is 1"):
        jerk_limited(fast, [0.0, 0.0], limits)


@given(st.integers(0, 2**32))
@example(1684)  # its acceleration peaks at a knot of the path between two grid points
@settings(max_examples=10)
def test_a_time_optimal_motion_keeps_its_limits_and_stays_on_its_path(seed):
    rng = np.random.default_rng(seed)
    limits = some_limits(rng)
    times = np.concatenate([[0.0], np.cumsum(rng.uniform(0.3, 1.0, 4))])
    path = quintic(rng.normal(size=(5, 4)), times)
    trajectory = time_optimal(path, limits)
    now = densely(trajectory, 10_001)
    assert (np.abs(now.velocity) <= limits.velocity).all()
    assert (np.abs(now.acceleration) <= limits.acceleration).all()
    assert np.allclose(now.position[[0, -1]], path.sample([0, path.duration]).position)
    assert np.allclose(now.velocity[[0, -1]], 0, atol=1e-6)
    on_path = densely(path, 20_001).position
    for x in now.position[::1000]:
        assert np.linalg.norm(on_path - x, axis=1).min() < 2e-3


def test_along_a_straight_line_the_time_optimal_motion_is_the_trapezoid():
    limits = Limits.make(1, velocity=1.0, acceleration=4.0)
    assert time_optimal([[0.0], [1.0]], limits).duration == pytest.approx(1.25, rel=0.01)


def test_velocity_and_acceleration_of_a_retimed_motion_are_the_derivatives():
    rng = np.random.default_rng(1)
    path = quintic(rng.normal(size=(4, 3)), [0.0, 1.0, 2.0, 3.0])
    for trajectory in (slowed(path, 2.5), time_optimal(path, some_limits(rng, 3))):
        t, d = np.linspace(0.013, 0.987, 50) * trajectory.duration, 1e-6
        before, now, after = (trajectory.sample(t + shift) for shift in (-d, 0, d))
        scale = np.abs(now.acceleration).max()
        assert np.abs((after.position - before.position) / (2 * d) - now.velocity).max() < 1e-4 * scale
        assert np.abs((after.velocity - before.velocity) / (2 * d) - now.acceleration).max() < 1e-2 * scale
        assert isinstance(trajectory, Trajectory)


def test_limits_that_are_missing_are_asked_for():
    robot = robots.load("hubo2plus")
    q = robot.posture("home")
    with pytest.raises(BadMotion, match=r"no acceleration limit.*Limits.of\(robot, acceleration="):
        jerk_limited(q, q, Limits.of(robot))
    limits = Limits.of(robot, acceleration=20.0, jerk=500.0, speed=0.5)
    assert jerk_limited(q, robot.posture("stand"), limits).duration > 0


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Limits.make(2, velocity=[1.0, 0.0]), "joint 1: 0 is no velocity limit"),
        (lambda: Limits.make(2, lower=1.0, upper=0.0), "nothing is between"),
        (lambda: Limits.make(2, jerk=[1.0, 2.0, 3.0]), "jerk limits: one number, or 2"),
        (lambda: jerk_limited([0.0], [np.nan], Limits.make(1, velocity=1, acceleration=1, jerk=1)), "the goal needs"),
        (lambda: time_optimal([[0.0], [0.0]], Limits.make(1, velocity=1, acceleration=1)), "two different places"),
        (lambda: time_optimal([[0.0], [1.0]], Limits.make(2, velocity=1, acceleration=1)), "1 numbers.*2 joints"),
        (lambda: slowed(quintic([0, 1], [0, 1]), 0.0), "positive factor"),
    ],
)
def test_bad_arguments_are_refused(build, says):
    with pytest.raises(BadMotion, match=says):
        build()
