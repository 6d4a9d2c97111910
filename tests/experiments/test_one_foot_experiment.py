"""Stabilizer, 5.4–5.8, repeated on HOAP-3's right foot: each controller does what it is for better than none."""

import numpy as np
import pytest

from experiments import stabilizer_one_foot as experiment
from wholebody.errors import UnknownName
from wholebody.locomotion.balance.region_stabilizer import RegionStabilizer

SLOPE, LEAN, BLOWS = experiment.TROUBLES.values()


def both(arm, trouble, seed):
    return experiment.run("no control", trouble, seed), experiment.run(arm, trouble, seed)


@pytest.mark.slow
def test_on_ground_that_is_not_level_attitude_control_holds_the_waist_upright():
    without, upright = both("attitude (5.4)", SLOPE, seed=3)
    assert without.attitude_error > 0.02
    assert upright.attitude_error < 0.5 * without.attitude_error


@pytest.mark.slow
def test_leant_against_static_control_brings_the_zero_moment_point_back_to_the_safe_region():
    without, static = both("static (5.5)", LEAN, seed=4)
    at_the_end = slice(-300, None)  # 1.5 s: it swings about the edge of the region
    assert np.mean(without.share[at_the_end]) > 0.55
    assert np.mean(static.share[at_the_end]) < 0.51
    assert static.zmp_error < 0.9 * without.zmp_error


@pytest.mark.slow
@pytest.mark.parametrize("arm", ["dynamic (5.6)", "switched (5.8)"])
def test_after_two_blows_the_zero_moment_point_and_the_waist_err_less_than_without(arm):
    without, controlled = both(arm, BLOWS, seed=5)
    assert not controlled.fell
    assert controlled.zmp_error < 0.85 * without.zmp_error
    assert controlled.attitude_error < 0.7 * without.attitude_error
    assert np.linalg.norm(controlled.zmp[-100:].mean(axis=0)) < 0.005, "it comes to rest where it stood"
    assert (np.abs(controlled.torque) <= experiment.torque_limits() + 1e-6).all()


@pytest.mark.slow
def test_after_blows_arms_swing_unless_they_are_left_alone(monkeypatch):
    monkeypatch.setattr(experiment, "SECONDS", 2.6)
    robot = experiment.robots.load("hoap3")
    arms = [joint for group in ("left_arm", "right_arm") for joint in robot.group(group)]
    with_arms, without = (experiment.run(arm, BLOWS, seed=5) for arm in ("dynamic (5.6)", "dynamic without arms"))
    assert np.abs(with_arms.q - with_arms.q[0])[:, arms].max() > 0.1
    assert np.abs(without.q - without.q[0])[:, arms].max() < 0.02


def test_a_mode_of_balance_that_there_is_not_is_refused():
    model = experiment.Stance(None).walker.model
    with pytest.raises(UnknownName, match="static"):
        RegionStabilizer(model, modes=frozenset({"statik"}))


@pytest.mark.slow
def test_the_pictures_are_drawn(monkeypatch, tmp_path):
    monkeypatch.setattr(experiment, "RESULTS", tmp_path)
    monkeypatch.setattr(experiment, "SECONDS", 2.3)
    shown = {arm: experiment.run(arm, BLOWS) for arm in ("no control", "switched (5.8)")}
    experiment.draw_balance("blows", 2, shown)
    experiment.draw_joints("switched (5.8)", shown["switched (5.8)"])
    assert {each.name for each in tmp_path.iterdir()} == {
        "stabilizer_one_foot_3.png",
        "stabilizer_one_foot_switched.png",
    }
