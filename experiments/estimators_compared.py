"""Estimators of attitude beside each other: what each sees, and how far it is from the truth.

The gyro alone, gyro and accelerometer (plain), by particles, with encoders and feet (full), that without the ankles'
torque, and one full filter for each phase of support. Sensors are as in stabilizer_estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from experiments.estimator_runs import PERIOD, Array, Run
from wholebody.estimation import (
    AnkleSpring,
    AttitudeFilter,
    AttitudeNoise,
    BalanceEstimator,
    ParticleAttitude,
    SupportNoise,
    roll_pitch_yaw,
)
from wholebody.messages import MeasuredWrench, State
from wholebody.model import Model
from wholebody.rotations import turned
from wholebody.simulation import SensorModel

NOISES = (0.1, 1.0, 10.0)  # m/s²
BIAS = (0.01, -0.01, 0.005)  # rad/s
COUNTED = 400  # periods, after which errors count


def sensors(accelerometer: float) -> SensorModel:
    """As the docstring says."""
    zero = (0.0, 0.0, 0.0)
    return replace(
        SensorModel.realistic(),
        accelerometer_noise=accelerometer,
        accelerometer_bias=zero,
        gyro_noise=5e-3,
        gyro_bias=BIAS,
    )


Attitudes = Iterator[Array]
Estimator = Callable[[Run, Iterator[State], float], Attitudes]


def gyro_alone(run: Run, states: Iterator[State], noise: float) -> Attitudes:
    """The integral of the gyro."""
    orientation = np.array([0.0, 0.0, 0.0, 1.0])
    for state in states:
        orientation[:] = turned(orientation, PERIOD * state.imu[0].angular_velocity)
        yield orientation


def plain(run: Run, states: Iterator[State], noise: float, particles: bool = False) -> Attitudes:
    """Gyro and accelerometer."""
    told = AttitudeNoise(accelerometer=noise)
    filter = ParticleAttitude(told) if particles else AttitudeFilter(told)
    filter.start((0.0, 0.0, 0.0, 1.0))
    for state in states:
        imu = state.imu[0]
        filter.update(imu.angular_velocity, imu.linear_acceleration, PERIOD)
        yield filter.orientation


def cloud(run: Run, states: Iterator[State], noise: float) -> Attitudes:
    """Gyro and accelerometer, by particles."""
    return plain(run, states, noise, particles=True)


def full(run: Run, states: Iterator[State], noise: float, stiffness: float = 753.0) -> Attitudes:
    """Gyro, accelerometer, encoders, feet."""
    for balance in follow(run, states, noise, stiffness):
        yield balance.balance.orientation


def follow(
    run: Run, states: Iterator[State], noise: float, stiffness: float = 753.0, **otherwise: float
) -> Iterator[BalanceEstimator]:
    """The full filter, cycle by cycle; `otherwise` are deviations that it is told besides."""
    told = SupportNoise(accelerometer=noise, **otherwise)
    estimator = BalanceEstimator(Model(run.robot), spring=AnkleSpring(stiffness), noise=told)
    for state in states:
        estimator.update(state)
        yield estimator


def without_torque(run: Run, states: Iterator[State], noise: float) -> Attitudes:
    """The full filter, for which feet say how hard they are pressed but nothing of torque about the ankle."""

    def forgetful() -> Iterator[State]:
        for state in states:
            state.force_torque.measured[:] = int(MeasuredWrench.FORCE_Z)
            yield state

    return full(run, forgetful(), noise)


def one_per_phase(run: Run, states: Iterator[State], noise: float) -> Attitudes:
    """The full filter, another one for each phase (7.3): left, right, both, none; attitude and velocity go along."""
    model, spring, told = Model(run.robot), AnkleSpring(), SupportNoise(accelerometer=noise)
    phases: dict[bytes, BalanceEstimator] = {}
    last = BalanceEstimator(model, spring=spring, noise=told)
    for state in states:
        last.update(state)
        phase = last.balance.contact.tobytes()
        if phase not in phases:
            phases[phase] = BalanceEstimator(model, spring=spring, noise=told) if phases else last
        now = phases[phase]
        if now is not last:
            hand_over(last, now, state)
        last = now
        yield now.filter.orientation


def hand_over(last: BalanceEstimator, to: BalanceEstimator, state: State) -> None:
    """Begin a phase's filter anew, with its own bias, where the last one's attitude and velocity are."""
    bias = to.filter.gyro_bias.copy()
    to.start()
    to.update(state)
    to.filter.start(last.filter.orientation)
    to.filter.gyro_bias[:], to.filter.velocity[:] = bias, last.filter.velocity
    to.contacts.contact[:], to.contacts.firm[:] = last.contacts.contact, last.contacts.firm


ESTIMATORS: dict[str, Estimator] = {
    "gyro alone": gyro_alone,
    "plain EKF": plain,
    "particles": cloud,
    "full EKF": full,
    "no ankle torque": without_torque,
    "one per phase": one_per_phase,
}


def angles(orientations: Iterator[Array] | Array) -> Array:
    """Roll and pitch, in degrees: n × 2."""
    return np.degrees([roll_pitch_yaw(each)[:2] for each in orientations])


@dataclass(frozen=True)
class Errors:
    """RMS of roll and pitch, degrees."""

    roll: float
    pitch: float

    @property
    def both(self) -> float:
        """Of both together."""
        return float(np.hypot(self.roll, self.pitch) / np.sqrt(2))


def errors_of(estimated: Array, run: Run) -> Errors:
    """Against the truth, after the first seconds."""
    off = (estimated - angles(run.attitude))[COUNTED:]
    roll, pitch = np.sqrt(np.mean(off**2, axis=0))
    return Errors(float(roll), float(pitch))


def estimate(estimator: Estimator, run: Run, noise: float, told: float | None = None, seed: int = 0) -> Array:
    """Roll and pitch as an estimator has them, in degrees, with a real noise and one that it is told."""
    return angles(estimator(run, run.measured(sensors(noise), seed), noise if told is None else told))


@dataclass(frozen=True)
class Flexion:
    """How well ankles' flexion is estimated, in degrees: RMS error and peak of roll and pitch."""

    error: Array
    peak: Array


def flexion_of(run: Run, noise: float, stiffness: float = 753.0, seed: int = 0) -> Flexion:
    """Of both ankles, while they stand or swing."""
    states = run.measured(sensors(noise), seed)
    found = np.array([each.filter.flexion.copy() for each in follow(run, states, noise, stiffness)])
    true = run.flexion[1:]
    error = np.sqrt(np.mean((found - true)[COUNTED:] ** 2, axis=(0, 1)))
    return Flexion(np.degrees(error), np.degrees(np.abs(true[COUNTED:]).max(axis=(0, 1))))


def surprise_of(run: Run, noise: float, seed: int = 0) -> float:
    """The normalised innovation squared of the full filter per measured number: 1 if its noise is right."""
    states = run.measured(sensors(noise), seed)
    seen = [each.filter.innovation for each in follow(run, states, noise)][COUNTED:]
    squared, numbers = np.sum(seen, axis=0)
    return float(squared / numbers)


@dataclass(frozen=True)
class Coverage:
    """Whether the full filter is as sure of roll and pitch as it may be, after the first seconds."""

    errors: float  # squared, by their variances: 1 if it is, less if it is careful
    below: float  # share of errors below two deviations: 95 % of a normal distribution


def coverage_of(run: Run, noise: float, seed: int = 0, stiffness: float = 753.0, **otherwise: float) -> Coverage:
    """Against the truth of the period that was measured; `otherwise` are deviations that it is told besides."""
    off = []
    for period, each in enumerate(follow(run, run.measured(sensors(noise), seed), noise, stiffness, **otherwise)):
        if period >= COUNTED:
            true, found = Rotation.from_quat(run.attitude[period - 1]), Rotation.from_quat(each.filter.orientation)
            off.append((found.inv() * true).as_rotvec()[:2] / np.sqrt(np.diag(each.filter.covariance)[:2]))
    return Coverage(float(np.mean(np.square(off))), float(np.mean(np.abs(off) < 2.0)))
