"""What perfect sensors measure: from MuJoCo's data to a state, in our order, frames and signs."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

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
