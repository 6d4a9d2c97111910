"""A contact bears what it is told to bear, and nothing moves for it."""

import numpy as np
import pytest
import wbosc_reference as reference
from control_examples import controller, feet, posture, states
from model_examples import model

from wholebody.constraints import FlatContact, PointContact
from wholebody.control import Problem, QuadraticController
from wholebody.errors import BadParameter, UnknownName
from wholebody.tasks import CenterOfMassTask, ContactForceTask

HANDS = {"flat": FlatContact, "point": PointContact}


def problem_of(kind, *forces):
    hand = HANDS[kind]("hand", "right_palm")
    return Problem([*forces, CenterOfMassTask("com", (0.0, 0.0, 0.9)), posture("valkyrie")], [*feet(), hand])


@pytest.mark.parametrize("kind", HANDS)
def test_the_force_is_the_goal_in_the_axes_of_the_contact_and_moves_nothing(kind):
    m = model("valkyrie")
    push = ContactForceTask("push", "hand", 0.0)
    problem = problem_of(kind, push)
    for now in states("valkyrie", 20, seed=3):
        found = {}
        for goal in ((0.0, 0.0, 0.0), (2.0, -5.0, 40.0)):
            push.goal = goal
            found[goal] = controller("valkyrie").solve(now, problem)
            R = now.rotation(m.frame("right_palm"))
            assert R.T @ found[goal].contact_force("hand")[:3] == pytest.approx(goal, abs=1e-6)
        a, b = found.values()
        assert a.acceleration == pytest.approx(b.acceleration, rel=1e-9, abs=1e-9)
        assert np.abs(a.effort - b.effort).max() > 1.0


@pytest.mark.parametrize("kind", HANDS)
def test_it_agrees_with_the_reference(kind):
    problem = problem_of(kind, ContactForceTask("push", "hand", (2.0, -5.0, 40.0)))
    m = model("valkyrie")
    for now in states("valkyrie", 20, seed=4):
        expected = reference.solve(now, problem)
        found = controller("valkyrie").solve(now, problem).effort[m.actuated_joints - 6]
        assert found == pytest.approx(expected.effort, rel=1e-8, abs=1e-7)


def test_without_another_contact_it_has_no_say():
    hand = [FlatContact("left", "left_sole")]
    tasks = [CenterOfMassTask("com", (0.0, 0.0, 0.9)), posture("valkyrie")]
    told = Problem([ContactForceTask("push", "left", (0.0, 0.0, 1.0)), *tasks], hand)
    for now in states("valkyrie", 5, seed=5):
        with_it = controller("valkyrie").solve(now, told)
        without = controller("valkyrie").solve(now, Problem(tasks, hand))
        assert with_it.acceleration == pytest.approx(without.acceleration, rel=1e-8, abs=1e-8)


def test_while_its_contact_is_off_it_asks_for_nothing():
    push = ContactForceTask("push", "hand", (0.0, 0.0, 40.0))
    problem = problem_of("flat", push)
    problem.constraint("hand").state = "disabled"
    for now in states("valkyrie", 3, seed=6):
        result = controller("valkyrie").solve(now, problem)
        push.state = "disabled"
        assert result.effort == pytest.approx(controller("valkyrie").solve(now, problem).effort, abs=1e-9)
        push.state = "enabled"


def test_the_controller_with_limits_bears_it_too():
    m = model("valkyrie")
    q = m.posture("stand")
    push, com = ContactForceTask("push", "left", (0.0, 0.0, 500.0)), CenterOfMassTask("com", m.at(q).com_in_world)
    problem = Problem([push, com, posture("valkyrie")], feet())
    result = QuadraticController(m).solve(m.at(q), problem)
    assert result.contact_force("left")[2] == pytest.approx(500.0, abs=1.0)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(BadParameter, match="3 numbers"):
        ContactForceTask("push", "hand", (1.0, 2.0))
    with pytest.raises(UnknownName, match="hnad"):
        controller("valkyrie").prepare(problem_of("flat", ContactForceTask("push", "hnad", (0.0, 0.0, 1.0))))
