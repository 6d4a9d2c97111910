"""What perfect sensors measure: from MuJoCo's data to a state, in our order, frames and signs."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from wholebody.messages import Dtype, Measured, MeasuredMotion, MeasuredWrench, State, Status, offset
from wholebody.robots.robot import Array, Robot
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
