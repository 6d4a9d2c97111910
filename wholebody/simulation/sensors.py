"""Sensors: from the truth to what a robot measures, with resolution, noise, bias and delay."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from wholebody.errors import BadSimulation
from wholebody.hardware import Record
from wholebody.messages import Dtype
from wholebody.robots.robot import Array, Vector

ZERO: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class SensorModel:
    """How good the sensors are; perfect unless told otherwise.

    Noise is the standard deviation of a normal distribution, drawn anew at every reading; delays count control periods.
    """

    encoder_resolution: float = 0.0  # rad or m; 0: no steps
    encoder_noise: float = 0.0  # rad or m
    encoder_delay: int = 0  # of position, velocity, acceleration and effort
    velocity_from_positions: bool = False  # the difference of two encoder readings, as most boards have it
    velocity_noise: float = 0.0  # rad/s or m/s
    effort_noise: float = 0.0  # N·m or N
    torque_constant: float | None = None  # N·m/A at the joint; unknown: current reads 0
    temperature: float = 25.0  # °C
    attitude_noise: float = 0.0  # rad
    gyro_noise: float = 0.0  # rad/s
    gyro_bias: Vector = ZERO  # rad/s
    accelerometer_noise: float = 0.0  # m/s²
    accelerometer_bias: Vector = ZERO  # m/s²
    imu_delay: int = 0
    force_noise: float = 0.0  # N
    force_bias: Vector = ZERO  # N
    torque_noise: float = 0.0  # N·m
    torque_bias: Vector = ZERO  # N·m
    force_delay: int = 0
    base_known: bool = True  # whether the state says where the base is

    def __post_init__(self) -> None:
        """Refuse what no sensor can have."""
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name.endswith("_delay"):
                if value != int(value) or not 0 <= value <= 1000:
                    raise BadSimulation(f"{each.name} is {value}; give a whole number of control periods, 0 to 1000")
            elif each.name.endswith("_bias"):
                if len(value) != 3 or not all(math.isfinite(part) for part in value):
                    raise BadSimulation(f"{each.name} is {value}; give three finite numbers")
            elif each.name.endswith(("_noise", "_resolution")) and not 0 <= value < math.inf:
                raise BadSimulation(f"{each.name} is {value}; give a number that is not negative")
        if self.torque_constant is not None and not 0 < self.torque_constant < math.inf:
            raise BadSimulation(f"torque_constant is {self.torque_constant}; give a positive number, or None")

    @classmethod
    def realistic(cls) -> SensorModel:
        """What one can expect of a humanoid with harmonic drives, a small inertial unit and strain gauges."""
        return cls(
            encoder_resolution=2e-5,
            encoder_noise=1e-5,
            encoder_delay=1,
            velocity_from_positions=True,
            effort_noise=0.5,
            attitude_noise=1e-3,
            gyro_noise=5e-3,
            gyro_bias=(2e-3, -1e-3, 1e-3),
            accelerometer_noise=0.05,
            accelerometer_bias=(0.03, -0.02, 0.05),
            imu_delay=1,
            force_noise=1.0,
            torque_noise=0.05,
            force_delay=1,
            base_known=False,
        )

    @property
    def longest_delay(self) -> int:
        """The longest of the delays."""
        return max(self.encoder_delay, self.imu_delay, self.force_delay)


JOINT_FIELDS = ("position", "velocity", "acceleration", "effort", "current")


class Sensors:
    """Measures the truth once per control period and hands out what arrives: the newest less its delay."""

    def __init__(self, model: SensorModel, layout: Dtype, period: float, seed: int) -> None:
        self.model = model
        self._perfect = model == SensorModel(temperature=model.temperature)
        self._period, self._seed = period, seed
        self._has = {name: name in (layout.names or ()) for name in ("imu", "force_torque")}
        self._measured = np.zeros(model.longest_delay + 1, layout)
        self._newest = 0
        self._truth: Record = self._measured[0]
        self._random = np.random.default_rng(seed)

    def restart(self, truth: Record) -> None:
        """Begin a run: draw the same noise again, and let what is delayed be as it is at the start."""
        self._truth = truth
        self._random = np.random.default_rng(self._seed)
        self._newest = 0
        self._measure(truth, self._measured[0], None)
        self._measured[1:] = self._measured[0]

    def measure(self, truth: Record) -> None:
        """Measure once more; perfect sensors hand out the truth itself."""
        self._truth = truth
        if self._perfect:
            return
        before = self._measured[self._newest]
        self._newest = (self._newest + 1) % len(self._measured)
        self._measure(truth, self._measured[self._newest], before if self.model.velocity_from_positions else None)

    def deliver(self, state: Record) -> None:
        """Fill in what has arrived by now."""
        _copy(self._truth if self._perfect else self._measured[self._newest], state)
        if len(self._measured) == 1:
            return
        for field in JOINT_FIELDS:
            state[field] = self._ago(self.model.encoder_delay)[field]
        if self._has["imu"]:
            state["imu"] = self._ago(self.model.imu_delay)["imu"]
        if self._has["force_torque"]:
            state["force_torque"] = self._ago(self.model.force_delay)["force_torque"]

    def _ago(self, periods: int) -> Record:
        record: Record = self._measured[(self._newest - periods) % len(self._measured)]
        return record

    def _measure(self, truth: Record, into: Record, before: Record | None) -> None:
        """Measure the truth; `before` is the last measurement, if velocity is the difference of positions.

        It may be the very record that is written to, so what is needed of it is taken first.
        """
        model = self.model
        last = None if before is None else (before["position"].copy(), before["velocity"].copy())
        _copy(truth, into)
        self._add_noise(into["position"], model.encoder_noise)
        if model.encoder_resolution > 0:
            into["position"] = np.round(into["position"] / model.encoder_resolution) * model.encoder_resolution
        if last is not None:
            into["velocity"] = (into["position"] - last[0]) / self._period
            into["acceleration"] = (into["velocity"] - last[1]) / self._period
        self._add_noise(into["velocity"], model.velocity_noise)
        self._add_noise(into["effort"], model.effort_noise)
        into["current"] = into["effort"] / model.torque_constant if model.torque_constant else 0.0
        if not model.base_known:
            _forget(into["base"])
        if self._has["imu"]:
            self._measure_imu(into["imu"])
        if self._has["force_torque"]:
            self._measure_forces(into["force_torque"])

    def _measure_imu(self, imu: Any) -> None:
        model = self.model
        if model.attitude_noise > 0:
            for orientation in imu["orientation"]:
                orientation[:] = _turned(orientation, self._random.normal(0.0, model.attitude_noise, 3))
        self._add_noise(imu["angular_velocity"], model.gyro_noise, model.gyro_bias)
        self._add_noise(imu["linear_acceleration"], model.accelerometer_noise, model.accelerometer_bias)

    def _measure_forces(self, force_torque: Any) -> None:
        model = self.model
        self._add_noise(force_torque["force"], model.force_noise, model.force_bias)
        self._add_noise(force_torque["torque"], model.torque_noise, model.torque_bias)

    def _add_noise(self, values: Array, deviation: float, bias: Vector | None = None) -> None:
        if deviation > 0:
            values += self._random.normal(0.0, deviation, values.shape)
        if bias is not None:
            values += bias


def _copy(source: Record, target: Record) -> None:
    """Copy a record into another of the same layout; field by field it would take ten times as long."""
    target.setfield(source, source.dtype, 0)


def _forget(base: Record) -> None:
    base["position"], base["orientation"] = 0.0, (0.0, 0.0, 0.0, 1.0)
    base["linear_velocity"], base["angular_velocity"], base["known"] = 0.0, 0.0, False


def _turned(orientation: Array, rotation: Array) -> Array:
    """A quaternion x y z w turned by a small rotation vector, in its own axes."""
    x, y, z, w = orientation
    a, b, c = rotation / 2
    product = np.array(
        [x + w * a + y * c - z * b, y + w * b + z * a - x * c, z + w * c + x * b - y * a, w - x * a - y * b - z * c]
    )
    return np.asarray(product / np.linalg.norm(product))
