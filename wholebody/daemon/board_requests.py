"""BoardServer: answers what is asked of the daemon: some requests are its own, the rest go to the boards."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from wholebody.daemon.merging import NOBODY
from wholebody.drivers.boards import BoardRequest, BoardStatus, four
from wholebody.drivers.interface import Answer, Boards
from wholebody.drivers.names import Names
from wholebody.errors import WholebodyError
from wholebody.messages import ALL_JOINTS, Filter, Verb
from wholebody.messages.bounds import BOARD_GAIN
from wholebody.services import Server, Stage

if TYPE_CHECKING:
    from wholebody.daemon.cycle import Cycle

AT_ONCE = 4
"""Requests answered in a cycle; the others wait for the next."""


class BoardServer(Server):
    """The daemon's service; `inbox` is the reader of its requests, `inbox.unread` whether there is one."""

    def __init__(self, names: Names) -> None:
        super().__init__(names.boards_service, (BoardRequest,), BoardStatus)
        self.inbox = self._requests


class BoardRequests:
    """Answers every request."""

    def __init__(self, cycle: Cycle, server: BoardServer) -> None:
        self._cycle, self._server = cycle, server
        self._own: dict[Verb, Callable[[list[int], list[float]], Answer]] = {
            Verb.FILTER: self._filter,
            Verb.STEP_LIMIT: self._step_limit,
            Verb.STOP: self._stop,
            Verb.RESUME: self._resume,
            Verb.END_LEASE: self._end_lease,
        }

    def answer(self, now: float) -> None:
        """Answer what was asked since the last cycle, in order."""
        for _ in range(AT_ONCE):
            if not self._server.inbox.unread:
                return
            if (asked := self._server.take()) is not None:
                try:
                    answer = self._do(asked.request)
                except WholebodyError as error:
                    answer = Answer(False, str(error))
                stage = Stage.SUCCEEDED if answer.accepted else Stage.REJECTED
                status = BoardStatus(answer.status, four(answer.values))
                self._server.reply(asked.number, stage, now, answer.text, answer=status)

    def _do(self, request: BoardRequest) -> Answer:
        cycle, joint, values = self._cycle, request.joint, list(request.values)
        names = cycle.robot.joint_names
        if request.verb not in list(Verb):
            return Answer(False, f"there is no request number {request.verb}")
        if joint != ALL_JOINTS and not 0 <= joint < len(names):
            return Answer(False, f"there is no joint number {joint}; {cycle.robot.name} has {len(names)}")
        if not all(math.isfinite(value) for value in values):
            return Answer(False, "the values of a request must be finite numbers")
        verb, joints = Verb(request.verb), list(range(len(names))) if joint == ALL_JOINTS else [joint]
        if verb is Verb.GAINS and (wrong := next(filter(None, map(BOARD_GAIN.complaint, values)), "")):
            return Answer(False, wrong)
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
        if self._cycle.pressed:
            return Answer(False, f"a stop button of the robot is pressed ({self._cycle.pressed}): release it first")
        self._cycle.resume()
        return Answer(True, "references are followed again, from now on")

    def _end_lease(self, joints: list[int], values: list[float]) -> Answer:
        ended = {self._cycle.merging.end_lease(joint) for joint in joints} - {NOBODY}
        if not ended:
            return Answer(False, "nobody holds a lease there")
        names = ", ".join(sorted(self._cycle.controllers.name[row] for row in ended))
        return Answer(True, f"ended the lease of {names}")
