"""Stop inputs: every stop is heard, a lost input is told and stops the robot, a button of the robot itself latches."""

import time

import numpy as np
import pytest
from daemon_rig import PERIOD, ROBOT, Rig

from wholebody import messages
from wholebody.channels import Channel
from wholebody.daemon.merging import LOOK_EVERY
from wholebody.drivers import Loopback
from wholebody.drivers.stop_input import StopInput, put_stop
from wholebody.errors import BadPeriod
from wholebody.messages import Refusal, Status, Verb

RSP = ROBOT.index["RSP"]


@pytest.fixture
def rig():
    with Rig() as rig:
        yield rig


def moving(rig):
    """Let a controller move a joint, cycle by cycle."""
    rig.put("mover", {"RSP": -1.5})
    rig.go(5)
    assert -1.0 < rig.command("RSP") < 0


def test_a_press_is_in_the_reference_two_periods_later_at_most_also_between_the_beats_of_others(rig):
    others = [StopInput("", f"other {number}") for number in range(5)]
    moving(rig)
    with StopInput("", "button") as button:
        for each in others:
            each.beat()
        button.press("it was pressed")
        for each in others:
            each.beat()
        rig.go()
        held = rig.command("RSP")
        assert rig.cycle.stopped == "it was pressed"
        rig.put("mover", {"RSP": -1.5})
        rig.go(5)
        assert rig.command("RSP") == held
        assert rig.refused(Refusal.STOPPED, "RSP") > 0


def test_beats_stop_nothing_and_any_other_word_does(rig):
    with StopInput("", "button") as button:
        for _ in range(20):
            button.beat()
            rig.go()
    rig.go()
    assert not rig.cycle.stopped
    assert [each for each in rig.told() if "button" in each] == ["'button' can stop the robot", "'button' ends"]
    with Channel(rig.names.stop, messages.event()).writer() as anybody:
        anybody.message.name = "whatever"
        anybody.put()
    rig.go()
    assert rig.cycle.stopped


@pytest.mark.parametrize("only_told", [False, True])
def test_an_input_that_falls_silent_is_told_and_stops_the_robot_unless_it_is_only_to_be_told(rig, only_told):
    button = StopInput("", "gamepad", within=0.05, only_told=only_told)
    button.beat()
    rig.go(25)
    time.sleep(0.06)
    assert not rig.cycle.stopped
    rig.go(25)  # it reports within
    assert any("the stop input 'gamepad' is lost: it has said nothing for 0." in each for each in rig.told())
    assert bool(rig.cycle.stopped) == (not only_told)
    rig.ask(Verb.RESUME)
    rig.go(50)
    assert not rig.cycle.stopped, "it is told once"


def test_one_that_ends_properly_is_not_missed(rig):
    with StopInput("", "gamepad", within=0.05):
        rig.go()
    time.sleep(0.06)
    rig.go(50)
    assert not rig.cycle.stopped


def test_words_that_were_overwritten_may_have_been_a_stop(rig):
    with StopInput("", "flood") as flood:
        for _ in range(200):
            flood.beat()
        rig.go()
    assert "words on the stop channel were lost" in rig.cycle.stopped


@pytest.mark.parametrize("within", [0.0, 0.01, 11.0, float("nan"), float("inf")])
def test_a_promise_out_of_bounds_is_refused_and_a_raw_one_counts_as_the_nearest(rig, within):
    with pytest.raises(BadPeriod, match=r"give from 0.05 to 10 s"):
        StopInput("", "button", within=within)
    with Channel(rig.names.stop, messages.event()).writer() as raw:
        raw.message.name, raw.message.source = "alive", "raw"
        raw.message.values[0] = within
        raw.put()
    rig.go(25)
    assert not rig.cycle.stopped
    assert any("'raw' can stop" in each for each in rig.told())


def test_what_was_pressed_before_the_daemon_began_is_past():
    put_stop("", "button", "long ago")
    with Rig() as rig:
        rig.go()
        assert not rig.cycle.stopped
        put_stop("", "button", "now")
        rig.go()
        assert rig.cycle.stopped == "now"


class WithButton(Loopback):
    """A robot with a stop button of its own."""

    pressed = False

    def read(self, state):
        super().read(state)
        state.status[RSP] &= ~np.uint32(Status.STOP_PRESSED)
        if self.pressed:
            state.status[RSP] |= np.uint32(Status.STOP_PRESSED)


def test_a_button_of_the_robot_itself_stops_it_until_it_is_released_and_resumed():
    robot = WithButton(ROBOT)
    with Rig(interface=robot) as rig:
        moving(rig)
        robot.pressed = True
        rig.go()
        held = rig.command("RSP")
        rig.put("mover", {"RSP": -1.5})
        rig.go(2)
        assert rig.command("RSP") == pytest.approx(held, abs=1e-9), "from the period in which it was read"
        assert "a stop button of the robot is pressed: RSP" in rig.cycle.stopped
        refused = rig.ask(Verb.RESUME)
        assert not refused.accepted
        assert "release it first" in refused.text
        robot.pressed = False
        rig.go(5)
        assert rig.cycle.stopped, "it latches"
        assert any("is released" in each for each in rig.told())
        assert rig.ask(Verb.RESUME).accepted
        rig.put("mover", {"RSP": -1.5})
        rig.go(3 + round(LOOK_EVERY / PERIOD))
        assert rig.command("RSP") < held
