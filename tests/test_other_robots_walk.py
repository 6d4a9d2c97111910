"""A robot that nothing was tuned on walks by the same controller; a leg out of reach bends no other way for it."""

import math

import numpy as np
import pytest

from experiments.stabilizer_robots import fast_walk, size
from wholebody import robots
from wholebody.kinematics import ClosedForm
from wholebody.locomotion.gait import SOLES
from wholebody.locomotion.legs import Legs
from wholebody.model import Model

pytestmark = pytest.mark.timeout(240)  # a busy machine simulates slowly


@pytest.mark.parametrize(("arm", "falls"), [("none", True), ("dcm", False)])
def test_a_robot_of_the_size_of_man_walks_fast_with_the_same_controller_and_open_loop_falls(arm, falls):
    went = fast_walk("hrp2", arm, seed=3, steps=8)
    assert went.fell == falls
    if not falls:
        assert went.distance == pytest.approx(8 * 0.2 * size("hrp2"), abs=0.1)
        assert went.tilt < math.radians(4)


def test_a_knee_never_leaps_to_its_other_side_when_an_ankle_is_at_the_end_of_its_range():
    legs = Legs(Model(robots.load("teo")))
    seen = legs.seen_from_pelvis()
    left, goal = (seen.placement(legs.model.surface(sole)).copy() for sole in SOLES)
    ground = goal[2, 3]
    free = ClosedForm.of(legs.model.robot, legs.model.robot.root, "right_sole")
    at, before, leapt = legs.joints[legs.columns[1]].copy(), legs.joints.copy(), 0.0
    for height in np.arange(0.0, 0.12, 0.001):
        goal[2, 3] = ground + height
        now = legs.place(np.zeros(3), np.eye(3), (left, goal)).copy()
        assert np.abs(now - before).max() < 0.1
        found = free.nearest(goal, at).joints
        leapt = max(leapt, float(np.abs(found - at).max()))
        at, before = found, now
    assert legs.reach > 0.01, "the foot cannot follow so far"
    assert leapt > 0.5, "the knee's whole range would let it leap"
