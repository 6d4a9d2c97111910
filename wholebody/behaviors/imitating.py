"""Imitating: a robot crawls as a captured person did, and feels its limbs while it does.

imitating = Imitating(imitation, cycles=5)
while imitating.cycle(state, reference):     # every period
    ...
"""

from __future__ import annotations

import math

from wholebody.behaviors.crawling import Crawling
from wholebody.errors import CannotImitate
from wholebody.hardware import Record
from wholebody.locomotion.crawling.captured import captured_crawl_gait_of
from wholebody.model.layout import Array
from wholebody.motion.imitation import Imitation

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

    def cycle(self, state: Record, reference: Record) -> bool:
        """One period: fill the reference from the state; False when it rests again."""
        time, crawling = float(state["time"]), self.crawling
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
