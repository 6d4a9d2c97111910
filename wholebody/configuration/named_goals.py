"""Goals that are words: "here", where the robot is when the loop begins, or the name of a posture."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from wholebody.configuration.schema import HERE, goals_of, must_be_given
from wholebody.control.problem import Begin
from wholebody.errors import BadConfiguration
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.tasks import JointPositionTask, Task


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
