"""Frames: pictures of a camera on a channel, as JPEG, the newest first."""

from __future__ import annotations

import numpy as np

from wholebody.channels import Channel, Reader
from wholebody.errors import ChannelError
from wholebody.hardware import Names
from wholebody.messages import Dtype

LARGEST = 131_072
"""Bytes of a picture."""
DEPTH = 4


def camera_channel(name: str) -> str:
    """Where the pictures of a robot's camera are."""
    return f"{Names(name).robot}.camera"


def frame_record() -> Dtype:
    """Build a picture: when it was taken, in the robot's time, how far it was turned to steady it, and its JPEG."""
    return np.dtype(
        [("time", "<f8"), ("turned", "<f8"), ("size", "<u4"), ("jpeg", "u1", (LARGEST,))],
        align=True,
    )


class Frames:
    """The newest picture, from whoever takes them."""

    def __init__(self, name: str) -> None:
        self._name = camera_channel(name)
        self._reader: Reader | None = None

    def newest(self) -> bytes | None:
        """The newest picture; None if there is none since the last one."""
        try:
            if self._reader is None:
                self._reader = Channel(self._name).reader()
            if not self._reader.latest():
                return None
        except ChannelError:
            self._reader = None
            return None
        message = self._reader.message
        return bytes(message["jpeg"][: int(message["size"])])
