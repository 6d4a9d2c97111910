"""BalanceEstimator: how a robot stands and moves, from IMU, encoders and feet alone, in one record per cycle.

    estimator = BalanceEstimator(Model(robot), spring=AnkleSpring())
    robot.read(state)
    balance = estimator.update(state)
    balance.com_in_world, balance.capture_point, balance.contact

Which sensors there are the state says itself (`measured`). Without a gyro axis the encoders of the standing legs speak
for it; without an accelerometer, roll and pitch of the IMU do, if it has them; without an IMU at all the soles, which
are taken to lie flat. Horizontal forces that are not measured are taken to be those of a pendulum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from wholebody import _kernels
from wholebody.errors import BadEstimator, UnknownName, WrongRecord
from wholebody.estimation import sensor_faults as flags
from wholebody.estimation.attitude import GRAVITY, WEIGHTLESS
from wholebody.estimation.contacts import ContactDetector, ContactSettings, Feet
from wholebody.estimation.sensor_faults import Faults, FrozenSensors, FrozenSettings
from wholebody.estimation.support import AnkleSpring, SupportFilter, SupportNoise, columns_of
from wholebody.messages import Dtype, Floats, ForceTorques, Record, State, labels, numbers_of, offset, packed
from wholebody.model.layout import Array, Integers, read_only
from wholebody.model.model import Model
from wholebody.model.snapshot import Buffer
from wholebody.rotations import matrix_of_quaternion, quaternion_of_tilt

LONGEST_GAP = 0.2
"""s: after a longer silence the estimate begins anew, but for the gyro's bias."""


class Balance(NamedTuple):
    """How the robot stands and moves, by its sensors alone; filled in anew each cycle, so copy what is to be kept.

    The world's origin was between the soles at the start, its x axis where the IMU looked, its z axis up. Yaw and place
    are by odometry and drift slowly. Feet are in the order of `BalanceEstimator.feet`.
    """

    orientation: Array  # of the base: quaternion x y z w
    angular_velocity: Array  # of the base, in its own axes, rad/s
    base_in_world: Array
    base_velocity: Array  # linear, in the axes of the base, m/s
    com_in_world: Array
    com_velocity: Array  # in world
    capture_point: Array  # c + ċ / √(g / height), at the height of the centre of pressure: also called DCM
    cop_in_world: Array  # centre of pressure of all feet (ZMP); the last one, while nothing bears the robot
    contact: npt.NDArray[np.bool_]  # per foot
    probability: Array  # per foot: of contact
    wrench_in_sole: Array  # f × 6: force and torque of the ground at the middle of the sole, in its axes
    cop_in_sole: Array  # f × 2: zero if the foot is in the air
    sole_to_world: Array  # f × 4 × 4
    flexion: Array  # f × 2: roll and pitch of the ankle's spring, rad
    flexion_rate: Array  # f × 2

    @property
    def lean(self) -> Array:
        """Where the upright axis of the base points, x and y in world: the sines of its tilt."""
        x, y, z, w = self.orientation.tolist()
        return np.array([2 * (x * z + w * y), 2 * (y * z - w * x)])

    @property
    def tilt(self) -> float:
        """Of the base against the vertical, rad."""
        x, y, _, _ = self.orientation.tolist()
        return 2.0 * math.asin(min(1.0, math.hypot(x, y)))

    @property
    def turning(self) -> Array:
        """The angular velocity of the base in world, rad/s."""
        return np.asarray(matrix_of_quaternion(self.orientation) @ self.angular_velocity)


class BalanceMemory(Record):
    """BalanceMemory of estimation.h."""

    least: float
    gyro_deviation: float
    accelerometer_deviation: float
    unwatched: float
    found_frozen: float
    place: Annotated[Floats, 3]


class Odometry(NamedTuple):
    """FootOdometry of estimation.h: where feet stand and lean, one row each."""

    anchor: Annotated[Floats, 3]
    stands: Annotated[Floats, ()]
    lean: Annotated[Floats, 2]


class Readings:
    """A state, and its fields as arrays for kernels."""

    def __init__(self, model: Model, layout: Dtype) -> None:
        self.layout = self._accepted = layout
        memory = np.zeros(1, State.of(layout))
        self._state: State = memory[0]
        self.bytes = memory.view(np.uint8)
        self.joints = _columns(model, layout)
        self.motion: Array = floats_of(memory, "imu", 10)[0] if self._state.imu else np.zeros(10)
        """Quaternion, angular velocity and acceleration of the IMU."""
        self.places = _places(layout)

    def take(self, state: State) -> None:
        """Copy a state of the same layout."""
        if state.dtype is not self._accepted:
            if state.dtype != self.layout or labels(state.dtype) != labels(self.layout):
                raise WrongRecord("this state is of another robot, or another kind, than the estimator was made for")
            self._accepted = state.dtype
        self.bytes[:] = np.frombuffer(state, np.uint8)

    @property
    def time(self) -> float:
        """When it was measured."""
        return self._state.time


def floats_of(memory: npt.NDArray[Any], name: str, size: int) -> Array:
    """The first numbers of each record of a field, as rows."""
    field = memory[name]
    dtype = field.dtype
    rows = field.reshape(-1, 1).view(np.uint8).reshape(-1, dtype.itemsize)
    numbers: Array = rows[:, : 8 * size].view(np.float64)
    return numbers


def _columns(model: Model, layout: Dtype) -> Integers:
    """Where each joint of the model stands in a state."""
    names = labels(layout)
    for name in model.joint_names:
        if name not in names:
            raise UnknownName("joint of the state", name, names)
    return np.array([names.index(name) for name in model.joint_names], np.int64)


def _places(layout: Dtype) -> Integers:
    """Where the kernel finds fields in a state, in bytes, in the order of `StateLayout`; no IMU is at −1."""
    joints = (offset(layout, name) for name in ("position", "velocity", "reference", "measured"))
    imu, wrench = offset(layout, "imu") if "imu" in (layout.names or ()) else -1, offset(layout, "force_torque")
    imu_measured = offset(layout, "imu", "measured") - imu if imu >= 0 else 0
    wrench_measured = offset(layout, "force_torque", "measured") - wrench
    return np.array([*joints, imu, imu_measured, wrench, ForceTorques.record.itemsize, wrench_measured], np.int64)


class BalanceEstimator:
    """Balance, cycle by cycle. Bad readings are counted in `faults`, and the estimate goes on without them."""

    def __init__(
        self,
        model: Model,
        layout: Dtype | None = None,
        *,
        spring: AnkleSpring | None = None,
        noise: SupportNoise | None = None,
        contacts: ContactSettings | None = None,
        frozen: FrozenSettings | None = None,
        feet: Sequence[str] | None = None,
    ) -> None:
        """`layout` is that of the states, if the robot has more joints than the model; `feet` names its soles."""
        if not model.floating:
            raise BadEstimator(f"'{model.robot.name}' is bolted to the world: it has no balance to estimate")
        self.model, self.feet = model, Feet.of(model, feet)
        self.faults = Faults()
        self.filter = SupportFilter(len(self.feet), spring, noise)
        settings = ContactSettings() if contacts is None else contacts
        edges = self.feet.edges(settings.within)
        self.contacts = ContactDetector(len(self.feet), model.total_mass * GRAVITY, settings, edges)
        self.frozen = FrozenSensors(self.feet.names, model.joint_names, model.total_mass * GRAVITY, frozen)
        self._readings = Readings(model, model.robot.state_dtype() if layout is None else layout)
        self._snapshot = Buffer(model.tree, model.integers)  # with the base at the origin, unturned
        self._snapshot.storage[: model.nq] = model.neutral()
        self._written, storage, contact = _new_balance(len(self.feet))
        self.balance = Balance(*(read_only(each) for each in self._written))
        odometry, memory = np.zeros(len(self.feet), packed(Odometry)), self._new_memory()
        self._odometry = columns_of(Odometry, odometry)
        imus = model.robot.sensors_of("imu")
        handle = _kernels.estimation_balance(
            self._readings.bytes, self._readings.places, self._readings.joints, self.feet.places,
            self.feet.geometry, numbers_of(odometry), numbers_of(memory), storage, contact,
            model.sensor(imus[0].name) if imus else model.frame(model.robot.root),
        )  # fmt: skip
        self._parts = (
            *(handle, model.tree, self._snapshot.handle),
            *(self.filter.handle, self.contacts.handle, self.frozen.handle),
        )
        self._time, self._started = math.nan, False

    def start(self) -> None:
        """Forget everything; the next state begins anew."""
        self._started = False

    def update(self, state: State) -> Balance:
        """Take a state; the same one again changes nothing, one from before is refused and counted."""
        readings = self._readings
        readings.take(state)
        time = readings.time
        dt = time - self._time if self._started else 0.0
        if not math.isfinite(time) or dt < 0.0:
            self.faults.bad_time += 1
            self.faults.last = "the clock"
            return self.balance
        if self._started and dt == 0.0:
            return self.balance
        if dt > LONGEST_GAP:
            self.faults.gap += 1
            self._started, dt = False, 0.0
        self._time = time
        if self._started:
            wrong = _kernels.estimation_cycle(*self._parts, dt)
        else:
            wrong = _kernels.estimation_sense(*self._parts)
        if wrong:
            self._count(wrong)
        if not self._started:
            self._begin()
            _kernels.estimation_show(*self._parts)
        return self.balance

    def fill_base(self, state: State) -> None:
        """Write pose and velocity of the base into a state, for whoever reads it there, as a whole-body servo does."""
        base, balance = state.base, self.balance
        base.position[:], base.orientation[:] = balance.base_in_world, balance.orientation
        base.linear_velocity[:], base.angular_velocity[:] = balance.base_velocity, balance.angular_velocity
        base.known = True

    @property
    def time(self) -> float:
        """When the last state was measured."""
        return self._time

    # --- one cycle ---------------------------------------------------------------------------------

    def _new_memory(self) -> npt.NDArray[np.void]:
        numbers: npt.NDArray[np.void] = np.zeros(1, BalanceMemory.of(packed(BalanceMemory)))
        noise = self.filter.noise
        memory: BalanceMemory = numbers[0]
        memory.least = 0.5 * self.contacts.settings.leaves * self.model.total_mass * GRAVITY
        memory.gyro_deviation, memory.accelerometer_deviation = noise.gyro, noise.accelerometer
        self._place = memory.place
        return numbers

    def _count(self, wrong: int) -> None:
        """Count what was wrong with a state; `last` is what was found last."""
        faults = self.faults
        if wrong & (flags.ENCODER_FAULT | flags.FORCE_FAULT):
            faults.not_finite += 1
            encoder = wrong & flags.ENCODER_FAULT
            faults.last = "an encoder" if encoder else "a force-torque sensor of the feet"
        if wrong & flags.STATE_FAULT:
            self.model.at(self._snapshot.shown.q, self._snapshot.shown.v)  # says what it refuses
        if wrong & flags.FROZEN_FAULT:
            faults.frozen += 1
            faults.last = self.frozen.first
        faults.not_finite += bool(wrong & flags.NOT_FINITE)
        faults.silent += bool(wrong & flags.SILENT)
        if wrong & (flags.NOT_FINITE | flags.SILENT):
            faults.last = "the IMU" if wrong & flags.NOT_FINITE else "the accelerometer"

    def _begin(self) -> None:
        """Up is where the loaded soles say; if none is, the accelerometer, unless that reads much else than gravity.

        The world's origin is between the soles.
        """
        legs, felt = self.filter.legs, self._readings.motion[7:10]
        self.contacts.start(self._written.wrench_in_sole)
        legs.contact[:], legs.firm[:] = self.contacts.contact, self.contacts.firm
        hangs = not legs.contact.any() and abs(np.linalg.norm(felt) - GRAVITY) < 0.5 * GRAVITY
        loaded = legs.contact > 0 if legs.contact.any() else np.ones(len(legs.contact), np.bool_)
        up = felt if hangs else legs.E[loaded, :, 2].sum(0)
        orientation, bias = np.array([0.0, 0.0, 0.0, 1.0]), self.filter.gyro_bias.copy()
        if np.isfinite(up).all() and np.linalg.norm(up) > WEIGHTLESS:
            orientation = quaternion_of_tilt(up)
        self.filter.start(orientation)
        self.filter.gyro_bias[:] = bias
        R = matrix_of_quaternion(orientation)
        ankles = legs.p @ R.T
        soles = ankles + np.einsum("ij,fjk,fk->fi", R, legs.E, self.feet.sole_from_ankle)
        place = self._place
        place[:2], place[2] = -soles[:, :2].mean(0), -soles[:, 2].min()
        odometry = self._odometry
        odometry.anchor[:], odometry.stands[:], odometry.lean[:] = place + ankles, 0.0, 0.0
        self._written.cop_in_world[:] = 0.0
        self._started = True


def _new_balance(feet: int) -> tuple[Balance, Array, npt.NDArray[np.bool_]]:
    """A balance, and the memory it lies in: numbers in the order of the fields, and contacts."""
    shapes = {
        "orientation": (4,), "angular_velocity": (3,), "base_in_world": (3,), "base_velocity": (3,),
        "com_in_world": (3,), "com_velocity": (3,), "capture_point": (3,), "cop_in_world": (3,),
        "probability": (feet,), "wrench_in_sole": (feet, 6), "cop_in_sole": (feet, 2), "sole_to_world": (feet, 4, 4),
        "flexion": (feet, 2), "flexion_rate": (feet, 2),
    }  # fmt: skip
    ends = np.cumsum([math.prod(shape) for shape in shapes.values()])
    storage, contact = np.zeros(ends[-1]), np.zeros(feet, np.bool_)
    parts = np.split(storage, ends[:-1])
    arrays = {name: part.reshape(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}
    balance = Balance(**arrays, contact=contact)
    balance.orientation[3], balance.sole_to_world[:] = 1.0, np.eye(4)
    return balance, storage, contact
