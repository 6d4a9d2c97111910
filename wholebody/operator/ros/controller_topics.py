"""ControllerTopics: the nine topics on which a control loop tells of itself (ControlIt!, Table C.2), as messages."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wholebody.messages import Event, Record, Reference, State, labels
from wholebody.operator.robot.page_view import Subscriptions
from wholebody.operator.ros.action import Link
from wholebody.operator.ros.publications import Topic
from wholebody.parameters.records import Value
from wholebody.ros.message import Message
from wholebody.ros.standard import (
    Float64Message,
    Float64MultiArray,
    Header,
    JointState,
    MultiArrayDimension,
    MultiArrayLayout,
    String,
    Time,
)

LOOK_EVERY = 0.02
"""s"""


@dataclass(frozen=True)
class _Kind:
    """One of the nine: the record on its channel, its type, and how one becomes the other."""

    record: type[Record]
    message: type[Message]
    convert: Callable[[Any, Time], Message]


def _number(value: Value, stamp: Time) -> Float64Message:
    return Float64Message(float(value.values[0]))


def _numbers(value: Value, stamp: Time) -> Float64MultiArray:
    dimension = MultiArrayDimension("values", len(value.values), len(value.values))
    return Float64MultiArray(MultiArrayLayout([dimension]), value.values)


def _joints(record: State | Reference, stamp: Time) -> JointState:
    return JointState(Header(stamp), labels(record.dtype), record.position, record.velocity, record.effort)


def _words(event: Event, stamp: Time) -> String:
    return String(event.text)


KINDS = {
    **dict.fromkeys(
        ("round_trip", "model_latency", "compute_latency", "servo_frequency"), _Kind(Value, Float64Message, _number)
    ),
    "gravity": _Kind(Value, Float64MultiArray, _numbers),
    "command": _Kind(Reference, JointState, _joints),
    "joint_state": _Kind(State, JointState, _joints),
    **dict.fromkeys(("errors", "warnings"), _Kind(Event, String, _words)),
}


class ControllerTopics:
    """Of all controllers of the robot of a name: CONTROLLER/TOPIC, as often as one is new, at most each LOOK_EVERY."""

    def __init__(self, link: Link, robot: str) -> None:
        self._link = link
        self._sources = {name: Subscriptions(robot, f".{name}", kind.record) for name, kind in KINDS.items()}
        self._topics: dict[tuple[str, str], Topic] = {}
        self._told: dict[tuple[str, str], float] = {}
        self._next = 0.0

    def put(self, stamp: Time) -> None:
        """Tell what is new."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + LOOK_EVERY
        for name, kind in KINDS.items():
            for controller, source in self._sources[name].all().items():
                message: Any = None if "." in controller else source.take()
                if message is None:
                    continue
                topic, when = self._topic(controller, name, kind), float(message.time)
                if when != self._told.get((controller, name)) and topic.wanted(now):
                    self._told[controller, name] = when
                    topic.put(kind.convert(message, stamp))

    def _topic(self, controller: str, name: str, kind: _Kind) -> Topic:
        key = controller, name
        if key not in self._topics:
            bare = "".join(each if each.isalnum() and each.isascii() else "_" for each in controller)
            self._topics[key] = Topic(self._link.publisher(f"{bare}/{name}", kind.message))
        return self._topics[key]
