"""What contacts can bear, and how joints brake before their limits."""

import numpy as np
import pytest
from scipy.optimize import linprog

from wholebody.control.contact_limits import line_rows, point_rows, sole_rows
from wholebody.control.quadratic.limits import closing_range, velocity_range
from wholebody.errors import BadProblem

SOLE = ((0.14, 0.065), (-0.08, 0.065), (-0.08, -0.085), (0.14, -0.085))


def corners_can(wrench, corners, k):
    """Whether forces at the corners, each in its pyramid, add up to a wrench."""
    grasp = np.hstack([np.vstack([np.eye(3), [[0, 0, y], [0, 0, -x], [-y, x, 0]]]) for x, y in corners])
    pyramid = np.kron(np.eye(len(corners)), [[1, 0, -k], [-1, 0, -k], [0, 1, -k], [0, -1, -k]])
    bounds = [(None, None), (None, None), (0, None)] * len(corners)
    return linprog(np.zeros(grasp.shape[1]), pyramid, np.zeros(len(pyramid)), grasp, wrench, bounds).status == 0


def random_wrenches(count):
    rng = np.random.default_rng(1)
    for _ in range(count):
        yield np.array([*rng.uniform(-0.5, 0.5, 2), 1.0, *rng.uniform(-0.1, 0.1, 1), *rng.uniform(-0.2, 0.1, 2)])


def test_a_sole_bears_exactly_what_forces_at_its_corners_add_up_to():
    rows, seen = sole_rows(0.6, 0.0, SOLE, 0.0), {True: 0, False: 0}
    for wrench in random_wrenches(400):
        bears = bool(np.all(rows.matrix @ wrench >= -1e-9))
        assert bears == corners_can(wrench, SOLE, 0.6 / np.sqrt(2))
        seen[bears] += 1
    assert min(seen.values()) > 20


def test_any_outline_bears_nothing_that_its_corners_cannot():
    triangle = ((0.1, 0.0), (-0.1, 0.08), (-0.1, -0.08))
    rows = sole_rows(0.8, 0.0, triangle, 0.0)
    for wrench in random_wrenches(400):
        if np.all(rows.matrix @ wrench >= 0):
            assert corners_can(wrench, triangle, 0.8 / np.sqrt(2))


def test_the_pyramid_stands_inside_the_cone():
    rng = np.random.default_rng(2)
    rows = point_rows(0.5, 10.0)
    for force in rng.uniform(-40, 80, (500, 3)):
        if np.all(rows.matrix @ [*force, 0, 0, 0] >= rows.least):
            assert force[2] >= 10.0
            assert np.hypot(*force[:2]) <= 0.5 * force[2] + 1e-9


def test_an_inset_keeps_the_centre_of_pressure_away_from_the_outline():
    rows = sole_rows(0.6, 0.0, SOLE, 0.02)
    for x, inside in ((0.119, True), (0.121, False), (-0.059, True), (-0.061, False)):
        assert np.all(rows.matrix @ [0, 0, 1, 0, -x, 0] >= 0) == inside


def test_an_inset_that_leaves_nothing_is_refused():
    with pytest.raises(BadProblem, match="no inside left"):
        sole_rows(0.6, 0.0, SOLE, 0.08)


def test_an_edge_bears_pressure_between_its_ends_alone():
    rows = line_rows(0.6, 0.0, SOLE, np.array([0.0, 1.0, 0.0]), np.array([0.14, 0.0, 0.0]))
    for y, inside in ((0.064, True), (0.066, False), (-0.084, True), (-0.086, False)):
        torque = np.cross([0, y, 0], [0, 0, 1.0])
        assert np.all(rows.matrix @ [0, 0, 1, *torque] >= 0) == inside


@pytest.mark.parametrize("seed", range(20))
def test_a_joint_pushed_about_at_random_never_leaves_its_limits_nor_is_asked_for_more_than_it_can(seed):
    rng = np.random.default_rng(seed)
    dt, braking, lower, upper, fastest = 0.001, 20.0, -0.3, 0.5, 3.0
    q, v = rng.uniform(lower, upper), 0.0
    for step in range(3000):
        low, high = velocity_range(q, v, lower, upper, fastest, braking, dt)
        assert low <= high
        assert low <= v + braking * dt + 1e-12
        assert high >= v - braking * dt - 1e-12
        wanted = rng.uniform(-1, 1) * 400 if step % 300 < 250 else np.sign(q) * 1e4
        v = float(np.clip(v + wanted * dt, low, high))
        q += v * dt
        assert lower - 1e-9 <= q <= upper + 1e-9
        assert abs(v) <= fastest + 1e-12


def test_a_joint_beyond_its_limit_comes_back():
    q, v = 0.6, 1.0
    for _ in range(3000):
        low, high = velocity_range(q, v, -0.3, 0.5, 3.0, 20.0, 0.001)
        assert low <= high
        v = float(np.clip(v, low, high))
        q += v * 0.001
    assert q <= 0.5 + 1e-6


def test_a_distance_never_falls_below_the_clearance():
    distance, rate = 0.05, 0.0
    for _ in range(2000):
        rate = max(rate - 0.01, closing_range(distance, rate, 0.01, 2.0, 0.001))
        distance += rate * 0.001
        assert distance >= 0.01 - 1e-9
    assert distance < 0.0101
