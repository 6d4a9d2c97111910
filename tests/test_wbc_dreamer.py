"""Dreamer's hands follow trajectories by efforts in MuJoCo, also with latency, friction and masses unknown to it."""

import numpy as np
import pytest

from experiments.controlit_dreamer import COUPLING, GAINS, SIDES, Ellipses, dreamer, run
from wholebody.control import WBOSC, Problem
from wholebody.control.servo import Servo
from wholebody.model import Model
from wholebody.simulation import Simulation
from wholebody.tasks import CartesianPositionTask, JointPositionTask

CRITICAL = GAINS["critical"]


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


@pytest.mark.parametrize("mass", [0.95, 1.05])
def test_with_latency_friction_and_wrong_masses_they_are_off_by_less_than_a_centimetre_and_two_degrees(mass):
    hands = run(CRITICAL, disturbed=True, seconds=5.0, settled=1.0, mass=mass).hands
    for side in SIDES:
        assert np.mean(hands.millimetres[side]) < 10.0
        assert np.mean(hands.degrees[side]) < 2.0


def test_the_gains_of_the_document_ring_and_are_far_worse_when_disturbed():
    ours = run(CRITICAL, disturbed=True, seconds=4.0, settled=2.0).hands
    theirs = run(GAINS["table E.2"], disturbed=True, seconds=4.0, settled=2.0).hands
    for side in SIDES:
        assert np.mean(theirs.millimetres[side]) > 3 * np.mean(ours.millimetres[side])


def test_the_older_the_model_may_grow_the_larger_the_error_and_both_are_bounded():
    errors, ages = [], []
    for every in (1, 5, 20):
        done = run(CRITICAL, disturbed=False, seconds=3.0, settled=1.0, model_every=every)
        errors.append(np.mean(done.hands.millimetres["right"]))
        ages.append(done.servo.worst_staleness)
    assert errors[0] < errors[1] < errors[2] < 1.0
    assert ages == pytest.approx([0.0, 0.004, 0.019])


def reach(away):
    """The right hand's goal moves away by a vector in 1.5 s and comes back: errors, torso, steps of effort, speeds."""
    model = Model(dreamer())
    made = {}

    def behavior(time, snapshot):
        if not made:
            hand = CartesianPositionTask("hand", "right_palm", snapshot.position(model.frame("right_palm")).copy())
            posture = JointPositionTask("posture", snapshot.q, stiffness=25.0)
            made.update(hand=hand, start=hand.goal.copy(), problem=Problem([hand, posture], [COUPLING]))
        out, back = np.clip((time - 0.2) / 1.5, 0, 1), np.clip((time - 3.2) / 1.5, 0, 1)
        share = out**3 * (10 - 15 * out + 6 * out**2) - back**3 * (10 - 15 * back + 6 * back**2)
        made["hand"].goal[:] = made["start"] + share * np.array(away)
        return made["problem"]

    rows = []

    def watch(servo):
        rows.append((np.linalg.norm(servo.command.error("hand")), servo.estimate.q[0], *servo.command.effort))

    with Simulation(model.robot, control_period=0.001) as simulation:
        Servo(simulation, simulation, WBOSC(model), behavior, publish=[watch]).run(5.7)
    table = np.array(rows)
    return table[:, 0], table[:, 1], np.abs(np.diff(table[:, 2:], axis=0)).max(axis=1)


def test_the_body_helps_a_hand_to_reach_far_and_it_comes_back():
    errors, torso, steps = reach((0.4, -0.4, 0.6))
    assert errors[3000] < 0.001
    assert np.ptp(torso) > np.radians(10)
    assert errors[-1] < 0.001
    assert steps[100:].max() < 1.0, "N·m from one cycle to the next"


@pytest.mark.xfail(reason="a singular level is truncated in a step, and its effort jumps to and fro", strict=True)
def test_a_goal_out_of_reach_is_borne_without_chatter():
    errors, _, steps = reach((0.8, 0.0, 0.3))
    assert errors[-1] < 0.001
    assert steps[100:].max() < 20.0, "N·m from one cycle to the next"
