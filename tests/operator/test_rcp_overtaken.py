"""Orders that the world has overtaken while they waited, and bodies that break: only the order fails."""

import threading
from unittest import mock

import pytest
from rcp_body import SlowBody
from robot_processes import wait_for
from test_command_server import Conversation
from test_rcp_server import serving
from willing_body import WillingBody

from wholebody.errors import NoController
from wholebody.operator.rcp.body import Stage
from wholebody.operator.rcp.client import Client


@pytest.fixture
def willing():
    body = WillingBody()
    yield Conversation(body)
    body.close()


def test_the_second_of_two_drops_fails_because_the_hand_is_empty(willing):
    willing.operator()
    willing.body.holds("antenna")
    willing.body.sees("candidate_1", 0.5, 0.0)
    willing.says("a", "MOVE TURNING LEFT 10 DEGREES")
    for _ in range(2):
        assert willing.says("a", "DROP OBJECT(antenna)")[-1].endswith("QUEUED"), "the hand holds it still"
    for _ in range(30):
        willing.passes(0.1)
    heard = willing.hears("a")
    assert "OK COMMAND 2 COMPLETED" in heard
    assert heard[-1] == "KO COMMAND 3 FAILED no hand holds the antenna"
    assert willing.says("a", "MOVE TURNING LEFT 10 DEGREES")[-1] == "OK COMMAND 4 STARTED"


@pytest.mark.parametrize(("x", "z"), [(0.52, 0.07), (0.5, -0.75), (0.7, 0.06), (None, None)])
def test_what_was_put_down_is_there_and_keeps_its_name_or_the_order_has_failed(willing, x, z):
    willing.operator()
    willing.body.holds("antenna")
    willing.body.sees("candidate_1", 1.5, 0.5)
    willing.body.search.call("candidate_1", "antenna")  # where it was grasped
    if x is not None:
        willing.body.sees("candidate_2", x, 0.0, z)
    willing.says("a", "DROP OBJECT(antenna)")
    for _ in range(30):
        willing.passes(0.1)
    if x == 0.52:
        assert willing.hears("a")[-1] == "OK COMMAND 1 COMPLETED"
        assert willing.body.search.names() == {"candidate_2": "antenna"}
    else:
        failed = "KO COMMAND 1 FAILED the antenna is not where it was put down; look around"
        assert willing.hears("a")[-1] == failed
        assert willing.body.search.names() == {}, "people are asked again which it is"
    assert willing.body.fetching.held == "", "the hand is empty"


@pytest.mark.parametrize("verb", ["GRAB", "USE"])
def test_what_is_forgotten_while_an_order_waits_is_neither_grasped_nor_pushed(willing, verb):
    willing.operator()
    willing.body.sees("lever", 0.5, -0.1)
    willing.says("a", "MOVE TURNING LEFT 10 DEGREES")
    assert willing.says("a", f"{verb} OBJECT(lever)") == ["OK COMMAND 2 QUEUED"]
    willing.body.seen.clear()
    willing.passes(0.1)
    assert willing.hears("a")[-1].startswith("KO COMMAND 2 FAILED nobody has said what the lever is")


@pytest.mark.parametrize(("verb", "way"), [("GRAB", "right_arm"), ("USE", "push_with_right_arm")])
def test_what_is_forgotten_while_people_decide_is_neither_grasped_nor_pushed(willing, verb, way):
    willing.operator()
    willing.body.sees("lever", 0.5, -0.1)
    assert "SELECT STRATEGY FOR 1" in willing.says("a", f"{verb} OBJECT(lever)")[-1]
    willing.body.seen.clear()
    willing.says("a", f"USE STRATEGY FOR 1 {way}")
    willing.passes(0.1)
    assert willing.hears("a")[-1] == "KO COMMAND 1 FAILED the lever is not in view; look again"


def test_the_legs_stop_first_and_an_error_of_the_arms_is_told_when_they_stand(willing):
    willing.operator()
    willing.says("a", "MOVE TURNING LEFT 10 DEGREES")
    legs, seen = willing.body.walker.told, []

    def breaks():
        seen.append(legs[-1])
        raise KeyError("elbow")

    willing.body.hands.stop = breaks
    assert willing.says("a", "STOP")[-1] == "OK COMMAND 2 STARTED"
    assert seen == [("stop",)], "of the legs, before the arms were told"
    willing.passes(0.1)
    failed = "KO COMMAND 2 FAILED the legs stand, but head and arms cannot be told to stop: 'elbow'"
    assert willing.hears("a") == [failed]
    del willing.body.hands.stop
    willing.says("a", "STOP")
    willing.passes(0.1)
    assert willing.hears("a") == ["OK COMMAND 3 COMPLETED"], "the control arm"


def test_legs_that_cannot_be_told_to_stop_are_held_by_the_daemon_and_the_arms_stop(willing):
    willing.operator()
    willing.body.walker.stop = lambda: {}["knee"]
    willing.says("a", "STOP")
    willing.passes(0.1)
    assert "the daemon holds every joint" in willing.hears("a")[-1]
    willing.body.hold.requests.stop.assert_called_once()
    assert ("stop",) in willing.body.hands.told


def test_to_go_on_a_thread_asks_the_daemon_and_a_stop_that_comes_later_counts(willing):
    willing.operator()
    may, body = threading.Event(), willing.body
    body.hold.requests.request.side_effect = lambda *what, **more: may.wait(20.0) and mock.Mock(text="it goes on")
    assert willing.says("a", "RESUME") == [], "nobody waits"
    body.walker.stop = lambda: {}["knee"]
    willing.says("a", "STOP")
    may.set()
    wait_for(lambda: (willing.passes(0.1), willing.clients["a"].awaited is None)[1])
    assert willing.hears("a")[-1] == "OK RESUME it goes on; but then somebody stopped it"
    assert body.hold.requests.stop.call_count == 2, "once more, after it went on"

    assert willing.says("a", "RESUME") in ([], ["OK RESUME it goes on"])
    wait_for(lambda: (willing.passes(0.1), willing.clients["a"].awaited is None)[1])
    assert body.hold.requests.stop.call_count == 2, "the control arm"


class BrokenBody(SlowBody):
    """Something in it raises what nobody foresaw, once something waits."""

    breaks, error = "", staticmethod(lambda: KeyError("elbow"))

    def _may_break(self, what):
        if what == self.breaks:
            raise self.error()

    def complaint(self, order):
        self._may_break("complaint")
        return super().complaint(order)

    def strategies(self, order):
        self._may_break("strategies")
        return super().strategies(order)

    def begin(self, number, order, strategy):
        super().begin(number, order, strategy)
        self._may_break("begin")

    def news(self):
        self._may_break("news")
        yield from super().news()

    def stop(self, number):
        super().stop(number)
        self._may_break("stop")

    def remarks(self):
        self._may_break("remarks")
        return super().remarks()


@pytest.mark.parametrize("breaks", ["complaint", "strategies", "begin"])
def test_an_error_that_nobody_foresaw_fails_its_order_and_stops_the_robot(breaks):
    talk = Conversation(BrokenBody())
    talk.operator()
    for _ in range(3):
        talk.says("a", "GOTO 1 1")
    talk.body.finish()
    talk.body.breaks = breaks
    talk.hears("a")
    talk.passes(0.1)
    assert talk.hears("a") == [
        "OK COMMAND 1 COMPLETED",
        "KO COMMAND 2 FAILED unforeseen, KeyError: 'elbow'",
        "OK COMMAND 3 INTERRUPTEDBY 4",
        "OK COMMAND 4 STARTED",
    ]
    assert talk.body.stops == [4]
    talk.body.breaks = ""
    talk.body.finish()
    talk.passes(0.1)
    assert talk.says("a", "GOTO 1 1")[-1] == "OK COMMAND 5 STARTED"


def test_an_error_of_ours_fails_its_order_alone():
    talk = Conversation(BrokenBody())
    talk.operator()
    talk.says("a", "GOTO 1 1")
    talk.says("a", "GRAB OBJECT(cup)")
    talk.says("a", "GOTO 2 2")
    talk.body.breaks, talk.body.error = "strategies", lambda: NoController("no arms")
    talk.body.finish()
    talk.hears("a")
    talk.passes(0.1)
    assert talk.hears("a")[1:] == ["KO COMMAND 2 FAILED no arms", "KO COMMAND 3 FAILED no arms"]
    assert not talk.body.stops


def test_a_stop_that_fails_is_told_and_can_be_said_again():
    talk = Conversation(BrokenBody())
    talk.operator()
    talk.says("a", "GOTO 1 1")
    talk.body.breaks = "stop"
    assert talk.says("a", "STOP") == [
        "KO COMMAND 2 FAILED unforeseen, KeyError: 'elbow'",
        "OK COMMAND 1 INTERRUPTEDBY 2",
    ]
    talk.body.breaks = ""
    assert talk.says("a", "STOP") == ["OK COMMAND 3 STARTED"]


def test_what_a_body_raises_again_and_again_is_told_once_and_silence_still_stops_the_robot():
    talk = Conversation(BrokenBody(), control_timeout=5.0)
    talk.operator()
    talk.says("b", "CONNECT observer")
    talk.says("b", "NOTIFY [warning]")
    talk.says("a", "GOTO 1 1")
    talk.body.breaks = "remarks"
    for _ in range(60):
        talk.passes(0.1)
    assert talk.hears("b") == ["NOTIFY warning unforeseen, KeyError: 'elbow'"]
    assert talk.body.stops


def test_a_server_whose_body_breaks_goes_on_serving():
    body = BrokenBody()
    with serving(body) as port, Client(port=port) as robot:
        robot.connect("operator")
        robot.take_control()
        number = robot.begin("GOTO 1 1")
        body.breaks = "news"
        with pytest.raises(Exception, match="unforeseen, KeyError"):
            robot.wait(number, 10.0)
        body.breaks = ""
        body.finish(Stage.COMPLETED)
        assert robot.ask("QUERY PARAM step.length") == "PARAM step.length 0.2"
    assert body.stops
