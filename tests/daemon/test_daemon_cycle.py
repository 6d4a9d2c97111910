"""The daemon's cycle: whose word counts, what passes the gate, what is timed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from daemon_rig import PERIOD, ROBOT, Rig, StepClock
from hypothesis import given, settings
from hypothesis import strategies as st

from wholebody import messages, robots
from wholebody.channels import Channel
from wholebody.daemon import channels as daemon_channels
from wholebody.daemon.timing import Contract, OnMiss
from wholebody.drivers import Loopback
from wholebody.errors import BadPeriod
from wholebody.messages import Mode, Refusal, Verb

RSP = ROBOT.joint("RSP")
STEP = RSP.velocity * PERIOD


def test_nothing_moves_when_nobody_speaks():
    with Rig() as rig:
        before = rig.cycle.command["position"].copy()
        rig.go(50)
        assert np.array_equal(rig.cycle.command["position"], before)
        assert (rig.cycle.merging.owner == -1).all()


def test_the_newest_reference_is_written_in_the_same_tick():
    with Rig() as rig:
        rig.put("mine", {"RSP": 0.0})
        rig.go(3)
        for k in range(1, 200):
            wanted = 0.01 * math.sin(k / 10)
            rig.put("mine", {"RSP": wanted + 1})  # not the newest
            rig.put("mine", {"RSP": wanted})
            rig.go()
            assert rig.command("RSP") == wanted


def test_controllers_drive_different_joints_at_once():
    with Rig() as rig:
        rig.put("arm", {"RSP": 0.02})
        rig.put("head", {"NKY": 0.03})
        rig.settle()
        assert (rig.command("RSP"), rig.command("NKY")) == (0.02, 0.03)
        rig.put("arm", {"REB": -0.04})  # says nothing of RSP any more
        rig.settle()
        assert (rig.command("RSP"), rig.command("NKY"), rig.command("REB")) == (0.02, 0.03, -0.04)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["RSP", "REB"]), st.floats(-0.01, 0)), max_size=20))
def test_of_two_words_on_a_joint_the_newer_counts(words):
    last = {"RSP": 0.0, "REB": 0.0}
    with Rig() as rig:
        for controller in "abc":
            rig.put(controller, {})
        rig.go(4)
        for controller, joint, position in words:
            rig.put(controller, {joint: position})
            last[joint] = position
            rig.go()
            assert rig.command(joint) == position
        assert {joint: rig.command(joint) for joint in last} == last
        for channel in (rig.names.commanded, *(rig.names.reference(each) for each in "abc")):
            Channel(channel).path.unlink()


def test_references_from_before_the_daemon_are_not_followed():
    with Channel("robot.old.reference", ROBOT.reference_dtype()) as channel, channel.writer() as writer:
        writer.message["position"], writer.message["mask"] = 0.02, True
        writer.put()
        with Rig() as rig:
            rig.go(20)
            assert rig.command("RSP") == 0.0
            writer.put()
            rig.go()
            assert rig.command("RSP") == 0.02


def test_a_restarted_daemon_goes_on_from_the_encoders():
    robot = Loopback(ROBOT)
    with Rig(interface=robot) as rig:
        rig.put("mine", {"RSP": 0.5})
        rig.go(60)
        reached = rig.command("RSP")
    with Rig(interface=robot) as rig:
        rig.go()
        assert rig.command("RSP") == pytest.approx(reached, abs=STEP)
        rig.go(50)
        assert rig.command("RSP") == pytest.approx(reached, abs=STEP)


class Hanging(Loopback):
    """A robot of which a joint hangs behind what it was told, and so the more, the heavier it is."""

    sag = 0.0

    def read(self, state):
        super().read(state)
        state.position[ROBOT.index["RSP"]] += self.sag


@pytest.mark.parametrize(("sag", "just_before", "goes_on"), [(0.02, 60, True), (2.0, 60, False), (0.02, 0, False)])
def test_a_restarted_daemon_commands_what_the_one_just_before_did_unless_joints_are_elsewhere(
    monkeypatch, sag, just_before, goes_on
):
    monkeypatch.setattr(daemon_channels, "JUST_BEFORE", just_before)
    robot = Hanging(ROBOT)
    with Rig(interface=robot) as rig:
        rig.put("mine", {"RSP": 0.5})
        rig.go(60)
        robot.sag, reached = -sag, rig.command("RSP")
        rig.go()
    with Rig(interface=robot) as rig:
        assert (rig.command("RSP") == reached) is goes_on
        assert rig.command("RSP") == pytest.approx(reached if goes_on else reached - sag)
        rig.go(10)
        assert rig.command("RSP") == pytest.approx(reached if goes_on else reached - sag)


def test_a_robot_that_was_stopped_stays_so_when_its_daemon_is_started_again():
    with Rig() as rig:
        rig.go()
        assert rig.ask(Verb.STOP).accepted
        rig.go(30)
    with Rig() as rig:
        rig.put("mine", {"RSP": 0.02})
        rig.go(5)
        assert "was stopped when the daemon before this one ended" in rig.cycle.stopped
        assert rig.command("RSP") == 0.0
        assert rig.ask(Verb.RESUME).accepted
        rig.put("mine", {"RSP": 0.02})
        rig.go(5)
        assert rig.command("RSP") == 0.02


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [(math.nan, Refusal.NOT_FINITE), (math.inf, Refusal.NOT_FINITE), (-math.inf, Refusal.NOT_FINITE)],
)
def test_what_is_not_a_number_is_refused_and_counted(wanted, reason):
    with Rig() as rig:
        rig.put("mine", {"RSP": 0.01})
        rig.go()
        rig.put("mine", {"RSP": wanted})
        rig.go(10)
        assert rig.command("RSP") == 0.01
        assert rig.refused(reason, "RSP") == 1
        rig.put("mine", {"RSP": 0.02})
        rig.go()
        assert rig.command("RSP") == 0.02


def test_a_client_that_talks_nonsense_does_not_drown_out_another():
    with Rig() as rig:
        rig.put("good", {}), rig.put("mad", {})
        rig.go(3)
        for k in range(20):
            rig.put("good", {"RSP": 0.001 * k})
            rig.put("mad", {"RSP": math.nan})
            rig.go()
            assert rig.command("RSP") == 0.001 * k


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(st.integers(0, 37), st.floats(allow_nan=True, allow_infinity=True), st.integers(0, 255)), max_size=30
    )
)
def test_no_client_moves_the_robot_beyond_its_limits(words):
    lower, upper = np.array([(j.lower, j.upper) for j in ROBOT.moving]).T
    steps = np.array([j.velocity for j in ROBOT.moving]) * PERIOD
    with Rig() as rig:
        last = rig.cycle.command["position"].copy()
        for joint, value, byte in words:
            writer = rig.writer("mad")
            writer.message["position"][joint] = value
            writer.message["effort"] = value
            writer.message["mode"] = byte
            writer.raw[writer.message.dtype.fields["mask"][1] :][joint] = byte
            writer.put()
            for _ in range(3):
                rig.go()
                now = rig.cycle.command["position"].copy()
                assert np.isfinite(now).all()
                assert (now >= lower).all()
                assert (now <= upper).all()
                assert (np.abs(now - last) <= steps + 1e-12).all()
                last = now


@pytest.mark.parametrize(
    ("beyond", "reason"), [(RSP.upper + 1, Refusal.ABOVE_MAXIMUM), (RSP.lower - 1, Refusal.BELOW_MINIMUM)]
)
def test_positions_end_at_the_limit_and_get_there_no_faster_than_the_joint_may(beyond, reason):
    with Rig() as rig:
        rig.put("mine", {"RSP": beyond})
        positions = []
        for _ in range(400):
            rig.go()
            positions.append(rig.command("RSP"))
        assert positions[-1] == (RSP.upper if beyond > 0 else RSP.lower)
        assert np.abs(np.diff(positions)).max() == pytest.approx(STEP)
        assert rig.refused(reason, "RSP") > 0
        assert rig.refused(Refusal.TOO_FAST, "RSP") > 0


def test_a_mode_that_the_robot_cannot_follow_is_refused():
    with Rig() as rig:
        rig.put("mine", {"RSP": 0.02}, mode=Mode.EFFORT)
        rig.go(5)
        assert rig.command("RSP") == 0.0
        assert rig.refused(Refusal.WRONG_MODE, "RSP") == 1


def test_references_for_another_robot_are_left_out_and_named():
    with Rig() as rig:
        rig.writer("stranger", robots.load("minihubo").reference_dtype()).put()
        rig.go(5)
        assert any("'stranger' cannot move this robot" in text for text in rig.told())
        rig.go(40)
        assert rig.reports.latest()
        assert rig.reports.message["refused"][Refusal.WRONG_LAYOUT] == 1


def test_a_step_limit_can_be_opened_on_a_simulated_robot_only():
    with Rig() as rig:
        assert rig.ask(Verb.STEP_LIMIT, "RSP", 10.0).accepted
        rig.put("mine", {"RSP": 0.4})
        rig.go()
        assert rig.command("RSP") == 0.4
        rig.interface.simulated = False
        refused = rig.ask(Verb.STEP_LIMIT, "RSP", 10.0)
        assert not refused.accepted
        assert "real joint" in refused.text
        assert rig.ask(Verb.STEP_LIMIT, "RSP", 0.0).accepted
        rig.put("mine", {"RSP": 0.0})
        rig.go()
        assert rig.command("RSP") == pytest.approx(0.4 - STEP)


def test_missed_cycles_are_counted_and_too_many_in_a_row_stop_the_robot_if_so_agreed():
    with Rig(contract=Contract(misses_allowed=3, on_miss=OnMiss.STOP)) as rig:
        rig.clock.missed = 3
        rig.go()
        assert not rig.cycle.stopped
        rig.clock.missed = 7
        rig.go()
        assert "4 cycles in a row" in rig.cycle.stopped


@pytest.mark.parametrize("wrong", [{"period": 0.0}, {"period": math.nan}, {"misses_allowed": -1}])
def test_a_contract_that_no_loop_can_keep_is_refused(wrong):
    with pytest.raises(BadPeriod):
        Contract(**wrong)


def test_each_stage_is_timed():
    with Rig(clock=StepClock()) as rig:
        rig.go(300)
        table = {row.name: row for row in rig.cycle.timing.table()}
        stages = [row for name, row in table.items() if name not in ("work", "late")]
        assert sum(row.mean for row in stages) == pytest.approx(table["work"].mean)
        assert all(0 < row.mean <= row.worst and 0 < row.p99 <= row.worst for row in stages)
        with Channel(rig.names.timing) as channel:
            assert messages.labels(channel.dtype, "stages") == tuple(row.name for row in stages)
            assert channel.newest == 299  # the last one is not over yet


def test_what_is_packed_at_once_is_what_the_records_say():
    with Rig() as rig:
        rig.clock.missed = 2
        rig.go(3)
        state, tick, timing = (Channel(n).reader() for n in (rig.names.state, rig.names.tick, rig.names.timing))
        assert state.latest()
        assert tick.latest()
        assert timing.latest()
        assert (state.message["time"], state.message["tick"]) == (pytest.approx(3 * PERIOD), 3)
        assert (tick.message["time"], tick.message["number"]) == (pytest.approx(3 * PERIOD), 3)
        assert (tick.message["period"], tick.message["missed"]) == (PERIOD, 2)
        assert (timing.message["number"], timing.message["missed"], timing.message["late"]) == (2, 2, 0.0)
        assert (timing.message["took"] > 0).all()


def test_when_another_simulator_comes_the_command_goes_on_from_its_encoders():
    with Rig() as rig:
        rig.put("mine", {"RSP": 0.5})
        rig.settle()
        assert rig.command("RSP") == 0.5
        rig.interface = rig.cycle.interface = Loopback(ROBOT)
        rig.clock.restarts = 1
        rig.go(20)
        assert rig.command("RSP") == 0.0


def test_a_joint_that_is_off_is_followed_and_refuses_references():
    with Rig() as rig:
        number = ROBOT.index["RSP"]
        rig.put("mine", {"RSP": 0.02, "REB": -0.02})
        rig.go(3)
        rig.interface._state.status[number] = 0
        rig.interface._read_into = None  # so that it reads all of it
        for k in range(30):
            rig.interface._commanded[number] = 0.01 * k  # moved by hand
            rig.put("mine", {"RSP": 0.02, "REB": -0.03})
            rig.go()
            assert rig.command("RSP") == rig.cycle.state.position[number]
        assert rig.command("REB") == -0.03
        assert rig.refused(Refusal.NOT_READY, "RSP") > 0
        rig.interface._state.status[number] = 7
        rig.interface._read_into = None
        rig.go(2)
        assert rig.command("RSP") == pytest.approx(0.29, abs=0.02)  # it stays where it was left


def test_a_joint_on_its_way_home_is_left_alone_until_it_is_there():
    with Rig() as rig:
        number = ROBOT.index["RSP"]
        assert rig.ask(Verb.HOME, "RSP").accepted
        rig.go()
        rig.put("mine", {"RSP": 0.3})
        rig.go(5)
        assert rig.command("RSP") == 0.0
        assert rig.refused(Refusal.NOT_READY, "RSP") > 0
        rig.interface._commanded[number] = -0.004  # the board leads it there
        rig.go(round(0.6 / PERIOD))
        assert rig.command("RSP") == 0.0  # home is zero
        rig.put("mine", {"RSP": 0.01})
        rig.go()
        assert rig.command("RSP") == 0.01
        assert rig.cycle.merging.owner[number] >= 0
