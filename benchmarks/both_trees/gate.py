"""The daemon's gate as it is timed in both trees: all joints of Hubo2+, following positions or impedances."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from wholebody import robots
from wholebody.daemon.gate import Gate

PERIOD = 0.005
CALLS = 2000
POSITION, IMPEDANCE = 0, 3
MEASURED = 3  # position and velocity


def gate(mode: int) -> Callable[[], float]:
    """A batch of cycles' gates, in µs of this thread each; what is wanted goes to and fro, within the limits."""
    robot = hubo()
    n = len(robot.joint_names)
    state, command = np.zeros(1, robot.state_dtype())[0], np.zeros(1, robot.reference_dtype())[0]
    modes = np.full(n, mode, np.uint8)
    middle = np.array([(joint.lower + joint.upper) / 2 for joint in robot.moving])
    state["position"], command["position"], state["measured"] = middle, middle, MEASURED
    there, back = np.zeros((5, n)), np.zeros((5, n))
    for wanted, offset in ((there, 1e-4), (back, -1e-4)):
        wanted[0], wanted[3], wanted[4] = middle + offset, 1.0, 0.05
    make = new_gate if is_new() else old_gate
    go, come = make(robot, (there, back), modes, state, command)

    def batch() -> float:
        start = time.thread_time_ns()
        for _ in range(CALLS // 2):
            go()
            come()
        return (time.thread_time_ns() - start) * 1e-3 / CALLS

    return batch


def hubo() -> Any:
    """Hubo2+; the old tree knows robots by entry points, which are the new one's where its own are not installed."""
    if is_new():
        return robots.load("hubo2plus")
    return importlib.import_module("wholebody.robots.hubo2plus").robot()


def is_new() -> bool:
    """Whether this tree's gate is one loop for all modes."""
    return hasattr(Gate, "passing")


def new_gate(robot: Any, wanted: tuple[Any, Any], modes: Any, state: Any, command: Any) -> list[Callable[[], object]]:
    """As this tree's cycle calls it."""
    from wholebody import messages
    from wholebody.daemon.limits import safe_limits

    told, seen = messages.new(robot.reference_dtype()), messages.new(robot.state_dtype())
    told.position[:], seen.position[:], seen.measured[:] = command["position"], state["position"], state["measured"]
    new = Gate(safe_limits(robot), PERIOD, robot.joint_names)
    return [new.passing(values[0], values, modes, seen, told) for values in wanted]


def old_gate(robot: Any, wanted: tuple[Any, Any], modes: Any, state: Any, command: Any) -> list[Callable[[], object]]:
    """As the old tree's cycle calls it: other modes come after positions."""
    made: Any = Gate
    old = made(robot, PERIOD)

    def one(values: Any) -> Callable[[], object]:
        positions = old.positions(values[0], command["position"])
        if not modes.any():
            return positions

        def all_modes() -> None:
            positions()
            old.pass_others(modes, values, state, command)

        return all_modes

    return [one(values) for values in wanted]


WORK = {"gate_positions": lambda: gate(POSITION), "gate_impedances": lambda: gate(IMPEDANCE)}
