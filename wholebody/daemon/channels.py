"""RobotChannels: the channels that the daemon makes for its robot; Timing: how long the stages of its cycles took."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from wholebody import messages
from wholebody.channels.owned import Opened
from wholebody.channels.subscription import Subscription
from wholebody.daemon.board_requests import BoardServer
from wholebody.daemon.stop_inputs import StopInputs
from wholebody.daemon.timing import Spread
from wholebody.drivers.names import Names
from wholebody.errors import LayoutMismatch, RobotTaken, TooManyWriters
from wholebody.messages import Record, Reference, Report
from wholebody.robots.robot import Robot

# How messages begin that are put in every cycle: packed at once, which is cheaper than field by field.
_STATE = struct.Struct("<dQ")  # time, tick
_TICK = struct.Struct("<dQdQ")  # all of messages.tick()
_COMMAND = struct.Struct("<d")  # time
KEPT = 1 << 15
"""Cycles of which p99 is taken."""

JUST_BEFORE = 60.0
"""s. A daemon takes over from one that commanded joints, or was stopped, no longer ago."""

M = TypeVar("M", bound=Record)


class RobotChannels(Opened):
    """Writers and readers on the robot's channels. Whoever has them has the robot: there is one place for a writer."""

    def __init__(self, robot: Robot, name: str, stages: tuple[str, ...]) -> None:
        super().__init__()
        self.names = names = Names(name)
        try:
            self._open(robot, stages)
        except TooManyWriters as error:
            raise RobotTaken(
                f"a daemon runs a robot called '{names.robot}' already; stop it (wholebody stop), or give this one "
                "another name (--name)"
            ) from error
        except LayoutMismatch as error:
            raise RobotTaken(f"a channel of another robot called '{names.robot}' is in use: {error}") from error

    def _open(self, robot: Robot, stages: tuple[str, ...]) -> None:
        names, joints = self.names, robot.joint_names
        self.tick = self._writer(names.tick, messages.tick(), writers=1)
        self.state = self._writer(names.state, robot.state_dtype(), writers=1)
        self.commanded = self._writer(names.commanded, robot.reference_dtype(), writers=2)
        self.commanded_before = self._left_behind(names.commanded, Reference, robot.reference_dtype())
        self.timing = self._writer(names.timing, messages.timing(stages), depth=1024)
        self._timing = struct.Struct(f"<QQd{len(stages)}d")  # all of messages.timing()
        self._state_bytes, self._tick_bytes = self.state.raw.data, self.tick.raw.data
        self._command_bytes, self._timing_bytes = self.commanded.raw.data, self.timing.raw.data
        before = self._left_behind(names.report, Report, messages.report(joints))
        self.stopped_before = before is not None and bool(before.stopped)
        self.report = self._writer(names.report, messages.report(joints))
        self.events = self._writer(names.events, messages.event(), depth=256)
        self.boards = self._opened.enter_context(BoardServer(names))
        stop = self._opened.enter_context(self._channel(names.stop, messages.event()).reader())
        self.stops = StopInputs(stop, self.tell)

    def _left_behind(self, channel: str, kind: type[M], layout: messages.Dtype) -> M | None:
        """The last message of a daemon that was here just before; None if none was."""
        left = Subscription(channel, kind)
        newest = left.take()
        return newest if newest is not None and newest.dtype == layout and left.age < JUST_BEFORE else None

    def put_state(self, time: float, number: int) -> None:
        """Publish the state, as read, of a cycle."""
        _STATE.pack_into(self._state_bytes, 0, time, number)
        self.state.put()

    def put_tick(self, time: float, number: int, period: float, missed: int) -> None:
        """Publish the beat."""
        _TICK.pack_into(self._tick_bytes, 0, time, number, period, missed)
        self.tick.put()

    def stamp_command(self, time: float) -> None:
        """Write the time of a cycle on its command."""
        _COMMAND.pack_into(self._command_bytes, 0, time)

    def put_timing(self, number: int, missed: int, late: float, took: Sequence[float]) -> None:
        """Publish how long the stages of a cycle took."""
        self._timing.pack_into(self._timing_bytes, 0, number, missed, late, *took)
        self.timing.put()

    def tell(self, what: str, text: str) -> None:
        """Say that something happened."""
        message = self.events.message
        message.source, message.name = "daemon", what
        message.text = text
        message.count += 1
        self.events.put()


class Timing:
    """The durations of the stages of every cycle, and of all of them together."""

    def __init__(self, stages: tuple[str, ...]) -> None:
        self.stages = stages
        self.cycles = 0
        self._rows = np.zeros((KEPT, len(stages) + 1))  # how late, and the stages
        self._row = struct.Struct(f"{len(stages) + 1}d")
        self._memory = self._rows.view(np.uint8).reshape(-1).data
        self._worst: dict[str, float] = {}  # of the cycles not kept

    def add(self, took: Sequence[float], late: float) -> None:
        """Note one more cycle."""
        self._row.pack_into(self._memory, self.cycles % KEPT * self._row.size, late, *took)
        self.cycles += 1
        if self.cycles % KEPT == 0:
            self._worst = {row.name: row.worst for row in self.table()}

    def table(self) -> list[Spread]:
        """Each stage, their sum without the wait, and how late cycles began."""
        kept = min(self.cycles, KEPT)
        took, late = self._rows[:kept, 1:], self._rows[:kept, 0]
        rows = [Spread.of(stage, took[:, column]) for column, stage in enumerate(self.stages)]
        rows += [Spread.of("work", took.sum(1)), Spread.of("late", late)]
        return [replace(row, worst=max(row.worst, self._worst.get(row.name, 0.0))) for row in rows]
