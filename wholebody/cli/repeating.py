"""Repeating a run: the controller and simulation that a log was made of, with the same inputs in the same cycles."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wholebody.cli.wiring import loop_of
from wholebody.configuration.building import build
from wholebody.configuration.reading import Configuration
from wholebody.configuration.settings import Settings
from wholebody.control.servo import Servo
from wholebody.errors import BadRecording
from wholebody.parameters.documents import Document
from wholebody.parameters.events import Events
from wholebody.parameters.journal import Repeat


class Comparison:
    """Commands of a log beside those of a run, by their time, bit by bit."""

    def __init__(self, commands: Any) -> None:
        self._logged = {float(each["time"]): each.tobytes() for each in commands}
        self.compared = self.differ = 0

    def look(self, servo: Servo) -> None:
        """Compare the command that was just written."""
        logged = self._logged.get(servo.time)
        if logged is not None:
            self.compared += 1
            self.differ += logged != servo.reference.raw.tobytes()


@contextlib.contextmanager
def again(told: dict[str, Any], applied: Any, file: Path) -> Iterator[Servo]:
    """The loop that a log tells of, in simulated time, with nothing open to the outside."""
    from wholebody.simulation import Simulation

    settings = Settings.model_validate(told["configuration"])
    if settings.interface.type != "simulation":
        raise BadRecording(
            f"{file} is the log of a robot by '{settings.interface.type}'; only simulations can be repeated"
        )
    if settings.model_beside:
        raise BadRecording(
            f"{file} is the log of a run with model_beside, which takes models when they are ready; log one without"
        )
    built = build(Configuration(settings, Document(file)))
    options = {key: value for key, value in settings.interface.options.items() if key != "real_time"}
    options["step"] = min(options.get("step", 0.001), built.period)
    with Simulation(built.robot, options.pop("scene", "flat"), control_period=built.period, **options) as simulation:
        servo = loop_of(built, simulation, simulation)
        Events(built.parameters, built.events)
        repeat = Repeat(built.parameters, [each["path"] for each in told["parameters"]], applied)
        servo.inputs = (lambda servo: repeat.apply(servo.counters.cycles),)
        yield servo
