"""Line: how another process reaches a running controller: what it told of itself, requests out, answers in."""

from __future__ import annotations

import json
import secrets
import time
from typing import Any

import numpy as np

from wholebody import messages
from wholebody.channels import Channel, directory
from wholebody.errors import BadParameter, NoController
from wholebody.parameters.parameter import Array
from wholebody.parameters.records import ControllerNames, Verb

ABOUT = ".about"

LOOK_EVERY = 0.25
"""Seconds without an answer after which it looks whether anybody is there."""
STARTING = 10.0
"""Seconds for which a controller that just starts may keep others waiting."""
SPIN = 0.0015
"""Seconds for which it stays awake for an answer: a loop of 1 kHz has answered by then."""


class Line:
    """The line to one controller. Channels stay open from one request to the next, as long as it is the same life."""

    def __init__(self, names: ControllerNames) -> None:
        self.names = names
        self._about = Channel(names.about)
        self._told = -1
        self._request: Any = None
        self._answer: Any = None

    @property
    def alive(self) -> bool:
        """Whether the controller runs."""
        return is_alive(self.names.about)

    @property
    def life(self) -> int:
        """Which one of a controller's lives it is: another number when it was started again."""
        return self._about.newest

    @property
    def is_new(self) -> bool:
        """Whether the controller told something of itself that was not read yet: it was started again."""
        return self.life != self._told

    def read(self) -> dict[str, Any]:
        """What the controller tells of itself."""
        self.close()
        with self._about.reader() as reader:
            told = _newest_text(reader)
            self._told = reader.sequence
        return told

    def ask(self, verb: Verb, index: int, numbers: Any, timeout: float) -> Any:
        """Ask, and return the answer; BadParameter if it is no, NoController if there is none."""
        if self._request is None:
            self._open()
        number = secrets.randbits(63)
        self._answer.latest()
        message = self._request.message
        message["number"], message["verb"], message["index"], message["count"] = number, verb, index, len(numbers)
        message["values"][: len(numbers)] = numbers
        self._request.put()
        until = time.monotonic() + timeout
        while (now := time.monotonic()) < until:
            if not self._answer.wait(until=min(until, now + LOOK_EVERY), mode="next", spin=SPIN):
                self._see_who_is_there()
            elif self._answer.message["number"] == number:
                return self._checked(self._answer.message)
        raise NoController(f"{self} did not answer within {timeout:g} s; it runs, but its loop stands still")

    def long(self, verb: Verb, index: int, timeout: float) -> Array:
        """Ask for many numbers, which come on a channel of their own."""
        name = self.names.values if verb is Verb.VALUES else self.names.jacobian
        with Channel(name) as channel, channel.reader() as reader:
            number = int(self.ask(verb, index, (), timeout)["number"])
            while reader.next():
                if int(reader.message["number"]) == number:
                    return np.array(reader.message["values"][: int(reader.message["count"])])
        raise NoController("the answer was overwritten by those to others; ask again")

    def events(self) -> Any:
        """A reader of what comes true from now on."""
        reader = Channel(self.names.events, messages.event()).reader()
        while reader.next():
            pass
        return reader

    def close(self) -> None:
        """Let go of requests and answers."""
        for each in (self._request, self._answer):
            if each is not None:
                each.close()
        self._request = self._answer = None

    def __str__(self) -> str:
        """Who is at the other end."""
        return f"'{self.names.controller}' on '{self.names.robot}'"

    def _open(self) -> None:
        if not self.alive:
            raise NoController(f"{self} has ended")
        with Channel(self.names.ask) as asked, Channel(self.names.answer) as answered:
            self._request, self._answer = asked.writer(), answered.reader()

    def _see_who_is_there(self) -> None:
        if not self.alive:
            self.close()
            raise NoController(f"{self} has ended")
        if self.is_new:
            self.close()
            raise NoController(f"{self} was started again in the middle of a request; ask again")

    def _checked(self, answer: Any) -> Any:
        if not answer["accepted"]:
            raise BadParameter(bytes(answer["text"]).decode(errors="replace"))
        return answer.copy()


def running() -> list[tuple[str, str]]:
    """The controllers that run on this machine, as (robot, controller)."""
    found = []
    for name in directory.names():
        if name.endswith(ABOUT) and name.count(".") >= 2:
            robot, _, controller = name[: -len(ABOUT)].rpartition(".")
            if is_alive(name):
                found.append((robot, controller))
    return found


def is_alive(about: str) -> bool:
    """Whether a controller writes this channel."""
    return bool(directory.writers(about))


def told_in(parts: Any) -> dict[str, Any]:
    """The text of `about` records that follow each other."""
    everything: dict[str, Any] = json.loads(b"".join(bytes(each["text"][: int(each["size"])]) for each in parts))
    return everything


def _newest_text(reader: Any) -> dict[str, Any]:
    """The text that was told last, put together from its parts; one that is being told is waited for."""
    until = time.monotonic() + STARTING
    reader.latest()
    while not reader.sequence or int(reader.message["part"]) != int(reader.message["parts"]):
        if not reader.wait(until=until):
            raise NoController("a controller has begun to start, and got stuck; see what it says")
    newest, parts = reader.sequence, int(reader.message["parts"])
    found = []
    for sequence in range(newest - parts + 1, newest + 1):
        reader.at(sequence)
        found.append(reader.message.copy())
    return told_in(found)
