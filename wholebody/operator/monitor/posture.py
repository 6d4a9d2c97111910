"""Posture: how far a running robot leans, and whether it has fallen, by what its state says of its base or its IMU."""

from __future__ import annotations

import math

from wholebody.drivers import Names
from wholebody.messages import MeasuredMotion, State
from wholebody.processes.registry import CRAWL, process_of
from wholebody.robots import Robot
from wholebody.robots.geometry import standing
from wholebody.rotations import roll_pitch_yaw

FALLEN = math.radians(45)
"""Nobody stands who leans by more."""
LOW = 0.5
"""Of the height at which the base stands: below it no legs carry it."""


def lean(state: State) -> tuple[float, float] | None:
    """How far the body leans to the right and forward, rad; None if nothing measures it."""
    if state.base.known:
        orientation = state.base.orientation
    else:
        measured = [each for each in state.imu if int(each.measured) & MeasuredMotion.ROLL_AND_PITCH]
        if not measured:
            return None
        orientation = measured[0].orientation
    roll, pitch, _ = roll_pitch_yaw(orientation)
    return (float(roll), float(pitch)) if math.isfinite(roll + pitch) else None


class FallWatch:
    """Whether the robot of a name has fallen; one that crawls is not meant to be upright."""

    def __init__(self, robot: Robot, name: str) -> None:
        posture = "stand" if "stand" in robot.postures else next(iter(robot.postures), "stand")
        self._low = LOW * float(standing(robot, posture)[2, 3])
        self._name = Names(name).robot

    def complaint(self, state: State) -> str:
        """What shows that it has fallen; empty if nothing does."""
        found = self._look(state)
        return "" if not found or process_of(CRAWL, self._name) is not None else f"the robot has fallen: {found}"

    def _look(self, state: State) -> str:
        leans = lean(state)
        if leans is not None and math.cos(leans[0]) * math.cos(leans[1]) < math.cos(FALLEN):
            return f"its body leans by more than {math.degrees(FALLEN):.0f}°"
        if state.base.known and state.base.position[2] < self._low:
            return f"its body is less than {self._low:.2f} m above the ground"
        return ""
