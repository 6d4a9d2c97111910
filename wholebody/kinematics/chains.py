"""Which chains have a closed form: found from the lines of their joints, whatever the robot is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from wholebody.errors import NoClosedForm, UnknownName
from wholebody.model.layout import Array
from wholebody.robots.robot import Joint, Robot, Sensor, Surface

MOST_JOINTS = 6
BRANCHES = {4: 4, 5: 4, 6: 8}  # of so many joints

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


class Numbers(NamedTuple):
    """A chain as C has it: the struct ClosedForm of closed_form.h, field by field; a line is an axis and a point."""

    joints: int
    radian: float
    lower: Array
    upper: Array
    rest: Array
    lines: Array
    home: Array
    home_back: Array
    home_back_translation: Array
    centre: Array
    frame_1: Array
    frame_3: Array
    tilt: float
    backwards: int = 0
    single_last: int = 0
    parallel: int = 0
    single: Array = np.zeros((2, 3))
    pair_i: Array = np.zeros((2, 3))
    pair_j: Array = np.zeros((2, 3))
    meeting: Array = np.zeros(3)
    knot: Array = np.zeros(3)
    reach: tuple[float, float] = (0.0, 0.0)
    elbow: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def packed(self) -> Array:
        """The fields one after the other, 8 bytes for each number."""
        parts = [np.asarray(each, np.int64 if isinstance(each, int) else np.float64) for each in self]
        return np.concatenate([part.ravel().view(np.float64) for part in parts])


def closed_form_numbers(chain: Chain) -> Numbers:
    """The numbers by which C knows a chain; NoClosedForm says why there are none."""
    joints = len(chain.lines)
    if joints not in BRANCHES:
        raise NoClosedForm(
            f"{chain.name}: {joints} joints ({', '.join(chain.joint_names)}); the closed form has 4, 5 or 6. "
            "Choose another base or tip, or lock joints with robot.locked(…)"
        )
    home_back, missing = inverse(chain.home), MOST_JOINTS - joints
    lower, upper = np.pad([chain.lower, chain.upper], ((0, 0), (0, missing)))
    return Numbers(
        joints=joints,
        radian=chain.length * (0.5 if joints == MOST_JOINTS else 0.01),
        lower=lower,
        upper=upper,
        rest=np.clip(0.0, lower, upper),
        lines=np.pad([_placed(line) for line in chain.lines], ((0, missing), (0, 0), (0, 0))),
        home=chain.home,
        home_back=home_back[:3, :3],
        home_back_translation=home_back[:3, 3],
        **(_of_six(chain) if joints == MOST_JOINTS else _of_few(chain)),
    )


def _placed(line: Line) -> Array:
    return np.array([line.direction, line.point])


def _of_six(chain: Chain) -> dict[str, Any]:
    """What six joints need besides lines and limits."""
    reasons = []
    for backwards in (False, True):
        lines = chain.lines[::-1] if backwards else chain.lines
        try:
            return _placed_by_three(lines) | {"backwards": int(backwards)}
        except NoClosedForm as error:
            reasons.append(str(error))
    raise NoClosedForm(
        f"{chain.name}: no closed form here; {reasons[0]}, and seen from the tip {reasons[1]}. "
        "Use iterative inverse kinematics, or a chain with a spherical hip, shoulder or wrist"
    )


def _placed_by_three(lines: tuple[Line, ...]) -> dict[str, Any]:
    """A spherical end whose centre three joints place, seen from that end."""
    centre = spherical_centre(lines)
    i, j, single, parallel = _pair(lines, centre)
    found = _spherical(lines, centre) | {"single_last": int(single == 5), "parallel": int(parallel)}
    found |= {"single": _placed(lines[single]), "pair_i": _placed(lines[i]), "pair_j": _placed(lines[j])}
    knot = lines[4].meets(lines[5])
    found["reach"] = (0.0, np.inf) if knot is None else circle_distances(lines[3], centre, knot)
    if knot is not None:
        found["knot"] = knot
    if not parallel:
        found["meeting"] = lines[i].meets(lines[j])
    if knot is not None and not parallel and single == 3:
        found["elbow"] = _elbow(lines, centre, knot)
    return found


def _of_few(chain: Chain) -> dict[str, Any]:
    """What an arm of four or five joints needs besides lines and limits."""
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
    return _spherical(lines, centre)


def _spherical(lines: Sequence[Line], centre: Array) -> dict[str, Any]:
    """The spherical end: its centre and the frames of its Euler angles."""
    frame_1, frame_3, tilt = euler_frames(lines)
    return {"centre": centre, "frame_1": frame_1.T, "frame_3": frame_3.T, "tilt": tilt}


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
