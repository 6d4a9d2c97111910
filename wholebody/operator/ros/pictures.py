"""Pictures: what a robot's camera sees, as images, with how the camera projects and where it stands."""

from __future__ import annotations

import io
import math
import time

import numpy as np
from PIL import Image as Picture

from wholebody.operator.ros.action import Link
from wholebody.operator.ros.publications import Topic
from wholebody.operator.ros.standard_messages import ODOMETRY_FRAME, StandardMessages
from wholebody.perception.camera_frames import CameraView, Frames
from wholebody.ros.dds import SENSORS
from wholebody.ros.standard import (
    CameraInfo,
    CompressedImage,
    Header,
    Image,
    Quaternion,
    TFMessage,
    Time,
    Transform,
    TransformStamped,
    Vector3,
)
from wholebody.rotations import quaternion_of_matrix

OPTICAL = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
"""From x forward, y left, z up, to the axes of pictures: z forward, x right, y down (REP 103)."""
FRAME = "camera_optical"
LOOK_EVERY = 0.02
"""s"""


class Pictures:
    """Of the robot of a name: camera/image/compressed as it is taken, camera/image unpacked, camera/camera_info."""

    def __init__(self, link: Link, messages: StandardMessages, name: str) -> None:
        self._messages, self._frames, self._next = messages, Frames(name), 0.0
        self._packed = Topic(link.publisher("camera/image/compressed", CompressedImage, SENSORS))
        self._image = Topic(link.publisher("camera/image", Image, SENSORS))
        self._info = Topic(link.publisher("camera/camera_info", CameraInfo, SENSORS))
        self._transform = Topic(link.publisher("/tf", TFMessage))

    def put(self, stamp: Time) -> None:
        """Tell the newest picture, if somebody looks and it is new."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + LOOK_EVERY
        wanted = [each for each in (self._packed, self._image, self._info) if each.wanted(now)]
        if not wanted or (jpeg := self._frames.newest()) is None:
            return
        header = Header(stamp, self._messages.frame(FRAME))
        picture = Picture.open(io.BytesIO(jpeg))
        if self._packed in wanted:
            self._packed.put(CompressedImage(header, "jpeg", jpeg))
        if self._image in wanted:
            width, height = picture.size
            self._image.put(Image(header, height, width, "rgb8", 0, 3 * width, picture.convert("RGB").tobytes()))
        if (view := self._frames.view) is None:
            return
        if self._info in wanted:
            self._info.put(camera_info(header, *picture.size, view.field_of_view))
        if self._transform.wanted(now):
            self._transform.put(self._stands(view, stamp))

    def _stands(self, view: CameraView, stamp: Time) -> TFMessage:
        """Where the camera stands, with the axes of pictures."""
        at = np.array(view.camera).reshape(4, 4)
        turn = quaternion_of_matrix(at[:3, :3] @ OPTICAL)
        frame = self._messages.frame
        transform = Transform(Vector3(*at[:3, 3].tolist()), Quaternion(*turn.tolist()))
        return TFMessage([TransformStamped(Header(stamp, frame(ODOMETRY_FRAME)), frame(FRAME), transform)])


def camera_info(header: Header, width: int, height: int, field_of_view: float) -> CameraInfo:
    """How a camera without distortion projects; the field of view (rad) is from top to bottom."""
    focal = 0.5 * height / math.tan(0.5 * field_of_view)
    x, y = 0.5 * width, 0.5 * height
    k = (focal, 0.0, x, 0.0, focal, y, 0.0, 0.0, 1.0)
    p = (focal, 0.0, x, 0.0, 0.0, focal, y, 0.0, 0.0, 0.0, 1.0, 0.0)
    return CameraInfo(header, height, width, k=k, p=p)
