"""Events: what an expression may say, when events fire, and how they are told."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from wholebody import messages
from wholebody.channels import Channel
from wholebody.errors import BadExpression, BadParameter
from wholebody.parameters import Parameters
from wholebody.parameters.events import Events, compile_expression
from wholebody.tasks import CartesianPositionTask


@pytest.fixture
def hand():
    return CartesianPositionTask("hand", "right_palm", (0.1, 0.2, 0.3), stiffness=50.0)


@pytest.fixture
def parameters(hand):
    parameters = Parameters()
    parameters.add("tasks", hand)
    return parameters


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("tasks.hand.goal[0] < 0.2", True),
        ("tasks.hand.goal[0] > 0.2", False),
        ("0 < tasks.hand.goal[1] <= 0.2 < 5", True),
        ("tasks.hand.goal[0] + tasks.hand.goal[1] * 2 - 1 / 4 >= 0.25", True),
        ("not tasks.hand.goal[2] == 0.3", False),
        ("tasks.hand.goal[0] < 0 or tasks.hand.goal[1] > 0 and tasks.hand.integral_limit > 5", True),
        ("-tasks.hand.goal[0] < +0.05", True),
        ("tasks.hand.state == 'enabled'", True),
        ("'disabled' != tasks.hand.state", True),
        ("tasks.hand.state == 'sensing'", False),
        ("  tasks.hand.goal[0] < 1 ", True),
        ("True and tasks.hand.goal[0] < 1", True),
    ],
)
def test_an_expression_means_what_it_says(parameters, text, holds):
    assert bool(compile_expression(text, parameters).holds()) is holds


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("__import__('os').system('true')", "calls something"),
        ("abs(tasks.hand.goal[0]) < 1", "calls something"),
        ("tasks.hand.goal.__class__ == 3", "is no parameter"),
        ("tasks.hand.gaol[0] < 1", "closest: 'tasks.hand.goal'"),
        ("hand < 1", "is no parameter"),
        ("tasks.hand.goal < 1", r"has 3 numbers; say which: tasks\.hand\.goal\[0\]"),
        ("tasks.hand.goal[3] < 1", "from 0 to 2"),
        ("tasks.hand.goal[-1] < 1", "neither a number nor a parameter"),
        ("tasks.hand.goal[tasks] < 1", "neither a number nor a parameter"),
        ("tasks.hand.goal[0]", "no condition"),
        ("tasks.hand.goal[0] + 1", "no condition"),
        ("tasks.hand.state == 'asleep'", "it can be disabled, enabled, sensing"),
        ("tasks.hand.state < 'enabled'", "more than == or !="),
        ("tasks.hand.goal[0] in (1, 2)", "a way that is not known"),
        ("tasks.hand.goal[0] ** 9 < 1", "neither a number"),
        ("[x for x in tasks] == 1", "neither a number"),
        ("(lambda: 1) == 1", "neither a number"),
        ("f'{tasks}' == 1", "neither a number"),
        ("tasks.hand.goal[0] < (x := 3)", "neither a number"),
        ("(9 < 3).real < 3", "no path of a parameter"),
        ("tasks.hand.goal[0] <", "no expression"),
        ("import os", "no expression"),
        ("", "expression is text"),
        ("(" * 900 + "1" + ")" * 90, "no expression|cannot be read"),
        ("-" * 990 + "1 < 2", "cannot be read|no expression"),
        ("1 < 2 " * 300, "characters"),
        ("tasks.hand.goal[0] < 1\0", "null|cannot be read|no expression"),
    ],
)
def test_anything_else_is_refused_and_shown(parameters, text, says):
    with pytest.raises(BadExpression, match=says):
        compile_expression(text, parameters)


@given(some.text(max_size=60))
def test_no_text_whatever_gets_anything_else_out_of_it_than_a_refusal_or_a_condition(text):
    parameters = Parameters()
    parameters.add("tasks", CartesianPositionTask("hand", "right_palm", (0.1, 0.2, 0.3)))
    with contextlib.suppress(BadExpression, ZeroDivisionError):
        assert compile_expression(text, parameters).holds() in (True, False)


@given(some.lists(some.booleans(), max_size=30))
def test_an_event_fires_once_each_time_it_comes_true(truths):
    task = CartesianPositionTask("hand", "right_palm", (0.0, 0.0, 0.0))
    parameters = Parameters()
    parameters.add("tasks", task)
    events = Events(parameters, {"there": "tasks.hand.goal[0] > 0.5"})
    expected, before = 0, False
    for truth in truths:
        task.goal[0] = 1.0 if truth else 0.0
        events.emit(0.0)
        expected += truth and not before
        before = truth
    assert events.events[0].count == expected


def test_an_event_is_told_with_time_count_expression_and_values(parameters, hand):
    channel = Channel("events", messages.event())
    reader = channel.reader()
    text = "tasks.hand.goal[1] > 1 and tasks.hand.stiffness[0] > tasks.hand.goal[1]"
    events = Events(parameters, {"never": "1 > 2", "far": text}, channel.writer(), "reach")
    events.emit(1.0)
    assert not reader.latest()
    hand.goal[1] = 7.0
    for time in (2.0, 3.0):
        events.emit(time)
    assert reader.next()
    message = reader.message
    assert (message["name"], message["source"], message["time"], message["count"]) == (b"far", b"reach", 2.0, 1)
    assert message["values"][:3].tolist() == [7.0, 50.0, 0.0]
    assert message["text"].decode() == text
    assert not reader.next()


def test_an_event_that_is_armed_again_fires_though_it_still_holds(parameters, hand):
    events = Events(parameters, {"there": "tasks.hand.goal[0] < 1"})
    for _ in range(3):
        events.emit(0.0)
    assert events.events[0].count == 1
    parameters.set("events.there.armed", 1)
    for _ in range(3):
        events.emit(0.0)
    assert events.events[0].count == 2
    with pytest.raises(BadParameter):
        parameters.set("events.there.armed", 2)


def test_a_division_by_zero_is_false_and_the_others_go_on(parameters, hand):
    hand.goal[0] = 0.0
    events = Events(parameters, {"odd": "1 / tasks.hand.goal[0] > 1", "even": "tasks.hand.goal[0] == 0"})
    events.emit(0.0)
    assert [event.count for event in events.events] == [0, 1]
    assert "division" in events.events[0].trouble
    hand.goal[0] = 0.5
    events.emit(0.1)
    assert events.events[0].count == 1


def test_no_number_is_neither_small_nor_large():
    parameters = Parameters()
    parameters.add_reading("error", "m", "not known", lambda into: into.fill(np.nan))
    events = Events(parameters, {"small": "error < 1", "large": "error > 1"})
    events.emit(0.0)
    assert [event.count for event in events.events] == [0, 0]
