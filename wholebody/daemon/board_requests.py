"""BoardRequests: what consoles ask of the daemon, answered one by one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from wholebody.daemon.merging import NOBODY
from wholebody.drivers.interface import Answer, Boards
from wholebody.errors import WholebodyError
from wholebody.messages import ALL_JOINTS, Filter, Verb

if TYPE_CHECKING:
    from wholebody.daemon.cycle import Cycle

AT_ONCE = 4
"""Requests answered in a cycle; the others wait for the next."""


class BoardRequests:
    """Answers every request: some are the daemon's, the rest go to the boards."""

    def __init__(self, cycle: Cycle) -> None:
        self._cycle = cycle
        self._reader, self._writer = cycle.outlets.request, cycle.outlets.reply
        self._own: dict[Verb, Callable[[list[int], list[float]], Answer]] = {
            Verb.FILTER: self._filter,
            Verb.STEP_LIMIT: self._step_limit,
            Verb.STOP: self._stop,
            Verb.RESUME: self._resume,
            Verb.END_LEASE: self._end_lease,
        }

    def answer(self) -> None:
        """Answer what was asked since the last cycle, in order."""
        for _ in range(AT_ONCE):
            if not self._reader.next():
                return
            asked, reply = self._reader.message, self._writer.message
            try:
                answer = self._do(asked.verb, asked.joint, [float(v) for v in asked.values])
            except WholebodyError as error:
                answer = Answer(False, str(error))
            reply.number, reply.verb, reply.joint = asked.number, asked.verb, asked.joint
            reply.accepted, reply.status = answer.accepted, answer.status
            reply.values[:] = [*answer.values, *[0.0] * 4][:4]
            reply.text = answer.text
            self._writer.put()

    def _do(self, number: int, joint: int, values: list[float]) -> Answer:
        cycle = self._cycle
        names = cycle.robot.joint_names
        if number not in list(Verb):
            return Answer(False, f"there is no request number {number}")
        if joint != ALL_JOINTS and not 0 <= joint < len(names):
            return Answer(False, f"there is no joint number {joint}; {cycle.robot.name} has {len(names)}")
        if not all(math.isfinite(value) for value in values):
            return Answer(False, "the values of a request must be finite numbers")
        verb, joints = Verb(number), list(range(len(names))) if joint == ALL_JOINTS else [joint]
        if verb in self._own:
            return self._own[verb](joints, values)
        if not isinstance(cycle.interface, Boards):
            return Answer(False, "this robot has no boards to ask")
        answer = cycle.interface.command(verb, joint, values)
        if verb is Verb.HOME and answer.accepted:
            cycle.expect_home(joints)
        return answer

    def _filter(self, joints: list[int], values: list[float]) -> Answer:
        if values[0] not in list(Filter):
            return Answer(False, f"there is no filter number {values[0]:g}")
        mode = Filter(int(values[0]))
        for joint in joints:
            self._cycle.filters.set(joint, mode, values[1])
        return Answer(True, f"references are followed in mode {mode.name.lower()}")

    def _step_limit(self, joints: list[int], values: list[float]) -> Answer:
        boards = self._cycle.interface
        may_open = isinstance(boards, Boards) and boards.simulated
        for joint in joints:
            self._cycle.gate.set_step(joint, values[0], may_open)
        return Answer(True, f"the step limit is {self._cycle.gate.step[joints[0]]:.4g} rad per period")

    def _stop(self, joints: list[int], values: list[float]) -> Answer:
        self._cycle.stop("a console asked for it")
        return Answer(True, "stopped: every joint holds; `resume` to go on")

    def _resume(self, joints: list[int], values: list[float]) -> Answer:
        if not self._cycle.stopped:
            return Answer(True, "it was not stopped")
        self._cycle.resume()
        return Answer(True, "references are followed again, from now on")

    def _end_lease(self, joints: list[int], values: list[float]) -> Answer:
        ended = {self._cycle.merging.end_lease(joint) for joint in joints} - {NOBODY}
        if not ended:
            return Answer(False, "nobody holds a lease there")
        names = ", ".join(sorted(self._cycle.controllers.name[row] for row in ended))
        return Answer(True, f"ended the lease of {names}")
