"""StopInputs: what is said on the stop channel, and which of the inputs that can stop the robot have been lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from wholebody.channels.channel import Reader
from wholebody.drivers.stop_input import ALIVE, BYE
from wholebody.errors import Overrun
from wholebody.messages import Event
from wholebody.messages.bounds import STOP_INPUT_PERIOD

AT_ONCE = 64
"""Words heard in a cycle; the others wait for the next."""
MOST = 64
"""Inputs whose promises are kept."""


@dataclass
class _Promise:
    """An input's: how often it speaks (s), whether its loss stops the robot, and when it was heard last."""

    within: float
    stops: bool
    heard: float


class StopInputs:
    """All that can stop the robot by its stop channel. `tell` hears what comes, goes and is lost."""

    def __init__(self, reader: Reader[Event], tell: Callable[[str, str], None]) -> None:
        self.reader, self._tell = reader, tell
        reader.latest()  # what was told a daemon before this one is past
        self._number = reader.sequence  # of the newest word heard
        self._promises: dict[str, _Promise] = {}

    def why(self) -> str:
        """Why the robot is to stop now; empty if it is not. Every word is heard: of several the first stop counts."""
        reader, reason = self.reader, ""
        for _ in range(AT_ONCE):
            try:
                if not reader.next():
                    return reason
            except Overrun:
                return reason or LOST
            between, self._number = reader.sequence - self._number - 1, reader.sequence
            said = self._hear(reader.message)
            reason = reason or said or (LOST if between > 0 else "")
        return reason

    def lost(self) -> str:
        """Tell of inputs that have broken their promise; why that stops the robot, or nothing."""
        now, reason = time.monotonic(), ""
        for source, promise in list(self._promises.items()):
            silent = now - promise.heard
            if silent > promise.within:
                del self._promises[source]
                text = f"the stop input '{source}' is lost: it has said nothing for {silent:.1f} s"
                self._tell("stop input", text)
                reason = reason or (text if promise.stops else "")
        return reason

    def _hear(self, event: Event) -> str:
        name, source = event.name, event.source
        if name == BYE:
            if self._promises.pop(source, None) is not None:
                self._tell("stop input", f"'{source}' ends")
            return ""
        if name != ALIVE:
            return event.text or "somebody put a message on the stop channel"
        if source not in self._promises:
            if len(self._promises) >= MOST:
                return ""
            self._tell("stop input", f"'{source}' can stop the robot")
        within, only_told = float(event.values[0]), bool(event.values[1])
        within = min(max(within, STOP_INPUT_PERIOD.least), STOP_INPUT_PERIOD.most)
        self._promises[source] = _Promise(within, not only_told, time.monotonic())
        return ""


LOST = "words on the stop channel were lost, and one may have been a stop"
