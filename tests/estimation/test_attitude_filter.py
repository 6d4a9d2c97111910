"""AttitudeFilter: its Jacobians are those of its motion, its covariance is honest, and bad input does it no harm."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.stats import chi2

from wholebody import _kernels
from wholebody.errors import BadEstimator
from wholebody.estimation import AttitudeFilter, AttitudeNoise, ParticleAttitude, roll_pitch_yaw
from wholebody.estimation.attitude import ATTITUDE
from wholebody.messages import numbers_of
from wholebody.rotations import matrix_of_quaternion, quaternion_of_tilt
from wholebody.rotations import turned as turned_quaternion

DT, G = 0.005, 9.81
RNG = np.random.default_rng


def turned(x, error):
    """x ⊕ error, by another library."""
    attitude = Rotation.from_quat(x[:4]) * Rotation.from_rotvec(error[:3])
    return np.r_[attitude.as_quat(), x[4:] + error[3:]]


def difference(x, y):
    """The error with x ⊕ error = y."""
    return np.r_[(Rotation.from_quat(x[:4]).inv() * Rotation.from_quat(y[:4])).as_rotvec(), y[4:] - x[4:]]


def predicted(x, gyro, dt):
    moved, F = np.zeros(1, ATTITUDE), np.eye(6)
    moved["orientation"], moved["gyro_bias"], moved["gyro"] = x[:4], x[4:], gyro
    _kernels.estimation_turn_attitude(numbers_of(moved), dt, F)
    return np.r_[moved["orientation"][0], moved["gyro_bias"][0]], F


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dt", [0.005, 0.3])
def test_the_jacobian_of_a_turn_is_that_of_finite_differences(seed, dt):
    rng = RNG(seed)
    x = np.r_[Rotation.random(random_state=seed).as_quat(), rng.normal(size=3)]
    gyro, step = 3 * rng.normal(size=3), 1e-6
    after, F = predicted(x, gyro, dt)
    for column, direction in enumerate(np.eye(6)):
        there, back = (predicted(turned(x, s * step * direction), gyro, dt)[0] for s in (1, -1))
        numerical = (difference(after, there) - difference(after, back)) / (2 * step)
        assert F[:, column] == pytest.approx(numerical, abs=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_seeing_up_corrects_like_the_textbook_with_a_jacobian_by_finite_differences(seed):
    rng = RNG(seed)
    quaternion, A = Rotation.random(random_state=seed).as_quat(), rng.normal(size=(6, 6))
    P, variance, reading, step = A @ A.T, 0.3, rng.normal(size=3), 1e-6

    def up(error):
        return (Rotation.from_quat(quaternion) * Rotation.from_rotvec(error[:3])).inv().apply([0, 0, G])

    H = np.array([(up(step * d) - up(-step * d)) / (2 * step) for d in np.eye(6)]).T
    K = P @ H.T @ np.linalg.inv(H @ P @ H.T + variance * np.eye(3))
    innovation = reading - up(np.zeros(6))
    joseph = (np.eye(6) - K @ H) @ P @ (np.eye(6) - K @ H).T + variance * K @ K.T
    error, own = np.zeros(6), P.copy()
    surprise = _kernels.estimation_see_up(own, error, quaternion, reading, G, variance)
    assert error == pytest.approx(K @ innovation, abs=1e-6)
    assert own == pytest.approx(joseph, abs=1e-6)
    assert surprise == pytest.approx(innovation @ np.linalg.solve(H @ P @ H.T + variance * np.eye(3), innovation))


def test_what_is_beyond_the_gate_moves_the_state_no_further_than_what_is_at_it():
    def moved(difference):
        P, error = np.eye(2), np.zeros(2)
        _kernels.estimation_believe(P, error, np.array([1.0, 0.0]), difference, 1.0, 9.0)
        return error[0]

    at_gate = moved(3 * np.sqrt(2))
    assert moved(1.0) == pytest.approx(0.5)
    assert moved(1000.0) < at_gate


def simulated(seconds, noise, bias, seed=0, start=None):
    """A body that turns every way; yields truth, gyro, accelerometer."""
    rng = RNG(seed)
    attitude = Rotation.from_euler("xyz", [0.2, -0.1, 0.0]) if start is None else start
    for k in range(round(seconds / DT)):
        t = k * DT
        rate = np.array([np.sin(t), 0.7 * np.cos(0.6 * t), 0.4 * np.sin(0.3 * t)])
        attitude = attitude * Rotation.from_rotvec(rate * DT)
        gyro = rate + bias + noise.gyro * rng.normal(size=3)
        yield attitude, gyro, attitude.inv().apply([0, 0, G]) + noise.accelerometer * rng.normal(size=3)


def tilt(filter, attitude):
    """The angle between up as estimated and up."""
    up = [each.inv().apply([0, 0, 1]) for each in (Rotation.from_quat(filter.orientation), attitude)]
    return np.arccos(np.clip(up[0] @ up[1], -1, 1))


def test_its_innovations_and_errors_are_as_large_as_it_says():
    noise, bias = AttitudeNoise(gyro=0.01, accelerometer=0.5), np.array([0.01, -0.015, 0.005])
    filter, innovations, errors = AttitudeFilter(noise), [], []
    for attitude, gyro, accelerometer in simulated(20.0, noise, bias, seed=3):
        filter.update(gyro, accelerometer, DT)
        innovations.append(filter.innovation)
        error = difference(np.r_[filter.orientation, filter.gyro_bias], np.r_[attitude.as_quat(), bias])
        up = attitude.inv().apply([0, 0, 1])  # yaw cannot be known
        level = np.linalg.svd(np.array([up]))[2][1:]
        seen, P = level @ error[:3], level @ filter.covariance[:3, :3] @ level.T
        errors.append(seen @ np.linalg.solve(P, seen))
    n = len(innovations)
    assert chi2.ppf(0.001, 3 * n) < np.sum(innovations) < chi2.ppf(0.999, 3 * n)
    assert 0.5 < np.mean(errors[500:]) < 5.0, "two degrees of freedom; errors of a run are correlated"
    assert filter.gyro_bias[:2] == pytest.approx(bias[:2], abs=2e-3)


def test_a_wrong_noise_shows_in_the_innovations():
    noise = AttitudeNoise(gyro=0.01, accelerometer=0.5)
    filter, total, count = AttitudeFilter(AttitudeNoise(gyro=0.01, accelerometer=0.25)), 0.0, 0
    for _, gyro, accelerometer in simulated(10.0, noise, np.zeros(3)):
        filter.update(gyro, accelerometer, DT)
        total, count = total + filter.innovation, count + 1
    assert total > chi2.ppf(0.999, 3 * count)


def test_it_beats_the_integral_of_its_gyro():
    noise, bias = AttitudeNoise(gyro=0.005, accelerometer=1.0), np.array([0.01, -0.01, 0.0])
    filter, integral, errors = AttitudeFilter(noise), None, []
    for attitude, gyro, accelerometer in simulated(25.0, noise, bias):
        integral = attitude if integral is None else integral * Rotation.from_rotvec(gyro * DT)
        filter.update(gyro, accelerometer, DT)
        ups = [each.inv().apply([0, 0, 1]) for each in (integral, attitude)]
        errors.append((tilt(filter, attitude), np.arccos(np.clip(ups[0] @ ups[1], -1, 1))))
    own, integrated = np.sqrt(np.mean(np.square(errors[2000:]), axis=0))
    assert own < 0.01
    assert integrated > 5 * own


@pytest.mark.parametrize(
    "start", [(np.pi, 0, 0), (0, np.pi, 0), (0, 0, np.pi), (3.1, 1.5, -3.1), (0.0, np.pi / 2, 0.0)]
)
def test_no_attitude_is_special(start):
    noise = AttitudeNoise(gyro=0.002, accelerometer=0.1)
    filter, error = AttitudeFilter(noise), np.inf
    for attitude, gyro, accelerometer in simulated(10.0, noise, np.zeros(3), start=Rotation.from_euler("xyz", start)):
        filter.update(gyro, accelerometer, DT)
        error = tilt(filter, attitude)
    assert error < 0.02


@pytest.mark.slow
def test_a_long_run_keeps_the_quaternion_at_unit_length_and_the_covariance_positive():
    filter, rng = AttitudeFilter(), RNG(0)
    readings = rng.normal(size=(1000, 6))
    for k in range(100_000):
        filter.update(readings[k % 1000, :3], readings[k % 1000, 3:] + (0, 0, G), DT)
    assert np.linalg.norm(filter.orientation) == pytest.approx(1.0, abs=1e-12)
    assert np.linalg.eigvalsh(filter.covariance).min() > 0
    assert filter.covariance == pytest.approx(filter.covariance.T, abs=1e-15)


def test_bad_input_is_counted_and_the_estimate_holds():
    filter = AttitudeFilter()
    for _ in range(100):
        filter.update([0.1, 0, 0], [0, 0, G], DT)
    held = filter.orientation.copy()
    for gyro, accelerometer, dt in (
        ([np.nan, 0, 0], [0, np.nan, G], DT),
        ([0, 0, 0], [0, 0, G], 0.0),
        ([0, 0, 0], [0, 0, G], -1.0),
        ([0, 0, 0], [0, 0, G], np.nan),
        ([np.inf, 0, 0], [0, 0, 0], DT),
    ):
        filter.update(gyro, accelerometer, dt)
        assert np.array_equal(filter.orientation, held)
    assert (filter.faults.not_finite, filter.faults.bad_time, filter.faults.silent) == (2, 3, 1)
    assert filter.faults.total == 6
    filter.update([0.1, 0, 0], [0, 0, G], DT)
    assert np.isfinite(filter.orientation).all()
    assert not np.array_equal(filter.orientation, held)


def test_a_dead_accelerometer_leaves_the_gyro_to_speak():
    filter = AttitudeFilter()
    filter.start([0, 0, 0, 1])
    for _ in range(200):
        filter.update([0.5, 0, 0], [0, 0, 0], DT)
    assert roll_pitch_yaw(filter.orientation)[0] == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize("noise", [{"gyro": 0.0}, {"accelerometer": -1.0}, {"bias_drift": np.nan}])
def test_deviations_that_are_none_are_refused_by_name(noise):
    with pytest.raises(BadEstimator, match=next(iter(noise))):
        AttitudeNoise(**noise)


def test_an_orientation_that_is_none_is_refused():
    for bad in ([0, 0, 0, 0], [np.nan, 0, 0, 1], [0, 0, 1]):
        with pytest.raises(BadEstimator):
            AttitudeFilter().start(bad)


@pytest.mark.parametrize("seed", range(20))
def test_rotations_agree_with_another_library(seed):
    truth, by = Rotation.random(random_state=seed), RNG(seed).normal(size=3)
    matrix = matrix_of_quaternion(truth.as_quat())
    assert matrix == pytest.approx(truth.as_matrix())
    assert Rotation.from_euler("xyz", roll_pitch_yaw(truth.as_quat())).as_matrix() == pytest.approx(matrix)
    further = Rotation.from_quat(turned_quaternion(truth.as_quat(), by))
    assert further.as_matrix() == pytest.approx((truth * Rotation.from_rotvec(by)).as_matrix())
    up = truth.inv().apply([0, 0, 3.0])
    assert Rotation.from_quat(quaternion_of_tilt(up)).apply(up) == pytest.approx([0, 0, 3.0])


def test_up_below_is_a_tilt_of_half_a_turn():
    quaternion = quaternion_of_tilt([0.0, 0.0, -1.0])
    assert Rotation.from_quat(quaternion).apply([0, 0, -1]) == pytest.approx([0, 0, 1])


@pytest.mark.slow
def test_a_cloud_of_guesses_agrees_with_the_kalman_filter_on_what_is_normal():
    noise, bias = AttitudeNoise(gyro=0.005, accelerometer=0.5), np.array([0.01, -0.01, 0.0])
    cloud, filter, errors = ParticleAttitude(noise, freedom=100.0, seed=1), AttitudeFilter(noise), []
    start = Rotation.identity()
    for each in (cloud, filter):
        each.start(start.as_quat())
    for attitude, gyro, accelerometer in simulated(8.0, noise, bias, start=start):
        cloud.update(gyro, accelerometer, DT)
        filter.update(gyro, accelerometer, DT)
        errors.append((tilt(cloud, attitude), tilt(filter, attitude)))
    of_cloud, of_filter = np.sqrt(np.mean(np.square(errors[600:]), axis=0))
    assert of_cloud < 3 * of_filter + 1e-3
    assert cloud.gyro_bias[:2] == pytest.approx(bias[:2], abs=4e-3)
    yaws = [roll_pitch_yaw(each.orientation)[2] for each in (cloud, filter)]
    assert yaws[0] == pytest.approx(yaws[1], abs=0.2), "yaw is unobservable: both drift, by different biases"


def test_a_cloud_that_expects_surprises_is_hurt_less_by_pushes():
    noise, start = AttitudeNoise(gyro=0.005, accelerometer=0.3), Rotation.identity()
    clouds, errors = [ParticleAttitude(noise, count=500, freedom=freedom) for freedom in (1.0, 100.0)], []
    for tick, (attitude, gyro, accelerometer) in enumerate(simulated(5.0, noise, np.zeros(3), start=start)):
        pushed = accelerometer + np.array([5.0, 0.0, 0.0]) if tick % 100 < 15 else accelerometer
        for each in clouds:
            each.update(gyro, pushed, DT)
        errors.append([tilt(each, attitude) for each in clouds])
    expects, does_not = np.sqrt(np.mean(np.square(errors[200:]), axis=0))
    assert expects < 0.7 * does_not


def test_a_cloud_counts_bad_input_and_holds():
    cloud = ParticleAttitude()
    held = cloud.orientation.copy()
    cloud.update([np.nan, 0, 0], [0, 0, G], DT)
    cloud.update([0, 0, 0], [0, 0, G], -1.0)
    assert np.array_equal(cloud.orientation, held)
    cloud.update([0, 0, 0], [0, 0, 0], DT)
    assert (cloud.faults.not_finite, cloud.faults.bad_time, cloud.faults.silent) == (1, 1, 1)
    with pytest.raises(BadEstimator, match="guesses"):
        ParticleAttitude(count=1)
