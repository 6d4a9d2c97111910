"""Building: from a configuration to the parts of a loop, goals that are words too; errors are found on the way."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from wholebody import plugins, robots
from wholebody.configuration.reading import Configuration
from wholebody.configuration.schema import HERE, goals_of, must_be_given, options_of
from wholebody.configuration.settings import BindingEntry, Named, Settings
from wholebody.constraints import Constraint
from wholebody.control.impedance import Impedance
from wholebody.control.introspection.steering import Readings
from wholebody.control.joint_pid import Gripper, JointPID
from wholebody.control.preparation import TabledController
from wholebody.control.problem import Begin, CompoundTask
from wholebody.control.servo import Controller
from wholebody.control.transitions import Durations, Transitions
from wholebody.control.tuning import tune
from wholebody.errors import BadConfiguration, BadParameter, UnknownName, WholebodyError
from wholebody.messages import Mode
from wholebody.model import Model
from wholebody.model.layout import Array
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Parameters
from wholebody.parameters.bindings import Binding, check_bindings
from wholebody.parameters.events import compile_expression
from wholebody.robots.robot import Robot
from wholebody.tasks import JointPositionTask, Task

LIMITS = {
    "enforce_effort_limits": "limit_efforts",
    "enforce_position_limits": "limit_positions",
    "enforce_velocity_limits": "limit_velocities",
    "max_effort_command": "max_effort",
}
"""Settings of limits, and what other controllers call them."""
BY_JOINT = tuple(name for name in LIMITS if name.startswith("enforce"))
"""Those that can be said for each joint."""
OF_THE_LOOP = ("servo",)
"""The first words of parameters that are there when the loop is."""
KNOWN_PROPERTIES = ("rate", "latch", "queue")


@dataclass(frozen=True)
class Built:
    """The parts of a loop, ready to be wired to a robot and a clock."""

    settings: Settings
    robot: Robot
    model: Model
    compound: CompoundTask
    controller: Controller
    others: JointPID
    parameters: Parameters
    readings: Readings
    bindings: tuple[Binding, ...]
    events: dict[str, str] = field(default_factory=dict)

    @property
    def period(self) -> float:
        """Of the loop, in seconds."""
        return 1.0 / self.settings.servo_frequency

    @property
    def mode(self) -> Mode:
        """What the joints follow."""
        return Mode[self.settings.mode.upper()]


def build(configuration: Configuration) -> Built:
    """Load the robot and make tasks, constraints, controller, parameters, bindings and events; nothing is opened."""
    settings = configuration.settings
    robot = _robot(configuration, "robot", settings.robot)
    own = robot if settings.model is None else _robot(configuration, "model", settings.model)
    if settings.outside:
        with _at(configuration, "outside"):
            own = _without(own, settings.outside)
    with _at(configuration, "robot"):
        model = Model(
            own,
            settings.world_gravity,
            gravity_compensation_mask=settings.gravity_compensation_mask,
            coupled_joint_groups=settings.coupled_joint_groups,
        )
    compound = _compound(configuration, model)
    controller = _controller(configuration, model)
    parameters = Parameters()
    compound.describe(parameters)
    tune(parameters, "controller", controller)
    _enforce_by_joint(configuration, parameters)
    readings = Readings(parameters, compound, len(model.joint_names))
    others = JointPID(robot, [name for name in robot.joint_names if name not in model.joint_names])
    if others.joints:
        parameters.add_attributes("others", others)
    for index, each in enumerate(settings.grippers):
        with _at(configuration, "grippers", index, what=f"gripper '{each.name}'"):
            joints = [joint for name in each.joints for joint in robot.groups.get(name, (name,))]
            Gripper(each.name, others, joints, each.open, each.closed).describe(parameters)
    now = {path: value for path, value in settings.parameters.items() if path.partition(".")[0] not in OF_THE_LOOP}
    try:
        parameters.set_all(now, lambda path: configuration.where("parameters", path))
    except BadParameter as error:
        raise BadConfiguration(str(error), located=True) from error
    for index, event in enumerate(settings.events):
        with _at(configuration, "events", index, "expression", what=f"event '{event.name}'"):
            compile_expression(event.expression, parameters)
    with _at(configuration, "bindings"):
        bindings = tuple(_binding(configuration, index) for index in range(len(settings.bindings)))
        for index in range(len(bindings)):
            with _at(configuration, "bindings", index, "parameter"):
                check_bindings(bindings[: index + 1], parameters, plugins.names("transports"))
    events = {each.name: each.expression for each in settings.events}
    return Built(settings, robot, model, compound, controller, others, parameters, readings, bindings, events)


def _robot(configuration: Configuration, key: str, name: str) -> Robot:
    """A robot by name, or by a path that may be relative to the file."""
    beside = configuration.document.file.parent / name
    with _at(configuration, key):
        return robots.load(beside if Path(name).suffix and beside.is_file() else name)


def _without(robot: Robot, names: list[str]) -> Robot:
    """The robot with joints, or groups of joints, locked as they are when it stands."""
    standing = dict(zip(robot.joint_names, robot.posture("stand"), strict=True))
    joints = [joint for name in names for joint in robot.groups.get(name, (name,))]
    for joint in joints:
        if joint not in standing:
            raise UnknownName("joint or group", joint, [*robot.groups, *standing])
    return robot.locked({joint: standing[joint] for joint in joints})


# --- tasks and constraints -------------------------------------------------------------------------


def _compound(configuration: Configuration, model: Model) -> CompoundTask:
    settings = configuration.settings
    begins: list[Begin] = []
    tasks = {
        entry.name: _task(configuration, index, entry, model, begins) for index, entry in enumerate(settings.tasks)
    }
    constraints = {
        entry.name: _constraint(configuration, index, entry, model) for index, entry in enumerate(settings.constraints)
    }
    for each in settings.compound_task:
        tasks[each.name].state = each.operational_state
    for index, one in enumerate(settings.constraint_set):
        kinds = {entry.name: entry.type for entry in settings.constraints}
        if one.type not in (None, kinds[one.name]):
            where = configuration.where("constraint_set", index, "type")
            what = f"constraint '{one.name}' is a {kinds[one.name]}, not a {one.type}"
            raise BadConfiguration(f"{where}: {what}", located=True)
        constraints[one.name].state = one.operational_state
    with _at(configuration, "compound_task"):
        priorities = {tasks[each.name]: each.priority for each in settings.compound_task}
        compound = CompoundTask(priorities, [constraints[each.name] for each in settings.constraint_set], begins)
        compound.problem.describe(model)
    return compound


def _task(configuration: Configuration, index: int, entry: Named, model: Model, begins: list[Begin]) -> Task:
    kind: type[Task] = plugins.load("tasks", entry.type)
    with _at(configuration, "tasks", index, what=f"task '{entry.name}'"):
        values, here = without_words(kind, _given(entry), model)
        task = kind(entry.name, **values)
        task.describe(model)
    if here:
        begins.append(begin_here(task, here))
    return task


def _constraint(configuration: Configuration, index: int, entry: Named, model: Model) -> Constraint:
    kind: type[Constraint] = plugins.load("constraints", entry.type)
    with _at(configuration, "constraints", index, what=f"constraint '{entry.name}'"):
        constraint = kind(entry.name, **_given(entry))
        constraint.describe(model)
    return constraint


def _given(entry: Named) -> dict[str, Any]:
    """What the entry says, without keys that are empty."""
    return {key: value for key, value in (entry.model_extra or {}).items() if value is not None}


# --- controller, bindings --------------------------------------------------------------------------


def _controller(configuration: Configuration, model: Model) -> Controller:
    settings = configuration.settings
    kind = plugins.load("controllers", settings.controller.type)
    options = settings.controller.options
    known = options_of(kind).model_fields
    for name, other in LIMITS.items():
        value = getattr(settings, name)
        if value is not None:
            said = next((each for each in (name, other) if each in known), None)
            if said is None:
                what = f"a controller of type {settings.controller.type} has no {name}"
                raise BadConfiguration(f"{configuration.where(name)}: {what}", located=True)
            options[said] = any(value) if name in BY_JOINT and isinstance(value, list) else value
    with _at(configuration, "controller"):
        controller = kind(model, period=1.0 / settings.servo_frequency, **options)
    if settings.transitions:
        controller = _smooth(configuration, controller)
    if settings.mode != "effort":
        with _at(configuration, "impedance"):
            controller = Impedance(controller, **settings.impedance)
    made: Controller = controller
    return made


def _enforce_by_joint(configuration: Configuration, parameters: Parameters) -> None:
    for name in BY_JOINT:
        value = getattr(configuration.settings, name)
        if isinstance(value, list):
            with _at(configuration, name):
                parameters.set(f"controller.{name}", [float(each) for each in value])


def _smooth(configuration: Configuration, controller: Any) -> Transitions:
    with _at(configuration, "transitions"):
        if not isinstance(controller, TabledController):
            raise BadConfiguration("transitions are there for controllers of type wbosc or quadratic")
        told = configuration.settings.transitions
        return Transitions(controller, Durations(**told) if isinstance(told, dict) else None)


def _binding(configuration: Configuration, index: int) -> Binding:
    entry: BindingEntry = configuration.settings.bindings[index]
    known = {key: value for key, value in entry.properties.items() if key in KNOWN_PROPERTIES}
    more = {key: value for key, value in entry.properties.items() if key not in KNOWN_PROPERTIES}
    for key, kind in (("rate", int | float), ("latch", bool), ("queue", int)):
        if key in known and not isinstance(known[key], kind):
            where = configuration.where("bindings", index, "properties", key)
            what = f"bindings[{index}].properties.{key} cannot be {known[key]!r}"
            raise BadConfiguration(f"{where}: {what}", located=True)
    return Binding(entry.parameter, entry.direction, entry.topic, entry.transport_type, **known, properties=more)


@contextlib.contextmanager
def _at(configuration: Configuration, *place: str | int, what: str = "") -> Iterator[None]:
    """Say of any error of ours where in the file its cause stands."""
    try:
        yield
    except WholebodyError as error:
        if isinstance(error, BadConfiguration) and error.located:
            raise
        named = f"{what}: " if what and what not in str(error) else ""
        raise BadConfiguration(f"{configuration.where(*place)}: {named}{error}", located=True) from error


def without_words(kind: type[Task], values: dict[str, Any], model: Model) -> tuple[dict[str, Any], list[str]]:
    """The values of a task with numbers for goals, and which goals are to be taken from where the robot is.

    Those are the goals given as "here", and all that are left out of a task that has one without a default.
    """
    goals = goals_of(kind)
    needed = any(each.name in goals and must_be_given(each) for each in dataclasses.fields(kind))
    found, here = dict(values), []
    for goal, start in goals.items():
        value = values.get(goal, HERE if needed else None)
        if value == HERE:
            here.append(goal)
            found[goal] = _zeros(values, model) if issubclass(kind, JointPositionTask) else start
        elif isinstance(value, str):
            found[goal] = _posture(kind, goal, value, values, model)
    return found, here


def begin_here(task: Task, goals: list[str]) -> Begin:
    """What sets these goals when the loop begins."""

    def begin(snapshot: Snapshot) -> None:
        there = task.goal_here(snapshot)
        for goal in goals:
            setattr(task, goal, there[goal])

    return begin


def _zeros(values: dict[str, Any], model: Model) -> Array:
    joints = values.get("joints")
    return np.zeros(len(model.joint_names) if joints is None else len(joints))


def _posture(kind: type[Task], goal: str, word: str, values: dict[str, Any], model: Model) -> Array:
    """The joints of a posture, by its name."""
    if not issubclass(kind, JointPositionTask):
        raise BadConfiguration(f"{goal} must be numbers, or '{HERE}', not '{word}'")
    posture = model.robot.posture(word)
    joints = values.get("joints")
    if joints is None:
        return np.asarray(posture)
    return np.array([posture[model.column(name) - (6 if model.floating else 0)] for name in joints])
