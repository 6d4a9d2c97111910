"""Requests: ask the daemon for something, and wait for its answer."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence

from wholebody import messages
from wholebody.channels import Channel
from wholebody.cli.looks.picture import text
from wholebody.cli.looks.watching import nothing_runs
from wholebody.errors import ChannelNotFound, HardwareError, NoRobot
from wholebody.hardware import Answer, Names
from wholebody.messages import ALL_JOINTS, Verb, labels


def daemon_of(name: str) -> int:
    """The process of the daemon that runs a robot; NoRobot if there is none."""
    try:
        with Channel(Names(name).tick) as channel:
            processes = channel.writer_processes()
    except ChannelNotFound:
        processes = []
    if not processes:
        raise NoRobot(nothing_runs(Names(name).robot))
    return processes[0]


class Requests:
    """What can be asked of the daemon that runs a robot.

    answer = Requests("robot").ask(Verb.HOME, joint=3)

    Channels are opened for each request, so that it does not matter if the daemon was restarted in between.
    """

    def __init__(self, name: str = "") -> None:
        self.names = Names(name)
        daemon_of(self.names.robot)

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that can be asked for."""
        daemon_of(self.names.robot)
        with Channel(self.names.request) as channel:
            return labels(channel.dtype)

    def ask(self, verb: Verb, joint: int = ALL_JOINTS, values: Sequence[float] = (), timeout: float = 5.0) -> Answer:
        """Ask, and return the answer, refused or not; HardwareError if none comes in time."""
        process = daemon_of(self.names.robot)
        number = secrets.randbits(63)
        with (
            Channel(self.names.request) as requests,
            Channel(self.names.reply) as replies,
            requests.writer() as request,
            replies.reader() as reply,
        ):
            reply.latest()
            message = request.message
            message["number"], message["verb"], message["joint"] = number, verb, joint
            message["values"][: len(values)] = values
            request.put()
            until = time.monotonic() + timeout
            while reply.wait(until=until, mode="next"):
                answer = reply.message
                if answer["number"] == number:
                    numbers = tuple(float(value) for value in answer["values"])
                    return Answer(bool(answer["accepted"]), text(answer["text"]), int(answer["status"]), numbers)
        daemon_of(self.names.robot)
        raise HardwareError(
            f"the daemon (process {process}) did not answer '{verb.name.lower()}' within {timeout:g} s; "
            f"see: wholebody status --name {self.names.robot}"
        )

    def stop(self) -> None:
        """Stop the robot by the emergency channel, which needs nobody to answer."""
        with Channel(self.names.stop, messages.event()) as channel, channel.writer() as writer:
            message = writer.message
            message["time"], message["source"] = time.monotonic(), b"console"
            message["name"], message["text"] = b"stop", b"a console asked for it"
            writer.put()
