"""Goals that are words: "here", where the robot is when the loop begins, or the name of a posture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wholebody.configuration.schema import GOALS, HERE
from wholebody.control.problem import Begin
from wholebody.errors import BadConfiguration
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.tasks import (
    CartesianPositionTask,
    CenterOfMassTask,
    JointPositionTask,
    Orientation2DTask,
    Orientation3DTask,
    PoseTask,
    Task,
)

Now = Callable[[Any, Snapshot], Any]


def _seen(task: Any, snapshot: Snapshot) -> Array:
    """The placement of a task's frame, as seen from its reference; 4 × 4."""
    where = task.describe(snapshot.model)
    placement = snapshot.placement(where.frame)
    return placement if where.reference < 0 else np.linalg.inv(snapshot.placement(where.reference)) @ placement


def _joints(task: JointPositionTask, snapshot: Snapshot) -> Array:
    columns = np.array(task.describe(snapshot.model).joints) + int(snapshot.model.floating)
    joints: Array = snapshot.q[columns]
    return joints


PLACES: dict[type[Task], dict[str, tuple[Any, Now]]] = {
    CartesianPositionTask: {"goal": (np.zeros(3), lambda task, now: (_seen(task, now) @ [*task.point, 1.0])[:3])},
    CenterOfMassTask: {"goal": (np.zeros(3), lambda task, now: now.com_in_world)},
    Orientation2DTask: {
        "goal": ((1.0, 0.0, 0.0), lambda task, now: now.rotation(now.model.frame(task.frame)) @ task.axis)
    },
    Orientation3DTask: {"goal": ((0.0, 0.0, 0.0, 1.0), lambda task, now: _seen(task, now)[:3, :3])},
    PoseTask: {
        "goal_position": (np.zeros(3), lambda task, now: _seen(task, now)[:3, 3]),
        "goal_orientation": ((0.0, 0.0, 0.0, 1.0), lambda task, now: _seen(task, now)[:3, :3]),
    },
    JointPositionTask: {"goal": (None, _joints)},
}
"""For each kind of task, a goal to begin with until the loop begins, and what it is then."""


def without_words(kind: type[Task], values: dict[str, Any], model: Model) -> tuple[dict[str, Any], list[str]]:
    """The values of a task with numbers for goals, and which goals are to be taken from where the robot is."""
    places = PLACES.get(kind, {})
    found, here = dict(values), []
    for goal in GOALS:
        value = values.get(goal, HERE if goal in places and goal not in values else None)
        if value == HERE and goal in places:
            here.append(goal)
            found[goal] = _zeros(values, model) if kind is JointPositionTask else places[goal][0]
        elif isinstance(value, str):
            found[goal] = _posture(kind, goal, value, values, model)
    return found, here


def begin_here(task: Task, goals: list[str]) -> Begin:
    """What sets these goals when the loop begins."""
    places = PLACES[type(task)]

    def begin(snapshot: Snapshot) -> None:
        for goal in goals:
            setattr(task, goal, places[goal][1](task, snapshot))

    return begin


def _zeros(values: dict[str, Any], model: Model) -> Array:
    joints = values.get("joints")
    return np.zeros(len(model.joint_names) if joints is None else len(joints))


def _posture(kind: type[Task], goal: str, word: str, values: dict[str, Any], model: Model) -> Array:
    """The joints of a posture, by its name."""
    if kind is not JointPositionTask:
        numbers = "numbers" if kind not in PLACES else f"numbers, or '{HERE}'"
        raise BadConfiguration(f"{goal} must be {numbers}, not '{word}'")
    posture = model.robot.posture(word)
    joints = values.get("joints")
    if joints is None:
        return np.asarray(posture)
    return np.array([posture[model.column(name) - (6 if model.floating else 0)] for name in joints])
