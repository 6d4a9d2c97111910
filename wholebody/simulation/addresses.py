"""Where a robot's joints, motors, sensors and soles are in MuJoCo's arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from wholebody.robots.robot import Array, Robot, Surface, Vector

Integers = npt.NDArray[np.int64]
LOAD = "load "
"""How the bodies of carried loads are called, before their number; no link of ours has a space in its name."""


@dataclass(frozen=True)
class ForceSensors:
    """All force-torque sensors: their sites and bodies, and which bodies and loads are beyond each (0 or 1)."""

    sites: list[int]
    bodies: list[int]
    beyond: Array
    loads: Array
    any_load: bool

    def __len__(self) -> int:
        """How many there are."""
        return len(self.sites)


@dataclass(frozen=True)
class Sole:
    """A sole: its body, its frame in it, the sites of its middle and corners, and its force-torque sensor if any."""

    body: int
    frame_in_body: Array
    middle: int
    corners: Integers
    sensor: int | None


class Addresses:
    """Of one robot in one MuJoCo model; vectors are in the order of `robot.joint_names`."""

    def __init__(self, robot: Robot, model: Any) -> None:
        joints = [_id(model, "JOINT", name) for name in robot.joint_names]
        self.position: Integers = model.jnt_qposadr[joints].astype(np.int64)
        self.velocity: Integers = model.jnt_dofadr[joints].astype(np.int64)
        self.actuated: Integers = np.flatnonzero([joint.actuated for joint in robot.moving])
        self.motor: Integers = np.array(
            [_id(model, "ACTUATOR", robot.joint_names[each]) for each in self.actuated], np.int64
        )
        self.link = {link.name: _id(model, "BODY", link.name) for link in robot.links}
        self.root = self.link[robot.root]
        floating = robot.floating
        self.base_position = int(model.jnt_qposadr[_id(model, "JOINT", "base")]) if floating else None
        self.base_velocity = int(model.jnt_dofadr[_id(model, "JOINT", "base")]) if floating else None
        self.positions, self.follow, self.offset = _all_positions(robot, model, self.position)
        self.base_pose: Integers = (self.base_position or 0) + np.array([0, 1, 2, 4, 5, 6, 3])  # quaternion: w last
        self.imus: Integers = _imus(robot, model)
        self.accelerometers = _accelerometers(robot, model)
        self.force_sensors = _force_sensors(robot, model, self.link)
        self.soles = [_sole(each, self, model) for each in robot.surfaces if is_sole(each)]
        self.flexions: Integers = _flexions(robot, model)


IMU_READINGS = ("framequat", "gyro", "accelerometer")


def is_sole(surface: Surface) -> bool:
    """Whether the robot stands on it."""
    return "sole" in surface.name


def flexible_joints(sole: Surface) -> tuple[str, str]:
    """How the two joints of a flexible ankle are called: roll, pitch."""
    return f"{sole.link} flexible roll", f"{sole.link} flexible pitch"


def sole_points(surface: Surface) -> dict[str, Vector]:
    """Names and places in the link of the middle and the corners of a sole."""
    points = [(0.0, 0.0), *surface.outline]
    places = [np.array(surface.at.xyz) + surface.at.rotation @ (x, y, 0.0) for x, y in points]
    return {f"{surface.name} {number}": (float(p[0]), float(p[1]), float(p[2])) for number, p in enumerate(places)}


def _flexions(robot: Robot, model: Any) -> Integers:
    """Where roll and pitch of each flexible ankle are among the positions: none, if ankles are stiff."""
    joints = [_id(model, "JOINT", name) for sole in robot.surfaces if is_sole(sole) for name in flexible_joints(sole)]
    found: Integers = model.jnt_qposadr[[each for each in joints if each >= 0]].astype(np.int64).reshape(-1, 2)
    return found


def _sole(surface: Surface, at: Addresses, model: Any) -> Sole:
    middle, *corners = (_id(model, "SITE", name) for name in sole_points(surface))
    body, bodies = at.link[surface.link], at.force_sensors.bodies
    sensor = bodies.index(body) if body in bodies else None
    return Sole(body, surface.at.matrix, middle, np.array(corners, np.int64), sensor)


def _id(model: Any, kind: str, name: str) -> int:
    return int(mujoco.mj_name2id(model, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), name))


def _all_positions(robot: Robot, model: Any, position: Integers) -> tuple[Integers, Array, Array]:
    """Addresses of all positions, matrix and offset: of the moving joints' own, then of those that follow others.

    Followers are mimicking joints, q = ratio · q_of + offset, and those held to another by a transmission.
    """
    ties = [(j.name, j.mimic.of, j.mimic.ratio, j.mimic.offset) for j in robot.joints if j.mimic is not None]
    ties += [(coupling.slave, coupling.master, coupling.ratio, 0.0) for coupling in robot.couplings]
    n = len(position)
    addresses, matrix, offset = position.tolist(), [*np.eye(n)], [0.0] * n
    for name, of, ratio, shift in ties:
        addresses.append(int(model.jnt_qposadr[_id(model, "JOINT", name)]))
        matrix.append(ratio * np.eye(n)[robot.index[of]])
        offset.append(shift)
    return np.array(addresses, np.int64), np.array(matrix), np.array(offset)


def _imus(robot: Robot, model: Any) -> Integers:
    """Per IMU where quaternion (w last), angular velocity and acceleration are in the sensor readings."""
    rows = []
    for imu in robot.sensors_of("imu"):
        q, w, a = (int(model.sensor_adr[_id(model, "SENSOR", f"{kind} {imu.name}")]) for kind in IMU_READINGS)
        rows.append([q + 1, q + 2, q + 3, q, w, w + 1, w + 2, a, a + 1, a + 2])
    return np.array(rows, np.int64).reshape(-1, 10)


def _accelerometers(robot: Robot, model: Any) -> list[tuple[int, int]]:
    """Per IMU its site, and where its acceleration is in the sensor readings."""
    sensors = [_id(model, "SENSOR", f"accelerometer {imu.name}") for imu in robot.sensors_of("imu")]
    return [(int(model.sensor_objid[each]), int(model.sensor_adr[each])) for each in sensors]


def _force_sensors(robot: Robot, model: Any, links: dict[str, int]) -> ForceSensors:
    sensors = robot.sensors_of("force_torque")
    bodies = [links[sensor.link] for sensor in sensors]
    beyond = np.array([[_descends(model, each, body) for each in range(model.nbody)] for body in bodies], float)
    beyond = beyond.reshape(len(bodies), model.nbody)
    is_load = np.array([model.body(each).name.startswith(LOAD) for each in range(model.nbody)], float)
    sites = [_id(model, "SITE", sensor.name) for sensor in sensors]
    return ForceSensors(sites, bodies, beyond, beyond * is_load, bool(is_load.any()))


def _descends(model: Any, body: int, ancestor: int) -> bool:
    while body > ancestor:  # a parent has a smaller number
        body = int(model.body_parentid[body])
    return body == ancestor
