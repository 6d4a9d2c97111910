"""Joints that others move: whoever walks balances with them where they are, and not where he would have them."""

import numpy as np
import pytest

from wholebody import robots
from wholebody.locomotion.walking.gait import SOLES
from wholebody.locomotion.walking.legs import Legs
from wholebody.model import Model

MODEL = Model(robots.load("hubo2plus"), watch=SOLES)
ARM = np.array([MODEL.robot.index[name] for name in MODEL.robot.groups["right_arm"]])


@pytest.fixture
def legs():
    return Legs(MODEL)


def com_with_the_arm_forward(legs, taken):
    """Where the centre of mass comes to be, asked to be over the middle of the feet, with the right arm forward."""
    positions = legs.joints.copy()
    positions[ARM] = [-1.2, -0.2, 0.0, -0.6, 0.0, 0.0]
    if taken:
        legs.take(ARM, positions)
    snapshot = legs.seen_from_pelvis()
    soles = tuple(np.array(snapshot.placement(MODEL.frame(sole))) for sole in SOLES)
    asked = np.array([*(soles[0][:2, 3] + soles[1][:2, 3]) / 2, snapshot.com_in_world[2]])
    for _ in range(3):
        legs.balance(asked, np.eye(3), soles)
    q = MODEL.neutral()
    q[7:] = legs.joints
    q[7 + ARM] = positions[ARM]
    truly = MODEL.at(q)
    sole = truly.placement(MODEL.frame(SOLES[0]))
    return (truly.com_in_world - sole[:3, 3]) - (asked - soles[0][:3, 3])


def test_the_centre_of_mass_is_where_it_shall_be_though_somebody_else_has_stretched_out_an_arm(legs):
    assert np.linalg.norm(com_with_the_arm_forward(legs, taken=True)) < 1e-3
    without = com_with_the_arm_forward(Legs(MODEL), taken=False)
    assert without[0] > 0.01, "the control arm: the arm takes it forward by centimetres"


def test_joints_that_come_back_are_where_they_were_before(legs):
    before = legs.joints.copy()
    moved = before.copy()
    moved[ARM] += 0.5
    legs.take(ARM, moved)
    assert legs.joints == pytest.approx(moved)
    legs.take(np.zeros(0, np.int64), moved)
    assert legs.joints == pytest.approx(before)


def test_the_centre_of_mass_is_where_it_shall_be_while_arms_swing(legs):
    snapshot = legs.seen_from_pelvis()
    soles = tuple(np.array(snapshot.placement(MODEL.frame(sole))) for sole in SOLES)
    asked = snapshot.com_in_world.copy()
    offsets = np.zeros(len(legs.joints))
    offsets[ARM[0]] = 0.8
    legs.swing(offsets)
    for _ in range(3):
        truly = legs.balance(asked, np.eye(3), soles)
    assert truly.com_in_world - truly.placement(MODEL.frame(SOLES[0]))[:3, 3] == pytest.approx(
        asked - soles[0][:3, 3], abs=1e-4
    )
    assert truly.q[7 + ARM[0]] == pytest.approx(snapshot.q[7 + ARM[0]] + 0.8)


def test_arms_that_somebody_else_has_are_not_swung(legs):
    moved = legs.joints.copy()
    moved[ARM] += 0.3
    legs.take(ARM, moved)
    legs.swing(np.full(len(moved), 0.5))
    assert legs.joints[ARM] == pytest.approx(moved[ARM])
