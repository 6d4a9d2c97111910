"""Resting: how a posture lies or stands on level ground on the contacts of a key frame, and by what margin.

A rigid body on level ground rests on a face of the convex hull of its points. So of all faces of the hull of what may
bear, the one is taken that brings the most of the contacts to the ground; with that face down, the static stability
margin is how far inside the polygon of what touches the centre of mass stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from wholebody.errors import BadMotion, TipsOver
from wholebody.model.model import Model
from wholebody.model.support import SupportPolygon
from wholebody.motion.capture.gait import Flags
from wholebody.motion.keyframes import KeyFrame, KeyFrames
from wholebody.motion.trajectory import Array
from wholebody.robots import geometry
from wholebody.robots.robot import Robot

TOUCH = 0.02
"""m: points nearer to the ground bear; robots give way by so much."""
NEAR = 0.5
"""Of the cosine between two directions up: from frame to frame a robot turns by less, if it can."""


@dataclass(frozen=True, eq=False)
class Rest:
    """How a frame rests.

    margin     of the centre of mass inside what touches, m; negative if the robot tips over
    touching   the contacts that get to the ground together
    up         where up is, in the root's axes
    corners    of the support polygon (k × 2, m) and com (x, y), seen from above
    """

    margin: float
    touching: tuple[str, ...]
    up: Array
    corners: Array
    com: Array


@dataclass(frozen=True)
class FrameRest:
    """A frame of a motion, and how it rests; None if nothing is said to bear."""

    title: str
    frame: KeyFrame
    rest: Rest | None

    @property
    def tips(self) -> bool:
        """Whether it tips over, and is not meant to."""
        return self.rest is not None and self.rest.margin < 0 and not self.frame.falls


def check_rests(motion: KeyFrames) -> tuple[FrameRest, ...]:
    """How each frame rests; TipsOver if one cannot, and is not meant to fall."""
    found = rests(motion)
    tipping = [
        f"{each.title}: {-1000 * each.rest.margin:.0f} mm outside of {', '.join(each.rest.touching)}"
        for each in found
        if each.tips and each.rest is not None
    ]
    if tipping:
        raise TipsOver(motion.source, tipping)
    return found


def rests(motion: KeyFrames) -> tuple[FrameRest, ...]:
    """How each frame rests; a face that is near to that of the frame before goes before one that is not."""
    found: list[FrameRest] = []
    up: Array | None = None
    for number, frame in enumerate(motion.frames):
        up = _axis(frame.up) if frame.up else up
        rest = resting(motion.robot, frame.position, frame.contacts, up) if frame.contacts else None
        up = up if rest is None else rest.up
        found.append(FrameRest(motion.title(number), frame, rest))
    return tuple(found)


def resting(robot: Robot, joints: Array, contacts: Sequence[str], up: Array | None = None) -> Rest:
    """How a posture rests on surfaces and links; up is about where up was before, in the root's axes, if known."""
    where = geometry.placements(robot, joints)
    bearing = {contact: _bearing(robot, contact, where) for contact in contacts}
    com = geometry.com(robot, joints)
    normals = _faces(np.vstack([each.points for each in bearing.values()]))
    candidates = [rest for rest in (_down(bearing, com, normal) for normal in normals) if rest.touching]
    if not candidates:
        raise BadMotion(f"nothing rests on {', '.join(contacts)}: no face of theirs; name what bears")
    near = np.zeros(3) if up is None else up
    likely = [rest for rest in candidates if rest.up @ near > NEAR] or candidates
    return max(likely, key=lambda rest: (len(rest.touching) + float(rest.up @ near), min(rest.margin, 0.0)))


@dataclass(frozen=True, eq=False)
class _Bearing:
    """What may bear, in the root's frame: points (k × 3), and for a surface where its inside is."""

    points: Array
    inward: Array | None = None


def _axis(name: str) -> Array:
    return np.asarray(np.eye(3)["xyz".index(name[-1])] * (-1.0 if name[0] == "-" else 1.0))


def _bearing(robot: Robot, contact: str, where: dict[str, Array]) -> _Bearing:
    """Of a surface its corners, of a link what spans it."""
    for surface in robot.surfaces:
        if surface.name == contact:
            at = where[surface.link] @ surface.at.matrix
            corners = np.array([(at @ [x, y, 0.0, 1.0])[:3] for x, y in surface.outline])
            return _Bearing(corners, at[:3, 2])
    return _Bearing(geometry.points(robot.link(contact), where[contact]))


def _faces(points: Array) -> list[Array]:
    """Unit normals that point into the hull, one for each face; both of a flat one, none of a line."""
    if len(points) < 3:
        return []
    try:
        hull = ConvexHull(points)
    except QhullError:
        _, sizes, axes = np.linalg.svd(points - points.mean(axis=0))
        return [axes[2], -axes[2]] if sizes[1] > 1e-6 else []
    return list(np.unique(np.round(-hull.equations[:, :3], 6), axis=0))


def _down(bearing: dict[str, _Bearing], com: Array, up: Array) -> Rest:
    """With the face of a normal down; surfaces bear on their outside only."""
    x = np.eye(3)[int(np.argmin(np.abs(up)))]
    x = (x - (x @ up) * up) / np.linalg.norm(x - (x @ up) * up)
    axes = np.array([x, np.cross(up, x)])
    ground = min(float((each.points @ up).min()) for each in bearing.values())
    low = {
        contact: each.points[each.points @ up < ground + TOUCH]
        for contact, each in bearing.items()
        if each.inward is None or each.inward @ up > 0
    }
    touching = tuple(contact for contact, points in low.items() if len(points))
    flat = [np.empty((0, 3)), *(np.column_stack([points @ axes.T, np.zeros(len(points))]) for points in low.values())]
    polygon, middle = SupportPolygon.of(np.vstack(flat)), axes @ com
    return Rest(polygon.margin((*middle, 0.0)), touching, up, polygon.corners, middle)


def efforts_at_rest(model: Model, frames: Sequence[str], q: Array, bearing: Flags) -> Array:
    """τ = g − Σ Jᵢᵀ fᵢ for rows of configurations, rows × joints; bearing (rows × frames) says which frames bear.

    The loads fᵢ point up and hold the robot's weight W at its centre of mass c: Σf = W, Σ f p = W c; of those the
    smallest, where there are many. Where nothing bears, the robot hangs at its base.
    """
    indices = [model.frame(frame) for frame in frames]
    efforts = np.empty((len(q), len(model.joint_names)))
    for row, (configuration, bears) in enumerate(zip(q, bearing, strict=True)):
        at, standing = model.at(configuration), [index for index, on in zip(indices, bears, strict=True) if on]
        rest = at.g.copy()
        if standing:
            points = np.array([at.position(index) for index in standing])
            matrix = np.vstack([np.ones(len(points)), points[:, 0], points[:, 1]])
            x, y, _ = at.com_in_world
            loads = np.linalg.lstsq(matrix, model.total_mass * 9.81 * np.array([1.0, x, y]), rcond=None)[0]
            for index, load in zip(standing, loads, strict=True):
                rest -= at.jacobian(index)[2] * load
        efforts[row] = rest[model.nv - len(model.joint_names) :]
    return efforts


def hardest(model: Model, efforts: Array) -> tuple[str, float]:
    """The joint that works hardest, and the share of its limit that it needs."""
    shares = np.abs(efforts).max(axis=0) / [joint.effort for joint in model.robot.moving]
    return model.joint_names[int(shares.argmax())], float(shares.max())
