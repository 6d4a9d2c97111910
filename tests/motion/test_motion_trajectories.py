"""Splines and poses: what they go through, how smooth they are, and that each derivative is one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from wholebody.errors import BadMotion
from wholebody.motion import (
    NATURAL,
    REST,
    STOP,
    End,
    PiecewisePolynomial,
    PoseTrajectory,
    Trajectory,
    cubic,
    monotone,
    quartic,
    quintic,
    via_cubic,
)

SPLINES = {"cubic": cubic, "quintic": quintic, "via_cubic": via_cubic, "quartic": quartic, "monotone": monotone}
AT_REST = ("quintic", "via_cubic", "quartic")
every_spline = pytest.mark.parametrize("spline", SPLINES.values(), ids=SPLINES)
every_spline_at_rest = pytest.mark.parametrize("spline", [SPLINES[name] for name in AT_REST], ids=AT_REST)
every_count = pytest.mark.parametrize("count", [2, 3, 4, 9])


def waypoints(count, numbers=3, seed=0):
    rng = np.random.default_rng(seed)
    times = np.concatenate([[0.0], np.cumsum(rng.uniform(0.3, 2.0, count - 1))])
    return rng.normal(size=(count, numbers)), times


def poses(count, seed=0):
    rng = np.random.default_rng(seed)
    positions, times = waypoints(count, seed=seed)
    return np.hstack([positions, Rotation.random(count, rng=rng).as_quat()]), times


def jump(trajectory, time, derivative):
    """How much a derivative (0, 1, 2) changes across a time."""
    before, after = (getattr(trajectory.at(t), derivative) for t in (time - 1e-9, time + 1e-9))
    return np.abs(after - before).max()


@every_spline
@every_count
def test_a_spline_goes_through_its_waypoints(spline, count):
    positions, times = waypoints(count)
    assert np.abs(spline(positions, times).sample(times).position - positions).max() < 1e-12


@every_spline
@every_count
def test_velocity_and_acceleration_are_the_derivatives(spline, count):
    trajectory = spline(*waypoints(count))
    t, d = np.linspace(0.01, 0.99, 57) * trajectory.duration, 1e-5
    before, now, after = (trajectory.sample(t + shift) for shift in (-d, 0, d))
    scale = np.abs(now.acceleration).max()
    assert np.abs((after.position - before.position) / (2 * d) - now.velocity).max() < 1e-6 * scale
    assert np.abs((after.velocity - before.velocity) / (2 * d) - now.acceleration).max() < 1e-3 * scale


@every_spline
@every_count
def test_position_velocity_and_acceleration_are_continuous(spline, count):
    trajectory = spline(*waypoints(count))
    scale = np.abs(np.diff(trajectory.coefficients[:, 3:], axis=0)).max(initial=1.0)
    for time in trajectory.times[1:-1]:
        for derivative in ("position", "velocity", "acceleration"):
            assert jump(trajectory, time, derivative) < 1e-6 * scale


@every_spline_at_rest
@every_count
def test_it_begins_and_ends_with_the_velocity_and_acceleration_asked_for(spline, count):
    positions, times = waypoints(count)
    start, end = End([1.0, -2.0, 0.5], [0.3, 4.0, -1.0]), End(-0.7, [1.0, 2.0, 3.0])
    trajectory = spline(positions, times, start, end)
    for sample, asked in ((trajectory.at(0.0), start), (trajectory.at(times[-1]), end)):
        assert np.allclose(sample.velocity, asked.velocity, atol=1e-10)
        assert np.allclose(sample.acceleration, asked.acceleration, atol=1e-9)
    assert np.abs(trajectory.sample(times).position - positions).max() < 1e-12


@every_spline_at_rest
def test_unless_told_it_begins_and_ends_at_rest(spline):
    trajectory = spline(*waypoints(5))
    for time in (0.0, trajectory.duration):
        assert np.abs(trajectory.at(time).velocity).max() < 1e-10
        assert np.abs(trajectory.at(time).acceleration).max() < 1e-9


def test_a_cubic_spline_cannot_begin_with_acceleration_zero_and_a_quartic_one_does():
    positions, times = waypoints(5)
    assert np.abs(cubic(positions, times).at(0.0).acceleration).max() > 0.1  # the control arm
    assert np.abs(quartic(positions, times).at(0.0).acceleration).max() < 1e-12


def test_a_cubic_spline_takes_velocity_or_acceleration_or_neither():
    positions, times = waypoints(5)
    assert np.allclose(cubic(positions, times, End(2.0, None), STOP).at(0.0).velocity, 2.0)
    assert np.allclose(cubic(positions, times, NATURAL, NATURAL).at(times[-1]).acceleration, 0.0, atol=1e-9)
    free = End(None, None)
    parabola = cubic(times**2 - times, times, free, free)
    assert np.allclose(parabola.sample(times).acceleration, 2.0)
    with pytest.raises(BadMotion, match="not both"):
        cubic(positions, times, REST)


def test_two_points_are_joined_by_three_cubics_whose_inner_points_are_virtual():
    """Twelve coefficients, twelve conditions: solved here as they stand."""
    T, (t1, t2) = 3.0, (0.8, 1.9)
    trajectory = via_cubic([1.0, 4.0], [0.0, T], End(0.5, -1.0), End(-0.2, 2.0), virtual=(t1, t2))
    assert trajectory.coefficients.shape == (3, 4, 1)

    def row(piece, s, derivative):
        powers = {
            0: [1, s, s**2, s**3],
            1: [0, 1, 2 * s, 3 * s**2],
            2: [0, 0, 2, 6 * s],
        }[derivative]
        return np.concatenate([powers if i == piece else np.zeros(4) for i in range(3)])

    rows = [row(0, 0, k) for k in range(3)] + [row(2, T - t2, k) for k in range(3)]
    rows += [row(0, t1, k) - row(1, 0, k) for k in range(3)] + [row(1, t2 - t1, k) - row(2, 0, k) for k in range(3)]
    expected = np.linalg.solve(rows, [1.0, 0.5, -1.0, 4.0, -0.2, 2.0, 0, 0, 0, 0, 0, 0])
    assert np.allclose(trajectory.coefficients.ravel(), expected, atol=1e-10)


def test_a_quartic_spline_has_quartics_at_its_ends_and_cubics_between():
    quartics = np.abs(quartic(*waypoints(7)).coefficients[:, 4]).max(axis=1) > 1e-9
    assert quartics.tolist() == [True, False, False, False, False, True]


def test_two_key_frames_are_joined_with_continuous_jerk():
    trajectory = quartic([0.0, 1.0], [0.0, 2.0])
    first, second = trajectory.coefficients[:, :, 0]
    assert np.isclose(6 * first[3] + 24 * first[4] * 1.0, 6 * second[3])
    assert np.isclose(trajectory.at(1.0).position[0], 0.5)


@given(st.integers(0, 10_000), st.integers(20, 60))
@settings(max_examples=20)
def test_a_quartic_spline_through_many_key_frames_does_not_swing(seed, count):
    """A change of one key frame dies away: at ten frames' distance it is a ten-thousandth."""
    positions, times = waypoints(count, seed=seed)
    changed = positions.copy()
    changed[0] += 1.0
    t = np.linspace(times[11], times[-1], 50)
    difference = quartic(changed, times).sample(t).position - quartic(positions, times).sample(t).position
    assert np.abs(difference).max() < 1e-4


@given(st.integers(0, 10_000), st.integers(2, 12))
@settings(max_examples=40)
def test_a_monotone_spline_stays_between_its_waypoints(seed, count):
    positions, times = waypoints(count, seed=seed)
    trajectory = monotone(positions, times)
    for i in range(count - 1):
        now = trajectory.sample(np.linspace(times[i], times[i + 1], 50))
        onwards = np.sign(positions[i + 1] - positions[i])
        assert (now.velocity * onwards >= -1e-9).all()
    assert np.abs(trajectory.sample([0.0, times[-1]]).velocity).max() < 1e-12


def test_where_a_short_piece_follows_a_long_one_a_quartic_spline_swings_and_a_monotone_one_does_not():
    positions, times = [0.0, 0.7, 2.5, 0.7], [0.0, 2.0, 2.25, 3.25]
    t = np.linspace(0.0, 2.0, 200)
    assert quartic(positions, times).sample(t).position.min() < -1.0  # the control arm
    assert monotone(positions, times).sample(t).position.min() >= 0.0


def test_quintic_pieces_meet_every_velocity_and_acceleration_asked_for():
    positions, times = waypoints(4)
    velocities, accelerations = np.random.default_rng(1).normal(size=(2, *positions.shape))
    now = quintic(positions, times, velocities=velocities, accelerations=accelerations).sample(times)
    assert np.allclose(now.position, positions)
    assert np.allclose(now.velocity, velocities)
    assert np.allclose(now.acceleration, accelerations)


def test_two_waypoints_make_the_minimum_jerk_motion():
    s = np.linspace(0, 1, 20)
    assert np.allclose(quintic([0, 1], [0, 1]).sample(s).position[:, 0], 10 * s**3 - 15 * s**4 + 6 * s**5)


@every_spline
def test_before_and_after_it_stands_still(spline):
    positions, times = waypoints(4)
    outside = spline(positions, times).sample([-1.0, times[-1] + 1.0])
    assert np.allclose(outside.position, positions[[0, -1]])
    assert not outside.velocity.any()
    assert not outside.acceleration.any()


@pytest.mark.parametrize(
    ("positions", "times", "says"),
    [
        ([0.0, 1.0], [0.0, 0.0], "times increase.*0 s comes after 0 s"),
        ([0.0, 1.0, 2.0], [0.0, 2.0, 1.0], "1 s comes after 2 s"),
        ([0.0, 1.0], [1.0, 2.0], "first waypoint has time 0, not 1 s"),
        ([0.0, np.nan], [0.0, 1.0], "waypoint 1 has the position nan"),
        ([0.0, 1.0], [0.0, np.nan], "times increase"),
        ([0.0], [0.0], "two waypoints or more"),
        ([0.0, 1.0, 2.0], [0.0, 1.0], "each waypoint has one time"),
    ],
)
@every_spline
def test_bad_waypoints_are_refused(spline, positions, times, says):
    with pytest.raises(BadMotion, match=says):
        spline(positions, times)


def test_other_bad_arguments_are_refused():
    with pytest.raises(BadMotion, match="start velocity"):
        quintic([0.0, 1.0], [0.0, 1.0], End([1.0, 2.0]))
    with pytest.raises(BadMotion, match="end acceleration is nan"):
        quartic([0.0, 1.0], [0.0, 1.0], end=End(acceleration=np.nan))
    with pytest.raises(BadMotion, match="needs both"):
        via_cubic([0.0, 1.0], [0.0, 1.0], NATURAL)
    with pytest.raises(BadMotion, match="virtual points"):
        via_cubic([0.0, 1.0], [0.0, 1.0], virtual=(0.8, 0.2))
    with pytest.raises(BadMotion, match="no value at time nan"):
        cubic([0.0, 1.0], [0.0, 1.0]).at(np.nan)


# Poses.


@every_spline
@every_count
def test_a_frame_goes_through_its_poses(spline, count):
    given, times = poses(count)
    found = PoseTrajectory(given, times, spline).sample(times).position
    assert np.abs(found[:, :3] - given[:, :3]).max() < 1e-12
    between = Rotation.from_quat(found[:, 3:]).inv() * Rotation.from_quat(given[:, 3:])
    assert between.magnitude().max() < 1e-9


@every_spline
@every_count
def test_velocity_and_acceleration_of_a_frame_are_the_derivatives(spline, count):
    trajectory = PoseTrajectory(*poses(count), spline)
    t, d = np.linspace(0.01, 0.99, 57) * trajectory.duration, 1e-5
    before, now, after = (trajectory.sample(t + shift) for shift in (-d, 0, d))
    turned = (Rotation.from_quat(after.position[:, 3:]) * Rotation.from_quat(before.position[:, 3:]).inv()).as_rotvec()
    moved = after.position[:, :3] - before.position[:, :3]
    scale = np.abs(now.acceleration).max()
    assert np.abs(np.hstack([moved, turned]) / (2 * d) - now.velocity).max() < 1e-6 * scale
    assert np.abs((after.velocity - before.velocity) / (2 * d) - now.acceleration).max() < 2e-3 * scale


def test_a_frame_stands_still_at_both_ends():
    trajectory = PoseTrajectory(*poses(4))
    for time in (0.0, trajectory.duration):
        assert np.abs(trajectory.at(time).velocity).max() < 1e-9
        assert np.abs(trajectory.at(time).acceleration).max() < 1e-8


def test_turns_about_one_axis_are_the_spline_of_the_angle():
    angles, times = np.array([0.0, 1.0, -0.5, 2.0]), np.array([0.0, 1.0, 1.7, 3.0])
    given = np.hstack([np.zeros((4, 3)), Rotation.from_rotvec(angles[:, None] * [0.0, 0.6, 0.8]).as_quat()])
    t = np.linspace(0, 3, 40)
    found = PoseTrajectory(given, times).sample(t)
    expected = quintic(angles, times).sample(t)
    turned = Rotation.from_quat(found.position[:, 3:]).as_rotvec()
    assert np.allclose(turned, expected.position * [0.0, 0.6, 0.8])
    assert np.allclose(found.velocity[:, 3:], expected.velocity * [0.0, 0.6, 0.8])


def test_poses_may_be_matrices():
    given, times = poses(3)
    matrices = np.tile(np.eye(4), (3, 1, 1))
    matrices[:, :3, :3] = Rotation.from_quat(given[:, 3:]).as_matrix()
    matrices[:, :3, 3] = given[:, :3]
    a, b = (PoseTrajectory(form, times).sample([0.1, 0.5]) for form in (given, matrices))
    assert np.allclose(a.velocity, b.velocity)
    matrices[1, :3, :3] *= 1.1
    with pytest.raises(BadMotion, match="pose 1 is no rotation"):
        PoseTrajectory(matrices, times)


def test_poses_that_are_none_are_refused():
    given, times = poses(3)
    given[2, 3:] *= 2
    with pytest.raises(BadMotion, match=r"pose 2 has a quaternion of length 2"):
        PoseTrajectory(given, times)
    with pytest.raises(BadMotion, match="rows of 7 numbers"):
        PoseTrajectory(given[:, :6], times)


def test_polynomials_whose_pieces_and_times_do_not_fit_are_refused():
    with pytest.raises(BadMotion, match="3 times need 2 pieces"):
        PiecewisePolynomial([0.0, 1.0, 2.0], np.zeros((1, 4, 1)))
    with pytest.raises(BadMotion, match="begin at 0 and increase"):
        PiecewisePolynomial([0.0, 1.0, 1.0], np.zeros((2, 4, 1)))
    with pytest.raises(BadMotion, match="no finite number"):
        PiecewisePolynomial([0.0, 1.0], np.full((1, 4, 1), np.nan))


def test_all_of_them_are_trajectories():
    assert isinstance(cubic([0.0, 1.0], [0.0, 1.0]), Trajectory)
    assert isinstance(PoseTrajectory(*poses(2)), Trajectory)
