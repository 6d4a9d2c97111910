"""How gaits are measured: as the document does, from where the robot was and faced when each of them began."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.crawl_gaits import Trial, by_gait


def run_along(places, rested):
    """A run whose gaits begin and end at places: x, y and heading."""
    rows = [(float(look), *place, min(look, len(places) - 1 - rested)) for look, place in enumerate(places)]
    nothing = np.zeros(0)
    return Trial(0, 0, 0, 0, 1, False, rested, 1, 1, 0, np.array(rows), nothing, nothing, "")


@pytest.mark.parametrize("rested", [False, True])
def test_drift_and_way_of_a_gait_do_not_depend_on_how_far_earlier_ones_turned(rested):
    turn, ahead, aside = math.radians(20), 0.4, 0.05
    places, yaw, here = [(0.0, 0.0, 0.0)], 0.0, np.zeros(2)
    for _ in range(3):
        c, s = math.cos(yaw), math.sin(yaw)
        here = here + np.array([[c, -s], [s, c]]) @ (ahead, aside)
        yaw += turn
        places.append((*here, yaw))
    gaits = by_gait(run_along(places, rested))
    assert gaits == pytest.approx(np.tile([aside, math.hypot(ahead, aside), turn], (3, 1)))


def test_drifts_to_either_side_do_not_make_up_for_each_other():
    gaits = by_gait(run_along([(0.0, 0.0, 0.0), (0.4, 0.1, 0.0), (0.8, 0.0, 0.0)], rested=False))
    assert gaits[:, 0] == pytest.approx([0.1, 0.1])
