"""SupportFilter: attitude, velocity and bent ankles, from IMU, encoders and feet (Stabilizer, 4.4).

The document's filter takes the support leg's encoders for measurements and estimates positions, velocities and
accelerations of all its joints and of two passive ones at the ankle, 27 states in all. Encoders are so good that they
can be taken as they are, and a velocity does what accelerations did there: the accelerometer moves it on, the standing
ankle says what it is, and no encoder is differentiated twice. So there are 9 states, and 7 for each foot.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from wholebody import _kernels
from wholebody.errors import BadEstimator
from wholebody.estimation.attitude import GRAVITY, LIKELY, check_deviations
from wholebody.messages import Floats, Record, numbers_of, packed
from wholebody.model.layout import Array


@dataclass(frozen=True)
class AnkleSpring:
    """What is soft between each ankle and its sole, about roll and pitch, as it is known: Hubo's (Hubo-Ach, H)."""

    stiffness: float = 753.0  # N·m/rad
    damping: float = 18.0  # N·m·s/rad

    def __post_init__(self) -> None:
        """Refuse what is no spring."""
        if not (0 < self.stiffness < np.inf and 0 <= self.damping < np.inf):
            raise BadEstimator(
                f"an ankle of {self.stiffness} N·m/rad and {self.damping} N·m·s/rad; "
                "stiffness must be positive, damping not negative"
            )


@dataclass(frozen=True)
class SupportNoise:
    """Standard deviations of each reading, of what feet do that the filter does not know of, and of the start."""

    gyro: float = 5e-3  # rad/s
    bias_drift: float = 1e-5  # rad/s per √s
    accelerometer: float = 1.0  # m/s²: the sensor's own
    vibration: float = 3.0  # m/s²: what shakes a standing robot between two readings, unseen
    inclinometer: float = 0.02  # rad; of IMUs that say where up is
    sole: float = 2e-3  # rad: rocking of a sole on the ground
    ankle: float = 0.01  # m/s: slipping of a foot that lies flat, and what encoders and gyro add to it
    rocking: float = 0.05  # m/s: the ankle of a foot that rocks on an edge
    torque: float = 3.0  # N·m: of the force sensor, and of the spring as known
    free_velocity: float = 5.0  # m/s: without ground
    flexing: float = 10.0  # rad/s²: acceleration of flexion
    creep: float = 5e-3  # rad per √s: ground that gives way under a sole that lies flat
    slip: float = 1e-2  # rad per √s: such a sole that slips round
    level: float = 0.01  # rad: how level the ground is
    heading: float = 1.0  # rad: of a foot that comes down
    flexion: float = 0.01  # rad: of a foot that comes down
    flexion_rate: float = 0.5  # rad/s
    attitude_at_start: float = 0.1  # rad
    bias_at_start: float = 0.02  # rad/s
    velocity_at_start: float = 0.2  # m/s

    def __post_init__(self) -> None:
        """Refuse what is no deviation."""
        check_deviations(self)


class Body(Record):
    """BodyState of estimation.h, about the IMU."""

    orientation: Annotated[Floats, 4]
    gyro_bias: Annotated[Floats, 3]
    velocity: Annotated[Floats, 3]


class Ankles(NamedTuple):
    """FootState of estimation.h: the springs of ankles and the ground under feet, one row each."""

    flexion: Annotated[Floats, 2]
    flexion_rate: Annotated[Floats, 2]
    ground: Annotated[Floats, 4]


class Legs(NamedTuple):
    """Leg of estimation.h: what encoders and force sensors say of each foot, seen from the IMU, one row each."""

    E: Annotated[Floats, (3, 3)]  # unbent sole to IMU
    p: Annotated[Floats, 3]  # the ankle
    p_dot: Annotated[Floats, 3]
    turn: Annotated[Floats, 3]  # angular velocity against the IMU
    torque: Annotated[Floats, 2]  # of the ground about the ankle, in the axes of the sole; NaN if not measured
    contact: Annotated[Floats, ()]  # 0 or 1
    firm: Annotated[Floats, ()]  # 1 if the sole lies flat, 0 if it may rock on an edge
    stood: Annotated[Floats, ()]  # `contact` of the cycle before
    lay_flat: Annotated[Floats, ()]  # `firm` of the cycle before


class Motion(NamedTuple):
    """Motion of estimation.h: what an IMU says, one row each."""

    gyro: Annotated[Floats, 3]
    gyro_deviation: Annotated[Floats, 3]
    accelerometer: Annotated[Floats, 3]
    accelerometer_deviation: Annotated[Floats, ()]
    up: Annotated[Floats, 3]  # zero if it says nothing of it


class SupportMemory(Record):
    """SupportMemory of estimation.h, from one cycle to the next."""

    gyro: Annotated[Floats, 3]
    accelerometer: Annotated[Floats, 3]
    surprise: float
    rows: float


BODY, FOOT, SUPPORT_MEMORY = Body.of(packed(Body)), packed(Ankles), SupportMemory.of(packed(SupportMemory))
BODY_ERROR, FOOT_ERROR = 9, 7
"""Numbers of an error: quaternions are off by rotation vectors."""
SETTINGS = (
    *("bias_drift", "inclinometer", "sole", "ankle", "rocking", "torque", "free_velocity", "vibration", "flexing"),
    *("creep", "slip", "level", "heading", "flexion", "flexion_rate", "stiffness", "damping", "gravity", "gate"),
)
C = TypeVar("C", bound=tuple[Any, ...])


def columns_of(kind: type[C], records: npt.NDArray[Any]) -> C:
    """Each field of all records as one array."""
    return kind(*(records[name] for name in records.dtype.names or ()))


class SupportFilter:
    """The filter alone: the caller fills `legs`, and hands over what the IMU says. BalanceEstimator does all that.

    Without a spring ankles are stiff. A foot whose `legs.contact` goes from 0 to 1 comes down; as soon as `legs.firm`
    says that its sole lies flat, the ground is level there but for the noise's `level`, and the foot's heading is kept
    as long as it lies so. In the air nothing holds the velocity but `free_velocity`.
    """

    def __init__(self, feet: int = 2, spring: AnkleSpring | None = None, noise: SupportNoise | None = None) -> None:
        self.noise = noise = SupportNoise() if noise is None else noise
        self.spring = spring
        size = BODY_ERROR + FOOT_ERROR * feet
        self._x, self._P = np.zeros((BODY.itemsize + feet * FOOT.itemsize) // 8), np.zeros((size, size))
        body: Body = self._x[: BODY.itemsize // 8].view(BODY)[0]
        ankles = columns_of(Ankles, self._x[BODY.itemsize // 8 :].view(FOOT))
        self.orientation: Array = body.orientation
        """The quaternion x y z w, IMU to world; like all that follow, in the kernel's own memory."""
        self.gyro_bias: Array = body.gyro_bias
        """What the gyro reads at rest, rad/s."""
        self.velocity: Array = body.velocity
        """Of the IMU, m/s, in its own axes."""
        self.flexion: Array = ankles.flexion
        """Roll and pitch of each ankle's spring, rad: feet × 2."""
        self.flexion_rate: Array = ankles.flexion_rate
        """Of roll and pitch, rad/s: feet × 2."""
        self.ground: Array = ankles.ground
        """The orientation of the ground under each foot, x y z w: feet × 4."""
        legs, motion, memory = np.zeros(feet, packed(Legs)), np.zeros(1, packed(Motion)), np.zeros(1, SUPPORT_MEMORY)
        self._memory: SupportMemory = memory[0]
        self.legs, self._reading = columns_of(Legs, legs), columns_of(Motion, motion)
        self.legs.E[:] = np.eye(3)
        self._settings = _settings(noise, spring)
        self.handle = _kernels.estimation_support(
            self._x, self._P, numbers_of(legs), self._settings, numbers_of(motion), numbers_of(memory)
        )
        self.start()

    def start(self, orientation: npt.ArrayLike = (0.0, 0.0, 0.0, 1.0)) -> None:
        """Begin anew at rest, the IMU turned like the quaternion x y z w."""
        noise, self._x[:], self._P[:] = self.noise, 0.0, 0.0
        self.orientation[:] = orientation
        self.ground[:] = (0.0, 0.0, 0.0, 1.0)
        deviations = (noise.attitude_at_start, noise.bias_at_start, noise.velocity_at_start)
        np.fill_diagonal(self._P[:BODY_ERROR, :BODY_ERROR], np.repeat(deviations, 3) ** 2)
        self.legs.stood[:] = self.legs.lay_flat[:] = 0.0
        self._memory.gyro[:], self._memory.accelerometer[:] = 0.0, (0.0, 0.0, GRAVITY)

    def update(
        self,
        gyro: Array,
        accelerometer: Array,
        dt: float,
        *,
        gyro_deviation: Array | None = None,
        accelerometer_deviation: float | None = None,
        up: Array | None = None,
    ) -> None:
        """Go on by dt seconds with what was measured, all finite; deviations where a sensor is worse than `noise` says.

        `up` is the vertical in the IMU's axes, of unit length, from an IMU that gives roll and pitch.
        """
        reading, noise, given = self._reading, self.noise, accelerometer_deviation
        reading.gyro[:], reading.accelerometer[:] = gyro, accelerometer
        reading.gyro_deviation[:] = noise.gyro if gyro_deviation is None else gyro_deviation
        reading.accelerometer_deviation[:] = noise.accelerometer if given is None else given
        reading.up[:] = 0.0 if up is None else up
        _kernels.estimation_update_support(self.handle, dt)

    @property
    def covariance(self) -> Array:
        """Of attitude error, bias, velocity, then per foot flexion, its rate and the ground's turn."""
        return self._P

    @property
    def innovation(self) -> tuple[float, int]:
        """The normalised innovation squared of the last cycle, and how many numbers were measured in it."""
        return self._memory.surprise, int(self._memory.rows)


def _settings(noise: SupportNoise, spring: AnkleSpring | None) -> Array:
    """All that the kernel is told once; stiff ankles never bend."""
    known = {**asdict(noise), "gravity": GRAVITY, "gate": LIKELY}
    if spring is None:
        known |= {"stiffness": 0.0, "damping": 0.0, "flexion": 0.0, "flexion_rate": 0.0}
    else:
        known |= asdict(spring)
    return np.array([known[name] for name in SETTINGS])
