"""Who may speak for a joint, and who may stop the robot: silence, leases, the stop channel, requests."""

import math

import pytest
from daemon_rig import PERIOD, ROBOT, Rig

from wholebody import messages
from wholebody.channels import Channel
from wholebody.drivers.boards import BoardClient, BoardRequest
from wholebody.errors import RobotTaken
from wholebody.messages import Filter, Refusal, Silence, Verb
from wholebody.services import Stage


@pytest.mark.parametrize("silence", list(Silence))
def test_a_controller_that_declared_a_period_and_falls_silent_loses_its_joints(silence):
    with Rig() as rig:
        rig.put("mine", {"RSP": 1.0}, period=0.01, silence=silence)
        rig.go(5)
        assert rig.cycle.merging.owner[ROBOT.index["RSP"]] >= 0
        rig.go(5)
        held = rig.command("RSP")
        rig.go(50)
        assert rig.command("RSP") == pytest.approx(held, abs=2.1 * ROBOT.joint("RSP").velocity * PERIOD)
        assert rig.command("RSP") < 1.0
        assert any("'mine' has said nothing" in text for text in rig.told())
        assert bool(rig.cycle.stopped) is (silence is Silence.STOP)


def test_without_a_declared_period_the_last_word_holds_for_ever():
    with Rig() as rig:
        rig.put("mine", {"RSP": 0.3})
        rig.go(3000)
        assert rig.command("RSP") == 0.3
        assert rig.refused(Refusal.SILENT, "RSP") == 0


def test_the_stop_channel_stops_the_robot_until_it_is_resumed():
    with Rig() as rig:
        rig.put("mine", {"RSP": 1.0})
        rig.go(10)
        with Channel(rig.names.stop) as channel, channel.writer() as writer:
            writer.message["text"] = b"a person is too near"
            writer.put()
        rig.go(2)
        held = rig.command("RSP")
        for k in range(50):
            rig.put("mine", {"RSP": 0.5 + 0.001 * k})
            rig.go()
            assert rig.command("RSP") == held
        assert rig.refused(Refusal.STOPPED, "RSP") > 0
        assert "a person is too near" in rig.told()
        assert rig.ask(Verb.RESUME).accepted
        rig.go(20)
        assert rig.command("RSP") == held  # old words are not followed
        rig.put("mine", {"RSP": held + 0.01})
        rig.go()
        assert rig.command("RSP") == pytest.approx(held + 0.01)


def test_a_console_can_stop_and_resume():
    with Rig() as rig:
        assert rig.ask(Verb.STOP).accepted
        assert rig.cycle.stopped
        assert rig.ask(Verb.RESUME).accepted
        assert not rig.cycle.stopped


def test_two_controllers_on_one_joint_are_reported_once_by_name():
    with Rig() as rig:
        for k in range(100):
            rig.put("left", {"RSP": 0.001 * k})
            rig.put("right", {"RSP": -0.001 * k})
            rig.go()
        fights = [text for text in rig.told() if "both move" in text]
        assert len(fights) == 1
        assert "'left'" in fights[0]
        assert "'right'" in fights[0]
        assert "RSP" in fights[0]


def test_a_lease_keeps_others_off_until_its_holder_falls_silent():
    with Rig() as rig:
        rig.put("other", {})
        rig.put("holder", {"RSP": 0.0}, period=0.05, lease=True)
        rig.go(3)
        for k in range(1, 30):
            rig.put("holder", {"RSP": 0.001 * k}, period=0.05, lease=True)
            rig.put("other", {"RSP": -0.5, "REB": -0.01})
            rig.go()
            assert rig.command("RSP") == 0.001 * k
        assert rig.command("REB") == -0.01
        assert rig.refused(Refusal.LEASED, "RSP") > 0
        for _ in range(60):
            rig.put("other", {"RSP": -0.01})
            rig.go()
        assert rig.command("RSP") == -0.01


def test_a_console_can_end_a_lease():
    with Rig() as rig:
        rig.put("other", {})
        rig.put("holder", {"RSP": 0.0}, period=0.5, lease=True)
        rig.go(3)
        assert rig.ask(Verb.END_LEASE, "RSP").accepted
        rig.put("holder", {"RSP": 0.01}, period=0.5, lease=True)
        rig.put("other", {"RSP": -0.01})
        rig.go()
        assert rig.command("RSP") == -0.01
        assert not rig.ask(Verb.END_LEASE, "RSP").accepted


def test_a_lease_without_a_declared_period_is_none():
    with Rig() as rig:
        rig.put("holder", {"RSP": 0.0}, lease=True)
        rig.go(2)
        rig.put("other", {"RSP": -0.01})
        rig.go(2)
        assert rig.command("RSP") == -0.01


def test_filters_can_be_changed_while_running():
    with Rig() as rig:
        assert rig.ask(Verb.STEP_LIMIT, "RSP", 10.0).accepted
        assert rig.ask(Verb.FILTER, "RSP", Filter.SMOOTH, 10).accepted
        rig.put("mine", {"RSP": 0.4, "RSR": -0.01})
        rig.go()
        assert rig.command("RSP") == pytest.approx(0.04)
        assert rig.command("RSR") == -0.01
        rig.go()
        assert rig.command("RSP") == pytest.approx(0.4 * (1 - 0.9**2))
        assert not rig.ask(Verb.FILTER, "RSP", Filter.SMOOTH, 0).accepted
        assert not rig.ask(Verb.FILTER, "RSP", 17, 0).accepted


def test_requests_that_make_no_sense_are_answered():
    with Rig() as rig:
        nonsense = BoardRequest(99, 0), BoardRequest(Verb.HOME, 77), BoardRequest(Verb.FILTER, 0, 4 * (math.nan,))
        with BoardClient() as boards:
            numbers = [boards.send(each) for each in nonsense]
            rig.go()
            answers = [[report.stage for report in boards.reports(number)] for number in numbers]
        assert answers == 3 * [[Stage.REJECTED]]


def test_more_controllers_than_there_is_room_for_are_left_out_and_named():
    with Rig() as rig:
        for number in range(messages.MAX_CONTROLLERS + 1):
            rig.put(f"c{number:02}", {"RSP": 0.0})
        rig.go(40)
        assert sum("is left out" in text for text in rig.told()) == 1


def test_a_robot_has_one_daemon():
    with Rig(), pytest.raises(RobotTaken, match="another name"):
        Rig()
