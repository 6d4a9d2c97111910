"""ParticleAttitude: attitude from gyro and accelerometer by a cloud of guesses instead of a Kalman filter.

The document's future work (Stabilizer, 7.3), to be compared with AttitudeFilter, which it can stand in for. A guess is
where up is in the body and the gyro's bias. The accelerometer's likelihood is Student's t, so that a body that is
pushed now and then is nothing extraordinary.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadEstimator
from wholebody.estimation.attitude import GRAVITY, WEIGHTLESS, AttitudeNoise
from wholebody.estimation.faults import Faults
from wholebody.model.layout import Array
from wholebody.rotations import matrix_of_quaternion, quaternion_of_tilt, turned

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
