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
from typing import Any

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadEstimator
from wholebody.estimation import attitude_kernels as kernels
from wholebody.estimation.faults import Faults
from wholebody.estimation.rotations import quaternion_of_tilt
from wholebody.model.layout import Array

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


class AttitudeFilter:
    """Attitude and gyro bias, cycle by cycle; bad input is counted in `faults`, and the estimate holds."""

    def __init__(self, noise: AttitudeNoise | None = None) -> None:
        self.noise = AttitudeNoise() if noise is None else noise
        self.faults = Faults()
        self._x = np.zeros(7)
        self._P, self._F = np.zeros((6, 6)), np.eye(6)
        self._memory = np.zeros((8, 6))
        self._deviations = np.array([self.noise.gyro, self.noise.bias_drift])
        self._variance = self.noise.accelerometer**2
        self._gyro, self._up, self._angular_velocity = np.zeros(3), np.zeros(3), np.zeros(3)
        self.innovation = 0.0
        """The normalised innovation squared of the last accelerometer reading: 3 on average, if the noise is right."""
        self.start()
        kernels.predict(self._x, self._P, self._gyro, 0.0, self._deviations, self._F, self._memory[0])
        kernels.correct(self._x, self._P, np.ones(3), GRAVITY, 1.0, LIKELY, self._memory)  # compiles now, not in a loop
        self.start()

    def start(self, orientation: npt.ArrayLike | None = None) -> None:
        """Forget everything; without an orientation (x y z w) the first accelerometer reading says where up is."""
        self._x[:] = (0, 0, 0, 1, 0, 0, 0)
        self._P[:] = 0.0
        np.fill_diagonal(self._P[:3, :3], self.noise.attitude_at_start**2)
        np.fill_diagonal(self._P[3:, 3:], self.noise.bias_at_start**2)
        self._started = orientation is not None
        if orientation is not None:
            self._x[:4] = _unit(orientation)

    def update(self, gyro: npt.ArrayLike, accelerometer: npt.ArrayLike, dt: float) -> None:
        """Take one reading, dt seconds after the last: rad/s and m/s², in the body's axes."""
        self._gyro[:], self._up[:] = gyro, accelerometer
        if not 0.0 < dt < math.inf:
            self.faults.bad_time += 1
            return
        turns, falls = math.isfinite(self._gyro.sum()), math.isfinite(self._up.sum())
        if not (turns and falls):
            self.faults.not_finite += 1
        sees = falls and float(self._up @ self._up) > WEIGHTLESS**2
        if falls and not sees:
            self.faults.silent += 1
        if not self._started and sees:
            quaternion_of_tilt(self._up, self._x[:4])
            self._started = True
        if turns:
            self._angular_velocity[:] = self._gyro - self._x[4:]
            kernels.predict(self._x, self._P, self._gyro, dt, self._deviations, self._F, self._memory[0])
        if sees:
            self.innovation = kernels.correct(self._x, self._P, self._up, GRAVITY, self._variance, LIKELY, self._memory)

    @property
    def orientation(self) -> Array:
        """The quaternion x y z w, body to world, of unit length."""
        return _shown(self._x[:4])

    @property
    def gyro_bias(self) -> Array:
        """What the gyro reads at rest, rad/s, in the body's axes."""
        return _shown(self._x[4:])

    @property
    def angular_velocity(self) -> Array:
        """The gyro's last reading less its bias, rad/s, in the body's axes."""
        return _shown(self._angular_velocity)

    @property
    def covariance(self) -> Array:
        """Of attitude error (rotation vector in the body's axes) and bias, 6 × 6."""
        return _shown(self._P)


def _unit(given: npt.ArrayLike) -> Array:
    values = np.array(given, np.float64)
    if values.shape != (4,) or not np.isfinite(values).all() or np.linalg.norm(values) < 1e-6:
        raise BadEstimator(f"{given!r} is no orientation; give a quaternion x y z w")
    return np.asarray(values / np.linalg.norm(values))


def _shown(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view
