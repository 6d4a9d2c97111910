"""People made of numbers, for tests of motion capture: one who crawls, and one who stands."""

import numpy as np

from experiments.crawling_person import FRAME_TIME, ORDER, PERSON, SHARED, crawling, person
from wholebody.motion.bvh import Bvh

__all__ = ["ORDER", "PERSON", "SHARED", "crawling", "person", "standing"]


def standing(path, skeleton, frames=5, frame_time=FRAME_TIME):
    """Write one who stands and turns a bit; no angle is zero."""
    values = np.random.default_rng(1).uniform(1.0, 5.0, (frames, skeleton.channels))
    Bvh(skeleton, frame_time, values).write(path)
    return path
