"""LaunchPlan: which robot, which tier, what is behind it, as one text."""

import pytest

from wholebody.errors import BadMessage, UnknownName
from wholebody.messages import Filter
from wholebody.processes.launch_plan import LaunchPlan, filter_request


def test_the_tier_chooses_the_robot_unless_one_is_named():
    chosen = {tier: LaunchPlan.make("robot", "", tier) for tier in ("virtual", "mini", "full")}
    assert [plan.robot for plan in chosen.values()] == ["hubo2plus", "minihubo", "hubo2plus"]
    assert [plan.driver for plan in chosen.values()] == ["simulator", "dynamixel", "hubo_can"]
    assert [plan.tier for plan in chosen.values()] == ["virtual", "mini", "full"]
    assert LaunchPlan.make("robot", "minihubo", "virtual").robot == "minihubo"
    assert LaunchPlan.make("robot", "minihubo", "loopback").tier == "", "no robot calls it a tier"
    with pytest.raises(UnknownName, match="virtual"):
        LaunchPlan.make("robot", "", "virtuel")


def test_hardware_that_is_not_named_is_simulated():
    assert LaunchPlan.make("robot", "", "full").behind == "simulated hubo_can"
    assert LaunchPlan.make("robot", "", "full:buses=can0,can1").behind == "hubo_can"
    assert LaunchPlan.make("robot", "", "mini").behind == "simulated dynamixel"
    assert LaunchPlan.make("robot", "", "mini:devices=/dev/ttyUSB0").behind == "dynamixel"
    assert LaunchPlan.make("robot", "", "loopback").behind == "loopback"


def test_a_plan_is_what_it_was_after_crossing_to_a_process():
    plan = LaunchPlan.make("robot", "", "full:buses=can0,can1", period=0.01, filter="smooth 20")
    assert LaunchPlan.parse(plan.text()) == plan


@pytest.mark.parametrize(
    ("words", "mode", "value"),
    [
        ("pass", Filter.PASS, 0.0),
        ("smooth 20", Filter.SMOOTH, 20.0),
        ("Compliant:0.5", Filter.COMPLIANT, 0.5),
        ("feedback 40", Filter.FEEDBACK, 40.0),
    ],
)
def test_a_filter_is_read_as_it_is_typed(words, mode, value):
    assert filter_request(words) == (mode, value)


@pytest.mark.parametrize("words", ["smooth", "smooth twenty", "pass 3", "smooth 1 2"])
def test_a_filter_with_the_wrong_numbers_is_refused(words):
    with pytest.raises(BadMessage, match="takes"):
        filter_request(words)
