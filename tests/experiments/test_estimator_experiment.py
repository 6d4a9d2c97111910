"""Stabilizer, Chapter 4, repeated: the full filter beats the plain one as the table says; the pictures are drawn."""

import numpy as np
import pytest

from experiments import stabilizer_estimator as experiment
from experiments.estimator_runs import on_the_crane, step
from wholebody.estimation import SupportNoise


@pytest.fixture(scope="module")
def walking():
    return step(stride=0.05)


@pytest.fixture(scope="module")
def hanging():
    return on_the_crane()


def errors(name, run, noise, seed=0):
    return experiment.errors_of(experiment.estimate(experiment.ESTIMATORS[name], run, noise, seed=seed), run)


@pytest.mark.slow
def test_the_run_is_worth_the_name_of_walking(walking):
    assert walking.com[-1, 0] - walking.com[0, 0] > 0.4
    assert walking.com[:, 2].min() > 0.55
    assert np.degrees(np.abs(walking.flexion).max()) > 1.0


@pytest.mark.slow(but="10.0-0")
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("noise", experiment.NOISES)
def test_while_walking_the_full_filter_errs_much_less_than_the_plain_one_and_both_less_than_the_gyro(
    walking, noise, seed
):
    full, plain, gyro = (errors(name, walking, noise, seed) for name in ("full EKF", "plain EKF", "gyro alone"))
    assert full.both < 0.7 * plain.both < 0.7 * gyro.both
    assert max(full.roll, full.pitch) < 0.5


@pytest.fixture(scope="module")
def other_walk():
    return experiment.RUNS["walks, 7 cm"]()


@pytest.mark.slow
def test_on_a_walk_and_a_noise_it_was_not_chosen_for_the_full_filter_is_as_good(other_walk):
    full, plain = (errors(name, other_walk, 1.0, seed=101) for name in ("full EKF", "plain EKF"))
    assert full.both < 0.7 * plain.both
    assert max(full.roll, full.pitch) < 0.5
    flexion = experiment.flexion_of(other_walk, 1.0, seed=101)
    assert (flexion.peak >= 1.0).all()
    assert (flexion.error < 0.2 * flexion.peak).all()


@pytest.mark.slow
def test_on_a_balanced_walk_that_is_pushed_the_full_filter_is_as_good():
    run = experiment.RUNS["0.8 s, pushed"]()
    assert run.com[-1, 0] - run.com[0, 0] > 2.0
    full, plain = (errors(name, run, 1.0) for name in ("full EKF", "plain EKF"))
    assert full.both < 0.2 * plain.both
    assert max(full.roll, full.pitch) < 0.2
    flexion = experiment.flexion_of(run, 1.0)
    assert (flexion.peak >= 1.0).all()
    assert (flexion.error < 0.1 * flexion.peak).all()


@pytest.mark.parametrize("noise", experiment.NOISES)
def test_the_full_filter_is_no_surer_than_its_innovations_allow(other_walk, noise):
    assert 0.05 < experiment.surprise_of(other_walk, noise, seed=101) < 1.0


@pytest.mark.parametrize(("noise", "seed"), [(0.1, 101), (1.0, 102), (1.0, 103), (10.0, 104)])
def test_the_full_filter_is_never_surer_of_roll_and_pitch_than_it_may_be(other_walk, noise, seed):
    found = experiment.coverage_of(other_walk, noise, seed)
    assert found.below > 0.95
    assert found.errors < 1.0


def test_a_filter_that_is_told_a_tenth_of_the_noise_is_too_sure(other_walk):
    noise = SupportNoise()
    told = {each: 0.1 * getattr(noise, each) for each in ("level", "sole", "torque", "vibration", "ankle", "rocking")}
    assert experiment.coverage_of(other_walk, 1.0, 102, **told).below < 0.8


def test_without_ankle_torque_it_still_does(walking):
    assert errors("no ankle torque", walking, 1.0).both < 0.7 * errors("plain EKF", walking, 1.0).both


def test_flexion_is_known_to_a_fifth_of_its_peak(walking):
    flexion = experiment.flexion_of(walking, 1.0)
    assert (flexion.peak >= 1.0).all()
    assert (flexion.error < 0.2 * flexion.peak).all()


@pytest.mark.slow
def test_on_the_crane_feet_say_nothing_and_the_full_filter_is_no_worse_than_the_plain_one(hanging):
    assert not np.any(hanging.states["force_torque"]["force"][:, :2, 2] > 1.0)
    assert np.ptp(experiment.angles(hanging.attitude), axis=0).min() > 5.0, "it swings, in degrees"
    assert errors("full EKF", hanging, 1.0).both < errors("plain EKF", hanging, 1.0).both


@pytest.mark.slow
def test_the_pictures_are_drawn(walking, hanging, monkeypatch, tmp_path):
    monkeypatch.setattr(experiment, "RESULTS", tmp_path)
    experiment.draw_walking(walking)
    experiment.draw_crane_and_flexion(hanging, walking)
    assert len(list(tmp_path.glob("*.png"))) == 2
