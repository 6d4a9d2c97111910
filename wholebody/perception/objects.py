"""Memory: objects that were seen, each with its place in the world and how sure that is; more looks make it surer.

A Kalman filter for an object that stands still, seen by one who walks: P ← P + Q Δt + W Δs; K = P (P + R)⁻¹;
x ← x + K (z − x); P ← (1 − K) P. What all looks have in common, the bias of the stereo pair, no number of looks makes
less: it is added to what is told. Nor does any number of looks at a part of an object tell where its middle is, unless
one has seen before how long it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from wholebody.channels import Channel, Reader
from wholebody.drivers import Names
from wholebody.errors import ChannelError
from wholebody.messages import Floats, Record, Rows
from wholebody.perception.camera_model import CameraModel, Picture
from wholebody.perception.colour_regions import Look
from wholebody.robots.robot import Array

STIRS = 0.002
"""m/√s by which one is less sure of an object that one does not see."""
WALKS = 0.01
"""m/√m by which one is less sure of an object, seen from above, once one has walked: nobody knows exactly how far."""
NEAR = 0.3
"""m. Looks at two objects are further apart than that."""
APART = 0.12
"""m. What is nearer to an object that was seen already belongs to it: a hand may hide its middle."""
MOVED = 5.0
"""Standard deviations beyond which a thing is taken to have been moved."""
GONE = 5
"""Looks at where it should be that show something further away, after which it is forgotten."""
BEHIND = 0.15
"""m"""
HIDDEN = 0.15
"""m by which the middle of an object may be off in a direction in which a picture shows only a part of it."""
SHORTER = 0.03
"""m by which an object seems shorter than it was seen before if something hides a part of it."""
NOTHING = 1e3
"""m, the deviation of a look that tells nothing."""


@dataclass
class Seen:
    """An object that was seen."""

    number: int
    position_in_world: Array
    covariance: Array  # m², of what looks scatter
    bias: float  # m, what all looks have in common
    radius: float
    length: float  # m, as far as it was seen
    time: float
    whole: bool = True  # whether all of it was ever seen
    visible: bool = True
    misses: int = 0

    @property
    def name(self) -> str:
        """What it is called as long as nobody has said what it is."""
        return f"candidate_{self.number}"

    @property
    def deviation(self) -> float:
        """The standard deviation of its place, m, where that is largest."""
        return math.sqrt(float(np.linalg.eigvalsh(self.covariance)[-1]) + self.bias**2)


class Memory:
    """Of one camera."""

    def __init__(self, lens: CameraModel) -> None:
        self.lens = lens
        self.objects: list[Seen] = []
        self._count = 0
        self._last: Array | None = None  # where the camera was, in world

    def see(self, time: float, looks: Sequence[Look], depth: Picture, camera_to_world: Array) -> None:
        """Take in what one picture shows."""
        for item in self.objects:
            item.covariance = item.covariance + self._walked(camera_to_world)
            item.visible = False
        self._last = np.array(camera_to_world[:3, 3])
        for look in looks:
            self._take(time, look, camera_to_world)
        for item in self.objects:
            if not item.visible:
                _stir(item, time, np.eye(3))
        for item in self.objects:
            if not item.visible and self._should_show(item, depth, camera_to_world):
                item.misses += 1
        self.objects = [item for item in self.objects if item.misses <= GONE]

    def _take(self, time: float, look: Look, camera_to_world: Array) -> None:
        R = camera_to_world[:3, :3]
        z = camera_to_world[:3, 3] + R @ look.point_in_camera
        bias = self.lens.depth_error(float(look.point_in_camera[0]), self.lens.bias)
        if any(each.visible and np.linalg.norm(each.position_in_world - z) < APART for each in self.objects):
            return
        near = [each for each in self.objects if not each.visible]
        nearest = min(near, key=lambda each: float(np.linalg.norm(each.position_in_world - z)), default=None)
        if nearest is None or np.linalg.norm(nearest.position_in_world - z) > NEAR + 3 * nearest.deviation:
            self._count += 1
            scatter, unseen = (R @ each @ R.T for each in (look.covariance_in_camera, look.unseen_in_camera))
            spread = scatter + HIDDEN**2 * unseen
            self.objects.append(Seen(self._count, z, spread, bias, look.radius, look.length, time, look.whole))
            return
        if nearest.whole and look.whole and look.length < nearest.length - SHORTER:
            look = replace(look, ends=(False, False))  # a hand is no nearer than the object that it holds
        known = look.completed(nearest.length) if nearest.whole else look
        z = camera_to_world[:3, 3] + R @ known.point_in_camera
        scatter, unseen = (R @ each @ R.T for each in (known.covariance_in_camera, known.unseen_in_camera))
        _stir(nearest, time, np.eye(3) - unseen)  # if one sees a part of it, it has not gone anywhere
        _correct(nearest, z, scatter, unseen)
        nearest.bias, nearest.visible, nearest.misses = bias, True, 0
        if look.whole:
            nearest.radius, nearest.length, nearest.whole = look.radius, look.length, True

    def _walked(self, camera_to_world: Array) -> Array:
        far = 0.0 if self._last is None else float(np.linalg.norm(camera_to_world[:2, 3] - self._last[:2]))
        return WALKS**2 * far * np.diag([1.0, 1.0, 0.0])

    def _should_show(self, item: Seen, depth: Picture, camera_to_world: Array) -> bool:
        """Whether an object would be in view, and nothing hides it."""
        point = camera_to_world[:3, :3].T @ (item.position_in_world - camera_to_world[:3, 3])
        pixel = self.lens.pixel(point)
        if pixel is None:
            return False
        u, v = round(pixel[0]), round(pixel[1])
        inside = 4 <= u < self.lens.width - 4 and 4 <= v < self.lens.height - 4
        return inside and float(depth[v, u]) > point[0] + BEHIND + 3 * item.deviation


def _stir(item: Seen, time: float, directions: Array) -> None:
    """What may have happened to an object since one last looked."""
    item.covariance = item.covariance + STIRS**2 * max(0.0, time - item.time) * directions
    item.time = time


def _correct(item: Seen, z: Array, scatter: Array, unseen: Array) -> None:
    """Take in a look at an object that is known: where its middle seems to be, and which directions do not show it."""
    P, off = item.covariance, z - item.position_in_world
    vague = float(np.trace(unseen @ P)) > 0.99 * HIDDEN**2 * float(np.trace(unseen)) > 0.0
    known = np.zeros((3, 3)) if vague else unseen
    total = P + scatter + HIDDEN**2 * unseen + item.bias**2 * np.eye(3)
    if vague or float(off @ np.linalg.solve(total, off)) > MOVED**2:
        item.position_in_world = z - known @ off
        item.covariance = scatter + HIDDEN**2 * (unseen - known) + known @ P @ known
        return
    K = P @ np.linalg.inv(P + scatter + NOTHING**2 * unseen)
    item.position_in_world = item.position_in_world + K @ off
    item.covariance = (np.eye(3) - K) @ P


MOST = 8
OLD = 5.0
"""s without a word after which nobody looks any more, and what was seen counts for nothing."""
ACCURATE = 0.008
"""m, the standard deviation up to which a hand finds an object."""


class SeenObject(NamedTuple):
    """An object that was seen; place and deviation in m, in world."""

    name: str
    position: tuple[float, float, float]
    deviation: float
    radius: float
    visible: bool

    @property
    def accurate(self) -> bool:
        """Whether that is good enough to grasp it, or one has to look again."""
        return self.deviation <= ACCURATE


def seen_channel(name: str) -> str:
    """Where it is told what a robot has seen."""
    return f"{Names(name).robot}.seen"


class SeenRecord(Record):
    """One object that was seen."""

    name: str
    position: Floats
    deviation: float
    radius: float
    visible: bool


SEEN_OBJECT = [("name", "S24"), ("position", "<f8", (3,)), ("deviation", "<f8"), ("radius", "<f8"), ("visible", "?")]


class SeenRecords(Rows[SeenRecord]):
    """The objects of one message."""

    record = SeenRecord.of(np.dtype(SEEN_OBJECT))


class SeenMessage(Record):
    """What was seen by now: the first `count` objects."""

    time: float
    count: int
    objects: SeenRecords


def seen_record() -> np.dtype[SeenMessage]:
    """Build what was seen."""
    return SeenMessage.of(np.dtype([("time", "<f8"), ("count", "u1"), ("objects", SEEN_OBJECT, (MOST,))], align=True))


def write_seen(time: float, objects: Sequence[Seen], message: SeenMessage) -> None:
    """Fill in a record; if there are too many, with those that one is surest of."""
    told = sorted(objects, key=lambda each: each.deviation)[:MOST]
    message.time, message.count = time, len(told)
    for row, each in zip(message.objects, sorted(told, key=lambda each: each.number), strict=False):
        row.name, row.position[:], row.radius = each.name, each.position_in_world, each.radius
        row.deviation, row.visible = each.deviation, each.visible


class SeenObjects:
    """What was seen by now, from whoever looks."""

    def __init__(self, name: str) -> None:
        self._name = seen_channel(name)
        self._reader: Reader[SeenMessage] | None = None
        self.time = 0.0
        self._known: tuple[SeenObject, ...] = ()

    def newest(self) -> tuple[SeenObject, ...]:
        """All that is known; `time` is when it was told, in the robot's time."""
        try:
            if self._reader is None:
                self._reader = Channel(self._name, kind=SeenMessage).reader()
            if self._reader.latest():
                self._take(self._reader.message)
            return self._known if self._reader.age < OLD else ()
        except ChannelError:
            self._reader = None
            return ()

    def _take(self, message: SeenMessage) -> None:
        self.time = message.time
        self._known = tuple(
            SeenObject(
                row.name,
                tuple(float(each) for each in row.position),  # type: ignore[arg-type]
                row.deviation,
                row.radius,
                row.visible,
            )
            for row in message.objects[: message.count]
        )
