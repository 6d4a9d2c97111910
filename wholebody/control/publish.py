"""Publish: what others may know of the loop, on a channel, after the command is written."""

from __future__ import annotations

from wholebody.channels.channel import Writer
from wholebody.control.servo import Servo
from wholebody.errors import BadProblem, WrongRecord


class PublishState:
    """Puts the state that the loop worked with on a channel: joints, and where the base was taken to be (odometry).

        with Channel("hubo.odometry", robot.state_dtype()) as channel:
            Servo(..., publish=[PublishState(channel.writer(), every=10)])

    A put takes a fraction of a microsecond and never waits for who reads.
    """

    def __init__(self, writer: Writer, every: int = 1) -> None:
        if every != int(every) or every < 1:
            raise BadProblem(f"a state is published after every n-th cycle, n a whole number from 1 on, not {every!r}")
        self._writer, self._every = writer, every

    def __call__(self, servo: Servo) -> None:
        """Put the newest state, if it is its turn."""
        if servo.counters.cycles % self._every == 0:
            raw = servo.estimate.raw
            if len(raw) != len(self._writer.raw):
                raise WrongRecord("the channel holds no states of this robot; make it with robot.state_dtype()")
            self._writer.raw[:] = raw
            self._writer.put()
