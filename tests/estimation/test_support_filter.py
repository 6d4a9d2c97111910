"""SupportFilter: Jacobians by finite differences, honest innovations, and feet that come and go."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.stats import chi2

from wholebody import _kernels
from wholebody.errors import BadEstimator
from wholebody.estimation import AnkleSpring, SupportFilter, SupportNoise, roll_pitch_yaw
from wholebody.estimation.support import BODY_ERROR, FOOT_ERROR, Motion
from wholebody.messages import numbers_of, packed

DT, G = 0.005, 9.81
FEET = 2
UP = np.array([0.0, 0.0, G])
STEP = 1e-6
SIZE = BODY_ERROR + FEET * FOOT_ERROR


def some_state(seed):
    rng = np.random.default_rng(seed)
    turns = Rotation.random(1 + FEET, random_state=seed)
    x = np.r_[turns[0].as_quat(), rng.normal(size=6)]
    for foot in range(FEET):
        x = np.r_[x, 0.3 * rng.normal(size=4), turns[1 + foot].as_quat()]
    return x


def turned(x, error):
    """x ⊕ error, by another library."""
    result = x.copy()
    result[:4] = (Rotation.from_quat(x[:4]) * Rotation.from_rotvec(error[:3])).as_quat()
    result[4:10] += error[3:9]
    for foot in range(FEET):
        a, e = 10 + 8 * foot, 9 + 7 * foot
        result[a : a + 4] += error[e : e + 4]
        ground = Rotation.from_quat(x[a + 4 : a + 8]) * Rotation.from_rotvec(error[e + 4 : e + 7])
        result[a + 4 : a + 8] = ground.as_quat()
    return result


def numerical(function, size):
    return np.array([(function(STEP * d) - function(-STEP * d)) / (2 * STEP) for d in np.eye(size)]).T


def test_applying_an_error_is_what_another_library_makes_of_it():
    x, error = some_state(1), np.random.default_rng(1).normal(size=SIZE)
    expected = turned(x, error)
    _kernels.estimation_apply_error(x, error)
    assert x == pytest.approx(expected)
    assert not error.any()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dt", [0.005, 0.2])
def test_the_jacobian_of_motion_is_that_of_finite_differences(seed, dt):
    rng = np.random.default_rng(seed)
    x, motion = some_state(seed), np.zeros(1, packed(Motion))
    motion["gyro"], motion["accelerometer"] = 2 * rng.normal(size=3), rng.normal(size=3) + UP

    def moved(state):
        state, F = state.copy(), np.eye(9)
        _kernels.estimation_move_body(state, numbers_of(motion), G, dt, F)
        return state, F

    after, F = moved(x)

    def error_after(error):
        there, _ = moved(turned(x, np.r_[error, np.zeros(SIZE - 9)]))
        turn = Rotation.from_quat(after[:4]).inv() * Rotation.from_quat(there[:4])
        return np.r_[turn.as_rotvec(), there[4:10] - after[4:10]]

    assert numerical(error_after, 9) == pytest.approx(F, abs=1e-7)


@pytest.mark.parametrize("foot", range(FEET))
@pytest.mark.parametrize("seed", range(5))
def test_the_jacobian_of_a_sole_on_the_ground_is_that_of_finite_differences(seed, foot):
    E = Rotation.random(random_state=100 + seed).as_matrix()
    x = some_state(seed)
    # Ground and sole differ by a tenth of a radian or so, as they would at most.
    bent = Rotation.from_euler("X", x[10 + 8 * foot]) * Rotation.from_euler("Y", x[11 + 8 * foot])
    sole = Rotation.from_quat(x[:4]) * Rotation.from_matrix(E) * bent
    off = 0.1 * np.random.default_rng(seed).normal(size=3)
    x[14 + 8 * foot : 18 + 8 * foot] = (sole * Rotation.from_rotvec(-off)).as_quat()

    def turn(state):
        rows, value = np.ones((3, SIZE)), np.zeros(3)
        _kernels.estimation_sole_turn(state, foot, np.ascontiguousarray(E), rows, value)
        return value, rows

    value, rows = turn(x)
    assert value == pytest.approx(off)
    assert rows == pytest.approx(numerical(lambda error: turn(turned(x, error))[0], SIZE), abs=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_the_jacobian_of_an_ankle_that_stands_is_that_of_finite_differences(seed):
    rng = np.random.default_rng(seed)
    x, gyro, p, p_dot = some_state(seed), *rng.normal(size=(3, 3))

    def velocity(state):
        rows, value = np.ones((3, SIZE)), np.zeros(3)
        _kernels.estimation_ankle_velocity(state, gyro, p, p_dot, rows, value)
        return value, rows

    value, rows = velocity(x)
    assert value == pytest.approx(x[7:10] + np.cross(gyro - x[4:7], p) + p_dot)
    assert rows == pytest.approx(numerical(lambda error: velocity(turned(x, error))[0], SIZE), abs=1e-8)


SMOOTH = SupportNoise(vibration=1e-3, flexing=1.0)
"""Of a body that does nothing unseen between two readings."""


class Swaying:
    """A stiff body on two springy ankles that sways as white noise makes it, in exactly the filter's discrete time."""

    def __init__(self, noise, spring, bias, seed):
        self.noise, self.spring, self.bias, self.rng = noise, spring, bias, np.random.default_rng(seed)
        self.q, self.rate = np.zeros(2), np.zeros(2)
        self.attitude, self.velocity = Rotation.identity(), np.zeros(3)
        self.p = np.array([[0.02, 0.1, -0.6], [0.02, -0.1, -0.6]])
        self.middle = self.p.mean(0)

    def step(self, filter):
        noise, rng, legs = self.noise, self.rng, filter.legs
        push = noise.flexing * rng.normal(size=2) - 20.0 * self.rate - 100.0 * self.q
        self.q = self.q + DT * self.rate + 0.5 * DT**2 * push
        self.rate = self.rate + DT * push
        bent = Rotation.from_euler("X", self.q[0]) * Rotation.from_euler("Y", self.q[1])
        turn = self.attitude.inv() * bent.inv()
        rate, before, start = turn.as_rotvec() / DT, self.velocity, self.attitude
        self.attitude, self.velocity = bent.inv(), -np.cross(rate, self.middle)
        falling = start.inv().apply([0, 0, -G])
        accelerometer = (turn.apply(self.velocity) - before) / DT - falling
        for foot in range(FEET):
            rock = Rotation.from_rotvec(noise.sole * rng.normal(size=3))
            legs.E[foot], legs.p[foot] = rock.as_matrix(), self.p[foot]
            # The feet spread as the body turns between them: what the ankle does beside standing still is noise.
            moves = -np.cross(rate, self.p[foot]) - self.velocity
            legs.p_dot[foot] = moves + noise.ankle * rng.normal(size=3)
            legs.torque[foot] = self.spring.stiffness * self.q + self.spring.damping * self.rate
            legs.torque[foot] += noise.torque * rng.normal(size=2)
        gyro = rate + self.bias + noise.gyro * rng.normal(size=3)
        filter.update(gyro, accelerometer + noise.accelerometer * rng.normal(size=3), DT)


def sway(noise, told, seconds=15.0, seed=0):
    spring, bias = AnkleSpring(), np.array([0.01, -0.01, 0.005])
    body, filter = Swaying(noise, spring, bias, seed), SupportFilter(FEET, spring, told)
    filter.start()
    filter.legs.contact[:] = filter.legs.firm[:] = 1.0
    surprise, rows, errors = [], [], []
    for _ in range(round(seconds / DT)):
        body.step(filter)
        surprise.append(filter.innovation[0])
        rows.append(filter.innovation[1])
        turn = Rotation.from_quat(filter.orientation).inv() * body.attitude
        errors.append(np.r_[turn.as_rotvec()[:2], filter.flexion[0] - body.q, filter.gyro_bias - bias])
    return np.array(surprise), np.array(rows), np.array(errors), filter


def test_innovations_and_errors_are_as_large_as_the_filter_says():
    surprise, rows, errors, filter = sway(SMOOTH, SMOOTH)
    later = slice(400, None)
    freedom = rows[later].sum()
    low, high = chi2.ppf([0.0005, 0.9995], freedom) / freedom
    # The gyro serves motion and ankle alike, and what may have been between readings is allowed for: a few per cent.
    assert low - 0.04 < surprise[later].sum() / freedom < high + 0.04
    said = np.sqrt(np.diag(filter.covariance))[[0, 1, 9, 10, 3, 4, 5]]
    rms = np.sqrt(np.mean(errors[later] ** 2, axis=0))
    assert (rms[:4] < 2.0 * said[:4]).all()
    assert (rms[:4] > 0.2 * said[:4]).all()
    assert (np.abs(errors[-1, 4:]) < 4 * said[4:]).all()


@pytest.mark.parametrize("wrong", ["sole", "ankle", "torque"])
def test_a_noise_that_is_told_too_small_shows_in_the_innovations(wrong):
    told = replace(SMOOTH, **{wrong: 0.4 * getattr(SMOOTH, wrong)})
    surprise, rows, *_ = sway(SMOOTH, told, seconds=5.0)
    assert surprise[400:].sum() > 1.2 * rows[400:].sum()


def test_flexion_is_torque_over_stiffness_at_rest():
    spring = AnkleSpring(500.0, 10.0)
    filter = SupportFilter(FEET, spring)
    filter.legs.contact[:] = filter.legs.firm[:] = 1.0
    filter.legs.p[:] = (0.0, 0.0, -0.6)
    bent = 0.02
    turn = Rotation.from_euler("Y", -bent)
    filter.start(turn.as_quat())
    filter.legs.torque[:] = (0.0, bent * spring.stiffness)
    for _ in range(2000):
        filter.update(np.zeros(3), turn.inv().apply([0, 0, G]), DT)
    assert filter.flexion == pytest.approx(np.array([[0.0, bent], [0.0, bent]]), abs=1e-4)
    assert roll_pitch_yaw(filter.orientation) == pytest.approx([0.0, -bent, 0.0], abs=5e-4)


def test_stiff_ankles_never_bend():
    filter = SupportFilter(FEET, None)
    filter.legs.contact[:] = filter.legs.firm[:] = 1.0
    filter.legs.torque[:] = 50.0
    for _ in range(200):
        filter.update(np.array([0.1, 0.2, 0.0]), np.array([1.0, 0.0, G]), DT)
    assert not filter.flexion.any()
    assert not filter.flexion_rate.any()


def test_feet_that_come_and_go_leave_the_covariance_positive_and_the_quaternions_at_unit_length():
    filter, rng = SupportFilter(FEET, AnkleSpring()), np.random.default_rng(0)
    filter.legs.p[:] = (0.0, 0.0, -0.6)
    for k in range(20_000):
        if k % 60 == 0:
            filter.legs.contact[:] = rng.integers(0, 2, FEET)
            filter.legs.firm[:] = filter.legs.contact * rng.integers(0, 2, FEET)
            standing = Rotation.from_quat(filter.orientation).inv().as_matrix()
            filter.legs.E[:] = standing @ Rotation.from_euler("z", rng.normal()).as_matrix()
        filter.update(0.01 * rng.normal(size=3), UP + rng.normal(size=3), DT)
    assert np.linalg.norm(filter.orientation) == pytest.approx(1.0, abs=1e-12)
    assert np.linalg.eigvalsh(filter.covariance).min() > -1e-15
    assert all(np.isfinite(each).all() for each in (filter.velocity, filter.gyro_bias, filter.flexion_rate))
    assert np.linalg.norm(filter.ground, axis=1) == pytest.approx(1.0, abs=1e-12)
    lifted = filter.legs.contact == 0
    assert not filter.flexion[lifted].any()


def test_a_foot_put_on_ground_that_leans_leaves_the_attitude_alone():
    filter, lean = SupportFilter(FEET, None), 0.1
    filter.legs.p[:] = (0.0, 0.0, -0.6)
    filter.legs.contact[0] = filter.legs.firm[0] = 1.0
    for tick in range(2000):
        if tick == 1000:
            filter.legs.E[1] = Rotation.from_euler("y", lean).as_matrix()
            filter.legs.contact[1] = filter.legs.firm[1] = 1.0
        filter.update(np.zeros(3), UP, DT)
    assert np.abs(roll_pitch_yaw(filter.orientation)[:2]).max() < 0.05 * lean
    ground = Rotation.from_quat(filter.ground[1])
    assert ground.as_euler("xyz")[1] == pytest.approx(lean, rel=0.05)


def test_a_foot_that_stands_keeps_yaw_from_drifting_with_the_bias_of_the_gyro():
    def yaw(contact):
        filter = SupportFilter(FEET, AnkleSpring())
        filter.legs.contact[:] = filter.legs.firm[:] = contact
        filter.legs.p[:] = (0.0, 0.0, -0.6)
        for _ in range(2000):
            filter.update(np.array([0.0, 0.0, 0.02]), np.array([0.0, 0.0, G]), DT)
        return abs(roll_pitch_yaw(filter.orientation)[2])

    assert yaw(1.0) < 0.01 < 0.15 < yaw(0.0)


def test_springs_and_deviations_that_are_none_are_refused():
    for bad in ((0.0, 1.0), (-753.0, 1.0), (753.0, -1.0), (np.nan, 1.0)):
        with pytest.raises(BadEstimator, match="stiffness"):
            AnkleSpring(*bad)
    with pytest.raises(BadEstimator, match="ankle"):
        SupportNoise(ankle=0.0)
