"""Sensors: from MuJoCo's data to what perfect sensors measure, and on to resolution, noise, bias and delay."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from wholebody.errors import BadSimulation
from wholebody.messages import Dtype, Measured, MeasuredMotion, MeasuredWrench, State, Status, offset
from wholebody.robots.robot import Array, Robot, Vector
from wholebody.simulation.ground import LIMIT_TOLERANCE
from wholebody.simulation.world import World

READY = int(Status.DRIVER_ON | Status.CONTROL_ON | Status.HOMED)
SATURATED, BELOW, ABOVE = int(Status.SATURATED), int(Status.POSITION_BELOW_MINIMUM), int(Status.POSITION_ABOVE_MAXIMUM)
_FORCE_FIRST = np.array([3, 4, 5, 0, 1, 2])


class Truth:
    """The state as perfect sensors have it: one record, and its fields as arrays to write into.

    Numpy's cost is per call, so what lies side by side in record and data is copied as one.
    """

    def __init__(self, robot: Robot, temperature: float) -> None:
        layout = robot.state_dtype()
        self._array: np.ndarray[Any, Any] = np.zeros(1, layout)
        self.record: State = self._array[0]
        self.position, self.effort = self.record.position, self.record.effort
        self._velocity, self._acceleration = self.record.velocity, self.record.acceleration
        self._limited: Array = self._per_joint(layout)[::3][:2]  # position and effort
        limits = np.array([(j.lower, -j.effort, j.upper, j.effort) for j in robot.moving]).T
        self._least, self._most = limits[:2], limits[2:]
        self._least[0] -= LIMIT_TOLERANCE
        self._most[0] += LIMIT_TOLERANCE
        self.reference, self._status = self.record.reference, self.record.status
        self._status[:] = READY
        self.record.temperature[:], self.record.base.known = temperature, True
        self.record.measured[:] = ~Measured(0)
        self.record.imu.measured[:], self.record.force_torque.measured[:] = ~MeasuredMotion(0), ~MeasuredWrench(0)
        names = layout.names or ()
        self._imus = self._floats("imu", 10) if "imu" in names else None
        self._wrenches = self._floats("force_torque", 6) if "force_torque" in names else None
        self._base = self._floats("base", 13)[0]

    def _per_joint(self, layout: Dtype) -> Array:
        """Position, velocity, acceleration and effort as rows: they lie one behind the other."""
        rows, begin = len(self.position), offset(layout, "position")
        raw = self._array.view(np.uint8)[begin : begin + 4 * 8 * rows]
        numbers: Array = raw.view(np.float64).reshape(4, rows)
        return numbers

    def _floats(self, field: str, size: int) -> Array:
        """A field's records as rows of numbers; what follows those in a record is left out."""
        dtype = self._array[field].dtype
        rows = self._array[field].reshape(-1, 1).view(np.uint8).reshape(-1, dtype.itemsize)
        numbers: Array = rows[:, : 8 * size].view(np.float64)
        return numbers

    def observe(self, world: World, wrenches: Array) -> None:
        """Fill in joints, IMUs, base, and the force-torque sensors, whose wrenches come with the torque first."""
        data, at = world.data, world.at
        data.qpos.take(at.position, out=self.position, mode="clip")
        data.qvel.take(at.velocity, out=self._velocity, mode="clip")
        data.qacc.take(at.velocity, out=self._acceleration, mode="clip")
        data.qfrc_actuator.take(at.velocity, out=self.effort, mode="clip")
        if self._imus is not None:
            data.sensordata.take(at.imus, out=self._imus, mode="clip")
        if self._wrenches is not None:
            wrenches.take(_FORCE_FIRST, axis=1, out=self._wrenches, mode="clip")
        if at.base_velocity is None:
            self._base[:3], self._base[3:7] = data.xpos[at.root], data.xquat[at.root][[1, 2, 3, 0]]
        else:
            self._base[:7] = data.qpos[at.base_pose]
            # MuJoCo's velocity is linear in the world's axes, angular in the base's; ours is all in the base's.
            velocity = data.qvel[at.base_velocity : at.base_velocity + 6]
            self._base[7:10] = velocity[:3] @ data.xmat[at.root].reshape(3, 3)
            self._base[10:] = velocity[3:]

    def flag(self) -> None:
        """Set the flags of joints that are beyond their range, or whose motors give all they can."""
        self._status[:] = READY
        outside = (self._limited <= self._least) | (self._limited >= self._most)
        if outside.any():
            beyond, saturated = outside
            above = self.position >= self._most[0]
            self._status[beyond & above] += ABOVE
            self._status[beyond & ~above] += BELOW
            self._status[saturated] += SATURATED


def wrenches_in_sensors(world: World, into: Array) -> None:
    """Torque and force that the world exerts on what is beyond each sensor, at the sensor's origin and in its axes.

    It is what a sensor reads from which the weight beyond it has been taken away; carried loads count as the world.
    """
    data, at = world.data, world.at
    sensors = at.force_sensors
    total = sensors.beyond @ data.cfrc_ext  # torque, then force, at the centre of mass of the robot
    if sensors.any_load:
        total -= sensors.loads @ data.cfrc_int  # what a load does to its link is the opposite of what that does to it
    com = data.subtree_com[at.root]
    for number, site in enumerate(sensors.sites):
        move_wrench(data, total[number], com, site, into[number])


def vertical_forces(world: World) -> Array:
    """What the world pushes up with on all that is beyond each sensor, N; carried loads count as the robot."""
    forces: Array = world.at.force_sensors.beyond @ world.data.cfrc_ext[:, 5]
    return forces


def move_wrench(data: Any, torque_and_force: Array, point_in_world: Array, site: int, into: Array) -> None:
    """From a point and the world's axes to a site and its axes; torque first, as MuJoCo has it."""
    mujoco.mju_transformSpatial(into, torque_and_force, 1, data.site_xpos[site], point_in_world, data.site_xmat[site])


class Accelerometers:
    """The specific force of a period T, in the axes that a sensor has on average meanwhile.

    f = R̄ᵀ ((v₁ − v₀) / T − g),   R̄ = (R₀ + R₁) / 2

    MuJoCo's own is that of the last physics step alone. Stiff servos are told something new at the beginning of a
    period, so that at its end they always brake: a body at constant speed seemed to decelerate by 1 m/s² all the time.
    """

    def __init__(self, period: float) -> None:
        self._period = period
        self._velocity = np.zeros(6)
        self._before: list[tuple[Array, Array]] = []

    def start(self, world: World) -> None:
        """Remember how sensors move at the beginning of the first period; the next begin where the last ends."""
        self._before = [self._motion(world, site) for site, _ in world.at.accelerometers]

    def end(self, world: World) -> None:
        """Put what they measured of the period into the sensors' data."""
        gravity = world.model.opt.gravity
        for number, (site, address) in enumerate(world.at.accelerometers):
            v, R = self._before[number]
            self._before[number] = velocity, turned = self._motion(world, site)
            force = (velocity - v) / self._period - gravity
            world.data.sensordata[address : address + 3] = force @ (0.5 * (R + turned)).reshape(3, 3)

    def _motion(self, world: World, site: int) -> tuple[Array, Array]:
        """Velocity of a site in world, and its axes, row by row."""
        data: Any = world.data
        mujoco.mj_objectVelocity(world.model, data, mujoco.mjtObj.mjOBJ_SITE, site, self._velocity, 0)
        return self._velocity[3:].copy(), data.site_xmat[site].copy()


ZERO: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class SensorModel:
    """How good the sensors are; perfect by default.

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


Block = tuple[npt.NDArray[np.void], Dtype, int]
"""Bytes of a record as one value without parts, their type, and where they begin."""
JOINT_FIELDS = ("position", "velocity", "acceleration", "effort", "current")
PARTS = {
    "imu": ("orientation", "angular_velocity", "linear_acceleration"),
    "force_torque": ("force", "torque"),
}


class Measurement:
    """What was measured in one period: `numbers` by field, of sensors as rows."""

    def __init__(self, layout: Dtype) -> None:
        memory: np.ndarray[Any, Any] = np.zeros(1, State.of(layout))
        names = layout.names or ()
        self.record: State = memory[0]
        self._bytes = memory.view(np.uint8)
        self.numbers: dict[str, Array] = {field: memory[field][0] for field in JOINT_FIELDS}
        for sensor, parts in PARTS.items():
            if sensor in names:
                self.numbers.update({part: memory[sensor][part][0] for part in parts})
        self._blocks = {each: self._block(layout, (each,)) for each in (*PARTS, "base") if each in names}
        self._blocks["joints"] = self._block(layout, JOINT_FIELDS)
        self._blocks["all"] = self._raw(0, layout.itemsize)

    def _block(self, layout: Dtype, names: tuple[str, ...]) -> Block:
        """Fields that lie one behind the other."""
        places = [layout.fields[name] for name in names] if layout.fields else []
        begin, size = int(places[0][1]), sum(kind.itemsize for kind, *_ in places)
        assert places[-1][1] + places[-1][0].itemsize == begin + size
        return self._raw(begin, size)

    def _raw(self, begin: int, size: int) -> Block:
        raw: Dtype = np.dtype((np.void, size))
        return self._bytes[begin : begin + size].view(raw).reshape(()), raw, begin

    def take(self, state: State) -> None:
        """Copy a state of the same layout."""
        self._bytes[:] = np.frombuffer(state, np.uint8)

    def give(self, state: State, block: str = "all") -> None:
        """Copy into a state of the same layout: all, what joints say, or the sensors of a kind, if there are any."""
        if block in self._blocks:
            record: Any = state
            record.setfield(*self._blocks[block])


class Sensors:
    """Measures the truth once per control period and hands out what arrives: the newest less its delay."""

    def __init__(self, model: SensorModel, layout: Dtype, period: float, seed: int) -> None:
        self.model = model
        self._perfect = model == SensorModel(temperature=model.temperature)
        self._period, self._seed = period, seed
        self._measured = [Measurement(layout) for _ in range(model.longest_delay + 1)]
        self._newest = 0
        self._nowhere = Measurement(layout)
        self._nowhere.record.base.orientation[:] = (0.0, 0.0, 0.0, 1.0)
        self._noise = Noise(model, self._nowhere.numbers)
        self._random = np.random.default_rng(seed)

    def restart(self, truth: State) -> None:
        """Begin a run: draw the same noise again, and let what is delayed be as it is at the start."""
        self._random = np.random.default_rng(self._seed)
        self._newest = 0
        self._measure(truth, self._measured[0], None)
        for other in self._measured[1:]:
            other.take(self._measured[0].record)

    def measure(self, truth: State) -> None:
        """Measure once more."""
        if self._perfect:
            self._measured[0].take(truth)
            return
        before = self._measured[self._newest]
        self._newest = (self._newest + 1) % len(self._measured)
        self._measure(truth, self._measured[self._newest], before if self.model.velocity_from_positions else None)

    def deliver(self, state: State) -> None:
        """Fill in what has arrived by now."""
        self._measured[self._newest].give(state)
        if len(self._measured) > 1:
            self._ago(self.model.encoder_delay).give(state, "joints")
            self._ago(self.model.imu_delay).give(state, "imu")
            self._ago(self.model.force_delay).give(state, "force_torque")

    def _ago(self, periods: int) -> Measurement:
        return self._measured[(self._newest - periods) % len(self._measured)]

    def _measure(self, truth: State, into: Measurement, before: Measurement | None) -> None:
        """Measure the truth; `before` is the last measurement, if velocity is the difference of positions.

        It may be the very one that is written to, so what is needed of it is taken first.
        """
        model, noise, numbers = self.model, self._noise, into.numbers
        position, velocity = numbers["position"], numbers["velocity"]
        last = None if before is None else (before.numbers["position"].copy(), before.numbers["velocity"].copy())
        into.take(truth)
        noise.draw(self._random)
        noise.add(numbers, "position")
        if model.encoder_resolution > 0:
            position /= model.encoder_resolution
            np.rint(position, out=position)
            position *= model.encoder_resolution
        if last is not None:
            np.divide(position - last[0], self._period, out=velocity)
            np.divide(velocity - last[1], self._period, out=numbers["acceleration"])
        noise.add(numbers, "velocity", "effort")
        if model.torque_constant:
            np.divide(numbers["effort"], model.torque_constant, out=numbers["current"])
        if not model.base_known:
            self._nowhere.give(into.record, "base")
        noise.turn(numbers)
        noise.add(numbers, "angular_velocity", "linear_acceleration", "force", "torque")


class Noise:
    """What is random in one measurement, drawn at once, and what sensors always add to it."""

    def __init__(self, model: SensorModel, numbers: Mapping[str, Array]) -> None:
        deviations = {
            "position": model.encoder_noise,
            "velocity": model.velocity_noise,
            "effort": model.effort_noise,
            "orientation": model.attitude_noise,
            "angular_velocity": model.gyro_noise,
            "linear_acceleration": model.accelerometer_noise,
            "force": model.force_noise,
            "torque": model.torque_noise,
        }
        biases = {
            "angular_velocity": model.gyro_bias,
            "linear_acceleration": model.accelerometer_bias,
            "force": model.force_bias,
            "torque": model.torque_bias,
        }
        noisy = {name: deviation for name, deviation in deviations.items() if deviation > 0 and name in numbers}
        shapes = {name: (len(numbers[name]), 3) if name == "orientation" else numbers[name].shape for name in noisy}
        sizes = {name: math.prod(shape) for name, shape in shapes.items()}
        self._deviations = np.repeat([*noisy.values()], [*sizes.values()]).astype(float)
        self._drawn = np.zeros(len(self._deviations))
        parts = np.split(self._drawn, np.cumsum([*sizes.values()])[:-1].astype(int)) if noisy else []
        self._of = {name: part.reshape(shapes[name]) for name, part in zip(noisy, parts, strict=True)}
        self._biases = {name: np.array(bias) for name, bias in biases.items() if any(bias) and name in numbers}

    def draw(self, random: np.random.Generator) -> None:
        """Once for a measurement."""
        random.standard_normal(out=self._drawn)
        self._drawn *= self._deviations

    def add(self, numbers: Mapping[str, Array], *names: str) -> None:
        """To what was measured so far, as far as it has such numbers."""
        for name in names:
            for added in (self._of, self._biases):
                if name in added:
                    values = numbers[name]
                    values += added[name]

    def turn(self, numbers: Mapping[str, Array]) -> None:
        """Orientations, each about its own axes."""
        if "orientation" in self._of:
            for orientation, rotation in zip(numbers["orientation"], self._of["orientation"], strict=True):
                orientation[:] = _turned(orientation.tolist(), rotation.tolist())


def _turned(orientation: Sequence[float], rotation: Sequence[float]) -> tuple[float, ...]:
    """A quaternion x y z w turned by a small rotation vector, in its own axes."""
    x, y, z, w = orientation
    a, b, c = (0.5 * angle for angle in rotation)
    i, j, k = x + w * a + y * c - z * b, y + w * b + z * a - x * c, z + w * c + x * b - y * a
    real = w - x * a - y * b - z * c
    size = math.hypot(i, j, k, real)
    return i / size, j / size, k / size, real / size
