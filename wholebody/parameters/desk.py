"""Desk: where a running controller answers other processes about its parameters, one request a cycle.

What there is (paths, units, meanings, the order of joints, the configuration) is told once, before the loop, as one
text; so a request is no more than a few numbers, and whoever asks does the work of finding and showing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from wholebody.channels.owned import Opened
from wholebody.errors import LayoutMismatch, NoController, TooManyWriters, WholebodyError
from wholebody.parameters.bindings import Note
from wholebody.parameters.parameter import Array
from wholebody.parameters.records import (
    PART,
    TEXT,
    ControllerNames,
    Verb,
    about_record,
    answer_record,
    ask_record,
    long_record,
)
from wholebody.parameters.reflection import Parameters, given_value

PARTS_KEPT = 256
CLIENTS = 64
"""Processes that may ask at the same time."""

Matrix = Callable[[], Array]
"""Something that is computed when it is asked for, such as a Jacobian at this instant."""


class Desk(Opened):
    """Answers requests about parameters.

        with Desk(ControllerNames("robot", "reach"), parameters, {"joints": [...]}) as desk:
            ...
            desk.serve(now)           # in every cycle: a look, unless somebody asked

    more      what else there is to know, as JSON has it
    matrices  what can be asked for by number; each is computed in the cycle that answers
    """

    def __init__(
        self,
        names: ControllerNames,
        parameters: Parameters,
        more: dict[str, Any] | None = None,
        matrices: Sequence[Matrix] = (),
        largest_matrix: int = 1,
        note: Note | None = None,
    ) -> None:
        super().__init__()
        self.names = names
        self._slots = tuple(parameters)
        self._matrices, self._note = tuple(matrices), note
        most = max((each.about.size for each in self._slots), default=1)
        self._about = self._only(names.about, about_record(), PARTS_KEPT)
        self._answers = self._only(names.answer, answer_record(most), 64)
        self._values = self._only(names.values, long_record(sum(each.about.size for each in self._slots)), 4)
        self._matrix = self._only(names.jacobian, long_record(largest_matrix), 4)
        requests = self._channel(names.ask, ask_record(most), 64, CLIENTS)
        self._requests = self._opened.enter_context(requests.reader())
        self._requests.latest()
        self._next: Callable[[], bool] = self._requests.next
        self._tell({"parameters": [asdict(each.about) for each in self._slots], **(more or {})})

    def serve(self, now: float) -> None:
        """Answer the next request, if there is one."""
        if self._next():
            self._answer(now)

    # --- answers -----------------------------------------------------------------------------------

    def _answer(self, now: float) -> None:
        request, answer = self._requests.message, self._answers.message
        answer["number"], answer["time"], answer["accepted"], answer["text"] = request["number"], now, True, b""
        answer["count"] = 0
        try:
            self._do(int(request["verb"]), int(request["index"]), request, now)
        except WholebodyError as error:
            answer["accepted"], answer["text"] = False, str(error).encode()[:TEXT]
        self._answers.put()

    def _do(self, verb: int, index: int, request: Any, now: float) -> None:
        if verb == Verb.VALUES:
            numbers: list[Array] = []
            for each in self._slots:
                if each.refresh is not None:
                    each.refresh()
                numbers.append(each.array)
            self._put(self._values, np.concatenate(numbers), int(request["number"]), now)
        elif verb == Verb.JACOBIAN and 0 <= index < len(self._matrices):
            self._put(self._matrix, self._matrices[index](), int(request["number"]), now)
        elif verb in (Verb.GET, Verb.SET) and 0 <= index < len(self._slots):
            slot = self._slots[index]
            if verb == Verb.SET:
                given = request["values"][: int(request["count"])]
                slot.set(given_value(slot, given))
                if self._note is not None:
                    self._note(slot, given)
            if slot.refresh is not None:
                slot.refresh()
            self._answers.message["count"] = slot.about.size
            self._answers.message["values"][: slot.about.size] = slot.array
        else:
            raise NoController(f"request {verb} of number {index} is for another controller; ask again")

    def _put(self, writer: Any, numbers: Array, number: int, now: float) -> None:
        flat = numbers.ravel()
        message = writer.message
        message["number"], message["time"], message["count"] = number, now, len(flat)
        message["values"][: len(flat)] = flat
        writer.put()

    # --- before the loop ---------------------------------------------------------------------------

    def _tell(self, everything: dict[str, Any]) -> None:
        data = json.dumps(everything, default=float).encode()
        parts = [data[first : first + PART] for first in range(0, len(data), PART)]
        message = self._about.message
        for number, part in enumerate(parts, 1):
            message["part"], message["parts"], message["size"] = number, len(parts), len(part)
            message["text"][: len(part)] = np.frombuffer(part, np.uint8)
            self._about.put()

    def _only(self, name: str, dtype: Any, depth: int) -> Any:
        """A writer, as the only one there may be."""
        try:
            return self._writer(name, dtype, depth, writers=1)
        except (TooManyWriters, LayoutMismatch):
            raise NoController(
                f"a controller called '{self.names.controller}' runs on '{self.names.robot}' already; stop it, or give "
                "this one another name"
            ) from None
