"""AttitudeFilter: the attitude of a body from its gyro and accelerometer, with the gyro's bias (Stabilizer, 4.1–4.3).

    attitude = AttitudeFilter(AttitudeNoise(accelerometer=1.0))
    attitude.update(gyro, accelerometer, dt)
    attitude.orientation, attitude.gyro_bias

An extended Kalman filter of the error state on quaternions. Whatever accelerates the body is noise to it: the
accelerometer is believed to see gravity alone. Yaw is the integral of the gyro, and drifts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from wholebody import _kernels
from wholebody.errors import BadEstimator
from wholebody.estimation.sensor_faults import NOT_FINITE, SILENT, Faults
from wholebody.messages import Floats, Record, numbers_of, packed
from wholebody.model.layout import Array, read_only
from wholebody.rotations import matrix_of_quaternion, quaternion_of_tilt, turned

GRAVITY = 9.81
WEIGHTLESS = 0.1 * GRAVITY
"""An accelerometer that reads less than this says nothing about where up is."""
LIKELY = 16.0
"""Rows that are further off than four deviations count as if they were there."""


@dataclass(frozen=True)
class AttitudeNoise:
    """Standard deviations of each reading, and of what is known at the start."""

    gyro: float = 5e-3  # rad/s
    bias_drift: float = 1e-5  # rad/s per √s
    accelerometer: float = 1.0  # m/s²: the sensor's own, and the motion that the filter does not know of
    attitude_at_start: float = 0.1  # rad
    bias_at_start: float = 0.02  # rad/s

    def __post_init__(self) -> None:
        """Refuse what is no deviation."""
        check_deviations(self)


def check_deviations(noise: Any) -> None:
    """Refuse a dataclass of deviations one of which is not a positive number."""
    for each in fields(noise):
        value = getattr(noise, each.name)
        if not 0 < value < math.inf:
            raise BadEstimator(f"{type(noise).__name__}.{each.name} is {value}; give a positive number")


class AttitudeMemory(Record):
    """Attitude of estimation.h."""

    orientation: Annotated[Floats, 4]
    gyro_bias: Annotated[Floats, 3]
    covariance: Annotated[Floats, (6, 6)]
    gyro: Annotated[Floats, 3]
    accelerometer: Annotated[Floats, 3]
    angular_velocity: Annotated[Floats, 3]
    innovation: float
    started: float
    gyro_deviation: float
    bias_drift: float
    accelerometer_deviation: float
    gravity: float
    gate: float


ATTITUDE = AttitudeMemory.of(packed(AttitudeMemory))


class AttitudeFilter:
    """Attitude and gyro bias, cycle by cycle; bad input is counted in `faults`, and the estimate holds."""

    def __init__(self, noise: AttitudeNoise | None = None) -> None:
        self.noise = AttitudeNoise() if noise is None else noise
        self.faults = Faults()
        numbers = np.zeros(1, ATTITUDE)
        self._memory: AttitudeMemory = numbers[0]
        memory = self._memory
        memory.gyro_deviation, memory.bias_drift = self.noise.gyro, self.noise.bias_drift
        memory.accelerometer_deviation = self.noise.accelerometer
        memory.gravity, memory.gate = GRAVITY, LIKELY
        self._gyro, self._accelerometer = memory.gyro, memory.accelerometer
        self._handle = _kernels.estimation_attitude(numbers_of(numbers))
        self.start()

    def start(self, orientation: npt.ArrayLike | None = None) -> None:
        """Forget everything; without an orientation (x y z w) the first accelerometer reading says where up is."""
        memory, noise = self._memory, self.noise
        memory.orientation[:] = (0, 0, 0, 1) if orientation is None else _unit(orientation)
        memory.gyro_bias[:], memory.started = 0.0, orientation is not None
        memory.covariance[:] = np.diag([noise.attitude_at_start**2] * 3 + [noise.bias_at_start**2] * 3)

    def update(self, gyro: npt.ArrayLike, accelerometer: npt.ArrayLike, dt: float) -> None:
        """Take one reading, dt seconds after the last: rad/s and m/s², in the body's axes."""
        self._gyro[:], self._accelerometer[:] = gyro, accelerometer
        if not 0.0 < dt < math.inf:
            self.faults.bad_time += 1
            return
        wrong = _kernels.estimation_update_attitude(self._handle, dt)
        if wrong & NOT_FINITE:
            self.faults.not_finite += 1
        if wrong & SILENT:
            self.faults.silent += 1

    @property
    def innovation(self) -> float:
        """The normalised innovation squared of the last accelerometer reading: 3 on average, if the noise is right."""
        return self._memory.innovation

    @property
    def orientation(self) -> Array:
        """The quaternion x y z w, body to world, of unit length."""
        return read_only(self._memory.orientation)

    @property
    def gyro_bias(self) -> Array:
        """What the gyro reads at rest, rad/s, in the body's axes."""
        return read_only(self._memory.gyro_bias)

    @property
    def angular_velocity(self) -> Array:
        """The gyro's last reading less its bias, rad/s, in the body's axes."""
        return read_only(self._memory.angular_velocity)

    @property
    def covariance(self) -> Array:
        """Of attitude error (rotation vector in the body's axes) and bias, 6 × 6."""
        return read_only(self._memory.covariance)


def _unit(given: npt.ArrayLike) -> Array:
    values = np.array(given, np.float64)
    if values.shape != (4,) or not np.isfinite(values).all() or np.linalg.norm(values) < 1e-6:
        raise BadEstimator(f"{given!r} is no orientation; give a quaternion x y z w")
    return np.asarray(values / np.linalg.norm(values))


ROUGHENING, NUMBERS = 0.2, 5
"""How far guesses that were doubled are moved apart: share of the cloud's extent, over count to 1 / numbers."""


class ParticleAttitude:
    """Tilt and gyro bias as a cloud; yaw is the integral of the gyro. It costs about a millisecond a cycle."""

    def __init__(
        self, noise: AttitudeNoise | None = None, count: int = 2000, freedom: float = 3.0, seed: int = 0
    ) -> None:
        """`count` guesses; `freedom` is that of Student's t: the smaller, the less surprising are surprises."""
        if count < 2 or not freedom > 0:
            raise BadEstimator(f"a cloud of {count} guesses with {freedom} degrees of freedom; give 2, and more than 0")
        self.noise = AttitudeNoise() if noise is None else noise
        self.faults = Faults()
        self.freedom = freedom
        self._random = np.random.default_rng(seed)
        self._up, self._bias = np.zeros((count, 3)), np.zeros((count, 3))
        self._weights = np.full(count, 1.0 / count)
        self.orientation = np.array([0.0, 0.0, 0.0, 1.0])
        self.start()

    def start(self, orientation: npt.ArrayLike = (0.0, 0.0, 0.0, 1.0)) -> None:
        """Begin anew near an orientation, x y z w."""
        count = len(self._weights)
        self.orientation[:] = orientation
        R = matrix_of_quaternion(self.orientation)
        self._up[:] = R[2] + self.noise.attitude_at_start * self._random.normal(size=(count, 3))
        self._up /= np.linalg.norm(self._up, axis=1, keepdims=True)
        self._bias[:] = self.noise.bias_at_start * self._random.normal(size=(count, 3))
        self._weights[:] = 1.0 / count

    def update(self, gyro: npt.ArrayLike, accelerometer: npt.ArrayLike, dt: float) -> None:
        """Take one reading, dt seconds after the last; bad input is counted, and the estimate holds."""
        rate, reading = np.asarray(gyro, np.float64), np.asarray(accelerometer, np.float64)
        if not 0.0 < dt < math.inf:
            self.faults.bad_time += 1
            return
        if not math.isfinite(float(rate.sum() + reading.sum())):
            self.faults.not_finite += 1
            return
        self._move(rate, dt)
        if float(reading @ reading) > WEIGHTLESS**2:
            self._weigh(reading)
        else:
            self.faults.silent += 1
        self._show(rate, dt)

    @property
    def gyro_bias(self) -> Array:
        """What the gyro reads at rest, rad/s."""
        return np.asarray(self._weights @ self._bias)

    def _move(self, rate: Array, dt: float) -> None:
        """u ← u + u × (ω − b + noise) dt."""
        noise, random, shape = self.noise, self._random, self._up.shape
        turns = (rate - self._bias + noise.gyro * random.normal(size=shape)) * dt
        self._up += np.cross(self._up, turns)
        self._up /= np.sqrt(np.einsum("ij,ij->i", self._up, self._up))[:, None]
        self._bias += noise.bias_drift * math.sqrt(dt) * random.normal(size=shape)

    def _weigh(self, reading: Array) -> None:
        """Weights by the likelihood of what each guess should have read; half-spent clouds are drawn anew."""
        far = reading - GRAVITY * self._up
        scaled = np.einsum("ij,ij->i", far, far) / (self.freedom * self.noise.accelerometer**2)
        logarithms = np.log(self._weights) - 0.5 * (self.freedom + 3.0) * np.log1p(scaled)
        weights = np.exp(logarithms - logarithms.max())
        self._weights[:] = weights / weights.sum() + 1e-300
        if 1.0 / float(self._weights @ self._weights) < 0.5 * len(self._weights):
            self._draw_anew()

    def _draw_anew(self) -> None:
        """Systematic resampling, after which guesses are moved apart a little."""
        count = len(self._weights)
        places = (self._random.random() + np.arange(count)) / count
        chosen = np.minimum(np.searchsorted(np.cumsum(self._weights), places), count - 1)
        apart = ROUGHENING * count ** (-1.0 / NUMBERS)
        for cloud in (self._up, self._bias):
            extent = np.ptp(cloud, axis=0)
            cloud[:] = cloud[chosen]
            cloud += apart * extent * self._random.normal(size=cloud.shape)
        self._weights[:] = 1.0 / count

    def _show(self, rate: Array, dt: float) -> None:
        """The cloud's tilt, x y 0 w, after a turn about the vertical, which is the gyro's affair."""
        self.orientation[:] = turned(self.orientation, (rate - self.gyro_bias) * dt)
        half = math.atan2(self.orientation[2], self.orientation[3])
        x, y, _, w = quaternion_of_tilt(self._weights @ self._up).tolist()
        c, s = math.cos(half), math.sin(half)
        self.orientation[:] = (c * x - s * y, c * y + s * x, s * w, c * w)
