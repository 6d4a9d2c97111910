"""StopInput: a key, a button or a program that can stop a robot, and whose loss is noticed.

    with StopInput("", "gamepad", within=1.0) as button:
        while True:
            button.beat()              # at least every `within` seconds
            if pressed():
                button.press("it was pressed")

All of them speak on the channel `robot.stop`. An event called `alive` promises the next word within `values[0]` s,
`bye` takes the promise back, and any other name stops the robot, so that any program in any language can do that. Of
an input that breaks its promise the daemon says so, and stops the robot unless `values[1]` is 1.
"""

from __future__ import annotations

import contextlib
import time
from typing import Self

from wholebody import messages
from wholebody.channels import Channel, Writer, directory
from wholebody.drivers.names import Names
from wholebody.errors import BadPeriod, ChannelError
from wholebody.messages import Event
from wholebody.messages.bounds import STOP_INPUT_PERIOD

STOP, ALIVE, BYE = "stop", "alive", "bye"


def stop_once(robot: str, source: str, why: str) -> None:
    """Stop the robot of a name, and promise nothing."""
    with Channel(Names(robot).stop, messages.event()) as channel, channel.writer() as writer:
        message = writer.message
        message.time, message.source = time.monotonic(), source
        message.name, message.text = STOP, why
        writer.put()


class StopInput:
    """Speaks on the stop channel of the robot of a name, as `source`, which nobody else may be called."""

    def __init__(self, robot: str, source: str, within: float = 1.0, *, only_told: bool = False) -> None:
        """Promise a word every `within` s; `only_told` has the daemon say that the input is lost, and go on."""
        if wrong := STOP_INPUT_PERIOD.complaint(within):
            raise BadPeriod(wrong)
        self.source, self.within, self.only_told = source, within, only_told
        self._channel = Names(robot).stop
        self._writer: Writer[Event] | None = None
        self._file: tuple[int, int] | None = None

    def beat(self) -> None:
        """Say that the input is there."""
        self._put(ALIVE, "", (self.within, float(self.only_told)))

    def press(self, why: str) -> None:
        """Stop the robot."""
        self._put(STOP, why)

    def close(self) -> None:
        """Take the promise back, and let go of the channel."""
        if self._writer is not None:
            with contextlib.suppress(ChannelError):
                self._put(BYE, "")
            self._writer.close()
            self._writer = None

    def __enter__(self) -> Self:
        """Say that the input is there."""
        self.beat()
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _put(self, name: str, text: str, values: tuple[float, ...] = ()) -> None:
        """Put a word on the channel, or on the one that has taken its place since."""
        file = directory.identity(self._channel)
        if self._writer is None or file != self._file:
            if self._writer is not None:
                self._writer.close()
            self._writer = Channel(self._channel, messages.event()).writer()
            self._file = directory.identity(self._channel)
        message = self._writer.message
        message.time, message.source, message.name, message.text = time.monotonic(), self.source, name, text
        message.values[:] = 0.0
        message.values[: len(values)] = values
        self._writer.put()


def put_stop(robot: str, source: str, why: str) -> None:
    """Stop the robot of a name, once: its daemon stops it in its next cycle, until `resume`."""
    with contextlib.closing(StopInput(robot, source)) as once:
        once.press(why)
