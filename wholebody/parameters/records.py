"""The records by which other processes reach the parameters of a controller, and the names of their channels."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from wholebody.messages import Dtype, Floats, Record

TEXT = 240
PART = 4096
LEAST = 64
"""Numbers in a request or an answer; more, if a parameter has more."""


class Verb(IntEnum):
    """What can be asked of a controller while it runs."""

    GET = 0
    SET = 1
    VALUES = 2  # of all parameters, on the channel of values
    JACOBIAN = 3  # of a constraint, by its number, on the channel of Jacobians


class ControllerNames:
    """The channels of a controller.

    robot.controller.about                  what there is: one text, in parts
    robot.controller.ask, .answer           requests and answers
    robot.controller.values, .jacobian      answers that are long
    robot.controller.events                 what came true
    robot.controller.applied                what came in from outside, and in which cycle it counted first
    robot.controller.bound.PATH             a parameter that another transport carries
    robot.controller.TOPIC                  what the loop tells of itself (Table C.2)
    """

    def __init__(self, robot: str, controller: str) -> None:
        self.robot, self.controller = robot, controller
        self.first = first = f"{robot}.{controller}"
        self.about, self.ask, self.answer = f"{first}.about", f"{first}.ask", f"{first}.answer"
        self.values, self.jacobian, self.events = f"{first}.values", f"{first}.jacobian", f"{first}.events"
        self.markers, self.applied = f"{first}.markers", f"{first}.applied"

    def bound(self, path: str) -> str:
        """The channel of a parameter that another transport carries on."""
        return f"{self.first}.bound.{path}"

    def topic(self, name: str) -> str:
        """The channel of something that the loop tells of itself."""
        return f"{self.first}.{name}"


class Value(Record):
    """One value of a parameter: when (in the time of whoever sends it), and its numbers."""

    time: float
    values: Floats


def value_record(size: int) -> np.dtype[Value]:
    """The layout of a value of so many numbers."""
    return Value.of(np.dtype([("time", "<f8"), ("values", "<f8", (size,))], align=True))


def about_record() -> Dtype:
    """A part of a long text."""
    return np.dtype([("part", "<u4"), ("parts", "<u4"), ("size", "<u4"), ("text", "u1", (PART,))], align=True)


def ask_record(size: int) -> Dtype:
    """A request: a number to know the answer by, what, of which parameter or constraint, and numbers."""
    count = max(size, LEAST)
    fields = [("number", "<u8"), ("verb", "u1"), ("index", "<i4"), ("count", "<u4"), ("values", "<f8", (count,))]
    return np.dtype(fields, align=True)


def answer_record(size: int) -> Dtype:
    """The answer to a request: whether it was done, if not why, and numbers."""
    count = max(size, LEAST)
    fields: list[Any] = [("number", "<u8"), ("time", "<f8"), ("accepted", "?"), ("text", f"S{TEXT}")]
    return np.dtype([*fields, ("count", "<u4"), ("values", "<f8", (count,))], align=True)


class Applied(Record):
    """A parameter that was set from outside: when, before which cycle, which, and to what."""

    time: float
    cycle: int
    index: int
    count: int
    values: Floats


def applied_record(size: int) -> np.dtype[Applied]:
    """The layout of a parameter that was set, of up to so many numbers."""
    count = max(size, LEAST)
    fields = [("time", "<f8"), ("cycle", "<u8"), ("index", "<u4"), ("count", "<u4"), ("values", "<f8", (count,))]
    return Applied.of(np.dtype(fields, align=True))


def long_record(size: int) -> Dtype:
    """Many numbers, and the number of the request that asked for them."""
    return np.dtype([("number", "<u8"), ("time", "<f8"), ("count", "<u4"), ("values", "<f8", (size,))], align=True)
