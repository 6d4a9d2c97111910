"""OrderLine: how any process tells a running behaviour what to do, and hears what becomes of it."""

from __future__ import annotations

import secrets
import time
from typing import Any

from wholebody.behaviors.walking_orders import Report, Stage, read_report
from wholebody.channels import Channel
from wholebody.drivers import Names
from wholebody.errors import ChannelError, NoController, OrderNotDone
from wholebody.parameters.owned import Opened

SLICE = 0.1
"""s. How long it waits before it looks whether the controller still lives."""
REMEMBERED = 256
"""Orders of which it knows what became of them; a stream of velocities has many."""


class OrderLine(Opened):
    """Orders go out with numbers, reports come back; `wait` and `reports` tell what becomes of an order.

    Times to wait are in real seconds, all others in those of the robot.
    """

    def __init__(self, robot: str, controller: str, timeout: float) -> None:
        super().__init__()
        self._robot, self._controller = Names(robot).robot, controller
        names = Names(robot)
        self._doing_name = names.doing(controller)
        until = time.monotonic() + timeout
        while not self.alive:
            if time.monotonic() > until:
                raise NoController(f"{self} does not run; start it: {self._remedy}")
            time.sleep(0.02)
        self._doing = self._reader(self._doing_name)
        self._reader_of_reports = self._reader(names.reports(controller))
        self._reader_of_reports.latest()
        self._orders = self._opened.enter_context(
            self._opened.enter_context(Channel(names.orders(controller))).writer()
        )
        self._told: dict[int, list[Report]] = {}

    def wait(self, number: int, timeout: float = 120.0, until: Stage = Stage.COMPLETED) -> Report:
        """Wait for a stage of an order; OrderNotDone if it comes to another end, NoController if nobody answers."""
        end = time.monotonic() + timeout
        while True:
            for report in self.reports(number):
                if report.stage == until:
                    return report
                if report.stage.final:
                    raise OrderNotDone(report.stage.name.lower(), report.text)
            if self._reader_of_reports.wait(SLICE, mode="next"):
                self._keep()
            elif not self.alive:
                raise NoController(f"{self} has ended")
            elif time.monotonic() > end:
                raise NoController(f"{self} did not come to '{until.name.lower()}' within {timeout:g} s")

    def reports(self, number: int) -> tuple[Report, ...]:
        """What became of an order of this client so far; it does not wait."""
        while self._reader_of_reports.next():
            self._keep()
        return tuple(self._told.get(number, ()))

    @property
    def alive(self) -> bool:
        """Whether a controller runs."""
        try:
            with Channel(self._doing_name) as channel:
                return bool(channel.writer_processes())
        except ChannelError:
            return False

    def __str__(self) -> str:
        """Who is at the other end."""
        return f"the controller '{self._controller}' of '{self._robot}'"

    @property
    def _remedy(self) -> str:
        """How the controller is started."""
        return f"wholebody rcp --name {self._robot}"

    def _new(self) -> int:
        """The number of an order that is about to be put."""
        number = secrets.randbits(63)
        self._told[number] = []
        if len(self._told) > REMEMBERED:
            del self._told[next(iter(self._told))]
        return number

    def _reader(self, name: str) -> Any:
        return self._opened.enter_context(self._opened.enter_context(Channel(name)).reader())

    def _keep(self) -> None:
        report = read_report(self._reader_of_reports.message)
        if report.number in self._told:
            self._told[report.number].append(report)
