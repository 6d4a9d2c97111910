"""What the arms are told through channels: a hand, a Kind, and numbers; what becomes of it is told as of walking."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from wholebody.messages import Dtype

CONTROLLER = "arms"


class Kind(IntEnum):
    """What can be told; the values that go with it in brackets."""

    REACH = 0  # [x, y, z in the base, standoff], m
    CARRY = 1
    CLOSE = 2
    OPEN = 3
    REST = 4
    STOP = 5
    PRESS = 6  # [x, y, z in the base, m, N]


class Order(NamedTuple):
    """An order as it is told."""

    number: int
    kind: Kind
    side: str = ""
    values: tuple[float, ...] = ()


def order_record() -> Dtype:
    """Build an order."""
    return np.dtype([("number", "<u8"), ("kind", "u1"), ("side", "S8"), ("values", "<f8", (4,))], align=True)


def doing_record() -> Dtype:
    """Build what the arms do now, the left one and the right one.

    load     N, the pull on the wrist
    pressed  N, how much more that was at most than when the hand began to press; NaN if it does not
    left     s, until the arm is at the end of its way
    taken    whether it is moved by this controller
    """
    each = [("load", "<f8", (2,)), ("pressed", "<f8", (2,)), ("left", "<f8", (2,)), ("taken", "?", (2,))]
    return np.dtype([("time", "<f8"), ("order", "<u8"), *each], align=True)


def write_order(order: Order, message: Any) -> None:
    """Fill in an order's record."""
    message["number"], message["kind"], message["side"] = order.number, order.kind, order.side.encode()
    message["values"] = (*order.values, 0.0, 0.0, 0.0, 0.0)[:4]


def read_order(message: Any) -> Order:
    """The order in a record; ValueError if its kind is none."""
    values = tuple(float(value) for value in message["values"])
    side = bytes(message["side"]).decode(errors="replace")
    return Order(int(message["number"]), Kind(int(message["kind"])), side, values)
