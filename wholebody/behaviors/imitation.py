"""Imitating: a robot crawls as a captured person did, and feels its limbs while it does.

imitating = Imitating(imitation, cycles=5)
while imitating.cycle(state, reference):     # every period
    ...
"""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.transform import Rotation

from wholebody.behaviors.crawling import Crawling
from wholebody.errors import CannotImitate
from wholebody.locomotion.crawling.gait import captured_crawl_gait_of
from wholebody.messages import Reference, State
from wholebody.model.layout import Array
from wholebody.motion.capture.imitation import Imitation

REST, RESTING = 1.0, 2.0
"""s: on its limbs before it begins, and after it stopped by itself."""
BRISKLY = 1.2
"""Of the velocity at which steps are as long as they may be: so they are, whatever a cycle takes."""


class Imitating:
    """So many cycles of an imitation, four steps each, and then the steps that bring limbs to their places.

    trouble     why it stopped by itself, if it did: then it rests on its limbs
    slow_down   how many times longer than the person's its last cycle takes
    """

    def __init__(self, imitation: Imitation, cycles: int) -> None:
        if imitation.plan is None:
            raise CannotImitate(f"the imitation of {imitation.source} is a whole motion, and no cycle of a gait")
        model, plan = imitation.model, imitation.plan
        self.crawling = Crawling(model.robot, captured_crawl_gait_of(model, plan))
        self._steps, self._period = len(plan.order) * cycles, plan.gait.period
        self._begin = self._stopped = math.inf
        self._told, self.slow_down = False, math.nan

    @property
    def trouble(self) -> str:
        """Why it stopped by itself, or nothing."""
        return self.crawling.stopped

    @property
    def start(self) -> Array:
        """The configuration in which it begins, on its limbs."""
        return self.crawling.crawler.q

    @property
    def steps(self) -> int:
        """How many it made."""
        return self.crawling.crawler.pattern.steps

    @property
    def progress(self) -> float:
        """The share of its cycles that is behind it, 0 to 1."""
        return min(1.0, self.steps / self._steps)

    def cycle(self, state: State, reference: Reference) -> bool:
        """One period: fill the reference from the state; False when it rests again."""
        time, crawling = state.time, self.crawling
        self._begin = min(self._begin, time)
        if not self._told and not self.trouble and time - self._begin >= REST:
            pattern = crawling.crawler.pattern
            crawling.crawl(velocity=(BRISKLY * crawling.gait.forward / pattern.period, 0.0, 0.0))
            self._told = True
        if self.steps >= self._steps - 1:  # what it is told counts from the next step on
            crawling.stop()
        if self.steps < self._steps:
            self.slow_down = crawling.crawler.pattern.period / self._period
        crawling.cycle(state, reference)
        if self.trouble:
            self._stopped = min(self._stopped, time)
        rests = self._told and self.steps >= self._steps and crawling.standing
        return not rests and time - self._stopped < RESTING


TILTED = 0.3
"""rad that the trunk may lean off its plan. Nothing brings it back, so it is more than one who crawls by feel may."""
BLIND_REST = 1.0
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
        self._row, self._rests = 0, round(BLIND_REST / period)

    @property
    def progress(self) -> float:
        """The share that is behind it, 0 to 1."""
        return self._row / len(self._commands)

    def cycle(self, state: State, reference: Reference) -> bool:
        """One period: fill the reference from the state; False when it is done, or has stopped and rested."""
        if self._row == len(self._commands):
            return False
        reference.position[:] = self._commands[self._row]
        if not self.trouble and self._up is not None:
            self._look_whether_it_leans(state, self._up[self._row])
        if not self.trouble:
            self._row += 1
            return True
        self._rests -= 1
        return self._rests > 0

    def _look_whether_it_leans(self, state: State, planned: Array) -> None:
        """The angle between up as the IMU has it and as planned, both seen from the IMU."""
        seen = state.imu[0].orientation
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
