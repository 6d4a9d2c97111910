"""Drives: joints that each follow their target as the joints of a Hubo do; nothing couples them.

Hubo-Ach §3.5 found a joint's closed loop from a step of 0.4 rad. With the step divided out and a load torque τ added,

    q̈ = ω² (u − q) − c q̇ + τ ω² / k        G(s) = ω² / (s² + c s + ω²)

where u is the target and k (N·m/rad) what the joint gives way by: at rest q = u + τ/k. The robot hangs in a stand:
its base stands still and upright, its feet and hands touch nothing.

Ours, because nobody has published it:

- `acceleration`: the boards limit it from rest by an unknown figure. 480 rad/s² makes SLOPE, the model of the slope,
  fit WHOLE, the model of the whole step, best. The limit is on speeding up; braking has none
- k is the stiffness of the joint's gain in the robot's record, 1500 N·m/rad where it has none
- a joint without power has no spring: its load moves it, its gear brakes it (c = 10/s), and where there is no load it
  stays. It turns like a flywheel of k/ω²; gravity is a load like any other
- an end stop takes all speed
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wholebody.errors import HardwareError
from wholebody.messages import Measured, MeasuredMotion, MeasuredWrench, State
from wholebody.robots.robot import Robot

Array = npt.NDArray[np.float64]

GRAVITY = 9.81
STIFFNESS = 1500.0  # N·m/rad of a joint whose robot says none
ACCELERATION = 480.0  # rad/s²
LIMP = 10.0  # 1/s


@dataclass(frozen=True)
class Response:
    """A joint's closed loop of second order, G(s) = ω² / (s² + c s + ω²)."""

    square: float  # ω², 1/s²
    damping: float  # c, 1/s

    def __post_init__(self) -> None:
        """Refuse a loop that is none or that grows."""
        if not (0 < self.square < math.inf and 0 < self.damping < math.inf):
            raise HardwareError(f"a response with ω² = {self.square} and c = {self.damping}; give two positive numbers")

    @property
    def bandwidth(self) -> float:
        """The frequency (rad/s) at which it follows 3 dB less than a slow target: |G(jω₃)|² = 10^−0.3."""
        b = self.square - self.damping**2 / 2
        return math.sqrt(b + math.sqrt(b**2 + self.square**2 * (10**0.3 - 1)))

    def after(self, seconds: Array | float, offset: Array, speed: Array) -> tuple[Array, Array]:
        """Where a joint is, from its resting point, and how fast, some time after it was at an offset with a speed.

        The closed form of e^(A t) (offset, speed) with A = [[0, 1], [−ω², −c]], for any t.
        """
        half = self.damping / 2
        what = half**2 - self.square
        root = math.sqrt(abs(what))
        t = np.asarray(seconds)
        if what < 0:
            even, odd = np.exp(-half * t) * np.cos(root * t), np.exp(-half * t) * np.sin(root * t) / root
        elif what > 0:
            slow, fast = np.exp((root - half) * t), np.exp((-root - half) * t)
            even, odd = (slow + fast) / 2, (slow - fast) / (2 * root)
        else:
            even, odd = np.exp(-half * t), np.exp(-half * t) * t
        turn = speed + half * offset
        return even * offset + odd * turn, even * speed - odd * (self.square * offset + half * speed)


WHOLE = Response(2800.0, 85.0)  # Eq. 3.2: the whole step, with the limit of acceleration in it
SLOPE = Response(5500.0, 115.0)  # Eq. 3.3: its middle, without


class Drives:
    """A Plant of independent joints. `load` (N·m, along the joint's axis) may be set at any time."""

    def __init__(
        self, robot: Robot, response: Response = SLOPE, acceleration: float = ACCELERATION, start: Array | None = None
    ) -> None:
        if not acceleration > 0:
            raise HardwareError(f"an acceleration limit of {acceleration} rad/s²; give a positive number, or math.inf")
        self.robot, self.response, self.acceleration = robot, response, float(acceleration)
        joints = robot.moving
        self.lower = np.array([joint.lower for joint in joints])
        self.upper = np.array([joint.upper for joint in joints])
        gains = [robot.gains.get(joint.name) for joint in joints]
        self.stiffness = np.array([gain.stiffness if gain else STIFFNESS for gain in gains])
        self.load = np.zeros(len(joints))
        self.position = np.clip(np.zeros(len(joints)) if start is None else np.array(start), self.lower, self.upper)
        self.velocity = np.zeros(len(joints))
        self.inertia = self.stiffness / response.square  # what each motor turns, seen at the joint: k/ω², kg·m²
        self._rest, self._powered = self.position.copy(), np.zeros(len(joints), bool)

    @property
    def acceleration_now(self) -> Array:
        """What each joint's loop asks for, or its load if it is limp, rad/s²; none against an end stop."""
        limp = self.load / self.inertia - LIMP * self.velocity
        now = np.where(self._powered, self._wanted(self._rest), limp)
        stopped = ((self.position <= self.lower) & (now < 0)) | ((self.position >= self.upper) & (now > 0))
        return np.where(stopped, 0.0, now)

    @property
    def effort(self) -> Array:
        """What each motor gives its joint, N·m, also against an end stop; a limp joint has its gear's friction."""
        driven = self.inertia * self._wanted(self._rest) - self.load
        return np.where(self._powered, driven, -self.inertia * LIMP * self.velocity)

    def advance(self, seconds: float, target: Array, powered: npt.NDArray[np.bool_]) -> None:
        """Let time go by: exactly, for any length, with targets and loads constant.

        But whether a joint begins to be held by the limit of acceleration is looked at only once, at the beginning:
        give steps of a few milliseconds where that matters.
        """
        rest = target + self.load / self.stiffness
        position, velocity = self._driven(seconds, rest)
        if not powered.all():
            limp_position, limp_velocity = self._limp(seconds)
            position = np.where(powered, position, limp_position)
            velocity = np.where(powered, velocity, limp_velocity)
        into = ((position <= self.lower) & (velocity < 0)) | ((position >= self.upper) & (velocity > 0))
        self.position = np.minimum(np.maximum(position, self.lower), self.upper)
        self.velocity = np.where(into, 0.0, velocity)
        self._rest, self._powered = rest, powered.copy()

    def read(self, state: State) -> None:
        """Fill in the joints, and what sensors on a robot in a stand read. Time and tick are not its own."""
        state.position[:], state.velocity[:] = self.position, self.velocity
        state.acceleration[:], state.effort[:] = self.acceleration_now, self.effort
        state.measured[:] = Measured.POSITION | Measured.VELOCITY | Measured.ACCELERATION | Measured.EFFORT
        imu, wrench, base = state.imu, state.force_torque, state.base
        imu.orientation[:], imu.angular_velocity[:] = (0.0, 0.0, 0.0, 1.0), 0.0
        imu.linear_acceleration[:] = (0.0, 0.0, GRAVITY)
        imu.measured[:] = sum(MeasuredMotion)
        wrench.force[:], wrench.torque[:], wrench.measured[:] = 0.0, 0.0, sum(MeasuredWrench)
        base.position[:], base.orientation[:] = 0.0, (0.0, 0.0, 0.0, 1.0)
        base.linear_velocity[:], base.angular_velocity[:], base.known = 0.0, 0.0, True

    def _wanted(self, rest: Array) -> Array:
        """The acceleration that the joints' loops ask for."""
        free = self.response.square * (rest - self.position) - self.response.damping * self.velocity
        held = (np.abs(free) > self.acceleration) & (free * self.velocity >= 0)
        return np.where(held, np.copysign(self.acceleration, free), free)

    def _driven(self, seconds: float, rest: Array) -> tuple[Array, Array]:
        """Powered joints: first with the greatest acceleration, as long as the loop asks for more, then as it asks."""
        q, v, a = self.position, self.velocity, self._wanted(rest)
        if not np.any(np.abs(a) >= self.acceleration):
            offset, speed = self.response.after(seconds, q - rest, v)
            return rest + offset, speed
        held = self._held(rest, a, seconds)
        q, v = q + v * held + a * held**2 / 2, v + a * held
        offset, speed = self.response.after(seconds - held, q - rest, v)
        return rest + offset, speed

    def _held(self, rest: Array, acceleration: Array, seconds: float) -> Array:
        """For how long each joint is held: until ω²(rest − q(t)) − c q̇(t) = a, with q(t) = q + q̇ t + a t²/2."""
        square, damping = self.response.square, self.response.damping
        a = acceleration
        half, slope = -square * a / 2, -square * self.velocity - damping * a
        excess = square * (rest - self.position) - damping * self.velocity - a
        held = (np.abs(a) >= self.acceleration) & (excess * a > 0)
        half, slope, excess = (np.where(held, part, fill) for part, fill in ((half, -1.0), (slope, 0.0), (excess, 0.0)))
        sign = np.sign(half)
        until = -sign * slope + np.sqrt(slope**2 - 4 * half * excess)  # the one root that is in the future
        return np.where(held, np.minimum(until / (2 * np.abs(half)), seconds), 0.0)

    def _limp(self, seconds: float) -> tuple[Array, Array]:
        """Joints without power: q̈ = τ/I − c q̇."""
        final = self.load / (self.inertia * LIMP)
        faded = math.exp(-LIMP * seconds)
        extra = self.velocity - final
        return self.position + final * seconds + extra * (1 - faded) / LIMP, final + extra * faded
