"""Closed-form inverse kinematics of six joints: every branch, reach, singular postures, bad input."""

from dataclasses import replace
from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from closed_form_examples import (
    ARMS,
    LEGS,
    SIX,
    closed_form,
    dh_chain,
    dh_pose,
    dh_solutions,
    label,
    random_joints,
    smallest_singular_value,
    wrapped,
)

from wholebody import _kernels, robots
from wholebody.errors import BadGoal, BadState, NoClosedForm, UnknownName
from wholebody.kinematics.closed_form import ClosedForm
from wholebody.model import Model

solver_of = cache(closed_form)
six = pytest.mark.parametrize("names", SIX, ids=label)


def test_joints_stand_in_order_from_the_base_to_the_tip():
    assert solver_of(LEGS[0]).joint_names == ("LHY", "LHR", "LHP", "LKN", "LAP", "LAR")


@six
def test_the_tip_stands_where_pinocchio_says(names):
    robot, base, tip = robots.load(names[0]), *names[1:]
    solver, model = solver_of(names), Model(robot)
    data = model.pinocchio.createData()
    for joints in random_joints(solver, 20, seed=1):
        q = model.neutral()
        for name, value in zip(solver.joint_names, joints, strict=True):
            q[model.nq - len(model.joint_names) + robot.index[name]] = value
        pin.framesForwardKinematics(model.pinocchio, data, model.to_pinocchio(q))
        base_to_world, tip_to_world = (data.oMf[model.frame(each) + 1].homogeneous for each in (base, tip))
        assert solver.forward(joints) == pytest.approx(np.linalg.inv(base_to_world) @ tip_to_world, abs=1e-12)


@pytest.mark.slow(but=["hubo2plus-Body_Torso-right_palm", "hubo2plus-left_sole-Body_Hip", "teo-waist-right_sole"])
@six
def test_every_branch_of_100_000_poses_is_right_and_the_original_is_among_them(names):
    solver = solver_of(names)
    original = random_joints(solver, 100_000, seed=2)
    for rows in np.split(original, 4):
        goals = solver.forward(rows)
        found = solver.solve_many(goals)
        assert found.reachable.all()
        assert found.counts.min() >= 2
        pose, branch = np.nonzero(~np.isnan(found.joints[:, :, 0]))
        reached = solver.forward(found.joints[pose, branch])
        # Entries of rotations, whose errors are as large as the angle's.
        assert np.abs(reached - goals[pose]).max() < 1e-9
        miss = np.nanmin(np.abs(found.joints - rows[:, None]).max(axis=2), axis=1)
        for index in np.flatnonzero(miss > 1e-9):
            sigma = smallest_singular_value(solver, rows[index])
            assert sigma < 1e-3, rows[index]
            # A pose in doubles, with 16 digits, tells a posture only to 1e-16 / sigma.
            assert miss[index] < max(1e-6, 1e-15 / sigma), (rows[index], sigma)


@six
def test_one_pose_has_the_same_branches_alone_and_among_many(names):
    solver = solver_of(names)
    goals = solver.forward(random_joints(solver, 20, seed=3))
    many = solver.solve_many(goals)
    for index, goal in enumerate(goals):
        alone = solver.solve(goal)
        assert np.array_equal(alone.joints, many[index].joints)
        assert np.array_equal(alone.within_limits, many.within_limits[index, : many.counts[index]])


@six
def test_branches_are_different_and_at_most_eight(names):
    solver = solver_of(names)
    for goal in solver.forward(random_joints(solver, 50, seed=4)):
        joints = solver.solve(goal).joints
        apart = np.abs(wrapped(joints[:, None] - joints[None])).max(axis=2) + np.eye(len(joints))
        assert 2 <= len(joints) <= 8
        assert apart.min() > 1e-6


@six
def test_limits_leave_those_within(names):
    solver = solver_of(names)
    low, high = solver.chain.lower, solver.chain.upper
    for goal in solver.forward(random_joints(solver, 50, seed=5)):
        everything, allowed = solver.solve(goal), solver.solve(goal, limits=True)
        inside = ((everything.joints >= low - 1e-9) & (everything.joints <= high + 1e-9)).all(axis=1)
        assert np.array_equal(inside, everything.within_limits)
        assert np.array_equal(allowed.joints, everything.joints[inside])
        assert len(allowed.joints) >= 1


@six
def test_the_nearest_branch_to_a_posture_is_that_posture(names):
    solver = solver_of(names)
    for joints in random_joints(solver, 50, seed=6):
        answer = solver.nearest(solver.forward(joints), to=joints + 1e-4)
        assert answer.joints == pytest.approx(joints, abs=1e-6)
        assert answer.reachable


@pytest.mark.parametrize("names", LEGS, ids=label)
def test_a_path_is_followed_without_jumps(names):
    solver = solver_of(names)
    start, end = (solver.chain.lower + (solver.chain.upper - solver.chain.lower) * share for share in (0.5, 0.8))
    path = start + (end - start) * np.linspace(0, 1, 200)[:, None]
    near = start
    for joints, goal in zip(path, solver.forward(path), strict=True):
        near = solver.nearest(goal, to=near).joints
        assert near == pytest.approx(joints, abs=1e-8)


# Out of reach.


@pytest.mark.parametrize("names", LEGS + ARMS, ids=label)
def test_out_of_reach_the_nearest_pose_of_that_orientation_is_found(names):
    solver = solver_of(names)
    rng = np.random.default_rng(7)
    for joints in random_joints(solver, 10, seed=7):
        goal = solver.forward(joints)
        away = goal[:3, 3] - solver.chain.lines[0].meets(solver.chain.lines[1])
        goal[:3, 3] += 2.0 * away / np.linalg.norm(away)
        answer = solver.solve(goal)
        assert not answer.reachable
        for reached in solver.forward(answer.joints):
            assert reached[:3, :3] == pytest.approx(goal[:3, :3], abs=1e-9)
            assert np.linalg.norm(reached[:3, 3] - goal[:3, 3]) == pytest.approx(answer.distance, abs=1e-9)
        nearer = np.tile(goal, (500, 1, 1))
        offsets = rng.normal(size=(500, 3))
        nearer[:, :3, 3] += (answer.distance - 1e-6) * offsets / np.linalg.norm(offsets, axis=1)[:, None]
        straight = (reached - goal)[:3, 3]
        nearer[0, :3, 3] = goal[:3, 3] + straight * (1 - 1e-6 / answer.distance)
        assert not solver.solve_many(nearer).reachable.any()


def test_just_within_reach_is_reachable_and_just_outside_is_not():
    leg = solver_of(("hrp2", "waist", "left_sole"))
    straight = leg.forward(np.zeros(6))
    assert leg.solve(straight).reachable
    straight[2, 3] -= 1e-6
    answer = leg.solve(straight)
    assert not answer.reachable
    assert answer.distance == pytest.approx(1e-6, rel=1e-3)


def test_too_near_is_out_of_reach_too():
    leg = solver_of(("teo", "waist", "right_sole"))  # thigh 0.33 m, shin 0.30 m
    goal = leg.chain.home.copy()
    goal[:3, 3] += [0.0, 0.0, 0.61]
    answer = leg.solve(goal)
    assert not answer.reachable
    assert 0.005 < answer.distance < 0.05


# Singular postures.


@pytest.mark.parametrize("names", LEGS, ids=label)
def test_a_straight_knee_is_one_branch(names):
    solver = solver_of(names)
    joints = np.array([0.1, 0.05, -0.2, 0.0, 0.1, 0.02])
    goal = solver.forward(joints)
    answer = solver.solve(goal)
    assert len(answer.joints) == 4
    assert solver.forward(answer.joints) == pytest.approx(np.tile(goal, (4, 1, 1)), abs=1e-9)
    assert np.abs(answer.joints - joints).max(axis=1).min() < 1e-6


@pytest.mark.parametrize("names", ARMS[2:], ids=label)
def test_with_a_straight_arm_the_wrist_keeps_its_yaw(names):
    solver = solver_of(names)
    joints = np.array([0.3, 0.2, 0.4, 0.0, 0.5, 0.3])
    goal = solver.forward(joints)
    assert solver.nearest(goal, to=joints).joints == pytest.approx(joints, abs=1e-6)
    rest = solver.solve(goal)
    assert solver.forward(rest.joints) == pytest.approx(np.tile(goal, (len(rest.joints), 1, 1)), abs=1e-9)
    assert np.abs(rest.joints[:, 4]).min() == 0.0


@pytest.mark.parametrize("names", ARMS, ids=label)
def test_with_shoulder_axes_in_line_the_first_keeps_its_angle(names):
    chain = solver_of(names).chain
    solver = ClosedForm(replace(chain, lower=np.full(6, -3.0), upper=np.full(6, 3.0)))
    side = 1.0 if names[2] == "left_palm" else -1.0
    joints = np.array([0.3, side * np.pi / 2, 0.4, -0.7, 0.5, 0.3])
    goal = solver.forward(joints)
    assert solver.nearest(goal, to=joints).joints == pytest.approx(joints, abs=1e-9)
    rest = solver.solve(goal)
    assert solver.forward(rest.joints) == pytest.approx(np.tile(goal, (len(rest.joints), 1, 1)), abs=1e-9)
    assert np.abs(rest.joints[:, 0]).min() == 0.0


# The arm of Hubo-Ach, Table 3.6.


def test_the_arm_of_table_3_6_has_the_branches_of_the_corrected_formulas():
    solver = ClosedForm(dh_chain())
    for joints in random_joints(solver, 300, seed=8):
        goal = dh_pose(joints)
        assert solver.forward(joints) == pytest.approx(goal, abs=1e-12)
        theirs, ours = dh_solutions(goal), solver.solve(goal).joints
        assert len(ours) == 8
        apart = np.abs(wrapped(theirs[:, None] - ours[None])).max(axis=2)
        assert apart.min(axis=0).max() < 1e-6
        assert apart.min(axis=1).max() < 1e-6
        assert np.abs(wrapped(ours - joints)).max(axis=1).min() < 1e-9


# Bad input.


def test_a_goal_that_is_no_pose_is_refused():
    leg = solver_of(LEGS[0])
    good = leg.chain.home
    bad = {
        "no rotation": np.diag([1.0, 1.0, -1.0, 1.0]),
        "no rotation: RᵀR is off": np.diag([1.1, 1.0, 1.0, 1.0]),
        "not finite": good * np.nan,
        "last row": good + np.eye(4)[3],
        "4 × 4": np.eye(3),
        "of numbers": "here",
    }
    for words, pose in bad.items():
        for call in (leg.solve, leg.nearest):
            with pytest.raises(BadGoal, match=words):
                call(pose)
    with pytest.raises(BadGoal, match=r"row 1: .*not finite"):
        leg.solve_many([good, np.full((4, 4), np.nan)])
    with pytest.raises(BadGoal, match=r"\(n, 4, 4\)"):
        leg.solve_many(good)
    with pytest.raises(BadGoal, match="no swivel"):
        leg.solve(good, swivel=0.0)


def test_a_posture_that_is_none_is_refused():
    leg = solver_of(LEGS[0])
    for posture in (np.zeros(5), np.full(6, np.nan)):
        with pytest.raises(BadState):
            leg.nearest(leg.chain.home, to=posture)


def test_an_unknown_frame_is_refused_with_the_closest_name():
    with pytest.raises(UnknownName, match="closest: 'left_sole'"):
        ClosedForm.of(robots.load("hubo2plus"), "Body_Hip", "left_soul")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("hubo2plus", "Body_Hip", "left_palm"), "7 joints"),
        (("hubo2plus", "Body_Hip", "Body_Hip"), "0 joints"),
        (("atlas", "utorso", "l_hand"), "do not meet"),
    ],
    ids=["too many", "none", "no spherical end"],
)
def test_a_chain_without_closed_form_says_why(names, words):
    with pytest.raises(NoClosedForm, match=words):
        closed_form(names)


def test_arrays_of_any_layout_are_taken_as_they_are():
    leg = solver_of(LEGS[0])
    goal = leg.forward(np.array([0.1, 0.05, -0.4, 0.8, -0.4, 0.1]))
    frozen = goal.copy()
    frozen.flags.writeable = False
    expected = leg.solve(goal).joints
    for pose in (frozen, np.asfortranarray(goal), goal.tolist(), np.kron(goal, [[1.0, 0.0]])[:, ::2]):
        assert np.array_equal(leg.solve(pose).joints, expected)
        assert np.array_equal(leg.solve_many([pose])[0].joints, expected)
        assert leg.nearest(pose, to=[0.1, 0.05, -0.4, 0.8, -0.4, 0.1]).joints[3] == pytest.approx(0.8)


def test_our_arctangent_is_the_librarys_to_the_last_digits():
    rng = np.random.default_rng(9)
    points = np.concatenate([rng.normal(size=(2000, 2)), np.exp(rng.uniform(-30, 30, (2000, 2)))])
    edges = [(0.0, 0.0), (0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0), (1.0, 1.0), (-1.0, -1.0), (1e-300, 1e300)]
    for y, x in [*points.tolist(), *edges]:
        assert _kernels.kinematics_arctangent(y, x) == pytest.approx(np.arctan2(y, x), rel=1e-15, abs=5e-16)
