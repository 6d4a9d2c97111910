"""Stage: what becomes of a request or of a goal; Report: a stage, when it was reached, and why.

    REJECTED
    ACCEPTED → RUNNING → SUCCEEDED | FAILED | CANCELLED | PREEMPTED

A request that is done at once has one report, SUCCEEDED or REJECTED. The words are those of ROS 2 actions, which say
`executing` for running and `aborted` for both failed and preempted.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Any, NamedTuple


class Stage(IntEnum):
    """How far a request or a goal has come."""

    REJECTED = 0
    ACCEPTED = 1
    RUNNING = 2
    SUCCEEDED = 3
    FAILED = 4
    CANCELLED = 5
    PREEMPTED = 6

    @property
    def final(self) -> bool:
        """Whether nothing comes after it."""
        return self not in (Stage.ACCEPTED, Stage.RUNNING)


class Report(NamedTuple):
    """A stage that the request of a number has come to."""

    number: int
    stage: Stage
    text: str = ""
    time: float = 0.0  # of the server, s
    progress: float = math.nan  # the share that is done, if anybody knows
    answer: Any = None  # of a service that answers with numbers
