"""People made of numbers, for tests of motion capture: one who crawls, and one who stands."""

from pathlib import Path

import numpy as np

from experiments.crawling_person import FRAME_TIME, ORDER, PERSON, crawling, person
from wholebody.motion.bvh import Bvh

__all__ = ["ORDER", "PERSON", "SHARED", "crawling", "person", "standing"]

SHARED = Path(__file__).parents[2] / "shared" / "motion"  # captures of real people, beside the project, if at all


def standing(path, skeleton, frames=5, frame_time=FRAME_TIME):
    """Write one who stands and turns a bit; no angle is zero."""
    values = np.random.default_rng(1).uniform(1.0, 5.0, (frames, skeleton.channels))
    Bvh(skeleton, frame_time, values).write(path)
    return path
