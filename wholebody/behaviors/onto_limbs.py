"""OntoLimbs: from how a robot lies or stands onto wrists and knees, to exactly where its crawler begins."""

from __future__ import annotations

import math

import numpy as np

from wholebody.behaviors.lying import KeyFrameMotions, way_onto_limbs
from wholebody.errors import BadState
from wholebody.hardware import Record
from wholebody.locomotion.crawling.crawler import Crawler
from wholebody.messages import Mode
from wholebody.model.layout import Array
from wholebody.motion.gait_plan import minimum_jerk
from wholebody.motion.playing import posture_of


class OntoLimbs:
    """Ready motions first, if it is not on wrists and knees; then joints glide to where the crawler begins.

    seconds    of the gliding; limbs bear meanwhile
    """

    def __init__(self, crawler: Crawler, state: Record, seconds: float) -> None:
        if not 0.1 <= seconds <= 60.0:
            raise BadState(f"to get on wrists and knees in {seconds} s; give 0.1 to 60")
        self._crawler, self._seconds = crawler, seconds
        names = way_onto_limbs(crawler.model.robot, state)
        self._motions = KeyFrameMotions(crawler.model.robot, names) if names else None
        self._from: Array | None = None
        self._begin = math.nan

    def cycle(self, state: Record, reference: Record) -> bool:
        """Fill the reference; True when it is there, and the crawler may go on."""
        if self._motions is not None:
            if self._motions.cycle(state, reference):
                self._motions = None
            return False
        time = float(state["time"])
        if self._from is None:
            self._from, self._begin = np.array(posture_of(state)), time
        share = min(1.0, (time - self._begin) / self._seconds)
        reference["position"] = self._from + minimum_jerk(share) * (self._crawler.command - self._from)
        reference["mode"], reference["mask"] = Mode.POSITION, True
        if share < 1.0:
            return False
        self._crawler.begin_anew(time)
        return True
