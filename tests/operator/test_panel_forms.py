"""Forms and panels of the operator page, without a browser: what is typed is checked, what raises ends nothing."""

import json
import logging
import math
import re
import time
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
import pytest
from robot_processes import wait_for

from wholebody import robots
from wholebody.errors import BadConfiguration, BadParameter, Refused, UnknownName, WholebodyError
from wholebody.messages import MeasuredMotion, State
from wholebody.messages.record import new
from wholebody.operator.monitor.posture import FallWatch
from wholebody.operator.page.forms import form_of, read_form
from wholebody.operator.page.panel import Column, Panel, PanelContext, Series, broken
from wholebody.operator.page.panels import MOST_ROWS, MOST_WAITING, RunningPanel
from wholebody.operator.page.viewer import Seen
from wholebody.parameters import Bounds, Size, Unit


@dataclass
class Throw:
    """How to throw.

    speed   of the hand
            when it lets go
    """

    speed: Annotated[float, Unit("m/s"), Bounds(0.5, 4)] = 2.0
    times: Annotated[int, Unit("1"), Bounds(1)] = 1
    towards: Annotated[np.ndarray, Unit("m"), Size(3)] = field(default_factory=lambda: np.array([2.0, 0.0, 0.5]))
    hand: Literal["left", "right"] = "right"
    loudly: bool = False
    name: str = "ball"


TYPED = {"speed": "1.5", "times": "3", "towards": "1 0 0.5", "hand": "left", "loudly": "true", "name": "cup"}


def test_a_dataclass_becomes_inputs_with_unit_bounds_and_meaning():
    form = form_of(Throw, "throw").described()
    speed, times, towards, hand, loudly, name = form["fields"]
    assert speed["meaning"] == "of the hand when it lets go"
    assert (speed["value"], speed["unit"], speed["lower"], speed["upper"]) == ("2", "m/s", 0.5, 4)
    assert times["upper"] is None, "JSON has no infinity"
    assert (hand["kind"], hand["choices"], hand["value"]) == ("choice", ("left", "right"), "right")
    assert (loudly["kind"], loudly["value"], name["kind"]) == ("switch", "false", "text")
    assert towards["value"] == "2 0 0.5"
    json.dumps(form, allow_nan=False)


def test_what_is_typed_is_the_dataclass_again():
    thrown = read_form(Throw, TYPED)
    assert (thrown.speed, thrown.times, thrown.hand, thrown.loudly, thrown.name) == (1.5, 3, "left", True, "cup")
    assert thrown.towards.tolist() == [1, 0, 0.5]
    assert type(thrown.times) is int


@pytest.mark.parametrize(
    ("name", "text", "error", "why"),
    [
        ("speed", "9", BadParameter, r"speed = 9.0 is outside 0.5 … 4 m/s"),
        ("speed", "fast", BadParameter, "speed must be a number, not 'fast'"),
        ("speed", "nan", BadParameter, "speed must be finite"),
        ("speed", "1 2", BadParameter, "speed must be a number, not '1 2'"),
        ("times", "1.5", BadParameter, "times must be a whole number"),
        ("towards", "1 2", BadParameter, "towards must have 3 numbers"),
        ("hand", "both", UnknownName, "no hand 'both'; there are: left, right"),
        ("name", "x" * 1000, BadParameter, "name has 1000 characters"),
        ("colour", "red", UnknownName, "no field 'colour'"),
    ],
)
def test_what_cannot_be_is_refused_with_the_field_and_the_remedy(name, text, error, why):
    with pytest.raises(error, match=why):
        read_form(Throw, TYPED | {name: text})


def test_a_field_that_a_page_cannot_show_is_refused_by_name():
    @dataclass
    class Odd:
        number: float = 1.0

    with pytest.raises(BadConfiguration, match=r"Odd\.number cannot be an input: annotate a number with its unit"):
        form_of(Odd, "")


class Counting(Panel):
    columns = (Column("count"), Column("half", digits=1))
    series = (Series("count"),)
    form = Throw
    period = 0.05
    raises: Exception | None = None
    most = 2
    calls = 0

    def rows(self):
        type(self).calls += 1
        if self.raises:
            raise self.raises
        return [(i, i / 2) for i in range(self.most)]

    def values(self):
        return [math.nan]

    def submit(self, form):
        if form.name == "bad":
            raise ZeroDivisionError("by nothing")
        if form.name == "refused":
            raise Refused("not today")
        self.say(f"THROW {form.name}")
        return "thrown"


@pytest.fixture
def running():
    """Makes a panel run, that ends with the test."""
    begun = []

    def run(**attributes):
        kind = type("Counting", (Counting,), attributes)
        begun.append(RunningPanel("counting", kind, PanelContext("robot", robots.load("minihubo"))))
        return begun[-1]

    yield run
    for each in begun:
        each.end()


def watched(panel, seen=None):
    """What a page that has it open is told next, as JSON."""
    panel.look(time.monotonic())
    news = panel.news(Seen() if seen is None else seen)
    return json.loads(news) if news else {}


def test_nothing_of_a_panel_runs_while_nobody_looks(running):
    panel = running()
    time.sleep(0.2)
    assert panel.kind.calls == 0
    wait_for(lambda: watched(panel).get("rows") == [[0.0, 0.0], [1.0, 0.5]])
    seen = Seen()
    wait_for(lambda: watched(panel, seen).get("samples"))
    assert watched(panel, seen).get("rows") is None, "what has not changed is not sent again"


def test_what_a_panel_raises_is_shown_while_it_lasts_and_logged_once(running, caplog):
    panel = running(raises=ValueError("the sensor is on the moon"))
    with caplog.at_level(logging.ERROR):
        wait_for(lambda: watched(panel).get("error") == "ValueError: the sensor is on the moon")
        calls = panel.kind.calls
        wait_for(lambda: (watched(panel), panel.kind.calls)[1] > calls + 3)
    assert len([each for each in caplog.records if "counting" in each.message]) == 1
    panel.kind.raises = None
    wait_for(lambda: watched(panel).get("error") == "")


@pytest.mark.parametrize(
    ("attributes", "why"),
    [
        ({"columns": (Column("count"),)}, "row 1 has 2 cells, and there are 1 columns"),
        ({"most": MOST_ROWS + 1}, f"at most {MOST_ROWS} rows"),
        ({"series": (Series("a"), Series("b"))}, "values.. gives 1 numbers, and there are 2 series"),
    ],
)
def test_a_table_or_plot_that_does_not_fit_says_so(running, attributes, why):
    panel = running(**attributes)
    wait_for(lambda: re.search(why, watched(panel).get("error", "")))


def test_a_form_is_answered_in_words_whatever_happens(running):
    panel = running()

    def taken(**values):
        return panel.take("Throw", TYPED | values).result(timeout=30)

    assert (taken().accepted, taken().text, taken().lines) == (True, "thrown", ("THROW cup",))
    assert (taken(name="refused").accepted, taken(name="refused").text) == (False, "not today")
    assert taken(name="bad").text == "ZeroDivisionError: by nothing"
    assert "outside" in taken(speed="9").text
    assert "lacks" not in panel.take("Throw", {}).result(timeout=30).text, "what is left out is as usual"
    assert taken().text == "thrown", "it goes on"


def test_forms_wait_in_turn_and_not_without_end(running):
    panel = running(submit=lambda self, form: time.sleep(0.3) or "slept")
    for _ in range(MOST_WAITING):
        panel.take("Throw", TYPED)
    with pytest.raises(Refused, match=f"{MOST_WAITING} forms wait"):
        [panel.take("Throw", TYPED) for _ in range(2)]  # the first is in hand


def test_a_panel_that_cannot_begin_says_why_and_takes_no_form():
    panel = RunningPanel("mine", broken("mine", BadConfiguration("no class")), PanelContext("robot", None))
    wait_for(lambda: watched(panel).get("error") == "no class")
    with pytest.raises(WholebodyError, match="'mine' does not run: no class"):
        panel.take("", {})


def test_a_series_of_unknown_values_is_null(running):
    panel = running()
    wait_for(lambda: watched(panel).get("samples", [[0, 1]])[0][1] is None)


@pytest.mark.parametrize(
    ("quaternion", "height", "known", "fallen"),
    [
        ((0, 0, 0, 1), 0.8, True, ""),
        ((0, math.sin(0.3), 0, math.cos(0.3)), 0.8, True, ""),
        ((0, math.sin(0.45), 0, math.cos(0.45)), 0.8, True, "leans by more than 45°"),
        ((math.sin(0.8), 0, 0, math.cos(0.8)), 0.3, False, "leans by more than 45°"),
        ((0, 0, 0, 1), 0.3, True, "less than 0.40 m above the ground"),
        ((0, 0, 0, 1), 0.3, False, ""),
    ],
)
def test_a_robot_has_fallen_if_it_leans_too_much_or_its_body_is_too_low(quaternion, height, known, fallen):
    robot = robots.load("hubo2plus")
    state = new(State.of(robot.state_dtype()))
    state.base.known, state.base.orientation[:], state.base.position[2] = known, quaternion, height
    state.imu[0].orientation[:], state.imu[0].measured = quaternion, int(MeasuredMotion.ROLL_AND_PITCH)
    complaint = FallWatch(robot, "nobody").complaint(state)
    assert fallen in complaint
    assert bool(complaint) is bool(fallen)
