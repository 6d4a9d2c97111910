"""FilterParameters: how the daemon filters references, as parameters: filter.RSP.mode, .length and .gain.

The daemon's loop has no part in it: its reports say how joints are filtered, and its requests change that.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from wholebody.channels.subscription import Subscription
from wholebody.daemon.filters import LENGTH
from wholebody.drivers.boards import BoardClient
from wholebody.errors import BadParameter, NoRobot, UnknownName
from wholebody.messages import Filter, Report, Verb
from wholebody.messages.bounds import COMPLIANCE_GAIN, FILTER_LENGTH
from wholebody.parameters import Bounds, Parameters, Unit
from wholebody.parameters.reflection import About, Slot, Value
from wholebody.processes.launch_plan import FILTERS

GROUP = "filter"
PATIENCE = 2.0
"""s in which a daemon that runs reports."""
WITH_LENGTH = (Filter.SMOOTH, Filter.FEEDBACK)


@dataclass(frozen=True)
class JointFilter:
    """How a joint's command is made of its reference (see Filter).

    length  L, in periods, of the modes smooth and feedback; 1 is no filter
    gain    Kc, less than 1, of the mode compliant; 0 is as stiff as the joint is
    """

    mode: Filter = Filter.PASS
    length: Annotated[int, Unit("1"), Bounds(FILTER_LENGTH.least, FILTER_LENGTH.most)] = LENGTH
    gain: Annotated[float, Unit("1"), Bounds(COMPLIANCE_GAIN.least, COMPLIANCE_GAIN.most)] = 0.0

    @classmethod
    def reported(cls, mode: Filter, value: float) -> JointFilter:
        """As the daemon tells it: with the one number that is in use."""
        if mode in WITH_LENGTH:
            return cls(mode, length=int(value))
        return cls(mode, gain=value) if mode is Filter.COMPLIANT else cls(mode)

    @property
    def value(self) -> float:
        """The number that is in use."""
        if self.mode in WITH_LENGTH:
            return float(self.length)
        return self.gain if self.mode is Filter.COMPLIANT else 0.0


class FilterParameters:
    """The filters of a running robot; what can be done with them is what Remote can do with parameters."""

    def __init__(self, name: str = "") -> None:
        self._requests = BoardClient(name)
        self._report = Subscription(self._requests.names.report, Report)
        joints = self._requests.joints
        self._filters = [JointFilter() for _ in joints]
        self._told = 0.0  # when something was changed last; older reports do not know of it
        self._wait_for_report()
        self._parameters = Parameters()
        for index, joint in enumerate(joints):
            self._add(f"{GROUP}.{joint}", index)

    def list(self) -> tuple[About, ...]:
        """What is known of every parameter."""
        return tuple(slot.about for slot in self._parameters)

    def about(self, path: str) -> About:
        """What is known of a parameter."""
        return self._parameters.slot(path).about

    def get(self, path: str) -> Value:
        """The value of a parameter."""
        return self._parameters.get(path)

    def set(self, path: str, value: Any) -> Value:
        """Set a parameter, and return what it is now; BadParameter if it was refused."""
        self._parameters.set(path, value)
        return self.get(path)

    def values(self) -> dict[str, Value]:
        """All values."""
        return {slot.about.path: slot.value() for slot in self._parameters}

    def save(self, file: str | Path) -> None:
        """Write all values into a YAML file."""
        self._parameters.save(file)

    def load(self, file: str | Path) -> None:
        """Set all values of such a file, or, if one of them cannot be taken, none."""
        self._parameters.load(file)

    def _add(self, path: str, joint: int) -> None:
        meaning = "how its command is made of its reference"
        about = About(f"{path}.mode", "state", "", 1, 0, len(Filter) - 1, meaning, choices=tuple(FILTERS))
        array = np.zeros(1)

        def refresh() -> None:
            array[0] = self._now(joint).mode

        def assign(mode: str) -> None:
            if mode not in FILTERS:
                raise UnknownName("mode", mode, FILTERS)
            self._write(path, joint, replace(self._now(joint), mode=FILTERS[mode]))

        self._parameters.add_slot(Slot(about, array, assign, refresh))
        self._parameters.add_record(path, lambda: self._now(joint), lambda changed: self._write(path, joint, changed))

    def _now(self, joint: int) -> JointFilter:
        report = self._report.take()
        if report is not None and self._reported_at > self._told:
            modes, values = report.filter, report.filter_value
            self._filters[joint] = JointFilter.reported(Filter(int(modes[joint])), float(values[joint]))
        return self._filters[joint]

    def _write(self, path: str, joint: int, changed: JointFilter) -> None:
        now = self._now(joint)
        kept = JointFilter.reported(changed.mode, changed.value)
        if changed.mode is now.mode and kept != changed:
            fitting = "compliant" if changed.gain != kept.gain else "smooth or feedback"
            raise BadParameter(
                f"{path}.mode is {now.mode.name.lower()}, which does not use it; set it to {fitting} first"
            )
        if kept == now:
            return
        answer = self._requests.request(Verb.FILTER, joint, (kept.mode, kept.value))
        if not answer.accepted:
            raise BadParameter(f"{path}: {answer.text}")
        self._filters[joint], self._told = kept, time.monotonic()

    def _wait_for_report(self) -> None:
        """See what the daemon says now; if it stands still, what it said last."""
        began = time.monotonic()
        while self._report.take() is None or self._reported_at < began:
            if time.monotonic() > began + PATIENCE:
                break
            time.sleep(0.02)
        if self._report.take() is None:
            raise NoRobot(f"the daemon of '{self._requests.names.robot}' runs, and reports nothing; is it stuck?")

    @property
    def _reported_at(self) -> float:
        return time.monotonic() - self._report.age
