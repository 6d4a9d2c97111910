"""Gate: what the robot is told, whatever the clients say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wholebody.daemon import _kernels
from wholebody.errors import BadReference
from wholebody.messages import Mode, Reference, Refusal, State
from wholebody.robots.robot import Robot

LOOK_AHEAD = 0.05
"""s. A joint that would be beyond its range so soon is taken from who drives it by velocity or effort."""

Array = np.ndarray[Any, Any]


class Gate:
    """Limits of position, velocity and step, joint by joint.

    A position command never leaves the joint's range and never changes by more than the step limit in a cycle: velocity
    limit × period, unless the joint has a step limit of its own. Velocities and efforts are limited likewise; a joint
    driven by them that reaches the end of its range is held there until it is told to go back.
    """

    def __init__(self, robot: Robot, period: float) -> None:
        joints = robot.moving
        self.lower, self.upper = np.array([j.lower for j in joints]), np.array([j.upper for j in joints])
        self.velocity, self.effort = np.array([j.velocity for j in joints]), np.array([j.effort for j in joints])
        self._usual_step = self.velocity * period
        self.step = self._usual_step.copy()
        self.refused = np.zeros((len(Refusal), len(joints)), np.uint64)
        self._names = robot.joint_names

    def set_step(self, joint: int, step: float, may_open: bool) -> None:
        """Give a joint a step limit, rad; 0 for the usual one. Only a simulated joint may get a larger one."""
        if np.isnan(step):
            raise BadReference("a step limit that is not a number; give radians per period, or 0 for the usual")
        if step > self._usual_step[joint] and not may_open:
            raise BadReference(
                f"{self._names[joint]} is a real joint: its step limit cannot be above its velocity limit, "
                f"{self._usual_step[joint]:.4g} rad per period"
            )
        self.step[joint] = step if step > 0 else self._usual_step[joint]

    def positions(self, wanted: Array, command: Array) -> Callable[[], bool]:
        """A call that goes from the last command towards the wanted positions: a step at most, never out of range."""
        return _kernels.limit(wanted, self.lower, self.upper, command, self.step, command, self.refused)

    def pass_others(self, mode: Array, values: Array, state: State, command: Reference) -> None:
        """Do the same for the joints that follow velocities, efforts or impedances; `command` is changed in place."""
        other = mode != Mode.POSITION
        velocity, effort = values[1], values[2]
        np.copyto(command.velocity, np.clip(velocity, -self.velocity, self.velocity), where=other)
        np.copyto(command.effort, np.clip(effort, -self.effort, self.effort), where=other)
        np.copyto(command.stiffness, np.maximum(values[3], 0.0), where=other)
        np.copyto(command.damping, np.maximum(values[4], 0.0), where=other)
        self.refused[Refusal.TOO_FAST] += other & ((np.abs(velocity) > self.velocity) | (np.abs(effort) > self.effort))
        soon = state.position + LOOK_AHEAD * state.velocity
        driven = (mode == Mode.VELOCITY) | (mode == Mode.EFFORT)
        push = np.where(mode == Mode.VELOCITY, velocity, effort)
        above, below = driven & (soon > self.upper) & (push > 0), driven & (soon < self.lower) & (push < 0)
        self.refused[Refusal.ABOVE_MAXIMUM] += above
        self.refused[Refusal.BELOW_MINIMUM] += below
        ended = above | below
        command.mode[ended] = Mode.POSITION
        command.position[ended] = np.clip(state.position, self.lower, self.upper)[ended]
        racing = (mode == Mode.EFFORT) & (np.abs(state.velocity) > self.velocity)
        command.effort[racing & (effort * state.velocity > 0)] = 0.0
