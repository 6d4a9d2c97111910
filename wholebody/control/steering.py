"""Steering: what other processes can do with a running loop, and what they hear from it.

servo = Servo(robot, clock, controller, compound)
with Steering(names, parameters, compound, readings, model, bindings=…, events=…) as steering:
    steering.attach(servo)
    servo.run()
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from wholebody import messages
from wholebody.channels import Channel
from wholebody.control.compound import CompoundTask
from wholebody.control.readings import Readings
from wholebody.control.servo import Servo
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.parameters.bindings import Binding, Bindings
from wholebody.parameters.desk import Desk, Matrix
from wholebody.parameters.events import Events
from wholebody.parameters.journal import Journal
from wholebody.parameters.owned import Opened
from wholebody.parameters.records import ControllerNames
from wholebody.parameters.reflection import Parameters
from wholebody.robots.robot import Robot


class Steering(Opened):
    """The two points at which a loop and the world of other processes meet.

    `apply` takes bound inputs and answers one request, before the behavior; `emit` tells of events and puts bound
    outputs, after the command is written. Everything it opens is closed when its `with` block ends.
    """

    def __init__(
        self,
        names: ControllerNames,
        parameters: Parameters,
        compound: CompoundTask,
        readings: Readings,
        model: Model,
        *,
        description: Robot | None = None,
        bindings: Sequence[Binding] = (),
        events: Mapping[str, str] | None = None,
        frequency: float = 1000.0,
        settings: Mapping[str, Any] | None = None,
        configuration: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.names, self.parameters, self.readings = names, parameters, readings
        self._compound, self._model = compound, model
        with contextlib.ExitStack() as opening:
            self.events = Events(parameters, events or {}, source=names.controller)
            self.journal = opening.enter_context(Journal(names, parameters))
            self.bindings = Bindings(bindings, parameters, names, frequency, self.journal.note)
            opening.callback(self.bindings.close)
            robot = model.robot if description is None else description
            largest = max((each.count_rows() for each in compound.constraints), default=1) * model.nv
            more = {**self._more(robot, bindings, settings or {}), "configuration": dict(configuration or {})}
            desk = Desk(names, parameters, more, self._jacobians(), largest, self.journal.note)
            self._serve = opening.enter_context(desk).serve
            channel = opening.enter_context(Channel(names.events, messages.event(), depth=256))
            self.events.bind(opening.enter_context(channel.writer()))
            self._opened = opening.pop_all()

    def attach(self, servo: Servo) -> None:
        """Make a loop meet the others: its inputs and what it publishes begin with ours."""
        self.readings.look(servo)
        self.journal.now = lambda: (servo.time, servo.counters.cycles)
        servo.inputs, servo.publish = (self.apply, *servo.inputs), (self.emit, *servo.publish)

    def apply(self, servo: Servo) -> None:
        """Take what came from outside."""
        self.bindings.apply()
        self._serve(servo.time)

    def emit(self, servo: Servo) -> None:
        """Tell what came true, and put what is bound to go out."""
        now = servo.time
        self.events.emit(now)
        self.bindings.put(now, servo.counters.cycles)

    def _more(self, robot: Robot, bindings: Sequence[Binding], settings: Mapping[str, Any]) -> dict[str, Any]:
        model = self._model
        base = ["base_x", "base_y", "base_z", "base_rx", "base_ry", "base_rz"] if model.floating else []
        return {
            "robot": robot.name,
            "tasks": [each.name for each in self._compound.tasks],
            "constraints": [each.name for each in self._compound.constraints],
            "events": {each.name: len(each.expression.operands) for each in self.events.events},
            "joints": {
                "real": list(model.joint_names),
                "actuated": [each.name for each in model.robot.moving if each.actuated],
                "command": list(robot.joint_names),
                "velocity": [*base, *model.joint_names],
            },
            "settings": dict(settings),
            "bindings": [str(each) for each in bindings],
        }

    def _jacobians(self) -> list[Matrix]:
        def jacobian(index: int) -> Array:
            servo = self.readings.servo
            now = self._model.at(self._model.neutral()) if servo is None else servo.snapshot
            return self._compound.constraints[index].jacobian(now)

        return [lambda index=index: jacobian(index) for index in range(len(self._compound.constraints))]  # type: ignore[misc]
