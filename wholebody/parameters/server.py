"""ParameterServer: answers other processes about a controller's parameters, one request a cycle; Journal: what was set.

What there is (paths, units, meanings, the order of joints, the configuration) is told once, before the loop, as one
text; so a request is no more than a path and a few numbers, and whoever asks does the work of finding and showing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np

from wholebody.channels import Writer
from wholebody.channels.owned import Opened
from wholebody.errors import NoController, NoServer, WholebodyError
from wholebody.messages import offset
from wholebody.parameters.bindings import Note
from wholebody.parameters.parameter import Array
from wholebody.parameters.records import (
    LEAST,
    PART,
    Applied,
    ControllerNames,
    Description,
    Get,
    GetAll,
    GetJacobian,
    Set,
    Values,
    about_record,
    applied_record,
)
from wholebody.parameters.reflection import Parameters, Slot, given_value
from wholebody.services import Asked, Server, Stage

PARTS_KEPT = 256
REPLIES_KEPT = 64
APPLIED_KEPT = 1024

Matrix = Callable[[], Array]
"""Something that is computed when it is asked for, such as a Jacobian at this instant."""


class ParameterServer(Server):
    """Answers requests about parameters.

        with ParameterServer(ControllerNames("robot", "reach"), parameters, Description("hubo2plus")) as server:
            ...
            server.serve(now)         # in every cycle: a look, unless somebody asked

    description  what else there is to know
    jacobians  what can be asked for by name; each is computed in the cycle that answers
    largest    how many numbers the largest of them has
    """

    missing: ClassVar[type[NoServer]] = NoController

    def __init__(
        self,
        names: ControllerNames,
        parameters: Parameters,
        description: Description,
        jacobians: Mapping[str, Matrix] | None = None,
        largest: int = 1,
        note: Note | None = None,
    ) -> None:
        self.names = names
        self._parameters, self._jacobians, self._was_set = parameters, jacobians or {}, note
        room = max(sum(each.about.size for each in parameters), largest, LEAST)
        super().__init__(names.service, (Get, Set, GetAll, GetJacobian), Values, kept=REPLIES_KEPT, room=room)
        self._about = self._writer(names.about, about_record(), PARTS_KEPT, writers=1)
        self._tell({"parameters": [asdict(each.about) for each in parameters], **asdict(description)})

    @property
    def taken(self) -> str:
        return (
            f"a controller called '{self.names.controller}' runs on '{self.names.robot}' already; stop it, or give "
            "this one another name"
        )

    def serve(self, now: float) -> None:
        """Answer the next request, if there is one."""
        if self._next() and (asked := self._look_at(self._requests.message)) is not None:
            self._answer_to(asked, now)

    def _answer_to(self, asked: Asked, now: float) -> None:
        try:
            answer = Values(self._do(asked.request))
        except WholebodyError as error:
            self.reply(asked.number, Stage.REJECTED, now, str(error))
        else:
            self.reply(asked.number, Stage.SUCCEEDED, now, answer=answer)

    def _do(self, request: Any) -> Array:
        match request:
            case Get(path):
                return _numbers(self._parameters.slot(path))
            case Set(path, values):
                slot = self._parameters.slot(path)
                slot.set(given_value(slot, values))
                if self._was_set is not None:
                    self._was_set(slot, values)
                return _numbers(slot)
            case GetAll():
                return np.concatenate([_numbers(each) for each in self._parameters])
            case GetJacobian(constraint) if constraint in self._jacobians:
                return self._jacobians[constraint]().ravel()
        raise NoController(f"there is no constraint '{request.constraint}'; the controller has changed, ask again")

    def _tell(self, everything: dict[str, Any]) -> None:
        data = json.dumps(everything, default=float).encode()
        parts = [data[first : first + PART] for first in range(0, len(data), PART)]
        message = self._about.message
        for number, part in enumerate(parts, 1):
            message.part, message.parts, message.size = number, len(parts), len(part)
            message.text[: len(part)] = np.frombuffer(part, np.uint8)
            self._about.put()


def _numbers(slot: Slot) -> Array:
    if slot.refresh is not None:
        slot.refresh()
    return slot.array


class Journal(Opened):
    """Puts every parameter that was set from outside on a channel, with the cycle that it was set before."""

    def __init__(self, names: ControllerNames, parameters: Parameters) -> None:
        super().__init__()
        self.now: Callable[[], tuple[float, int]] = lambda: (0.0, 0)
        """What time it is in the loop, and which cycle."""
        self._index = {id(slot): index for index, slot in enumerate(parameters)}
        most = max((slot.about.size for slot in parameters), default=1)
        writer = self._writer(names.applied, applied_record(most), APPLIED_KEPT)
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
