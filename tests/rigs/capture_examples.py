"""People for tests of motion capture: made of numbers, one who crawls and one who stands, or real, if they are here."""

import numpy as np
import pytest

from experiments.crawling_person import FRAME_TIME, ORDER, PERSON, SHARED, crawling, person
from wholebody.motion.capture.bvh import Bvh

__all__ = ["ORDER", "PERSON", "crawling", "person", "real_person", "standing"]


def real_person(name):
    """The file of a captured person beside the project; without it, the test is skipped."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not part of the project, and is not on this machine")
    return path


def standing(path, skeleton, frames=5, frame_time=FRAME_TIME):
    """Write one who stands and turns a bit; no angle is zero."""
    values = np.random.default_rng(1).uniform(1.0, 5.0, (frames, skeleton.channels))
    Bvh(skeleton, frame_time, values).write(path)
    return path
