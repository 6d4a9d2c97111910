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

import numpy as np

from wholebody.errors import BadEstimator
from wholebody.estimation import balance_kernels, senses
from wholebody.estimation.balance_kernels import GRAVITY, Balance, Odometry
from wholebody.estimation.contacts import ContactDetector, ContactSettings
from wholebody.estimation.faults import Faults
from wholebody.estimation.feet import Feet
from wholebody.estimation.frozen import ACCELEROMETER, GYRO, FrozenSensors, FrozenSettings
from wholebody.estimation.readings import Readings
from wholebody.estimation.rotations import matrix_of, quaternion_of_tilt
from wholebody.estimation.senses import NOT_FINITE, SILENT, Motion
from wholebody.estimation.support import AnkleSpring, SupportFilter, SupportNoise
from wholebody.hardware import Record
from wholebody.messages import Dtype
from wholebody.model.model import Model

WATCH = 0.0125
"""s between two looks for frozen sensors: what freezes does so for longer."""
LONGEST_GAP = 0.2
"""s: after a longer silence the estimate begins anew, but for the gyro's bias."""


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
        self._unwatched, self._found_frozen = 0.0, ""
        self.frozen = FrozenSensors(self.feet.names, model.joint_names, model.total_mass * GRAVITY, frozen)
        self._readings = Readings(model, model.robot.state_dtype() if layout is None else layout, self.feet)
        self._q, self._v = model.neutral(), np.zeros(model.nv)
        self._q[:7] = (0, 0, 0, 0, 0, 0, 1)
        self._written = _new_balance(len(self.feet))
        self.balance = Balance(*(_read_only(each) for each in self._written))
        imus = model.robot.sensors_of("imu")
        self._imu = model.sensor(imus[0].name) if imus else model.frame(model.robot.root)
        self._odometry = Odometry(
            place=np.zeros(3),
            anchors=np.zeros((len(self.feet), 3)),
            stands=np.zeros(len(self.feet)),
            frames=np.array([model.frame(model.robot.root), self._imu]),
            sole_from_ankle=self.feet.sole_from_ankle,
            lean=np.zeros((len(self.feet), 2)),
        )
        self._motion = Motion(np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(1))
        self._noise = np.array([self.filter.noise.gyro, self.filter.noise.accelerometer])
        self._turns, self._R = np.zeros((len(self.feet), 3)), np.zeros((6, 3))
        self._least = 0.5 * self.contacts.settings.leaves * model.total_mass * GRAVITY
        self._time, self._started = math.nan, False
        self._compile()

    def start(self) -> None:
        """Forget everything; the next state begins anew."""
        self._started = False

    def update(self, state: Record) -> Balance:
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
        self._sense(dt)
        if not self._started:
            self._begin()
        else:
            self._advance(dt)
        self._show(dt)
        return self.balance

    def fill_base(self, state: Record) -> None:
        """Write pose and velocity of the base into a state, for whoever reads it there, as a whole-body servo does."""
        base, balance = state["base"], self.balance
        base["position"], base["orientation"] = balance.base_in_world, balance.orientation
        base["linear_velocity"], base["angular_velocity"] = balance.base_velocity, balance.angular_velocity
        base["known"] = True

    @property
    def time(self) -> float:
        """When the last state was measured."""
        return self._time

    # --- one cycle ---------------------------------------------------------------------------------

    def _sense(self, dt: float) -> None:
        readings, feet = self._readings, self.feet
        encoders = senses.read_joints(
            readings.position, readings.velocity, readings.measured, readings.joints, dt, self._q, self._v
        )
        forces = senses.read_wrenches(
            readings.wrenches(), readings.wrench_flags(), feet.at_sole, feet.at_ankle, self._odometry.lean,
            self._written.wrench_in_sole, self.filter.legs.torque,
        )  # fmt: skip
        self._snapshot = self.model.at(self._q, self._v)
        senses.look_at_legs(
            self.model.integers,
            self._snapshot.storage,
            self._imu,
            feet.ankles,
            feet.soles,
            self.filter.legs,
            self._turns,
        )
        if encoders or forces:
            self.faults.not_finite += 1
            self.faults.last = "an encoder" if encoders else "a force-torque sensor of the feet"
        self._unwatched += dt
        if self._unwatched >= WATCH:
            self._found_frozen = self._look_for_frozen(self._unwatched)
            self._unwatched = 0.0
        if self._found_frozen:
            self.faults.frozen += 1
            self.faults.last = self._found_frozen

    def _look_for_frozen(self, dt: float) -> str:
        """The first sensor that is frozen, by name, or nothing."""
        readings = self._readings
        borne = float(self._written.wrench_in_sole[:, 2].sum())
        return self.frozen.update(readings.motion, readings.wrenches(), self._q[7:], readings.references(), borne, dt)

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
        if np.isfinite(up).all() and np.linalg.norm(up) > senses.WEIGHTLESS:
            quaternion_of_tilt(up, orientation)
        self.filter.start(orientation)
        self.filter.gyro_bias[:] = bias
        odometry, soles = self._odometry, self._written.sole_to_world
        odometry.place[:], odometry.stands[:], odometry.lean[:] = 0.0, 0.0, 0.0
        balance_kernels.place_soles(self.filter.filter, legs, odometry, soles, self._R[:3])
        odometry.place[:] = -soles[:, :3, 3].mean(0)
        odometry.place[2] = -soles[:, 2, 3].min()
        matrix_of(orientation, self._R[:3])
        for foot in range(len(self.feet)):
            balance_kernels.anchor_foot(odometry, legs.p[foot], foot, self._R[:3])
        self._written.cop_in_world[:] = 0.0
        self._started = True

    def _advance(self, dt: float) -> None:
        filter, motion = self.filter, self._motion
        self.contacts.update(self._written.wrench_in_sole, dt)
        filter.legs.contact[:], filter.legs.firm[:] = self.contacts.contact, self.contacts.firm
        wrong = senses.read_motion(
            self._readings.motion, self._readings.motion_flags() & ~self._frozen_motion, filter.orientation,
            filter.legs.contact, self._turns, self._noise, motion, self._R[:3],
        )  # fmt: skip
        if wrong & NOT_FINITE:
            self.faults.not_finite += 1
        if wrong & SILENT:
            self.faults.silent += 1
        if wrong:
            self.faults.last = "the accelerometer" if wrong == SILENT else "the IMU"
        filter.update(
            motion.gyro, motion.accelerometer, dt, gyro_deviation=motion.gyro_deviation,
            accelerometer_deviation=float(motion.deviation[0]), up=motion.up,
        )  # fmt: skip

    @property
    def _frozen_motion(self) -> int:
        """What of the IMU is frozen, as flags: the estimate goes on without it."""
        frozen = self.frozen.frozen
        return (senses.GYRO if frozen[GYRO] else 0) | (senses.ACCELEROMETER if frozen[ACCELEROMETER] else 0)

    def _show(self, dt: float) -> None:
        filter = self.filter
        balance_kernels.show(
            self.model.integers, self._snapshot.storage, filter.filter, filter.legs, self._motion.gyro,
            self.contacts.probability, self._least, self._odometry, dt, self._written, self._R,
        )  # fmt: skip

    def _compile(self) -> None:
        """Run every kernel once: if it must be compiled, that is done now and never in a loop."""
        still = np.zeros(1, self._readings.layout)[0]
        for each in (0.0, 1e-3):
            still["time"] = each
            self.update(still)
        self.start()
        self.faults = Faults()


def _new_balance(feet: int) -> Balance:
    return Balance(
        orientation=np.array([0.0, 0.0, 0.0, 1.0]),
        angular_velocity=np.zeros(3),
        base_in_world=np.zeros(3),
        base_velocity=np.zeros(3),
        com_in_world=np.zeros(3),
        com_velocity=np.zeros(3),
        capture_point=np.zeros(3),
        cop_in_world=np.zeros(3),
        contact=np.zeros(feet, np.bool_),
        probability=np.zeros(feet),
        wrench_in_sole=np.zeros((feet, 6)),
        cop_in_sole=np.zeros((feet, 2)),
        sole_to_world=np.tile(np.eye(4), (feet, 1, 1)),
        flexion=np.zeros((feet, 2)),
        flexion_rate=np.zeros((feet, 2)),
    )


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view
