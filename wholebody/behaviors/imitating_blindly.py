"""ImitatingBlindly: a robot plays the table of an imitation, and stops where it is when it leans far off its plan.

It is for robots that do not crawl by feel (Imitating), because they have no posture of their own on wrists and knees.

imitating = ImitatingBlindly(imitation, cycles=5, period=0.005)
while imitating.cycle(state, reference):     # every period
    ...
"""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.transform import Rotation

from wholebody.hardware import Record
from wholebody.motion.imitation import Imitation
from wholebody.motion.trajectory import Array

TILTED = 0.3
"""rad that the trunk may lean off its plan. Nothing brings it back, so it is more than one who crawls by feel may."""
REST = 1.0
"""s that it holds its last posture when it has stopped by itself."""


class ImitatingBlindly:
    """So many cycles of an imitation, blindly but for the IMU, if the robot has one.

    trouble     why it stopped by itself, if it did: then it holds its posture
    slow_down   how many times longer than the person's a cycle takes
    start       the configuration in which it begins
    """

    def __init__(self, imitation: Imitation, cycles: int, period: float) -> None:
        table = imitation.table(cycles)
        times = np.arange(0.0, table.duration, period)
        self.trouble, self.slow_down, self.start = "", imitation.slow_down, imitation.q[0]
        self._commands = table.trajectory().sample(times).position
        self._up = _up_seen(imitation, times)
        self._row, self._rests = 0, round(REST / period)

    @property
    def progress(self) -> float:
        """The share that is behind it, 0 to 1."""
        return self._row / len(self._commands)

    def cycle(self, state: Record, reference: Record) -> bool:
        """One period: fill the reference from the state; False when it is done, or has stopped and rested."""
        if self._row == len(self._commands):
            return False
        reference["position"] = self._commands[self._row]
        if not self.trouble and self._up is not None:
            self._look_whether_it_leans(state, self._up[self._row])
        if not self.trouble:
            self._row += 1
            return True
        self._rests -= 1
        return self._rests > 0

    def _look_whether_it_leans(self, state: Record, planned: Array) -> None:
        """The angle between up as the IMU has it and as planned, both seen from the IMU."""
        seen = state["imu"][0]["orientation"]
        if not np.isfinite(seen).all():
            self.trouble = "the IMU reads what is no number; it stops where it is"
            return
        lean = math.acos(min(1.0, max(-1.0, float(Rotation.from_quat(seen).as_matrix()[2] @ planned))))
        if lean > TILTED:
            self.trouble = f"the trunk leans by {math.degrees(lean):.0f}° off its plan; it stops where it is"


def _up_seen(imitation: Imitation, times: Array) -> Array | None:
    """Where up is to be, seen from the robot's first IMU, at times of as many cycles as there are; None without one."""
    imus = imitation.model.robot.sensors_of("imu")
    if not imus:
        return None
    frame = imitation.model.sensor(imus[0].name)
    ups = np.array([imitation.model.at(q).rotation(frame)[2] for q in imitation.q])
    rows = np.arange(len(ups)) * imitation.period
    found = np.column_stack([np.interp(times % imitation.duration, rows, axis) for axis in ups.T])
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))
