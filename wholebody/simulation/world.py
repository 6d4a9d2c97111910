"""The world as MuJoCo sees it: a robot, a scene around it, and settings in which a stiff humanoid stands and walks."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from wholebody.errors import BadRobot, BadSimulation
from wholebody.robots.formats.mjcf_writer import mjcf_element
from wholebody.robots.formats.urdf import text_of
from wholebody.robots.robot import Array, Robot
from wholebody.simulation.addresses import IMU_READINGS, LOAD, Addresses, flexible_joints, is_sole, sole_points
from wholebody.simulation.disturbances import Load
from wholebody.simulation.objects import Things, weld_to_hands
from wholebody.simulation.scenes import Scene

COLOURS = ("0.88 0.89 0.91 1", "0.36 0.44 0.56 1")
"""Links are painted in turn, so that one can tell where a joint is."""


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
        self.things = Things(robot, self.model)

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


def _settings(root: ET.Element, step: float) -> None:
    """Contacts so hard that a robot does not sink, and friction that does not creep (DESIGN: known ground)."""
    option = ET.SubElement(
        root, "option", timestep=repr(step), integrator="implicitfast", cone="elliptic", impratio="10"
    )
    # A state that went wrong stays to be looked at; a robot is one island anyway.
    ET.SubElement(option, "flag", autoreset="disable", island="disable")
    default = ET.SubElement(root, "default")
    ET.SubElement(default, "geom", solref="0.005 1", solimp="0.95 0.99 0.001")
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
    for thing in root.findall("worldbody/*"):
        if thing.get("name") != robot.root:
            x, y, z = (float(value) for value in thing.get("pos", "0 0 0").split())
            thing.set("pos", text_of((x, y, z - below)))


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
