"""SupportFilter: attitude, velocity and bent ankles, from IMU, encoders and feet (Stabilizer, 4.4).

The document's filter takes the support leg's encoders for measurements and estimates positions, velocities and
accelerations of all its joints and of two passive ones at the ankle, 27 states in all. Encoders are so good that they
can be taken as they are, and a velocity does what accelerations did there: the accelerometer moves it on, the standing
ankle says what it is, and no encoder is differentiated twice. So there are 9 states, and 7 for each foot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadEstimator
from wholebody.estimation import support_cycle as at
from wholebody.estimation.attitude import GRAVITY, LIKELY, check_deviations
from wholebody.estimation.support_cycle import Filter, Legs, cycle
from wholebody.estimation.support_kernels import BODY_ERROR, BODY_STATE, FOOT_ERROR, FOOT_STATE
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
        numbers = np.zeros(at.NUMBERS)
        numbers[: at.GATE + 1] = (
            *(noise.bias_drift, noise.inclinometer, noise.sole, noise.ankle, noise.rocking),
            *(noise.torque, noise.free_velocity, noise.vibration, noise.flexing, noise.creep, noise.slip, GRAVITY),
            *((spring.stiffness, spring.damping) if spring else (0.0, 0.0)),
            LIKELY,
        )
        bent = (noise.flexion, noise.flexion_rate) if spring else (0.0, 0.0)
        numbers[at.LEVEL :] = (noise.level, noise.heading, *bent)
        self.filter = Filter(
            x=np.zeros(BODY_STATE + FOOT_STATE * feet),
            P=np.zeros((size, size)),
            F=np.eye(BODY_ERROR),
            memory=np.zeros((8, size)),
            rows=np.zeros((3, size)),
            scratch=np.zeros((12, 3)),
            stood=np.zeros((2, feet)),
            last=np.zeros((2, 3)),
            numbers=numbers,
            told=np.zeros(2),
        )
        self.legs = Legs(
            E=np.tile(np.eye(3), (feet, 1, 1)),
            p=np.zeros((feet, 3)),
            p_dot=np.zeros((feet, 3)),
            torque=np.zeros((feet, 2)),
            contact=np.zeros(feet),
            firm=np.zeros(feet),
        )
        self._nowhere = np.zeros(3)
        self._gyro_deviation = np.full(3, noise.gyro)
        self.start()
        self.legs.contact[:] = self.legs.firm[:] = 1.0
        self.update(np.zeros(3), np.array([0.0, 0.0, GRAVITY]), 1e-3)  # compiles now, not in a loop
        self.legs.contact[:] = self.legs.firm[:] = 0.0
        self.update(np.zeros(3), np.array([0.0, 0.0, GRAVITY]), 1e-3)
        self.start()

    def start(self, orientation: npt.ArrayLike = (0.0, 0.0, 0.0, 1.0)) -> None:
        """Begin anew at rest, the IMU turned like the quaternion x y z w."""
        x, P = self.filter.x, self.filter.P
        x[:], P[:] = 0.0, 0.0
        x[:4] = orientation
        x[BODY_STATE + 7 :: FOOT_STATE] = 1.0
        for first, deviation in (
            (0, self.noise.attitude_at_start),
            (3, self.noise.bias_at_start),
            (6, self.noise.velocity_at_start),
        ):
            np.fill_diagonal(P[first : first + 3, first : first + 3], deviation**2)
        self.filter.stood[:] = 0.0
        self.filter.last[:] = ((0.0, 0.0, 0.0), (0.0, 0.0, GRAVITY))

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
        cycle(
            self.filter,
            self.legs,
            gyro,
            self._gyro_deviation if gyro_deviation is None else gyro_deviation,
            accelerometer,
            self.noise.accelerometer if accelerometer_deviation is None else accelerometer_deviation,
            self._nowhere if up is None else up,
            dt,
        )

    @property
    def orientation(self) -> Array:
        """The quaternion x y z w, IMU to world."""
        return self.filter.x[:4]

    @property
    def gyro_bias(self) -> Array:
        """What the gyro reads at rest, rad/s."""
        return self.filter.x[4:7]

    @property
    def velocity(self) -> Array:
        """Of the IMU, m/s, in its own axes."""
        return self.filter.x[7:10]

    @property
    def flexion(self) -> Array:
        """Roll and pitch of each ankle's spring, rad: feet × 2."""
        return self._feet[:, :2]

    @property
    def flexion_rate(self) -> Array:
        """Of roll and pitch, rad/s: feet × 2."""
        return self._feet[:, 2:4]

    @property
    def _feet(self) -> Array:
        return self.filter.x[BODY_STATE:].reshape(-1, FOOT_STATE)

    @property
    def covariance(self) -> Array:
        """Of attitude error, bias, velocity, then per foot flexion, its rate and the ground's turn."""
        return self.filter.P

    @property
    def innovation(self) -> tuple[float, int]:
        """The normalised innovation squared of the last cycle, and how many numbers were measured in it."""
        return float(self.filter.told[at.SURPRISE]), int(self.filter.told[at.ROWS])
