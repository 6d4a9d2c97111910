"""Robot: what a robot is made of, as plain data, from which URDF, MJCF and every model are made.

Placements, axes and inertias are those of URDF: a joint's frame stands in its parent link, and is the frame of its
child link; a link's inertia is about its centre of mass, in the link's axes. Units are SI.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from wholebody import messages
from wholebody.errors import BadRobot, UnknownName
from wholebody.robots import checks
from wholebody.rotations import matrix_about

Vector = tuple[float, float, float]
Array = npt.NDArray[np.float64]

Named = TypeVar("Named", "Link", "Joint", "Surface")


@dataclass(frozen=True)
class Placement:
    """Where a frame stands in another: position, and roll, pitch, yaw about the fixed axes."""

    xyz: Vector = (0.0, 0.0, 0.0)
    rpy: Vector = (0.0, 0.0, 0.0)

    @property
    def rotation(self) -> Array:
        """R = Rz(yaw) Ry(pitch) Rx(roll)."""
        (cr, cp, cy), (sr, sp, sy) = np.cos(self.rpy), np.sin(self.rpy)
        return np.array(
            [
                [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                [-sp, cp * sr, cp * cr],
            ]
        )

    @property
    def matrix(self) -> Array:
        """The homogeneous 4 × 4 transform."""
        transform = np.eye(4)
        transform[:3, :3] = self.rotation
        transform[:3, 3] = self.xyz
        return transform

    @classmethod
    def of(cls, matrix: Array) -> Placement:
        """Read a placement off a 4 × 4 transform."""
        R = matrix[:3, :3]
        pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
        if np.hypot(R[0, 0], R[1, 0]) > 1e-12:
            roll, yaw = np.arctan2(R[2, 1], R[2, 2]), np.arctan2(R[1, 0], R[0, 0])
        else:  # pitch ±90°: roll and yaw turn about the same axis; say it all in yaw
            roll, yaw = 0.0, np.arctan2(-R[0, 1], R[1, 1])
        x, y, z = (float(value) for value in matrix[:3, 3])
        return cls((x, y, z), (float(roll), float(pitch), float(yaw)))


@dataclass(frozen=True)
class Shape:
    """A primitive or a mesh on a link, to collide with or only to be seen.

    size: box (x, y, z); sphere (radius,); cylinder and capsule (radius, length along z); mesh (scale x, y, z).
    """

    kind: str
    size: tuple[float, ...]
    at: Placement = Placement()
    collides: bool = True
    mesh: Path | None = None


@dataclass(frozen=True)
class Link:
    """A rigid body: mass, centre of mass, inertia (ixx, iyy, izz, ixy, ixz, iyz) about it, and shapes."""

    name: str
    mass: float = 0.0
    com: Vector = (0.0, 0.0, 0.0)
    inertia: tuple[float, ...] = (0.0,) * 6
    shapes: tuple[Shape, ...] = ()

    @property
    def inertia_matrix(self) -> Array:
        """The inertia about the centre of mass, 3 × 3."""
        xx, yy, zz, xy, xz, yz = self.inertia
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another: q = ratio · q_of + offset."""

    of: str
    ratio: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Joint:
    """A joint between two links. Limits are rad or m, velocity rad/s or m/s, effort N·m or N."""

    name: str
    kind: str
    parent: str
    child: str
    at: Placement = Placement()
    axis: Vector = (0.0, 0.0, 1.0)
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf
    rotor_inertia: float = 0.0  # of rotor and gear, seen at the joint
    damping: float = 0.0
    friction: float = 0.0
    actuated: bool = True
    mimic: Mimic | None = None

    def motion(self, position: float) -> Array:
        """What the joint does to its child at a position, after its placement: a 4 × 4 transform."""
        transform = np.eye(4)
        if self.kind == "fixed":
            return transform
        if self.kind == "prismatic":
            transform[:3, 3] = position * (np.array(self.axis) / np.linalg.norm(self.axis))
        else:
            transform[:3, :3] = matrix_about(self.axis, position)
        return transform


@dataclass(frozen=True)
class Surface:
    """A flat part of a link made for contact, such as a sole or a palm.

    Its frame stands in the link with z pointing from what is touched into the link (up, for the sole of a standing
    robot) and x forward; the outline are its corners (x, y) in that frame, counter-clockwise seen against z.
    """

    name: str
    link: str
    at: Placement
    outline: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Sensor:
    """A sensor in a link: an IMU, a force-torque sensor or a camera (which looks along its x axis, with z up)."""

    name: str
    kind: str  # imu, force_torque, camera
    link: str
    at: Placement = Placement()


@dataclass(frozen=True)
class Gain:
    """How stiffly a joint holds its position: N·m/rad and N·m·s/rad."""

    stiffness: float
    damping: float


@dataclass(frozen=True)
class Coupling:
    """Joints moved by one motor: q_slave = ratio · q_master, held by the transmission."""

    master: str
    slave: str
    ratio: float = 1.0


@dataclass(frozen=True)
class Loop:
    """Two links that a file pins together at a point, or welds, beside the tree of joints: a closed loop.

    The frame at `one_at` in the first link meets the frame at `other_at` in the second one.
    """

    name: str
    one: str
    other: str
    one_at: Placement = Placement()
    other_at: Placement = Placement()
    welded: bool = False


@dataclass(frozen=True)
class Inference:
    """Something that a robot's file does not say and that was inferred: from what, and how sure that is, 0 to 1."""

    what: str
    found: str
    reason: str
    confidence: float


@dataclass(frozen=True)
class Robot:
    """A robot as data, checked when it is made.

    Joints are kept depth first from the root, branches in the order given: the order of every vector of joint values.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    title: str = ""
    floating: bool = True
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    surfaces: tuple[Surface, ...] = ()
    sensors: tuple[Sensor, ...] = ()
    postures: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    gains: Mapping[str, Gain] = field(default_factory=dict)
    couplings: tuple[Coupling, ...] = ()
    loops: tuple[Loop, ...] = ()
    drivers: Mapping[str, str] = field(default_factory=lambda: {"virtual": "simulator"})  # what its tiers mean
    may_touch: frozenset[frozenset[str]] = frozenset()  # pairs of links whose contact is no collision
    published_mass: float | None = None
    source: str = ""
    inferred: tuple[Inference, ...] = ()  # what its file does not say
    gaps: tuple[str, ...] = ()  # figures that are missing, estimated or chosen by us
    from_file: bool = False  # of others: whether its links can pass each other, nobody has seen

    def __post_init__(self) -> None:
        """Check everything and put joints and links in order."""
        joints = checks.depth_first(self.links, self.joints, self.name)
        children = {joint.child: index for index, joint in enumerate(joints)}
        links = sorted(self.links, key=lambda link: children.get(link.name, -1))
        object.__setattr__(self, "joints", joints)
        object.__setattr__(self, "links", tuple(links))
        checks.check(self)

    @property
    def root(self) -> str:
        """Name of the link that hangs from no other."""
        return self.links[0].name

    @cached_property
    def moving(self) -> tuple[Joint, ...]:
        """The joints that have a position of their own: neither fixed nor mimicking."""
        return tuple(joint for joint in self.joints if joint.kind != "fixed" and joint.mimic is None)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """The names of the moving joints: the order of every vector of joint values."""
        return tuple(joint.name for joint in self.moving)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Where a moving joint stands in such a vector."""
        return {name: index for index, name in enumerate(self.joint_names)}

    @cached_property
    def mass(self) -> float:
        """Mass of all links."""
        return sum(link.mass for link in self.links)

    def link(self, name: str) -> Link:
        """Find a link by name."""
        return self._find(name, self.links, "link")

    def joint(self, name: str) -> Joint:
        """Find a joint by name."""
        return self._find(name, self.joints, "joint")

    def surface(self, name: str) -> Surface:
        """Find a contact surface by name."""
        return self._find(name, self.surfaces, "surface")

    def sensors_of(self, kind: str) -> tuple[Sensor, ...]:
        """All sensors of a kind: imu, force_torque or camera."""
        return tuple(sensor for sensor in self.sensors if sensor.kind == kind)

    def posture(self, name: str) -> Array:
        """Joint positions of a named posture; joints it does not name are at zero, or at the limit nearest to it."""
        if name not in self.postures:
            raise UnknownName("posture", name, self.postures)
        given = self.postures[name]
        return np.array([given.get(j.name, float(np.clip(0.0, j.lower, j.upper))) for j in self.moving])

    def group(self, name: str) -> tuple[int, ...]:
        """Indices of the joints of a group."""
        if name not in self.groups:
            raise UnknownName("group", name, self.groups)
        return tuple(self.index[joint] for joint in self.groups[name])

    def locked(self, positions: Mapping[str, float], name: str | None = None) -> Robot:
        """Return the robot with some joints fixed at given positions: hands that do not matter, a braked torso."""
        for each in positions:
            self.joint(each)
        followers = {j.name: j.mimic for j in self.joints if j.mimic is not None and j.mimic.of in positions}
        angles = dict(positions)
        angles |= {each: m.ratio * positions[m.of] + m.offset for each, m in followers.items()}
        joints = tuple(_fixed(j, angles[j.name]) if j.name in angles else j for j in self.joints)
        kept = {j.name for j in joints if j.kind != "fixed"}
        return replace(
            self,
            name=name or self.name,
            joints=joints,
            groups={g: tuple(j for j in members if j in kept) for g, members in self.groups.items()},
            postures={p: {j: q for j, q in values.items() if j in kept} for p, values in self.postures.items()},
            gains={j: gain for j, gain in self.gains.items() if j in kept},
            couplings=tuple(c for c in self.couplings if c.master in kept and c.slave in kept),
        )

    def letting_touch(self, pairs: frozenset[frozenset[str]]) -> Robot:
        """Return the robot with more pairs of links whose contact is no collision."""
        return replace(self, may_touch=self.may_touch | pairs)

    def state_dtype(self) -> np.dtype[messages.State]:
        """The layout of this robot's state."""
        names = {kind: [sensor.name for sensor in self.sensors_of(kind)] for kind in ("imu", "force_torque")}
        return messages.state(self.joint_names, imus=names["imu"], force_torques=names["force_torque"])

    def reference_dtype(self) -> np.dtype[messages.Reference]:
        """The layout of a reference for this robot."""
        return messages.reference(self.joint_names)

    def _find(self, name: str, among: tuple[Named, ...], what: str) -> Named:
        for one in among:
            if one.name == name:
                return one
        raise UnknownName(what, name, (one.name for one in among))


def resolved_mimics(joints: Sequence[Joint]) -> list[Joint]:
    """The joints, where a follower's follower follows the joint that leads them all: q = r₂ (r₁ q₀ + o₁) + o₂."""
    known = {joint.name: joint for joint in joints}
    return [joint if joint.mimic is None else replace(joint, mimic=_resolved(joint.mimic, known)) for joint in joints]


def _resolved(mimic: Mimic, known: Mapping[str, Joint]) -> Mimic:
    passed = [mimic.of]
    while (leader := known.get(mimic.of)) is not None and leader.mimic is not None:
        further = leader.mimic
        if further.of in passed:
            raise BadRobot(f"joints {', '.join(sorted(passed))} follow one another in a circle; let one of them lead")
        passed.append(further.of)
        mimic = Mimic(further.of, mimic.ratio * further.ratio, mimic.ratio * further.offset + mimic.offset)
    return mimic


def _fixed(joint: Joint, position: float) -> Joint:
    """The joint frozen at a position: its motion becomes part of its placement."""
    at = Placement.of(joint.at.matrix @ joint.motion(position))
    return Joint(joint.name, "fixed", joint.parent, joint.child, at)
