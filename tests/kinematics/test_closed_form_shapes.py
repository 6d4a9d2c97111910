"""Closed form of chains that no robot of ours has, and of any pose at all."""

from functools import cache

import numpy as np
import pytest
from closed_form_examples import SIX, closed_form, label, random_joints, smallest_singular_value
from hypothesis import given, settings
from hypothesis import strategies as st

from wholebody.errors import NoClosedForm
from wholebody.kinematics.chains import Chain, Line
from wholebody.kinematics.closed_form import ClosedForm
from wholebody.robots import Placement

X, Y, Z = np.eye(3)
HOME = Placement((0.1, -0.2, -0.9), (0.3, -0.4, 0.5)).matrix
HIP = [(Z, (0.0, 0.1, 0.0)), (X, (0.3, 0.1, 0.0)), (Y, (0.0, 0.2, 0.0))]

CHAINS = {
    "roll beside the ankle": [*HIP, (Y, (0.02, 0, -0.3)), (Y, (0, 0, -0.6)), (X, (0, 0.05, -0.65))],
    "knees that bend against each other": [*HIP, (Y, (0, 0, -0.3)), (-Y, (0, 0, -0.6)), (X, (0, 0.1, -0.6))],
    "roll before knee and ankle": [*HIP, (X, (0, 0.15, -0.1)), (Y, (0, 0, -0.4)), (Y, (0.03, 0, -0.7))],
    "two that meet, then one": [*HIP, (Y, (0, 0.12, -0.3)), (Z, (0, 0.12, -0.4)), (X, (0, 0.2, -0.6))],
    "a wrist that is not square": [*HIP, (Y, (0.02, 0, -0.3)), (Z, (0, 0.1, 0)), (Y + 0.5 * Z, (0, 0.1, -0.6))],
    "a tilted hip": [
        (Z + X, (0.0, 0.1, 0.0)),
        (Y, (0.0, 0.3, 0.0)),
        (Z - 0.2 * X, (0.0, 0.1, 0.0)),
        *[(Y, (0, 0, -0.3)), (Y, (0, 0, -0.6)), (X, (0, 0.1, -0.6))],
    ],
    "an industrial arm": [
        (Z, (0, 0, 0)),
        (Y, (0.1, 0, 0.4)),
        (Y, (0.1, 0.05, 0.9)),
        *[(X, (0.3, 0, 0.95)), (Y, (0.6, 0, 0.95)), (X, (0.7, 0, 0.95))],
    ],
}
every_chain = pytest.mark.parametrize("name", CHAINS)


def made(axes):
    lines = [Line(str(k), np.array(a, float) / np.linalg.norm(a), np.array(p, float)) for k, (a, p) in enumerate(axes)]
    return Chain("a chain", tuple(lines), np.full(len(axes), -3.0), np.full(len(axes), 3.0), HOME)


@cache
def solver_of(name):
    return ClosedForm(made(CHAINS[name]))


@every_chain
def test_every_branch_is_right_and_the_original_among_them(name):
    solver = solver_of(name)
    original = random_joints(solver, 5_000, seed=1)
    goals = solver.forward(original)
    found = solver.solve_many(goals)
    assert found.reachable.all()
    pose, branch = np.nonzero(~np.isnan(found.joints[:, :, 0]))
    assert np.abs(solver.forward(found.joints[pose, branch]) - goals[pose]).max() < 1e-9
    miss = np.nanmin(np.abs(found.joints - original[:, None]).max(axis=2), axis=1)
    for index in np.flatnonzero(miss > 1e-9):
        assert smallest_singular_value(solver, original[index]) < 1e-3
        assert miss[index] < 1e-5


six = st.lists(st.floats(-3.0, 3.0), min_size=6, max_size=6)


@pytest.mark.parametrize("names", SIX, ids=label)
@given(numbers=six)
@settings(max_examples=60, deadline=None)
def test_any_pose_gets_an_answer_that_is_as_far_as_it_says(names, numbers):
    solver = robot_solver(names)
    goal = Placement(tuple(x / 3 for x in numbers[:3]), tuple(numbers[3:])).matrix
    answer = solver.solve(goal)
    assert 1 <= len(answer.joints) <= 8
    for reached in solver.forward(answer.joints):
        assert reached[:3, :3] == pytest.approx(goal[:3, :3], abs=1e-9)
        distance = np.linalg.norm(reached[:3, 3] - goal[:3, 3])
        assert distance == pytest.approx(answer.distance, abs=2e-9)


@every_chain
@given(numbers=six)
@settings(max_examples=60, deadline=None)
def test_any_pose_gets_an_answer_from_any_shape(name, numbers):
    solver = solver_of(name)
    goal = Placement(tuple(numbers[:3]), tuple(numbers[3:])).matrix
    answer = solver.solve(goal)
    for reached in solver.forward(answer.joints):
        assert reached[:3, :3] == pytest.approx(goal[:3, :3], abs=1e-9)
        assert np.linalg.norm(reached[:3, 3] - goal[:3, 3]) == pytest.approx(answer.distance, abs=2e-9)


robot_solver = cache(closed_form)


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        ([*HIP, (Y, (0, 0, -0.3)), (Y, (0, 0, -0.6)), (Y, (0, 0, -0.9))], "no two neighbours"),
        ([*HIP, (X, (0, 0, -0.3)), (Y, (0, 0, -0.6)), (Z, (0.1, 0, -0.9))], "no two neighbours"),
        ([*HIP[:2], (Y, (0.01, 0, 0)), (Y, (0, 0, -0.3)), (Y, (0, 0, -0.6)), (X, (0, 0, -0.6))], "do not meet"),
        ([HIP[0], HIP[2], HIP[2], (Y, (0, 0, -0.3)), (Y, (0, 0, -0.6)), (X, (0, 0, -0.6))], "perpendicular"),
    ],
    ids=["all parallel", "all askew", "a hip that is no point", "a hip that is no hip"],
)
def test_what_has_no_closed_form_says_why(axes, words):
    with pytest.raises(NoClosedForm, match=words):
        ClosedForm(made(axes))
