"""Which chains have a closed form: found from the lines of their joints, whatever the robot is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wholebody.errors import NoClosedForm, UnknownName
from wholebody.kinematics import closed_form_few as few
from wholebody.kinematics import closed_form_kernels as six
from wholebody.model.layout import Array
from wholebody.robots.robot import Joint, Robot, Sensor, Surface

SAME_POINT = 1e-9  # m: lines that pass each other nearer than that meet
SAME_DIRECTION = 1e-9


@dataclass(frozen=True)
class Line:
    """The axis of a joint in the base's frame, with all joints at zero: a unit direction and a point on it."""

    name: str
    direction: Array
    point: Array

    def parallel_to(self, other: Line) -> bool:
        """Whether the directions are the same or opposite."""
        return float(np.linalg.norm(np.cross(self.direction, other.direction))) < SAME_DIRECTION

    def perpendicular_to(self, other: Line) -> bool:
        """Whether the directions are at right angles."""
        return abs(float(self.direction @ other.direction)) < SAME_DIRECTION

    def meets(self, other: Line) -> Array | None:
        """The point where the lines cross; None if they are parallel or pass each other."""
        if self.parallel_to(other):
            return None
        normal = np.cross(self.direction, other.direction)
        between = other.point - self.point
        if abs(between @ normal) / np.linalg.norm(normal) > SAME_POINT:
            return None
        along = np.cross(between, other.direction) @ normal / (normal @ normal)
        return self.point + along * self.direction

    def distance(self, point: Array) -> float:
        """How far a point is from the line."""
        return float(np.linalg.norm(np.cross(self.direction, point - self.point)))

    def foot(self, point: Array) -> Array:
        """The point of the line nearest to another."""
        return self.point + self.direction * ((point - self.point) @ self.direction)


@dataclass(frozen=True)
class Chain:
    """The joints between two frames: their lines and limits, and the tip's placement with all of them at zero."""

    name: str
    lines: tuple[Line, ...]
    lower: Array
    upper: Array
    home: Array

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints from the base to the tip: the order of all vectors of joint values."""
        return tuple(line.name for line in self.lines)

    @property
    def length(self) -> float:
        """The way from joint to joint and on to the tip, in m."""
        points = np.array([line.point for line in self.lines] + [self.home[:3, 3]])
        return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def chain(robot: Robot, base: str, tip: str) -> Chain:
    """The chain from one link, surface or sensor to another, up and down the robot's tree."""
    base_link, base_in_link = _frame(robot, base)
    tip_link, tip_in_link = _frame(robot, tip)
    name = f"{robot.name}, from '{base}' to '{tip}'"
    parents = {joint.child: joint for joint in robot.joints}
    up, down = _ancestors(base_link, parents), _ancestors(tip_link, parents)
    while up and down and up[-1] is down[-1]:
        up.pop()
        down.pop()
    pose = inverse(base_in_link)
    joints: list[Joint] = []
    lines: list[Line] = []
    for joint in up:
        _add(joint, pose, -1.0, joints, lines, name)
        pose = pose @ inverse(joint.at.matrix)
    for joint in reversed(down):
        pose = pose @ joint.at.matrix
        _add(joint, pose, 1.0, joints, lines, name)
    limits = np.array([(joint.lower, joint.upper) for joint in joints]).reshape(-1, 2)
    return Chain(name, tuple(lines), limits[:, 0].copy(), limits[:, 1].copy(), pose @ tip_in_link)


def _frame(robot: Robot, name: str) -> tuple[str, Array]:
    """The link of a frame, and the frame's placement in it."""
    for link in robot.links:
        if link.name == name:
            return name, np.eye(4)
    parts: tuple[Surface | Sensor, ...] = (*robot.surfaces, *robot.sensors)
    for each in parts:
        if each.name == name:
            return each.link, each.at.matrix
    known = [link.name for link in robot.links] + [each.name for each in parts]
    raise UnknownName("link, surface or sensor", name, known)


def inverse(transform: Array) -> Array:
    """The inverse of a rotation and translation, 4 × 4."""
    result = np.eye(4)
    result[:3, :3] = transform[:3, :3].T
    result[:3, 3] = -transform[:3, :3].T @ transform[:3, 3]
    return result


def _ancestors(link: str, parents: dict[str, Joint]) -> list[Joint]:
    joints = []
    while link in parents:
        joints.append(parents[link])
        link = parents[link].parent
    return joints


def _add(joint: Joint, pose: Array, sign: float, joints: list[Joint], lines: list[Line], name: str) -> None:
    """Append a joint's line, unless it is fixed."""
    if joint.kind == "fixed":
        return
    if joint.kind == "prismatic" or joint.mimic is not None:
        what = "slides" if joint.kind == "prismatic" else f"mimics '{joint.mimic.of}'" if joint.mimic else ""
        raise NoClosedForm(f"{name}: joint '{joint.name}' {what}; the closed form has joints that turn, each by itself")
    axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
    joints.append(joint)
    lines.append(Line(joint.name, sign * pose[:3, :3] @ axis, pose[:3, 3].copy()))


def six_joint_numbers(chain: Chain) -> Array:
    """The numbers by which the kernel knows a chain of six; NoClosedForm says why there are none."""
    reasons = []
    for backwards in (False, True):
        lines = chain.lines[::-1] if backwards else chain.lines
        try:
            return _numbers(chain, lines, backwards)
        except NoClosedForm as error:
            reasons.append(str(error))
    raise NoClosedForm(
        f"{chain.name}: no closed form here; {reasons[0]}, and seen from the tip {reasons[1]}. "
        "Use iterative inverse kinematics, or a chain with a spherical hip, shoulder or wrist"
    )


def _numbers(chain: Chain, lines: tuple[Line, ...], backwards: bool) -> Array:
    centre = spherical_centre(lines)
    i, j, single, parallel = _pair(lines, centre)
    numbers = _shared_numbers(chain, lines, centre, six.SIZE)
    numbers[six.REACH : six.REACH + 2] = 0.0, np.inf
    knot = lines[4].meets(lines[5])
    if knot is not None:
        numbers[six.KNOT : six.KNOT + 3] = knot
        numbers[six.REACH : six.REACH + 2] = circle_distances(lines[3], centre, knot)
    for begin, index in ((six.SINGLE, single), (six.PAIR_I, i), (six.PAIR_J, j)):
        numbers[begin : begin + 3] = lines[index].direction
        numbers[begin + 3 : begin + 6] = lines[index].point
    numbers[six.BACKWARDS], numbers[six.SINGLE_LAST], numbers[six.PARALLEL] = backwards, single == 5, parallel
    if not parallel:
        numbers[six.MEETING : six.MEETING + 3] = lines[i].meets(lines[j])
    if knot is not None and not parallel and single == 3:
        numbers[six.ELBOW : six.ELBOW + 3] = _elbow(lines, centre, knot)
    numbers[six.LOWER : six.LOWER + 6] = chain.lower
    numbers[six.UPPER : six.UPPER + 6] = chain.upper
    return numbers


def few_joint_numbers(chain: Chain) -> Array:
    """The numbers by which the kernel knows an arm of four or five; NoClosedForm says why there are none."""
    lines, joints = chain.lines, len(chain.lines)
    tip = chain.home[:3, 3]
    try:
        centre = spherical_centre(lines)
    except NoClosedForm as error:
        raise NoClosedForm(
            f"{chain.name}: with {joints} joints, the closed form needs a shoulder, and {error}"
        ) from None
    if lines[3].distance(centre) < SAME_POINT:
        raise NoClosedForm(f"{chain.name}: the axis of '{lines[3].name}' goes through the shoulder, so it is no elbow")
    if joints == 5 and lines[4].distance(tip) > SAME_POINT:
        raise NoClosedForm(
            f"{chain.name}: the tip is {lines[4].distance(tip):.4g} m beside the axis of '{lines[4].name}'; "
            "with five joints it has to be on it. Choose another tip, or iterative inverse kinematics"
        )
    numbers = _shared_numbers(chain, lines, centre, few.SIZE)
    numbers[few.TIP : few.TIP + 3] = tip
    numbers[few.ELBOW : few.ELBOW + 6] = np.concatenate([lines[3].direction, lines[3].point])
    numbers[few.LAST : few.LAST + 3] = lines[4].direction if joints == 5 else 0.0
    numbers[few.LIMITS : few.LIMITS + joints] = chain.lower
    numbers[few.LIMITS + 5 : few.LIMITS + 5 + joints] = chain.upper
    return numbers


def _shared_numbers(chain: Chain, lines: Sequence[Line], centre: Array, size: int) -> Array:
    """The numbers that all chains have, at their places, and zeros."""
    numbers = np.zeros(size)
    frame_1, frame_3, tilt = euler_frames(lines)
    home = inverse(chain.home)
    numbers[six.CENTRE : six.CENTRE + 3] = centre
    numbers[six.FRAME_1 : six.FRAME_1 + 9] = frame_1.T.ravel()
    numbers[six.FRAME_3 : six.FRAME_3 + 9] = frame_3.T.ravel()
    numbers[six.TILT] = tilt
    numbers[six.HOME : six.HOME + 9] = home[:3, :3].ravel()
    numbers[six.HOME + 9 : six.HOME + 12] = home[:3, 3]
    return numbers


def spherical_centre(lines: Sequence[Line]) -> Array:
    """Where the first three lines meet, each perpendicular to the next."""
    a, b, c = lines[:3]
    if not (a.perpendicular_to(b) and b.perpendicular_to(c)):
        raise NoClosedForm(f"'{a.name}', '{b.name}' and '{c.name}' are not each perpendicular to the next")
    centre = a.meets(b)
    if centre is None or c.distance(centre) > SAME_POINT:
        raise NoClosedForm(f"the axes of '{a.name}', '{b.name}' and '{c.name}' do not meet in one point")
    return centre


def euler_frames(lines: Sequence[Line]) -> tuple[Array, Array, float]:
    """F₁, F₃ and a tilt with e₁ e₂ e₃ = F₁ Rz(q₁) Ry(q₂ + tilt) Rz(q₃) F₃ᵀ."""
    a, b, c = (line.direction for line in lines[:3])
    frame_1 = np.column_stack([np.cross(b, a), b, a])
    frame_3 = np.column_stack([np.cross(b, c), b, c])
    return frame_1, frame_3, float(np.arctan2(np.cross(a, c) @ b, a @ c))


def circle_distances(line: Line, point: Array, other: Array) -> tuple[float, float]:
    """Least and greatest distance of a point that turns about a line from another that stands still."""
    height = (other - point) @ line.direction
    radius, offset = line.distance(point), line.distance(other)
    return float(np.hypot(radius - offset, height)), float(np.hypot(radius + offset, height))


def _elbow(lines: Sequence[Line], centre: Array, knot: Array) -> tuple[float, float, float]:
    """Where the elbow stands seen from the wrist, along the forearm and beside it, and how long the upper arm is.

    Zeros if elbow, forearm and wrist are not perpendicular, or the shoulder is beside their plane.
    """
    elbow, forearm, wrist = lines[3:]
    beside = abs(elbow.direction @ (centre - knot)) > SAME_POINT
    if beside or not (elbow.perpendicular_to(forearm) and forearm.perpendicular_to(wrist)):
        return 0.0, 0.0, 0.0
    at = elbow.foot(knot) - knot
    along = abs(float(at @ forearm.direction))
    return along, float(np.linalg.norm(at - (at @ forearm.direction) * forearm.direction)), elbow.distance(centre)


def _pair(lines: Sequence[Line], centre: Array) -> tuple[int, int, int, bool]:
    """Which neighbours of the last three joints are parallel, or else meet, and which joint stands alone."""
    for i, j, single in ((3, 4, 5), (4, 5, 3)):
        apart = lines[i].distance(lines[j].point) > SAME_POINT
        if apart and lines[i].parallel_to(lines[j]) and not lines[i].parallel_to(lines[single]):
            return i, j, single, True
    for i, j, single in ((4, 5, 3), (3, 4, 5)):
        knot = lines[i].meets(lines[j])
        if knot is not None and lines[single].distance(knot) > SAME_POINT and lines[3].distance(centre) > SAME_POINT:
            return i, j, single, False
    names = "', '".join(line.name for line in lines[3:])
    raise NoClosedForm(
        f"of '{names}', which have to place the spherical centre, no two neighbours are parallel or meet"
    )
