"""Hubo-Ach, 5.3, repeated: pushed down, legs with active damping squat and come back, where stiff ones do not yield."""

import numpy as np
import pytest

from experiments import stabilizer_squat as experiment


@pytest.fixture(scope="module")
def handled():
    return {arm: experiment.run(name, experiment.by_hand, seed=2) for arm, name in experiment.ARMS.items()}


@pytest.fixture(scope="module")
def weighed():
    return experiment.run("damping", experiment.by_weight, seed=3)


@pytest.mark.slow
def test_under_a_weight_the_legs_bend_as_an_over_damped_spring_does_and_come_back(weighed):
    pushed = (weighed.time > experiment.BEGIN) & (weighed.time < experiment.END)
    assert weighed.depth > 0.03
    assert np.ptp(weighed.height[pushed][-500:]) < 0.2 * weighed.depth, "it comes to rest under the weight"
    assert weighed.height[pushed].min() > weighed.height[pushed][-1] - 0.05 * weighed.depth, "without swinging"
    assert weighed.left < 0.1 * weighed.depth
    assert weighed.rebound < 0.1 * weighed.depth


def test_the_ground_bears_weight_and_push_and_no_blow(weighed):
    assert weighed.peak_excess < 1.6 * experiment.WEIGHT


@pytest.mark.slow
def test_a_hand_that_comes_down_meets_less_force_than_on_stiff_legs(handled):
    stiff, damped = handled["stiff legs"], handled["active damping"]
    assert stiff.depth < 0.002
    assert damped.depth > 0.02
    assert damped.peak_push < 0.7 * stiff.peak_push
    assert damped.left < 0.1 * damped.depth
