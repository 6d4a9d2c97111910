"""Taps: the channels of a robot whose names end alike, as they come."""

from __future__ import annotations

import time

from wholebody.channels import directory
from wholebody.cli.looks.watching import Tap
from wholebody.hardware import Names

LOOK_EVERY = 1.0
"""s from one look for new channels to the next."""


class Taps:
    """ROBOT.NAME.ENDING, by NAME."""

    def __init__(self, robot: str, ending: str) -> None:
        self._first, self._ending = f"{Names(robot).robot}.", ending
        self._taps: dict[str, Tap] = {}
        self._looked = float("-inf")

    def all(self) -> dict[str, Tap]:
        """All that there were, in the order in which they came."""
        if time.monotonic() > self._looked + LOOK_EVERY:
            self._looked = time.monotonic()
            for name in sorted(directory.names()):
                if name.startswith(self._first) and name.endswith(self._ending):
                    short = name[len(self._first) : -len(self._ending)]
                    self._taps.setdefault(short, Tap(name))
        return self._taps
