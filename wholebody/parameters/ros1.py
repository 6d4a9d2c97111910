"""Ros1: bound parameters as topics of ROS 1, std_msgs/Float64MultiArray, by rospy, which Debian has."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from typing import Any

from wholebody.errors import BadBinding
from wholebody.parameters.transports import Closing, Deliver, Sender

NODE = "wholebody"


class Ros1:
    """Topics of ROS 1: a topic is a name such as right_hand/goal. The master is where ROS_MASTER_URI says."""

    def __init__(self) -> None:
        self._rospy = _ros("rospy")
        self._message: Any = _ros("std_msgs.msg").Float64MultiArray
        _find_master()
        if not self._rospy.core.is_initialized():
            self._rospy.init_node(NODE, anonymous=True, disable_signals=True, disable_rosout=True)

    def receive(self, topic: str, size: int, deliver: Deliver) -> Closing:
        """Subscribe."""

        def take(message: Any) -> None:
            if len(message.data) == size:
                deliver(message.data)

        return _Declared(self._rospy.Subscriber(topic, self._message, take, tcp_nodelay=True), self._message)

    def sender(self, topic: str) -> Sender:
        """Publish, and keep the last value for those who come late."""
        publisher = self._rospy.Publisher(topic, self._message, queue_size=1, latch=True, tcp_nodelay=True)
        return _Declared(publisher, self._message)


class _Declared:
    """A publication or a subscription."""

    def __init__(self, entity: Any, message: Any) -> None:
        self._entity, self._message = entity, message

    def send(self, time: float, values: Sequence[float]) -> None:
        """Publish a value."""
        self._entity.publish(self._message(data=list(values)))

    def close(self) -> None:
        """Take it back."""
        self._entity.unregister()


def _find_master() -> None:
    """See that there is a master; without one rospy would try for ever and say nothing."""
    if not _ros("rosgraph").is_master_online():
        where = os.environ.get("ROS_MASTER_URI", "")
        raise BadBinding(f"no ROS master answers at '{where}' (ROS_MASTER_URI); start one: roscore")


def _ros(module: str) -> Any:
    """A module of ROS, if it is installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise BadBinding(
            f"a transport 'ros1' needs rospy ({error}): apt-get install python3-rospy python3-std-msgs, and have "
            "/usr/lib/python3/dist-packages at the end of PYTHONPATH"
        ) from None
