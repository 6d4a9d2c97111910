"""Sending: the other end of a bound parameter: an application that streams goals, or a gripper's command."""

from __future__ import annotations

import time
from typing import Any, Self

import numpy.typing as npt

from wholebody.channels import Channel
from wholebody.parameters.records import value_record


class Sending:
    """Puts values on the topic of an input binding; whoever listens takes the newest.

    with Sending("dreamer.right_hand.goal", 3) as goal:
        goal.put([0.4, -0.2, 1.0])
    """

    def __init__(self, topic: str, size: int) -> None:
        self._channel = Channel(topic, value_record(size), depth=256)
        self._writer: Any = self._channel.writer()

    def put(self, values: npt.ArrayLike) -> None:
        """Send a value now."""
        self._writer.message["time"], self._writer.message["values"] = time.monotonic(), values
        self._writer.put()

    def close(self) -> None:
        """Let go of the topic; the last value stays."""
        self._writer.close()
        self._channel.close()

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go."""
        self.close()
