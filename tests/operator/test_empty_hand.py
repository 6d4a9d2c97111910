"""GRAB: what a robot does whose hand came up empty."""

from test_command_server import Conversation
from willing_body import WillingBody


def test_a_hand_that_came_up_empty_is_taken_back_and_lowered_before_the_robot_steps_away_from_what_still_stands_there():
    body = WillingBody()
    body.hands.load = lambda side: 5.0  # nothing more after it has closed
    body.walker.told = body.hands.told
    talk = Conversation(body)
    talk.operator()
    body.sees("candidate_1", *body.fetching._hands.arms["right"].sweet_spot)
    talk.says("a", "GRAB OBJECT(candidate_1)")
    talk.says("a", "USE STRATEGY FOR 1 right_arm")
    for _ in range(30):
        talk.passes(0.1)
    assert "the right hand came up empty" in talk.hears("a")[-1]
    assert [what for what, *_ in body.hands.told][-4:] == ["carry", "reach", "rest", "go"]
    body.close()
