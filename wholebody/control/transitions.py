"""Transitions: every change of what is asked takes a time, so that no command jumps.

After a switch, the command is τ + α (τ_old − τ), α from 1 to 0 (Eq. 9 of the paper). What τ_old is, depends:

- A contact that is switched: τ_old is the last command, frozen. The command goes from one to the other and stays
  between them, which the new set of contacts bears as well as the old one did.
- All else (a task's state, level or gains, a goal that jumps): the difference τ_old − τ is frozen instead, at the
  switch, so that the new law has all its feedback from the first cycle and only an offset fades out.
- A controller with inequalities goes this way inside, where limits hold on the whole way: the difference of motion,
  efforts and forces is frozen at the switch, and levels ask for less and less of it (`quadratic/transitions.c`).

Old problems are never solved again: that would cost twice the time, and ask for what was switched off for a reason.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from wholebody import _kernels
from wholebody.control.preparation import TabledController
from wholebody.control.problem import Problem
from wholebody.control.result import Result
from wholebody.errors import BadProblem
from wholebody.model.layout import Array
from wholebody.model.snapshot import Snapshot
from wholebody.parameters import Bounds, Unit

NOTHING, GOAL, GAIN, STATE, PRIORITY, CONTACT = 0, 1, 2, 3, 4, 5
"""What can change; of several at once, the last counts. transitions.h has the same numbers."""


@dataclass(frozen=True)
class Durations:
    """How long each kind of change takes, in seconds; zero for at once."""

    goal: float = 0.3
    gain: float = 0.1
    state: float = 0.3
    priority: float = 0.3
    contact: float = 0.2

    def __post_init__(self) -> None:
        """Refuse times that cannot be."""
        for name, value in vars(self).items():
            if not 0 <= value < math.inf:
                raise BadProblem(f"a change of {name} must take some seconds, or 0, not {value!r}")

    def of(self, change: int) -> float:
        """The duration of a kind of change."""
        return (0.0, self.goal, self.gain, self.state, self.priority, self.contact)[change]


class Transitions:
    """A controller whose commands do not jump when what is asked does; it is used like the controller itself.

        smooth = Transitions(WBOSC(model))
        command = smooth.solve(snapshot, problem)
        Servo(robot, clock, smooth, behavior)
        Servo(robot, clock, Impedance(smooth), behavior, mode=Mode.POSITION)

    A change is found by itself: another problem, another state, another gain, or a goal that moves by more than
    `jump` in one cycle, or whose velocity or acceleration changes by as much as that would ask for. Goals that move
    less, along a trajectory, are followed as they are. A change during a transition begins a new one from the command
    of that instant. Efforts, positions and velocities fade alike.

    jump        how far a goal of motion moves in one cycle, in m or rad, before that is a change that takes its time
    force_jump  the same of a goal that is a force, in N
    """

    jump: Annotated[float, Unit("m or rad"), Bounds(1e-12, 1e12)]
    force_jump: Annotated[float, Unit("N"), Bounds(1e-12, 1e12)]

    def __init__(
        self,
        controller: TabledController[Any, Any],
        durations: Durations | None = None,
        jump: float = 0.02,
        force_jump: float = 2.0,
    ) -> None:
        for name, value in {"a goal": jump, "a force": force_jump}.items():
            if not value > 0:
                raise BadProblem(f"{name} jumps if it moves by more than some value above 0, not {value!r}")
        self.controller, self.model, self.period = controller, controller.model, controller.period
        self.durations = durations or Durations()
        self.jump, self.force_jump = jump, force_jump
        self._problem: Problem | None = None
        self._seen = np.zeros(0)
        self._held: tuple[str, ...] = ()
        self._command = np.zeros(3 * len(controller.model.joint_names))
        self._old = np.zeros_like(self._command)
        self._found = self._kind = NOTHING
        self._left = self._whole = 0

    @property
    def active(self) -> bool:
        """Whether a transition is going on."""
        return self._left > 0

    def prepare(self, problem: Problem) -> None:
        """Check a problem against the robot and make it ready."""
        self.controller.prepare(problem)

    def solve(self, snapshot: Snapshot, problem: Problem) -> Result:
        """The command of one cycle, on its way from the last one if something changed."""
        self._found = max(self._found, self._change(problem))
        if self.controller.blends_inside:
            return self._solve_inside(snapshot, problem)
        result: Result = self.controller.solve(snapshot, problem)
        command = self.controller.written_command(result)
        if command is None:  # a fault: the last safe command, which is what we gave last
            return result
        if self._found != NOTHING:
            self._begin()
            self._old[:] = self._command if self._kind == CONTACT else self._command - command
        if self._left > 0:
            self._fade(command)
        self._command[:] = command
        return result

    def _solve_inside(self, snapshot: Snapshot, problem: Problem) -> Result:
        """The same by a controller that goes the way itself."""
        if self._found != NOTHING:
            self._begin()
            if self._whole > 0:
                self.controller.begin_transition(snapshot, problem)
        self.controller.blend(problem, self._share() if self._left > 0 else 0.0)
        result: Result = self.controller.solve(snapshot, problem)
        if self._left > 0 and result.fault is not None:  # the way begins anew, from the last safe command
            self._found = max(self._found, self._kind)
        elif self._left > 0:
            self._left -= 1
        return result

    def _change(self, problem: Problem) -> int:
        table = self.controller.table_of(problem)
        if problem is self._problem:
            found = _kernels.control_changes(table.handle, self._seen, self.jump, self.force_jump)
            if found == CONTACT:
                self._held = _held(problem)
            return found
        before, self._problem, self._held, held = self._problem, problem, _held(problem), self._held
        self._seen = np.zeros(table.parameters)
        _kernels.control_changes(table.handle, self._seen, self.jump, self.force_jump)
        if before is None:
            return NOTHING
        return CONTACT if held != self._held else PRIORITY

    def _begin(self) -> None:
        self._whole = self._left = round(self.durations.of(self._found) / self.controller.period)
        self._kind, self._found = self._found, NOTHING

    def _share(self) -> float:
        """α, a smooth step from 1 to 0."""
        done = 1.0 - self._left / (self._whole + 1)
        return 1.0 - done * done * (3.0 - 2.0 * done)

    def _fade(self, command: Array) -> None:
        """Add α (τ_old − τ), and keep efforts within their limits."""
        command += self._share() * (self._old - command if self._kind == CONTACT else self._old)
        joints = len(command) // 3
        strongest = self.controller.limits[3]
        if self.controller.enforces_effort:
            np.clip(command[:joints], -strongest, strongest, out=command[:joints])
        self._left -= 1


def _held(problem: Problem) -> tuple[str, ...]:
    """The constraints that are enabled."""
    return tuple(sorted(each.name for each in problem.constraints if each.state == "enabled"))
