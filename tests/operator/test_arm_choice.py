"""What people hear before they choose an arm helps them: it depends on where the thing is."""

import pytest
from test_command_server import Conversation
from willing_body import WillingBody


@pytest.fixture
def robot():
    body = WillingBody()
    talk = Conversation(body)
    talk.operator()
    talk.says("a", "NOTIFY [event]")
    yield talk
    body.close()


def told(robot, x, y, verb="GRAB"):
    """What is said of each arm, the order in which they are offered, for an object there in the base."""
    robot.body.seen.clear()
    robot.body.sees("antenna", x, y)
    said = robot.says("a", f"{verb} OBJECT(antenna)")
    number = said[-1].split()[3]
    robot.says("a", f"CANCEL {number}")
    arms = {line.split()[2]: line.partition("_arm ")[2] for line in said if "_arm " in line and "NOTIFY" in line}
    return arms, [way for way in said[-1].partition("[")[2].rstrip("]").split(", ") if way.endswith("_arm")]


def test_the_arm_that_reaches_it_from_where_the_robot_stands_is_offered_first(robot):
    x, y = robot.body.fetching._hands.arms["right"].sweet_spot
    arms, ways = told(robot, x, y)
    assert ways == ["right_arm", "left_arm"]
    assert arms["right_arm"].startswith("from where it stands, ")
    assert arms["left_arm"].startswith(f"after {2 * abs(y):.2f} m to the right, ")
    arms, ways = told(robot, x, -y)
    assert ways == ["left_arm", "right_arm"], "and on the other side the other one"
    assert arms["right_arm"].startswith(f"after {2 * abs(y):.2f} m to the left, ")


@pytest.mark.parametrize(("aside", "first"), [(0.03, "left_arm"), (-0.03, "right_arm")])
def test_of_two_arms_for_which_it_has_to_step_the_nearer_is_offered_first(robot, aside, first):
    _, ways = told(robot, 0.6, aside)
    assert ways[0] == first


def test_the_step_for_an_arm_is_the_one_that_the_robot_makes(robot):
    x, y = robot.body.fetching._hands.arms["left"].sweet_spot
    arms, _ = told(robot, x + 0.3, y - 0.1)
    assert arms["left_arm"].startswith("after 0.30 m forward and 0.10 m to the right, ")
    robot.says("a", "GRAB OBJECT(antenna)")
    number = robot.commands.orders.current.number
    robot.says("a", f"USE STRATEGY FOR {number} left_arm")
    what, *by = robot.body.walker.told[-1]
    assert what == "go"
    assert by == pytest.approx([0.3, -0.1])


def test_pushing_is_offered_as_grasping_is(robot):
    x, y = robot.body.fetching._hands.arms["left"].pressing_spot
    arms, ways = told(robot, x, y, "USE")
    assert ways[0] == "push_with_left_arm"
    assert arms["left_arm"].startswith("from where it stands, ")
    assert "to the left" in arms["right_arm"]
