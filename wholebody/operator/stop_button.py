"""Stop buttons: keys of a terminal and buttons of gamepads that stop a robot; one that is unplugged stops it, too."""

from __future__ import annotations

import contextlib
import os
import select
import struct
import termios
import time
import tty
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from wholebody.channels.subscription import Subscription
from wholebody.drivers.boards import BoardClient
from wholebody.drivers.names import Names
from wholebody.drivers.stop_input import StopInput
from wholebody.errors import HardwareError, WholebodyError
from wholebody.messages import Report, Verb

BEATS = 5
"""How often a button speaks in the time within which it promises to."""
ANSWER_WITHIN = 1.0
"""s after a press until the daemon must have said that the robot is stopped."""
RESUME, QUIT = b"r", b"q"

Say = Callable[[str], None]


class Quit(Exception):
    """The person at the keys wants to end."""


class Button(Protocol):
    """Something that can be pressed: a file to wait for, and what it says."""

    name: str
    file: int

    def take(self) -> Iterator[str]:
        """What was pressed since the last call, in words; HardwareError if it is gone."""


class Keys:
    """A terminal: r resumes, q ends, every other key stops, also the space bar and Escape."""

    def __init__(self, file: int, resume: Callable[[], None]) -> None:
        if not os.isatty(file):
            raise HardwareError("this is no terminal, so it has no keys; give --no-keys and a --gamepad")
        self.name, self.file, self._resume = f"keys of process {os.getpid()}", file, resume

    def take(self) -> Iterator[str]:
        """Take the keys that were pressed."""
        pressed = os.read(self.file, 64)
        if not pressed:
            raise HardwareError("the terminal is gone")
        for key in (pressed[i : i + 1] for i in range(len(pressed))):
            if key in (QUIT, b"\x03", b"\x04"):
                raise Quit
            if key == RESUME:
                self._resume()
            else:
                yield "a key was pressed"
                return  # the rest of an escape sequence is no second press

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """Give keys as they are pressed, without a return, while the block runs."""
        before = termios.tcgetattr(self.file)
        tty.setcbreak(self.file)
        try:
            yield
        finally:
            termios.tcsetattr(self.file, termios.TCSADRAIN, before)


class Gamepad:
    """A joystick of Linux, /dev/input/js0: records of 8 bytes (time in ms, value, type, number)."""

    RECORD = struct.Struct("<IhBB")
    BUTTON, AS_IT_WAS = 0x01, 0x80
    """Types: a button; and, with any, how it was when the file was opened."""

    def __init__(self, path: str, button: int | None = None) -> None:
        """Of one button, or of all of them."""
        self.name, self._button = f"gamepad {path}", button
        self._rest = b""
        try:
            self.file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError as error:
            raise HardwareError(f"gamepad {path}: {error.strerror}; is it plugged in, and may you read it?") from error

    def take(self) -> Iterator[str]:
        """Take the buttons that were pressed."""
        try:
            data = os.read(self.file, 64 * self.RECORD.size)
        except BlockingIOError:
            return
        except OSError as error:
            raise HardwareError(f"{self.name} is unplugged ({error.strerror})") from None
        if not data:
            raise HardwareError(f"{self.name} is unplugged")
        data = self._rest + data
        whole = len(data) - len(data) % self.RECORD.size
        self._rest = data[whole:]
        for _, value, kind, number in self.RECORD.iter_unpack(data[:whole]):
            if kind & ~self.AS_IT_WAS == self.BUTTON and value and self._button in (None, number):
                yield f"button {number} was pressed"

    def close(self) -> None:
        """Close the file."""
        os.close(self.file)


class StopButtons:
    """Several buttons of one robot, watched in a loop until none is left."""

    def __init__(self, robot: str, buttons: Sequence[Button], say: Say, within: float = 1.0, only_told: bool = False):
        self.robot, self._say, self._within, self._only_told = Names(robot).robot, say, within, only_told
        self._inputs = {one: StopInput(self.robot, one.name, within, only_told=only_told) for one in buttons}
        self._report = Subscription(Names(robot).report, Report)
        self._answer_by = 0.0  # until when the daemon must say that it has stopped; 0: nothing is awaited

    def run(self, goes_on: Callable[[], bool] = lambda: True) -> None:
        """Watch them until told to end; HardwareError when the last one is gone."""
        with contextlib.ExitStack() as stack:
            for each in self._inputs.values():
                stack.callback(each.close)
            while goes_on():
                for stop in self._inputs.values():
                    stop.beat()
                files = [button.file for button in self._inputs]
                ready, _, _ = select.select(files, [], [], self._within / BEATS)
                for button in [button for button in self._inputs if button.file in ready]:
                    self._take(button)
                if not self._inputs:
                    raise HardwareError("no stop button is left: plug one in, and begin this again")
                self._await_answer()

    def _take(self, button: Button) -> None:
        stop = self._inputs[button]
        try:
            for what in button.take():
                stop.press(f"{button.name}: {what}")
                self._say(f"{button.name}: {what}: stop")
                self._answer_by = time.monotonic() + ANSWER_WITHIN
        except HardwareError as error:
            self._say(str(error))
            del self._inputs[button]
            if not self._only_told:
                stop.press(str(error))
                self._answer_by = time.monotonic() + ANSWER_WITHIN
            stop.close()

    def _await_answer(self) -> None:
        if not self._answer_by:
            return
        report = self._report.take()
        if report is not None and report.stopped and self._report.age < ANSWER_WITHIN:
            self._answer_by = 0.0
            self._say(f"'{self.robot}' is stopped; r: resume")
        elif time.monotonic() > self._answer_by:
            self._answer_by = 0.0
            self._say(f"THE DAEMON OF '{self.robot}' DOES NOT ANSWER: use the wired stop; then: wholebody status")


def resume(robot: str, say: Say) -> None:
    """Ask the daemon to follow references again, and say what it answers."""
    try:
        with BoardClient(robot) as boards:
            say(boards.request(Verb.RESUME).text)
    except WholebodyError as error:
        say(str(error))
