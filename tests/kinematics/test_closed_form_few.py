"""Closed-form inverse kinematics of arms with four or five joints: position exactly, orientation at best."""

from functools import cache

import numpy as np
import pytest
from closed_form_examples import FEW, closed_form, label, random_joints

from wholebody import robots
from wholebody.errors import BadGoal, NoClosedForm
from wholebody.kinematics.closed_form import ClosedForm
from wholebody.robots import Placement

solver_of = cache(closed_form)
few = pytest.mark.parametrize("names", FEW, ids=label)


def angle_between(A, B):
    R = A[:3, :3].T @ B[:3, :3]
    return np.arctan2(np.linalg.norm([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]), np.trace(R) - 1)


def tilted(goal, rng, most):
    return goal @ Placement(rpy=tuple(rng.uniform(-most, most, 3))).matrix


@few
def test_a_pose_of_the_arm_is_reached_again(names):
    solver = solver_of(names)
    original = random_joints(solver, 20_000, seed=1)
    goals = solver.forward(original)
    found = solver.solve_many(goals)
    assert found.reachable.all()
    assert np.nanmin(found.turns, axis=1).max() < 1e-7
    miss = np.nanmin(np.abs(found.joints - original[:, None]).max(axis=2), axis=1)
    assert np.quantile(miss, 0.99) < 1e-9
    assert miss.max() < 1e-4


@few
def test_any_orientation_gets_the_position_and_the_angle_it_says(names):
    solver, rng = solver_of(names), np.random.default_rng(2)
    for joints in random_joints(solver, 100, seed=2):
        goal = tilted(solver.forward(joints), rng, 1.5)
        answer = solver.solve(goal)
        assert answer.reachable
        for row, turn in zip(answer.joints, answer.turns, strict=True):
            reached = solver.forward(row)
            assert reached[:3, 3] == pytest.approx(goal[:3, 3], abs=1e-9)
            assert angle_between(reached, goal) == pytest.approx(turn, abs=1e-7)


@few
def test_no_swivel_comes_nearer_to_the_orientation(names):
    solver, rng = solver_of(names), np.random.default_rng(3)
    for joints in random_joints(solver, 10, seed=3):
        goal = tilted(solver.forward(joints), rng, 0.5)
        best = solver.solve(goal).turns.min()
        others = [solver.solve(goal, swivel=angle).turns.min() for angle in np.linspace(-np.pi, np.pi, 181)]
        assert best <= min(others) + 1e-9
        assert min(others) < best + 0.05


@few
def test_a_swivel_puts_the_elbow_where_it_says(names):
    solver = solver_of(names)
    shoulder = solver.chain.lines[0].meets(solver.chain.lines[1])
    elbow_at_home = solver.chain.lines[3].foot(shoulder)
    for joints in random_joints(solver, 20, seed=4):
        goal = solver.forward(joints)
        direction = goal[:3, 3] - shoulder
        direction /= np.linalg.norm(direction)
        down = np.array([0.0, 0.0, -1.0])
        down -= direction * (down @ direction)
        for swivel in (-1.0, 0.0, 2.0):
            for row in solver.solve(goal, swivel=swivel).joints:
                upper = solver.forward([*row[:3], *np.zeros(solver.size - 3)]) @ np.linalg.inv(solver.chain.home)
                elbow = upper[:3, :3] @ elbow_at_home + upper[:3, 3] - shoulder
                angle = np.arctan2(direction @ np.cross(down, elbow), down @ elbow)
                assert angle == pytest.approx(swivel, abs=1e-6)


@few
def test_out_of_reach_the_arm_points_at_the_goal(names):
    solver = solver_of(names)
    shoulder = solver.chain.lines[0].meets(solver.chain.lines[1])
    goal = np.eye(4)
    goal[:3, 3] = shoulder + np.array([0.3, 0.4, -1.2])
    answer = solver.solve(goal)
    assert not answer.reachable
    for row in answer.joints:
        reached = solver.forward(row)[:3, 3]
        assert np.linalg.norm(reached - goal[:3, 3]) == pytest.approx(answer.distance, abs=1e-9)
        assert reached - shoulder == pytest.approx(np.array([0.3, 0.4, -1.2]) / 1.3 * (1.3 - answer.distance), abs=1e-7)


def test_the_last_joint_stays_within_its_limits():
    solver, rng = solver_of(FEW[2]), np.random.default_rng(5)
    low, high = solver.chain.lower[4], solver.chain.upper[4]
    for joints in random_joints(solver, 100, seed=5):
        last = solver.solve(tilted(solver.forward(joints), rng, 3.0)).joints[:, 4]
        assert ((last >= low) & (last <= high)).all()


def test_a_tip_beside_the_last_axis_and_a_swivel_of_nan_are_refused():
    with pytest.raises(NoClosedForm, match="on it"):
        ClosedForm.of(robots.load("hubo2plus").locked({"LWP": 0.3}), "Body_Torso", "left_palm")
    arm = solver_of(FEW[0])
    with pytest.raises(BadGoal, match="swivel"):
        arm.solve(arm.chain.home, swivel=np.nan)
