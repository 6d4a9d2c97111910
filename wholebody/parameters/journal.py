"""Journal: what came into a loop from outside, and in which cycle it counted first; so that a run can be repeated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wholebody.channels import Writer
from wholebody.channels.owned import Opened
from wholebody.messages import offset
from wholebody.parameters.parameter import Array
from wholebody.parameters.records import Applied, ControllerNames, applied_record
from wholebody.parameters.reflection import Parameters, Slot, given_value

DEPTH = 1024


class Journal(Opened):
    """Puts every parameter that was set from outside on a channel, with the cycle that it was set before."""

    def __init__(self, names: ControllerNames, parameters: Parameters) -> None:
        super().__init__()
        self.now: Callable[[], tuple[float, int]] = lambda: (0.0, 0)
        """What time it is in the loop, and which cycle."""
        self._index = {id(slot): index for index, slot in enumerate(parameters)}
        most = max((slot.about.size for slot in parameters), default=1)
        writer = self._writer(names.applied, applied_record(most), DEPTH)
        self._time, self._values, self._cycle, self._what = _fields(writer)
        self._put: Callable[[], None] = writer.put

    def note(self, slot: Slot, values: Array) -> None:
        """A parameter was set to these numbers."""
        count = len(values)
        self._time[0], self._cycle[0] = self.now()
        self._what[0], self._what[1] = self._index[id(slot)], count
        self._values[:count] = values.data
        self._put()


def _fields(writer: Writer[Applied]) -> tuple[Any, Any, Any, Any]:
    """Time, values, cycle, and index with count, where they are in the writer's message."""
    raw, layout = writer.raw.data, writer.message.dtype
    time, values, cycle, index = (offset(layout, name) for name in ("time", "values", "cycle", "index"))
    return (
        raw[time : time + 8].cast("d"),
        raw[values:].cast("d"),
        raw[cycle : cycle + 8].cast("Q"),
        raw[index : index + 8].cast("I"),
    )


class Repeat:
    """Sets parameters again as a journal says, cycle by cycle.

    paths  of the parameters of the run that was journalled, in their order
    """

    def __init__(self, parameters: Parameters, paths: Sequence[str], records: Any) -> None:
        self._slots = [parameters.slot(path) for path in paths]
        self._records: list[Applied] = sorted(records, key=lambda each: each.cycle)
        self._at = 0

    def apply(self, cycle: int) -> None:
        """Set what was set before this cycle."""
        while self._at < len(self._records) and self._records[self._at].cycle <= cycle:
            record = self._records[self._at]
            slot = self._slots[record.index]
            slot.set(given_value(slot, record.values[: record.count]))
            self._at += 1
