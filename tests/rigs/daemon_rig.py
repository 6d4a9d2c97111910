"""A daemon in this process: its cycle on a loopback robot, one period at every step."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from wholebody import messages, robots
from wholebody.channels import Channel
from wholebody.channels.channel import Writer
from wholebody.daemon.channels import RobotChannels
from wholebody.daemon.cycle import STAGES, Cycle
from wholebody.daemon.merging import LOOK_EVERY
from wholebody.daemon.timing import Contract
from wholebody.drivers import Answer, Loopback
from wholebody.drivers.boards import BoardClient
from wholebody.drivers.names import Names

ROBOT = robots.load("hubo2plus")
PERIOD = 0.005


@dataclass
class StepClock:
    """Beats whenever it is asked to."""

    period: float = PERIOD
    missed: int = 0
    beats: int = 0

    def tick(self) -> float:
        """Go on at once."""
        self.beats += 1
        return self.beats * self.period


@dataclass
class Rig:
    """The cycle, and controllers that put references for named joints."""

    robot: Any = ROBOT
    interface: Any = None
    contract: Contract = field(default_factory=Contract)
    clock: StepClock = field(default_factory=StepClock)

    def __post_init__(self) -> None:
        self._open = ExitStack()
        self.interface = self.interface or Loopback(self.robot)
        self.channels = self._open.enter_context(RobotChannels(self.robot, "robot", STAGES))
        self.cycle = Cycle(self.robot, self.interface, self.clock, self.channels, self.contract)
        self.cycle.begin()
        self.names = Names("robot")
        self._writers: dict[str, Writer] = {}
        self.events = Channel(self.names.events).reader()
        self.reports = Channel(self.names.report).reader()

    def __enter__(self) -> Rig:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def writer(self, controller: str, dtype: Any = None) -> Writer:
        """The controller's place on its own channel."""
        if controller not in self._writers:
            channel = Channel(self.names.reference(controller), dtype or self.robot.reference_dtype())
            self._writers[controller] = self._open.enter_context(channel.writer())
            self.go(round(LOOK_EVERY / PERIOD) + 1)  # until it is found
        return self._writers[controller]

    def put(self, controller: str, positions: Mapping[str, float], **fields: Any) -> None:
        """Put a reference for these joints alone."""
        writer = self.writer(controller)
        writer.message["mask"] = False
        for joint, position in positions.items():
            number = self.robot.index[joint]
            writer.message["position"][number], writer.message["mask"][number] = position, True
        for name, value in fields.items():
            writer.message[name] = value
        writer.put()

    def go(self, cycles: int = 1) -> None:
        """Let cycles go by."""
        for _ in range(cycles):
            self.cycle.once()

    def settle(self) -> None:
        """Let so many cycles go by that every joint can have crossed its range."""
        self.go(400)

    def command(self, joint: str) -> float:
        """What the joint was told last."""
        return float(self.cycle.command["position"][self.robot.index[joint]])

    def refused(self, reason: messages.Refusal, joint: str) -> int:
        """How often a joint's references were refused for a reason."""
        number = self.robot.index[joint]
        cycle = self.cycle
        return int(sum(each.refused[reason][number] for each in (cycle.merging, cycle.gate)))

    def told(self) -> list[str]:
        """The events so far."""
        texts = []
        while self.events.next():
            texts.append(bytes(self.events.message["text"]).decode())
        return texts

    def ask(self, verb: int, joint: str | None = None, *values: float) -> Answer:
        """Ask as a console does, and return the answer."""
        number = messages.ALL_JOINTS if joint is None else self.robot.index[joint]
        with BoardClient() as boards:
            asking = threading.Thread(target=lambda: answers.append(boards.request(verb, number, values)))
            answers: list[Answer] = []
            asking.start()
            while asking.is_alive():
                asking.join(0.001)
                if self.channels.boards.inbox.unread:
                    self.go()
        return answers[0]
