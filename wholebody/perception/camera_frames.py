"""Frames: pictures of a camera on a channel, as JPEG, the newest first."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from wholebody.channels import Channel, Reader
from wholebody.drivers import Names
from wholebody.errors import ChannelError
from wholebody.messages import Floats, Integers, Record
from wholebody.robots.robot import Array

LARGEST = 131_072
"""Bytes of a picture."""
DEPTH = 4


def camera_channel(name: str) -> str:
    """Where the pictures of a robot's camera are."""
    return f"{Names(name).robot}.camera"


class CameraFrame(Record):
    """A picture, from where it was taken, and when."""

    time: float
    turned: float
    camera: Floats
    field_of_view: float
    size: int  # type: ignore[assignment]  # numpy's own `size` of a record is 1
    jpeg: Integers


def frame_record() -> np.dtype[CameraFrame]:
    """Build a picture: when it was taken, in the robot's time, how far it was turned to steady it, and its JPEG.

    `camera` is from where one sees it so, a 4 × 4 frame in world (x forward, y left, z up), `field_of_view` how much of
    it from top to bottom, rad.
    """
    pose = [("camera", "<f8", (4, 4)), ("field_of_view", "<f8")]
    return CameraFrame.of(
        np.dtype([("time", "<f8"), ("turned", "<f8"), *pose, ("size", "<u4"), ("jpeg", "u1", (LARGEST,))], align=True)
    )


@dataclass(frozen=True)
class CameraView:
    """From where a picture is seen: the camera's 4 × 4 frame in world, row by row, and the field of view, rad."""

    camera: tuple[float, ...]
    field_of_view: float


class Frames:
    """The newest picture, from whoever takes them."""

    def __init__(self, name: str) -> None:
        self._name = camera_channel(name)
        self._reader: Reader[CameraFrame] | None = None
        self._taken: float | None = None
        self.view: CameraView | None = None  # of the last picture

    @property
    def age(self) -> float | None:
        """Seconds since the last picture was taken; None if there is none."""
        return None if self._taken is None else max(0.0, time.monotonic() - self._taken)

    def newest(self) -> bytes | None:
        """The newest picture; None if there is none since the last one."""
        try:
            if self._reader is None:
                self._reader = Channel(self._name, kind=CameraFrame).reader()
            if not self._reader.latest():
                return None
        except ChannelError:
            self._reader = None
            return None
        message, self._taken = self._reader.message, self._reader.stamp
        self.view = CameraView(tuple(message.camera.ravel().tolist()), message.field_of_view)
        return bytes(message.jpeg[: message.size])


def upright(base_to_world: Array) -> Array:
    """The rotation of a base that faces the same way and neither rolls nor pitches."""
    yaw = math.atan2(base_to_world[1, 0], base_to_world[0, 0])
    cosine, sine = math.cos(yaw), math.sin(yaw)
    return np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])


def turned(base_to_world: Array) -> float:
    """How far a picture has to be turned, rad: the angle between a base and the same base upright."""
    return math.acos(min(1.0, max(-1.0, float(base_to_world[2, 2]))))


def homography(base_to_world: Array, camera_to_base: Array, width: int, height: int, fovy: float) -> Array:
    """From pixels of the steady picture to those of the one that was taken, 3 × 3; fovy in rad."""
    focal = 0.5 * height / math.tan(0.5 * fovy)
    across, down = 0.5 * (width - 1), 0.5 * (height - 1)
    P = np.array([[across, -focal, 0.0], [down, 0.0, -focal], [1.0, 0.0, 0.0]])
    is_, would_be = base_to_world @ camera_to_base, upright(base_to_world) @ camera_to_base
    H = P @ is_.T @ would_be @ np.linalg.inv(P)
    return np.asarray(H / H[2, 2])
