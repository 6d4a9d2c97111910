"""run: a low-pass filter as a process of its own, between a controller and the daemon (document 003, Fig. 1).

    controller ──▶ robot.<controller>.unfiltered ──▶ filter ──▶ robot.<controller>.reference ──▶ daemon
    whenever it likes                               every 0.01 s

The controller may step its joints at any rate, regular or not: what the daemon gets is smooth and regular. The filter
begins at the command in force, so it never jumps, and with what is said from then on; the joints it speaks for are
those of the newest mask. A controller that declares a period and falls silent silences the filter too, so the daemon
does what the controller declared.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from wholebody import messages
from wholebody.channels import Channel
from wholebody.daemon.filters import Filters
from wholebody.hardware.clocks import SteadyClock
from wholebody.hardware.names import Names
from wholebody.messages import Filter, Mode
from wholebody.realtime import until_told

PERIOD = 0.01
"""s, the document's T₃"""
SILENT_AFTER = 3
"""declared periods without a word"""


def run(
    controller: str,
    robot: str = "",
    mode: Filter = Filter.SMOOTH,
    value: float | None = None,
    period: float = PERIOD,
    *,
    goes_on: Callable[[], bool] | None = None,
) -> None:
    """Filter a controller's references until SIGTERM or SIGINT (or as long as `goes_on` says so).

    All joints have the one filter. The robot's daemon must run, or have run: its state says which joints there are.
    """
    names, clock = Names(robot), SteadyClock(period)
    with Channel(names.state) as states, states.reader() as state:
        layout = messages.reference(messages.labels(states.dtype))
        with (
            Channel(names.unfiltered(controller), layout) as raw,
            Channel(names.reference(controller), layout) as filtered,
            raw.reader() as wanted,
            filtered.writer() as writer,
        ):
            smoothing = Smoothing(state, wanted, writer, mode, value)
            going = goes_on or until_told()
            while going():
                clock.tick()
                smoothing.once()


class Smoothing:
    """Newest unfiltered reference in, filtered reference out."""

    def __init__(self, state: Any, wanted: Any, writer: Any, mode: Filter, value: float | None = None) -> None:
        self._state, self._wanted, self._writer = state, wanted, writer
        joints = len(writer.message["position"])
        self.filters = Filters(joints)
        for joint in range(joints):
            self.filters.set(joint, mode, value)
        self._spoken_for = np.zeros(joints, bool)
        self._before, self._command = np.zeros(joints), np.zeros(joints)
        self._since = time.monotonic_ns()

    def once(self) -> bool:
        """Put the reference of this period; False if there is nothing to say."""
        self._state.latest()
        self._wanted.latest()
        if not self._state.sequence or not self._wanted.sequence or self._wanted.stamp_ns < self._since:
            return False
        wanted = self._wanted.message
        declared = float(wanted["period"])
        if declared > 0 and self._wanted.age > SILENT_AFTER * declared:
            self._spoken_for[:] = False
            return False
        mask = wanted["mask"]
        np.copyto(self._before, self._state.message["reference"], where=mask & ~self._spoken_for)
        np.copyto(self._spoken_for, mask)
        self.filters.apply(wanted["position"], self._before, self._state.message["position"], self._command)
        message = self._writer.message
        message.setfield(wanted, wanted.dtype, 0)
        np.copyto(message["position"], self._command, where=message["mode"] == Mode.POSITION)
        message["time"] = self._state.message["time"]
        self._writer.put()
        np.copyto(self._before, self._command, where=np.isfinite(self._command))
        return True
