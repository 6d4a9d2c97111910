"""Ros2: bound parameters as topics of ROS 2, std_msgs/msg/Float64MultiArray, by DDS; no ROS needs to be installed.

On the wire, a topic /right_hand/goal is called rt/right_hand/goal, its type is std_msgs::msg::dds_::Float64MultiArray_
and its bytes are CDR. The domain is that of the variable ROS_DOMAIN_ID, or 0; nobody but this machine hears of it,
unless ROS_NETWORK names an interface.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import threading
from collections.abc import Sequence
from typing import Any

from wholebody.errors import BadBinding, BadMessage
from wholebody.parameters.transports import Closing, Deliver, Sender
from wholebody.ros.dds import Participant, Quality, Reader, Writer, domain_of
from wholebody.ros.standard import Float64MultiArray, MultiArrayDimension, MultiArrayLayout

TOPIC = re.compile(r"[A-Za-z][A-Za-z0-9_]*(/[A-Za-z][A-Za-z0-9_]*)*")
NETWORK = "ROS_NETWORK"
AT_ONCE = 64
SLICE = 0.2
"""s after which a thread that waits for messages looks whether it is over."""


class Ros2:
    """Topics of ROS 2: a topic is a name such as right_hand/goal, with or without a slash before it."""

    def __init__(self) -> None:
        self._participant = Participant(domain_of(), os.environ.get(NETWORK, ""), "enclave=/;")

    def receive(self, topic: str, size: int, deliver: Deliver) -> Closing:
        """Subscribe, in a thread; whoever publishes may do so reliably or not."""
        quality = Quality(reliable=False, depth=AT_ONCE)
        reader = self._participant.reader(name_on_the_wire(topic), Float64MultiArray, quality)
        return _Subscribed(reader, size, deliver)

    def sender(self, topic: str) -> Sender:
        """Publish; whoever subscribes may ask for reliability or not."""
        return _Published(self._participant.writer(name_on_the_wire(topic), Float64MultiArray, Quality(depth=1)))


class _Published:
    """A publication."""

    def __init__(self, writer: Writer[Float64MultiArray]) -> None:
        self._writer = writer

    def send(self, time: float, values: Sequence[float]) -> None:
        """Publish a value; if the network is full, the next one is newer."""
        self._writer.put(multi_array(values))

    def close(self) -> None:
        """Take it back."""
        self._writer.close()


class _Subscribed:
    """A thread that delivers what is published, until closed."""

    def __init__(self, reader: Reader[Float64MultiArray], size: int, deliver: Deliver) -> None:
        self._reader, self._size, self._deliver = reader, size, deliver
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        while not self._over.is_set():
            if not self._reader.wait(SLICE):
                continue
            with contextlib.suppress(BadMessage):
                for message in self._reader.take():
                    if len(message.data) == self._size:
                        self._deliver(message.data.tolist())

    def close(self) -> None:
        """End the thread, and take it back."""
        self._over.set()
        self._thread.join()
        self._reader.close()


def name_on_the_wire(topic: str) -> str:
    """What ROS 2 calls a topic in DDS."""
    if not TOPIC.fullmatch(topic.removeprefix("/")):
        raise BadBinding(f"a ros2 topic is words between slashes, such as right_hand/goal, not '{topic}'")
    return "rt/" + topic.removeprefix("/")


def multi_array(values: Sequence[float]) -> Float64MultiArray:
    """Numbers as an array of one dimension."""
    dimension = MultiArrayDimension("values", len(values), len(values))
    return Float64MultiArray(MultiArrayLayout([dimension]), [float(each) for each in values])


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

        return _Advertised(self._rospy.Subscriber(topic, self._message, take, tcp_nodelay=True), self._message)

    def sender(self, topic: str) -> Sender:
        """Publish, and keep the last value for those who come late."""
        publisher = self._rospy.Publisher(topic, self._message, queue_size=1, latch=True, tcp_nodelay=True)
        return _Advertised(publisher, self._message)


class _Advertised:
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
