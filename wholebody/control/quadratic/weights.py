"""Weights of tasks that change little by little: how the controller with inequalities changes what it is asked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from wholebody.errors import BadProblem


@dataclass
class Way:
    """From one weight to another by equal factors."""

    factor: float
    left: int
    end: float


class Weights:
    """Of each task by its name; 1 unless told."""

    def __init__(self, weights: Mapping[str, float], period: float) -> None:
        self._weight: dict[str, float] = {}
        self._ways: dict[str, Way] = {}
        self._period = period
        for name, weight in weights.items():
            self.change(name, weight, 0.0)

    def of(self, task: str) -> float:
        """The weight of a task now."""
        return self._weight.get(task, 1.0)

    def change(self, task: str, weight: float, seconds: float) -> None:
        """Go to another weight, from wherever it is now."""
        if not 0 < weight < math.inf:
            raise BadProblem(f"the weight of task '{task}' must be above 0, not {weight}")
        if not 0 <= seconds < math.inf:
            raise BadProblem(f"the weight of task '{task}' must change within some seconds, or 0, not {seconds}")
        cycles = round(seconds / self._period)
        if cycles == 0:
            self._weight[task] = weight
            self._ways.pop(task, None)
        else:
            self._ways[task] = Way((weight / self.of(task)) ** (1.0 / cycles), cycles, weight)

    def advance(self) -> bool:
        """One cycle further; whether any weight changes."""
        changed = bool(self._ways)
        for task, way in list(self._ways.items()):
            way.left -= 1
            self._weight[task] = way.end if way.left == 0 else self.of(task) * way.factor
            if way.left == 0:
                del self._ways[task]
        return changed
