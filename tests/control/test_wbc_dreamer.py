"""Dreamer's hands follow trajectories by efforts in MuJoCo, also with latency, friction and masses unknown to it."""

import numpy as np
import pytest

from experiments.controlit_dreamer import GAINS, SIDES, Ellipses, run
from experiments.controlit_reach import CASES, reach, waiting
from wholebody.tasks.kinds import UNLIMITED

CRITICAL = GAINS["critical"]
SMALL = 0.05
"""Of what a motor can do, from one cycle to the next: from one end to the other it takes 40 cycles at least."""


def test_the_path_of_the_hands_has_the_velocity_and_acceleration_it_says():
    path, step = Ellipses(None, CRITICAL).path, 1e-5
    for time in (0.1, 0.5, 0.99, 1.7):
        before, now, after = path(time - step), path(time), path(time + step)
        assert now[1] == pytest.approx((after[0] - before[0]) / (2 * step), abs=1e-6)
        assert now[2] == pytest.approx((after[1] - before[1]) / (2 * step), abs=1e-5)


def test_with_the_right_model_the_hands_are_off_by_less_than_a_millimetre_and_a_fifth_of_a_degree():
    hands = run(CRITICAL, disturbed=False, seconds=4.0, settled=0.0).hands
    for side in SIDES:
        assert max(hands.millimetres[side]) < 1.0
        assert max(hands.degrees[side]) < 0.2


@pytest.mark.slow(but="1.05")
@pytest.mark.parametrize("mass", [0.95, 1.05])
def test_with_latency_friction_and_wrong_masses_they_are_off_by_less_than_a_centimetre_and_two_degrees(mass):
    hands = run(CRITICAL, disturbed=True, seconds=5.0, settled=1.0, mass=mass).hands
    for side in SIDES:
        assert np.mean(hands.millimetres[side]) < 10.0
        assert np.mean(hands.degrees[side]) < 2.0


@pytest.mark.slow
def test_the_gains_of_the_document_ring_and_are_far_worse_when_disturbed():
    ours = run(CRITICAL, disturbed=True, seconds=4.0, settled=2.0).hands
    theirs = run(GAINS["table E.2"], disturbed=True, seconds=4.0, settled=2.0).hands
    for side in SIDES:
        assert np.mean(theirs.millimetres[side]) > 3 * np.mean(ours.millimetres[side])


@pytest.mark.slow
def test_the_older_the_model_may_grow_the_larger_the_error_and_both_are_bounded():
    errors, ages = [], []
    for every in (1, 5, 20):
        done = run(CRITICAL, disturbed=False, seconds=3.0, settled=1.0, model_every=every)
        errors.append(np.mean(done.hands.millimetres["right"]))
        ages.append(done.servo.worst_staleness)
    assert errors[0] < errors[1] < errors[2] < 1.0
    assert ages == pytest.approx([0.0, 0.004, 0.019])


@pytest.mark.slow
def test_the_body_helps_a_hand_to_reach_far_and_it_comes_back():
    done = reach(**CASES["within reach"])
    assert done.errors[waiting(1.5)].max() < 0.001
    assert np.ptp(done.torso) > np.radians(10)
    assert done.errors[-1] < 0.001
    assert done.shares[100:].max() < SMALL


@pytest.mark.slow
def test_a_goal_at_the_edge_of_reach_is_borne_without_chatter_which_plain_truncation_does_not():
    ours, plain = (reach(**CASES["at its edge"], singular=law) for law in ("shared", "truncated"))
    assert ours.errors[-1] < 0.001
    assert np.ptp(ours.torso) > np.radians(30)
    assert ours.shares[100:].max() < SMALL
    assert plain.shares[100:].max() > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("latency", [0, 7])
@pytest.mark.parametrize(("case", "away"), [("10 cm beyond", 0.1), ("20 cm beyond", 0.2)])
def test_a_goal_out_of_reach_is_approached_borne_and_left_again_without_chatter(case, away, latency):
    """The hand waits as near as it gets; the posture, which has its share of a stretched arm, takes some of that."""
    ours = reach(**CASES[case], latency=latency)
    still = ours.errors[waiting(2.0)]
    assert np.mean(still) == pytest.approx(away, abs=0.07)
    assert np.ptp(still) < 0.02
    assert np.ptp(ours.torso) > np.radians(30)
    assert ours.shares[100:].max() < SMALL
    assert ours.errors[-1] < 0.001


@pytest.mark.slow
def test_a_stiff_task_with_latency_is_as_calm_at_a_goal_out_of_reach():
    ours = reach(**CASES["20 cm beyond, stiff, 7 ms late"])
    assert ours.shares[100:].max() < SMALL
    assert ours.errors[-1] < 0.001


@pytest.mark.slow
def test_without_its_limit_a_task_whose_goal_is_out_of_reach_throws_efforts_from_end_to_end():
    linear = reach(**CASES["20 cm beyond, 7 ms late"], error_limit=UNLIMITED)
    assert linear.shares[100:].max() > 0.5
    assert linear.shares[waiting(2.0)].max() > 0.5


@pytest.mark.slow
def test_a_goal_out_of_reach_makes_plain_truncation_chatter():
    plain = reach(**CASES["10 cm beyond"], singular="truncated")
    assert plain.shares[waiting(2.0)].max() > 0.5
    assert np.percentile(plain.steps[100:], 99.5) > 50.0, "N·m from one cycle to the next"
