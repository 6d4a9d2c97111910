"""LaunchPlan: which robot, which tier, what is behind it, as one text."""

import pytest

from wholebody.errors import BadMessage, UnknownName
from wholebody.messages import Filter
from wholebody.processes.launch_plan import LaunchPlan, filter_request


def test_the_tier_chooses_the_robot_unless_one_is_named():
    chosen = {tier: LaunchPlan.make("robot", "", tier).robot for tier in ("virtual", "mini", "full")}
    assert chosen == {"virtual": "hubo2plus", "mini": "minihubo", "full": "hubo2plus"}
    assert LaunchPlan.make("robot", "minihubo", "virtual").robot == "minihubo"
    with pytest.raises(UnknownName, match="virtual"):
        LaunchPlan.make("robot", "", "virtuel")


def test_hardware_that_is_not_named_is_simulated():
    assert LaunchPlan.make("robot", "", "full").behind == "simulated full"
    assert LaunchPlan.make("robot", "", "full", can=("can0", "can1")).behind == "full"
    assert LaunchPlan.make("robot", "", "mini").behind == "simulated mini"
    assert LaunchPlan.make("robot", "", "mini", device="/dev/ttyUSB0").behind == "mini"
    assert LaunchPlan.make("robot", "", "full", loopback=True).behind == "loopback"


def test_a_plan_is_what_it_was_after_crossing_to_a_process():
    plan = LaunchPlan.make("robot", "", "full", can=("can0", "can1"), period=0.01, filter="smooth 20")
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
