"""Where simulated boards or servos, which are a process of their own, can be reached: they announce it on a channel."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from wholebody import messages
from wholebody.channels import Channel
from wholebody.drivers.names import Names
from wholebody.errors import HardwareError

PATIENCE = 20.0
"""s to wait for an announcement."""


@dataclass(frozen=True)
class Announcement:
    """Where simulated boards or servos can be reached: the name of their buses, or UDP ports."""

    name: str
    ports: tuple[int, ...]


class Announce(Protocol):
    """Says where simulated devices are."""

    def __call__(self, name: str, ports: Sequence[int]) -> None:
        """Say it."""


@contextmanager
def announcing(robot: str) -> Iterator[Announce]:
    """Announce devices under the name of a robot, whose only ones they are, until the end of the block."""
    with Channel(Names(robot).boards, messages.event(), writers=1) as channel, channel.writer() as writer:

        def announce(name: str, ports: Sequence[int]) -> None:
            writer.message.text = name
            writer.message.count = len(ports)
            writer.message.values[: len(ports)] = ports
            writer.put()

        yield announce


def announced(robot: str, otherwise: str) -> Announcement:
    """Wait until the simulated devices of a robot's name say where they are; the error says what to do otherwise."""
    names = Names(robot)
    until = time.monotonic() + PATIENCE
    with Channel(names.boards, messages.event(), writers=1) as channel, channel.reader() as reader:
        while time.monotonic() < until:
            if (reader.latest() or reader.sequence) and reader.process in channel.writer_processes():
                said = reader.message
                ports = tuple(int(number) for number in said.values[: said.count])
                return Announcement(said.text, ports)
            time.sleep(0.01)
    raise HardwareError(f"no simulated device of '{names.robot}' within {PATIENCE:g} s; {otherwise}")
