"""Outlets: the channels that the daemon makes for its robot, all in one place."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Self, TypeVar

import numpy as np

from wholebody import messages
from wholebody.channels import Channel, directory
from wholebody.channels.channel import Reader, Writer
from wholebody.drivers.names import Names
from wholebody.errors import ChannelInUse, LayoutMismatch, RobotTaken, TooManyWriters
from wholebody.messages import Record
from wholebody.robots.robot import Robot

# How messages begin that are put in every cycle: packed at once, which is cheaper than field by field.
_STATE = struct.Struct("<dQ")  # time, tick
_TICK = struct.Struct("<dQdQ")  # all of messages.tick()
_COMMAND = struct.Struct("<d")  # time

M = TypeVar("M", bound=Record)


class Outlets:
    """Writers and readers on the robot's channels. Whoever has them has the robot: there is one place for a writer."""

    def __init__(self, robot: Robot, name: str, stages: tuple[str, ...]) -> None:
        self.names = names = Names(name)
        self._open = ExitStack()
        try:
            self.tick = self._writer(names.tick, messages.tick(), writers=1)
        except TooManyWriters as error:
            raise RobotTaken(
                f"a daemon runs a robot called '{names.robot}' already; stop it (wholebody stop), or give this one "
                "another name (--name)"
            ) from error
        joints = robot.joint_names
        self.state = self._writer(names.state, robot.state_dtype(), writers=1)
        self.commanded = self._writer(names.commanded, robot.reference_dtype(), writers=2)
        self.timing = self._writer(names.timing, messages.timing(stages), depth=1024)
        self._timing = struct.Struct(f"<QQd{len(stages)}d")  # all of messages.timing()
        self._state_bytes, self._tick_bytes = self.state.raw.data, self.tick.raw.data
        self._command_bytes, self._timing_bytes = self.commanded.raw.data, self.timing.raw.data
        self.report = self._writer(names.report, messages.report(joints))
        self.events = self._writer(names.events, messages.event(), depth=256)
        self.reply = self._writer(names.reply, messages.board_reply(joints))
        self.request = self._reader(names.request, messages.board_command(joints))
        self.stop = self._reader(names.stop, messages.event())

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

    def close(self) -> None:
        """Let go of the channels; they stay for others to read."""
        self._open.close()

    def __enter__(self) -> Self:
        """Return the outlets."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go."""
        self.close()

    def _writer(self, name: str, dtype: np.dtype[M], **sizes: int) -> Writer[M]:
        return self._open.enter_context(_make(name, dtype, **sizes).writer())

    def _reader(self, name: str, dtype: np.dtype[M]) -> Reader[M]:
        reader = _make(name, dtype).reader()
        reader.latest()  # what was asked of a daemon before this one is past
        return self._open.enter_context(reader)


def _make(name: str, dtype: np.dtype[M], **sizes: int) -> Channel[M]:
    """Open a channel; one that another robot of this name left behind is made anew."""
    try:
        return Channel(name, dtype, **sizes)
    except LayoutMismatch:
        pass
    try:
        directory.remove(name)
    except ChannelInUse as error:
        raise RobotTaken(f"the channel '{name}' of another robot is in use: {error}") from error
    return Channel(name, dtype, **sizes)
