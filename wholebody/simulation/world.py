"""The world as MuJoCo sees it: a robot, a scene around it, and where the robot is in MuJoCo's arrays."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from wholebody.errors import BadRobot, BadSimulation
from wholebody.robots.formats.mjcf_writer import mjcf_element
from wholebody.robots.formats.xml import text_of
from wholebody.robots.robot import Array, Robot, Surface, Vector
from wholebody.simulation.objects import MovableObjects, weld_to_hands
from wholebody.simulation.scenes import Scene

Integers = npt.NDArray[np.int64]
LOAD = "load "
"""How the bodies of carried loads are called, before their number; no link of ours has a space in its name."""
OMNI_WHEELS = "omni_wheels"
"""The group of joints whose wheels have rollers that turn freely."""
HALF_WIDTH = 0.002
"""m of a simulated omni wheel."""
CONTACT = {"solref": "0.005 1", "solimp": "0.95 0.99 0.001"}
IMU_READINGS = ("framequat", "gyro", "accelerometer")
COLOURS = ("0.88 0.89 0.91 1", "0.36 0.44 0.56 1")
"""Links are painted in turn, so that one can tell where a joint is."""


@dataclass(frozen=True)
class Load:
    """A mass fixed to a point of a link, from some instant on."""

    mass: float  # kg
    link: str
    point_in_link: Vector = (0.0, 0.0, 0.0)  # m
    start: float = 0.0  # s

    def __post_init__(self) -> None:
        """Refuse a load that weighs nothing."""
        check_finite(f"the load of '{self.link}'", *self.point_in_link, self.start)
        if not (0 < self.mass < math.inf):
            raise BadSimulation(f"the load of '{self.link}' weighs {self.mass} kg; give a positive number")


@dataclass(frozen=True)
class AnkleFlexibility:
    """A spring and a damper, roll and pitch, between each ankle and its sole; no encoder sees it.

    The default is what was measured on Hubo: K = 753 N·m/rad, C = 18 N·m·s/rad.
    """

    stiffness: float = 753.0
    damping: float = 18.0

    def __post_init__(self) -> None:
        """Refuse what is no spring."""
        if not (0 < self.stiffness < np.inf and 0 <= self.damping < np.inf):
            raise BadSimulation(
                f"ankles of {self.stiffness} N·m/rad and {self.damping} N·m·s/rad; "
                "stiffness must be positive, damping not negative"
            )


class World:
    """A robot in a scene, compiled: MuJoCo's model and data, where the robot is in them, and the ground under it."""

    def __init__(
        self,
        robot: Robot,
        scene: Scene,
        step: float,
        ankles: AnkleFlexibility | None = None,
        below: float = 0.0,
        loads: Sequence[Load] = (),
    ) -> None:
        """Build it; `below` is how far the scene lies under the world's origin."""
        root = mjcf_element(robot)
        _settings(root, step)
        _paint(root)
        self.ground_to_world: Array = scene(root)
        weld_to_hands(root, robot)
        if below:
            _lower(root, robot, below)
            self.ground_to_world[2, 3] -= below
        _omni_wheels(root, robot)
        _sensors(root, robot)
        if ankles is not None:
            _flexible_ankles(root, robot, ankles)
        for number, load in enumerate(loads):
            _carry(root, load, number)
        try:
            self.model: Any = mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))
        except ValueError as error:
            raise BadRobot(f"MuJoCo refuses '{robot.name}': {' '.join(str(error).split())}") from error
        self.robot = robot
        self.data: Any = mujoco.MjData(self.model)
        self.at = Addresses(robot, self.model)
        self.links = frozenset(self.at.link.values())
        # What a scene brings along too; MuJoCo's own name of the world is no body that one could push.
        self.bodies = {self.model.body(each).name: each for each in range(1, self.model.nbody)}
        self.objects = MovableObjects(robot, self.model)

    def take_state_of(self, other: World) -> None:
        """Go on where another world is, which differs only in what is carried."""
        kinds = mujoco.mjtState
        kind = int(kinds.mjSTATE_FULLPHYSICS) | int(kinds.mjSTATE_CTRL) | int(kinds.mjSTATE_WARMSTART)
        state = np.empty(mujoco.mj_stateSize(other.model, kind))
        mujoco.mj_getState(other.model, other.data, state, kind)
        mujoco.mj_setState(self.model, self.data, state, kind)
        self.model.actuator_biasprm[:] = other.model.actuator_biasprm
        self.model.eq_data[:], self.data.eq_active[:] = other.model.eq_data, other.data.eq_active
        mujoco.mj_forward(self.model, self.data)


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


def check_finite(what: str, *numbers: float) -> None:
    """Refuse a push or a load with numbers that are not finite."""
    if not all(math.isfinite(number) for number in numbers):
        raise BadSimulation(f"{what} has a number that is not finite: {', '.join(map(str, numbers))}")


def _omni_wheels(root: ET.Element, robot: Robot) -> None:
    """Let the wheels of the group `omni_wheels` slide along their axes, as rollers do, and grip across them.

    MuJoCo's contact of a capsule has its first tangent along the capsule's axis: a wheel becomes a disc of a capsule,
    and pairs with what belongs to the scene have friction across the axis only.
    """
    names = [str(geom.get("name")) for geom in root.findall("worldbody/geom")]
    pairs = ET.SubElement(root, "contact")
    for joint in robot.groups.get(OMNI_WHEELS, ()):
        for wheel in _body(root, robot.joint(joint).child).findall("geom[@type='cylinder']"):
            wheel.set("type", "capsule")
            wheel.set("size", f"{str(wheel.get('size')).split()[0]} {HALF_WIDTH}")
            for name in names:
                pair = {"geom1": name, "geom2": str(wheel.get("name")), "condim": "3", "friction": "0 1"}
                ET.SubElement(pairs, "pair", pair | CONTACT)


def _settings(root: ET.Element, step: float) -> None:
    """Contacts so hard that a robot does not sink, and friction that does not creep (DESIGN: known ground)."""
    option = ET.SubElement(
        root, "option", timestep=repr(step), integrator="implicitfast", cone="elliptic", impratio="10"
    )
    # A state that went wrong stays to be looked at; a robot is one island anyway.
    ET.SubElement(option, "flag", autoreset="disable", island="disable")
    default = ET.SubElement(root, "default")
    ET.SubElement(default, "geom", CONTACT)
    ET.SubElement(default, "equality", solref=f"{2 * step!r} 1", solimp="0.99 0.999 0.001")
    visual = ET.SubElement(root, "visual")
    # Shadows and multisampling cost 150 ms a frame without a graphics card.
    ET.SubElement(visual, "quality", shadowsize="0", offsamples="0", numslices="18", numstacks="10")
    ET.SubElement(visual, "headlight", ambient="0.4 0.4 0.4", diffuse="0.3 0.3 0.3", specular="0 0 0")
    ET.SubElement(visual, "map", znear="0.01", zfar="50")
    ET.SubElement(root, "statistic", extent="1.0", center="0 0 0.5")


def _paint(root: ET.Element) -> None:
    """Paint what has no colour, link by link in turn."""

    def paint(body: ET.Element, depth: int) -> None:
        for geom in body.findall("geom"):
            if "rgba" not in geom.attrib and "material" not in geom.attrib:
                geom.set("rgba", COLOURS[depth % 2])
        for child in body.findall("body"):
            paint(child, depth + 1)

    for body in root.findall("worldbody/body"):
        paint(body, 0)


def _lower(root: ET.Element, robot: Robot, below: float) -> None:
    """Move all of the scene down."""
    for item in root.findall("worldbody/*"):
        if item.get("name") != robot.root:
            x, y, z = (float(value) for value in item.get("pos", "0 0 0").split())
            item.set("pos", text_of((x, y, z - below)))


def _sensors(root: ET.Element, robot: Robot) -> None:
    """What is measured, and the points of the soles, whose places MuJoCo then computes."""
    sensor = ET.SubElement(root, "sensor")
    for imu in robot.sensors_of("imu"):
        ET.SubElement(sensor, IMU_READINGS[0], name=f"{IMU_READINGS[0]} {imu.name}", objtype="site", objname=imu.name)
        for reading in IMU_READINGS[1:]:
            ET.SubElement(sensor, reading, name=f"{reading} {imu.name}", site=imu.name)
    for surface in robot.surfaces:
        if is_sole(surface):
            for name, point in sole_points(surface).items():
                ET.SubElement(_body(root, surface.link), "site", name=name, pos=text_of(point), size="0.001")
    for each in robot.sensors_of("force_torque"):
        # Not read, but it makes MuJoCo compute the forces on bodies.
        ET.SubElement(sensor, "force", name=f"force {each.name}", site=each.name)


def _flexible_ankles(root: ET.Element, robot: Robot, ankles: AnkleFlexibility) -> None:
    """Add two hinges to the body of each sole, after its own joint and so beyond its motor and encoder."""
    soles = [surface for surface in robot.surfaces if is_sole(surface)]
    if not soles:
        raise BadSimulation(f"'{robot.name}' has no soles, so it has no ankles that could be flexible")
    for sole in soles:
        body = _body(root, sole.link)
        own = [index for index, child in enumerate(body) if child.tag in ("joint", "freejoint")]
        for number, name in enumerate(flexible_joints(sole)):
            direction = text_of(tuple(float(value) for value in sole.at.rotation[:, number]))
            hinge = ET.Element("joint", name=name, type="hinge", axis=direction)
            hinge.set("stiffness", repr(float(ankles.stiffness)))
            hinge.set("damping", repr(float(ankles.damping)))
            body.insert((own[-1] if own else -1) + 1 + number, hinge)


def _carry(root: ET.Element, load: Load, number: int) -> None:
    """A ball of water's density that is part of a link, and collides with nothing."""
    radius = (3 * load.mass / (4000 * np.pi)) ** (1 / 3)
    body = ET.SubElement(_body(root, load.link), "body", name=f"{LOAD}{number}", pos=text_of(load.point_in_link))
    moment = 0.4 * load.mass * radius**2
    ET.SubElement(body, "inertial", pos="0 0 0", mass=repr(load.mass), diaginertia=text_of((moment,) * 3))
    shape = {"type": "sphere", "size": repr(float(radius)), "contype": "0", "conaffinity": "0"}
    ET.SubElement(body, "geom", shape, rgba="0.85 0.45 0.15 1")


def _body(root: ET.Element, name: str) -> ET.Element:
    return next(body for body in root.iter("body") if body.get("name") == name)
