"""Where people's commands to a robot are taken: in one process at a time, and others can find out in which."""

from __future__ import annotations

import os
import time

from wholebody import messages
from wholebody.channels import Channel
from wholebody.cli.looks.picture import text
from wholebody.errors import DeskTaken, TooManyWriters
from wholebody.hardware import Names
from wholebody.parameters.owned import Opened


class DeskPlace(Opened):
    """Holds the place until it is closed; DeskTaken if somebody else does."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._robot = Names(name).robot
        self._name = f"{self._robot}.desk"
        try:
            self._announcement = self._writer(self._name, messages.event(), writers=1)
        except TooManyWriters:
            self.close()
            raise DeskTaken(
                f"people talk to '{self._robot}' elsewhere already: {self._elsewhere()}; use that, or end it first"
            ) from None

    def announce(self, where: str) -> None:
        """Say where people can talk to the robot."""
        message = self._announcement.message
        message["time"], message["source"], message["name"] = time.monotonic(), b"desk", b"open"
        message["text"] = f"{where}, process {os.getpid()}".encode()
        self._announcement.put()

    def _elsewhere(self) -> str:
        with Channel(self._name) as channel, channel.reader() as reader:
            processes = channel.writer_processes()
            if reader.latest():
                return text(reader.message["text"])
            return ", ".join(f"process {each}" for each in processes)
