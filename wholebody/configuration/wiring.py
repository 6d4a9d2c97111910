"""Wiring: the parts of a configuration, a robot and a clock put together into a loop that others can reach."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from wholebody import plugins
from wholebody.configuration.building import OF_THE_LOOP, Built
from wholebody.control.introspection.markers import Markers
from wholebody.control.introspection.steering import Steering, Topics
from wholebody.control.servo import Servo
from wholebody.drivers import Clock, RobotInterface
from wholebody.drivers.catalog import find
from wholebody.parameters.records import ControllerNames


@dataclass(frozen=True)
class Wired:
    """A loop, and where it meets other processes."""

    servo: Servo
    steering: Steering


@contextlib.contextmanager
def robot_of(built: Built, name: str) -> Iterator[tuple[RobotInterface, Clock]]:
    """The robot and the clock that a configuration asks for; the robot is let go of at the end."""
    part, chosen = built.settings.interface, built.settings.clock
    with find(part.type).opened(built.robot, built.period, name, part.options) as robot:
        if chosen is not None:
            clock = plugins.load("clocks", chosen.type)(built.period, **chosen.options)
        else:
            clock = robot if isinstance(robot, Clock) else plugins.load("clocks", "steady")(built.period)
        yield robot, clock


def loop_of(built: Built, robot: RobotInterface, clock: Clock) -> Servo:
    """The loop of a configuration; its own parameters are added to the others, and set as the file says."""
    settings, parameters = built.settings, built.parameters
    servo = Servo(
        robot,
        clock,
        built.controller,
        built.compound,
        description=built.robot,
        mode=built.mode,
        others=built.others,
        model_every=settings.model_every,
        model_beside=settings.model_beside,
        task_every=settings.task_every,
        max_staleness=settings.max_staleness,
        patience=settings.patience,
    )
    built.compound.prepare_with(built.controller.prepare)
    servo.publish = (built.compound.settle,)
    parameters.add_attributes("servo", servo)
    late = {path: value for path, value in settings.parameters.items() if path.partition(".")[0] in OF_THE_LOOP}
    parameters.set_all({path: value for path, value in late.items() if path in parameters.paths})
    return servo


@contextlib.contextmanager
def wired(built: Built, robot: RobotInterface, clock: Clock, name: str) -> Iterator[Wired]:
    """The loop of a configuration, with its parameters, bindings, events, services and topics open."""
    settings, parameters = built.settings, built.parameters
    servo = loop_of(built, robot, clock)
    names = ControllerNames(name, settings.name)
    with contextlib.ExitStack() as opened:
        steering = opened.enter_context(
            Steering(
                names,
                parameters,
                built.compound,
                built.readings,
                built.model,
                description=built.robot,
                bindings=built.bindings,
                events=built.events,
                frequency=settings.servo_frequency,
                settings=settings.model_dump(mode="json", exclude={"tasks", "constraints", "bindings", "events"}),
                configuration=settings.model_dump(mode="json"),
            )
        )
        topics = opened.enter_context(Topics(names, servo, inputs=steering.bindings.inputs))
        markers = opened.enter_context(Markers(names, built.compound.tasks))
        servo.publish = (topics, markers, *servo.publish)
        steering.attach(servo)
        yield Wired(servo, steering)
