"""Result: what a controller commands, and what it expects to come of it."""

from __future__ import annotations

import sys
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from wholebody.control.problem_layout import ProblemLayout
from wholebody.errors import UnknownName
from wholebody.model.layout import Array, read_only
from wholebody.model.model import Model


@dataclass(frozen=True)
class LimitWarning:
    """A command that was cut at a limit of its joint, or goes beyond one that is not enforced."""

    joint: str
    quantity: str  # effort, position or velocity
    value: float
    limit: float

    def __str__(self) -> str:
        """In words."""
        return f"{self.quantity} of joint '{self.joint}', {self.value:.4g}, is beyond its limit {self.limit:.4g}"


@dataclass(frozen=True)
class Fault:
    """Why a cycle could not be solved, and the last safe command was given instead."""

    reason: str


class Output(NamedTuple):
    """What a controller writes in a cycle."""

    effort: Array  # of each joint
    position: Array
    velocity: Array
    unlimited_effort: Array
    unlimited_position: Array
    unlimited_velocity: Array
    acceleration: Array  # nv
    contact: Array  # λ: of each row of constraints that are enabled
    error: Array


def carve_output(model: Model, table: ProblemLayout) -> tuple[Array, Output]:
    """One flat array as kernels write it (layout.c), and its parts."""
    joints = len(model.joint_names)
    sizes = [*[joints] * 6, model.nv, table.constraint_rows, table.error_rows]
    flat = np.zeros(sum(sizes))
    return flat, Output(*np.split(flat, np.cumsum(sizes)[:-1]))


class ResultBuffer:
    """The memory of one result; a buffer is written again only when nobody holds it or an array on it."""

    __slots__ = ("flat", "shown", "written")

    def __init__(self, model: Model, table: ProblemLayout) -> None:
        self.flat, self.written = carve_output(model, table)
        self.shown = Output(*(read_only(each) for each in self.written))


class ResultBuffers:
    """Result buffers to use again: a loop that keeps its last result runs on two for ever."""

    KEPT = 4

    def __init__(self, model: Model, table: ProblemLayout) -> None:
        self._model, self._table = model, table
        self._buffers: deque[ResultBuffer] = deque(maxlen=self.KEPT)
        for _ in range(2):
            self._buffers.append(self._new())
        self._idle = _holders(self._buffers[-1])

    def take(self) -> ResultBuffer:
        """A buffer that nobody holds."""
        for _ in range(len(self._buffers)):
            buffer = self._buffers[0]
            self._buffers.rotate(-1)
            if _holders(buffer) <= self._idle:
                return buffer
        buffer = self._new()
        self._buffers.append(buffer)
        return buffer

    def _new(self) -> ResultBuffer:
        return ResultBuffer(self._model, self._table)


class Result:
    """What a controller commands in one cycle; its arrays are read-only and yours for as long as you keep them.

    Joints are in the order of `model.joint_names`, also those without a motor, whose effort is zero.
    """

    __slots__ = ("_limits", "_model", "_shown", "_table", "fault")

    def __init__(
        self, model: Model, table: ProblemLayout, shown: Output, limits: Array, fault: Fault | None = None
    ) -> None:
        self._model, self._table, self._shown, self._limits = model, table, shown, limits
        self.fault = fault

    @property
    def effort(self) -> Array:
        """τ of each joint, N·m or N, cut at the limits that are enforced."""
        return self._shown.effort.view()

    @property
    def position(self) -> Array:
        """Where each joint will be after a period, if it does what is asked: q + v' dt."""
        return self._shown.position.view()

    @property
    def velocity(self) -> Array:
        """How fast each joint will be after a period: v' = v + v̇ dt."""
        return self._shown.velocity.view()

    @property
    def acceleration(self) -> Array:
        """v̇ of base and joints that the efforts achieve, by the model and before they are cut."""
        return self._shown.acceleration.view()

    @property
    def contact_forces(self) -> Array:
        """λ of all constraints that are enabled, in their order: Sᵀ τ + Jcᵀ λ = M v̇ + h. Of many, the shortest.

        To be read before a constraint is switched for the next cycle: which rows are whose, is told by their states.
        """
        held = sum(each.count_rows() for each in self._table.problem.constraints if each.state == "enabled")
        return self._shown.contact[:held]

    def contact_force(self, name: str) -> Array:
        """λ of one constraint that is enabled: for a flat contact the wrench of the world on the robot."""
        first = 0
        for each in self._table.problem.constraints:
            rows = each.count_rows() if each.state == "enabled" else 0
            if each.name == name:
                return self._shown.contact[first : first + rows]
            first += rows
        raise UnknownName("constraint", name, [each.name for each in self._table.problem.constraints])

    @property
    def errors(self) -> Array:
        """The errors of all tasks, where `error_places` says."""
        return self._shown.error

    @property
    def error_places(self) -> dict[str, slice]:
        """Where in `errors` the rows of each task are; the same object for the same problem."""
        return self._table.error_places

    def error(self, task: str) -> Array:
        """The error of a task that is enabled or sensing, row by row."""
        if task not in self._table.error_places:
            raise UnknownName("task", task, self._table.error_places)
        return self._shown.error[self._table.error_places[task]]

    @property
    def warnings(self) -> tuple[LimitWarning, ...]:
        """Every command beyond a limit of its joint."""
        shown, (lower, upper, fastest, strongest) = self._shown, self._limits
        found = _beyond("effort", self._model.joint_names, shown.unlimited_effort, -strongest, strongest)
        found += _beyond("position", self._model.joint_names, shown.unlimited_position, lower, upper)
        found += _beyond("velocity", self._model.joint_names, shown.unlimited_velocity, -fastest, fastest)
        return tuple(found)

    def instead(self, fault: Fault) -> Result:
        """The same command once more, because the next could not be found."""
        return Result(self._model, self._table, self._shown, self._limits, fault)


def _beyond(what: str, names: tuple[str, ...], values: Array, lower: Array, upper: Array) -> list[LimitWarning]:
    found = []
    for index in np.flatnonzero((values < lower) | (values > upper)):
        limit = lower[index] if values[index] < lower[index] else upper[index]
        found.append(LimitWarning(names[index], what, float(values[index]), float(limit)))
    return found


def _holders(buffer: ResultBuffer) -> int:
    """How many references there are to a buffer's memory, by arrays that lie on it, and to what it shows."""
    return sys.getrefcount(buffer.flat) + sys.getrefcount(buffer.shown)
