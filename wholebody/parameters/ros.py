"""Ros2: bound parameters as topics of ROS 2, std_msgs/msg/Float64MultiArray, by DDS; no ROS needs to be installed.

On the wire, a topic /right_hand/goal is called rt/right_hand/goal, its type is std_msgs::msg::dds_::Float64MultiArray_
and its bytes are CDR. The domain is that of the variable ROS_DOMAIN_ID, or 0.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from wholebody.errors import BadBinding, MissingExtra
from wholebody.parameters.transports import Closing, Deliver, Sender

DOMAINS = 233
"""How many domains there are."""
TOPIC = re.compile(r"[A-Za-z][A-Za-z0-9_]*(/[A-Za-z][A-Za-z0-9_]*)*")
AT_ONCE = 64


class Ros2:
    """Topics of ROS 2: a topic is a name such as right_hand/goal, with or without a slash before it."""

    def __init__(self) -> None:
        self._participant: Any = _dds("domain").DomainParticipant(_domain())

    def receive(self, topic: str, size: int, deliver: Deliver) -> Closing:
        """Subscribe; whoever publishes may do so reliably or not."""

        def take(reader: Any) -> None:
            for sample in reader.take(AT_ONCE):
                if len(getattr(sample, "data", ())) == size:
                    deliver(sample.data)

        policy = _dds("core").Policy
        qos = _dds("core").Qos(policy.Reliability.BestEffort, policy.History.KeepLast(AT_ONCE))
        listener = _dds("core").Listener(on_data_available=take)
        return _Declared(_dds("sub").DataReader(self._participant, self._topic(topic), qos=qos, listener=listener))

    def sender(self, topic: str) -> Sender:
        """Publish; whoever subscribes may ask for reliability or not."""
        policy = _dds("core").Policy
        qos = _dds("core").Qos(policy.Reliability.Reliable(0), policy.History.KeepLast(1))
        return _Declared(_dds("pub").DataWriter(self._participant, self._topic(topic), qos=qos))

    def _topic(self, topic: str) -> Any:
        return _dds("topic").Topic(self._participant, name_on_the_wire(topic), float64_multi_array())


class _Declared:
    """A publication or a subscription."""

    def __init__(self, entity: Any) -> None:
        self._entity = entity

    def send(self, time: float, values: Sequence[float]) -> None:
        """Publish a value; if the network is full, the next one is newer."""
        with contextlib.suppress(_dds("core").DDSException):
            self._entity.write(multi_array(values))

    def close(self) -> None:
        """Take it back."""
        self._entity.set_listener(None)
        self._entity = None


def name_on_the_wire(topic: str) -> str:
    """What ROS 2 calls a topic in DDS."""
    if not TOPIC.fullmatch(topic.removeprefix("/")):
        raise BadBinding(f"a ros2 topic is words between slashes, such as right_hand/goal, not '{topic}'")
    return "rt/" + topic.removeprefix("/")


def multi_array(values: Sequence[float]) -> Any:
    """Numbers as a Float64MultiArray of one dimension."""
    whole, layout, dimension = _types()
    return whole(layout([dimension("values", len(values), len(values))], 0), [float(each) for each in values])


def float64_multi_array() -> Any:
    """The type std_msgs/msg/Float64MultiArray, as DDS has it."""
    return _types()[0]


@cache
def _types() -> tuple[Any, Any, Any]:
    """Float64MultiArray, MultiArrayLayout and MultiArrayDimension."""
    struct, kinds = _dds("idl").make_idl_struct, _dds("idl.types")

    def named(name: str, **fields: Any) -> Any:
        return struct(name, f"std_msgs.msg.dds_.{name}_", fields)

    dimension = named("MultiArrayDimension", label=str, size=kinds.uint32, stride=kinds.uint32)
    layout = named("MultiArrayLayout", dim=kinds.sequence[dimension], data_offset=kinds.uint32)
    whole = named("Float64MultiArray", layout=layout, data=kinds.sequence[kinds.float64])
    return whole, layout, dimension


def _domain() -> int:
    said = os.environ.get("ROS_DOMAIN_ID", "") or "0"
    if not said.isdigit() or int(said) >= DOMAINS:
        raise BadBinding(f"ROS_DOMAIN_ID is a number from 0 to {DOMAINS - 1}, not '{said}'")
    return int(said)


def _dds(module: str) -> Any:
    """A module of the library that speaks DDS, if it is installed."""
    try:
        return importlib.import_module(f"cyclonedds.{module}")
    except ImportError:
        raise MissingExtra("cyclonedds", "ros") from None


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
