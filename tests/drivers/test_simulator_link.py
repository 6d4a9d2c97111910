"""The robot that is in a simulator of its own, as its daemon sees it."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from simulator_peers import PERIOD, ByHand, new_records, stamped

from wholebody import robots
from wholebody.channels import Channel
from wholebody.drivers import Boards, Clock, RobotInterface
from wholebody.drivers.simulator_link import SimulatorLink
from wholebody.errors import LayoutMismatch, WrongRecord
from wholebody.messages import ALL_JOINTS, Mode, Status, Verb

ROBOT = "minihubo"


@pytest.fixture(scope="module")
def robot():
    return robots.load(ROBOT)


# The order of objects.


def test_the_state_read_is_that_of_the_tick_though_the_simulator_is_ahead_by_then(robot):
    by_hand = ByHand(robot)
    by_hand.show(tick=7)
    by_hand.beat()
    with SimulatorLink(robot) as link:
        state, reference = new_records(robot)
        link.tick()
        link.write(reference)
        by_hand.show(tick=8)
        by_hand.beat()
        link.read(state)
        assert state.tick == 7
        link.tick()
        link.read(state)
        assert state.tick == 8


def test_the_command_is_there_before_the_answer(robot):
    by_hand = ByHand(robot)
    by_hand.beat()
    with SimulatorLink(robot) as link:
        _, reference = new_records(robot)
        for count in range(100):
            link.tick()
            reference.time = count
            link.write(reference)
            assert by_hand.answer == by_hand.number
            by_hand.beat()
    commands = {float(each["time"]): stamp for stamp, _, each in stamped(Channel("robot.commanded"))}
    for stamp, _, answer in stamped(Channel("robot.to_simulator"))[:100]:
        assert commands[float(answer["number"]) - 1] <= stamp


def test_a_beat_without_a_command_is_answered_by_the_next_tick(robot):
    by_hand = ByHand(robot)
    by_hand.beat()
    with SimulatorLink(robot) as link:
        link.tick()
        assert by_hand.answer == 0
        simulate = threading.Timer(0.05, by_hand.beat)
        simulate.start()
        link.tick()
        simulate.join()
        assert by_hand.answer == by_hand.number - 1
        assert not by_hand.commands.latest(), "the simulator goes on with what it has"


# Killed and started again.


def test_a_daemon_killed_between_command_and_answer_is_followed_by_one_that_answers(robot):
    by_hand = ByHand(robot)
    by_hand.beat()
    killed = SimulatorLink(robot)
    killed.tick()
    killed._commands.put()  # and here it dies
    with SimulatorLink(robot) as link:
        assert link.tick() == PERIOD
        assert by_hand.answer == 0
        link.write(new_records(robot)[1])
        assert by_hand.answer == by_hand.number


def test_a_daemon_killed_after_its_answer_is_followed_by_one_that_answers_again(robot):
    by_hand = ByHand(robot)
    by_hand.beat()
    _, reference = new_records(robot)
    killed = SimulatorLink(robot)
    killed.tick()
    killed.write(reference)
    with SimulatorLink(robot) as link:
        assert link.tick() == PERIOD
        link.write(reference)
        assert by_hand.answer == by_hand.number
        by_hand.beat()
        assert link.tick() == 2 * PERIOD


def test_a_simulator_killed_between_state_and_beat_is_followed_by_one_that_is_answered(robot):
    killed = ByHand(robot)
    killed.beat()
    with SimulatorLink(robot) as link:
        state, reference = new_records(robot)
        link.tick()
        link.write(reference)
        killed.show(tick=99)  # and here it dies
        killed.close()
        following = ByHand(robot)
        following.show(tick=0)
        following.beat()
        link.tick()
        link.read(state)
        assert state.tick == 0
        link.write(reference)
        assert following.answer == following.number == killed.number + 1


def test_a_beat_left_behind_by_a_simulator_that_has_gone_is_no_beat(robot):
    gone = ByHand(robot)
    gone.beat()
    gone.close()
    said, following = [], []

    def come():
        if said and not following:
            following.append(ByHand(robot))
            following[0].beat(at=3.0)

    assert SimulatorLink(robot, say=said.append, idle=come).tick() == 3.0
    assert [text.split(":")[0] for text in said] == [
        "no simulator of 'robot' is there yet",
        "the simulator of 'robot' is there",
    ]


def test_time_never_runs_backwards_though_a_new_simulator_begins_at_zero(robot):
    by_hand = ByHand(robot)
    by_hand.beat(at=10.0)
    with SimulatorLink(robot) as link:
        state, reference = new_records(robot)
        times = []
        for at in (10.005, 10.01, 0.0, 0.005, float("nan"), 0.005, float("inf"), 0.01):
            times.append(link.tick())
            link.write(reference)
            link.read(state)
            assert state.time == times[-1]
            by_hand.beat(at=at)
        times.append(link.tick())
        assert np.diff(times) == pytest.approx([PERIOD] * 8)
        assert link.restarts >= 1


# What the daemon sees.


def test_it_is_a_robot_its_boards_and_a_clock(robot):
    link = SimulatorLink(robot)
    assert isinstance(link, RobotInterface)
    assert isinstance(link, Boards)
    assert isinstance(link, Clock)
    assert link.simulated
    assert link.modes == frozenset(Mode)
    assert link.publishes_command


def test_entering_waits_for_the_state_and_period_that_a_loop_begins_with(robot):
    by_hand = ByHand(robot)
    link = SimulatorLink(robot)
    by_hand.show(position=np.arange(len(robot.moving)))
    by_hand.beat(period=0.002)
    with link:
        state, _ = new_records(robot)
        link.read(state)
        assert (state.position == np.arange(len(robot.moving))).all()
        assert link.period == 0.002


def test_joints_out_of_the_mask_keep_their_command(robot):
    by_hand = ByHand(robot)
    by_hand.beat()
    with SimulatorLink(robot) as link:
        _, reference = new_records(robot)
        reference.position[:], reference.mask[:] = 0.5, False
        reference.mask[[2, 3]] = True
        link.write(reference)
        by_hand.commands.latest()
        assert np.flatnonzero(by_hand.commands.message["mask"]).tolist() == [2, 3]
        reference.position[:], reference.mask[3] = 0.7, False
        link.write(reference)
        by_hand.commands.latest()
        assert by_hand.commands.message["position"][[2, 3]].tolist() == [0.7, 0.5]
        assert np.flatnonzero(by_hand.commands.message["mask"]).tolist() == [2, 3]


def test_stop_holds_every_joint_where_it_was_and_never_raises(robot):
    by_hand = ByHand(robot)
    link = SimulatorLink(robot)
    link.stop()
    assert not by_hand.commands.latest(), "nothing is known yet"
    by_hand.show(position=0.25)
    by_hand.beat()
    link.tick()
    link.stop()
    assert by_hand.commands.latest()
    assert (by_hand.commands.message["position"] == 0.25).all()
    assert by_hand.commands.message["mask"].all()
    link.close()
    link.stop()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_gets_into_a_wait_that_has_no_end(number):
    program = f"""
import signal, sys
from wholebody import robots
from wholebody.drivers.simulator_link import SimulatorLink
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
signal.signal(signal.SIGINT, lambda *_: sys.exit(7))
link = SimulatorLink(robots.load("{ROBOT}"))
print("waiting", flush=True)
link.tick()
"""
    waiting = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    with waiting:
        waiting.stdout.readline()
        time.sleep(0.2)
        waiting.send_signal(number)
        assert waiting.wait(20) == 7


def test_a_wait_is_said_once_costs_nothing_and_lets_the_daemon_listen(robot):
    class Enough(Exception):
        """Leaves the wait."""

    said, calls = [], []

    def idle():
        calls.append(time.monotonic())
        if len(calls) == 20:
            raise Enough

    link = SimulatorLink(robot, say=said.append, idle=idle)
    with pytest.raises(Enough):
        link.tick()
    assert len(said) == 1
    assert "no simulator of 'robot'" in said[0]
    assert link.waiting
    assert calls[-1] - calls[0] > 1.5, "it sleeps between two looks"


def test_consoles_are_answered(robot):
    by_hand = ByHand(robot)
    by_hand.show(status=int(Status.HOMED))
    by_hand.beat()
    with SimulatorLink(robot) as link:
        for verb in Verb:
            answer = link.command(verb, ALL_JOINTS, ())
            assert answer.text
        assert link.command(Verb.HOME, 3, ()).accepted
        assert link.command(Verb.RESET, ALL_JOINTS, ()).accepted
        assert link.command(Verb.STATUS, 3, ()).status == Status.HOMED
        assert not link.command(Verb.CONTROL, 3, (0.0,)).accepted
        assert not link.command(Verb.STOP, ALL_JOINTS, ()).accepted


def test_records_and_channels_of_another_robot_are_refused(robot):
    other = robots.load("hoap3")
    with ByHand(robot).beats:
        link = SimulatorLink(robot)
        state, reference = new_records(other)
        with pytest.raises(WrongRecord, match=r"reference_dtype"):
            link.write(reference)
        with pytest.raises(WrongRecord, match=r"state_dtype"):
            link.read(state)
        with pytest.raises(LayoutMismatch):
            SimulatorLink(other)


def test_another_period_of_a_new_simulator_is_said(robot):
    said = []
    first = ByHand(robot)
    first.beat()
    with SimulatorLink(robot, say=said.append) as link:
        link.tick()
        link.write(new_records(robot)[1])
        first.beat(at=0.0, period=0.01)
        link.tick()
        assert link.period == PERIOD, "the loop's"
    assert "period of 0.01 s" in said[0]
