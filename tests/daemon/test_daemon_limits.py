"""What no client can do: the limits of references, leases, periods and requests, through the whole daemon."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from daemon_rig import PERIOD, ROBOT, Rig
from gate_laws import Told, broken, hostile, without_limits
from servo_joints import ServoBody

from wholebody import robots
from wholebody.channels import Channel
from wholebody.daemon.limits import safe_limits
from wholebody.daemon.timing import Contract
from wholebody.drivers import Names, connect
from wholebody.drivers.boards import BoardClient, BoardRequest
from wholebody.errors import BadPeriod
from wholebody.messages import Filter, Mode, Refusal, Status, Verb, bounds

RSP = ROBOT.index["RSP"]
RIGS = Path(__file__).parents[1] / "rigs"
DAEMON = """
import sys
from pathlib import Path
from servo_joints import ServoBody
from wholebody import robots
from wholebody.daemon.process import run
from wholebody.daemon.timing import Contract
robot = robots.load("hubo2plus")
run(robot, ServoBody(robot, 0.002, Path(sys.argv[1])), contract=Contract(0.002))
"""


# References.


def speak_nonsense(rng, limits, writer):
    """Put one reference as no controller should: any mode, any mask, numbers of all sizes."""
    n = len(limits.lower)
    message = writer.message
    spans = limits.upper - limits.lower
    for name, usual in zip(
        ("position", "velocity", "effort", "stiffness", "damping"),
        (spans, limits.velocity, limits.effort, limits.stiffness, limits.damping),
        strict=True,
    ):
        getattr(message, name)[:] = hostile(rng, usual, 0.02)
    message.mode[:] = np.where(rng.random(n) < 0.95, rng.integers(0, 4), rng.integers(0, 256, n))
    at = message.dtype.fields["mask"][1]
    writer.raw[at : at + n] = rng.integers(0, 256, n) * (rng.random(n) < 0.9)
    message.period = rng.choice([0.0, 0.0, 1.0, np.nan, 1e300, -1.0])
    writer.put()


def laws_broken(limits, period, written):
    """By all commands that the driver got."""
    found = {}
    step, known = limits.velocity * period, np.ones(len(limits.lower), bool)
    before = None
    for values, mode, q, v in written:
        told = Told(values, mode)
        if before is not None:
            for law, many in broken(limits, step, before, told, q, v, known).items():
                found[law] = found.get(law, 0) + many
        before = told
    return found


def attack_a_running_daemon(references, folder):
    """How many commands the driver of a daemon got meanwhile, in which modes, and the laws that they broke."""
    kept, rng = folder / "written.npz", np.random.default_rng(4)
    limits = safe_limits(ROBOT, ServoBody.servo_period)
    path = os.pathsep.join([str(RIGS), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"PYTHONPATH": path}
    with subprocess.Popen([sys.executable, "-c", DAEMON, str(kept)], env=environment) as child:
        try:
            with (
                connect("watching", timeout=20.0) as robot,
                Channel(Names().reference("mad"), ROBOT.reference_dtype()) as mad,
                mad.writer() as writer,
            ):
                for _ in range(references):
                    speak_nonsense(rng, limits, writer)
                    robot.wait()
            child.send_signal(signal.SIGTERM)
            assert child.wait(20) == 0
        finally:
            child.kill()
    with np.load(kept) as file:
        rows = list(zip(*(file[name] for name in ("values", "mode", "q", "v")), strict=True))
        modes = np.unique(file["mode"])
    return len(rows), modes.tolist(), laws_broken(limits, 0.002, rows)


@pytest.mark.parametrize("references", [400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_nothing_beyond_a_limit_reaches_the_driver_of_a_running_daemon(references, tmp_path):
    commands, modes, found = attack_a_running_daemon(references, tmp_path)
    assert commands > references / 2
    assert modes == [0, 1, 2, 3]
    assert found == {}


def test_a_joint_about_to_leave_its_range_is_taken_over_which_state_and_events_say():
    body = ServoBody(ROBOT)
    with Rig(interface=body) as rig:
        upper = ROBOT.moving[RSP].upper
        rig.put("mine", {"RSP": 0.0}, mode=Mode.EFFORT, effort=12.0)
        rig.go(400)
        assert body.q[RSP] < upper + 0.005
        assert rig.cycle.command.mode[RSP] == Mode.POSITION
        assert rig.cycle.state.status[RSP] & Status.TAKEN_OVER
        assert not rig.cycle.state.status[RSP - 1] & Status.TAKEN_OVER
        assert rig.refused(Refusal.ABOVE_MAXIMUM, "RSP") > 0
        told = [text for text in rig.told() if text.startswith("RSP")]
        assert told == ["RSP was about to pass its upper end; 'mine' drove it"]
        rig.put("mine", {"RSP": 0.0}, mode=Mode.EFFORT, effort=-2.0)
        rig.go(260)
        assert body.q[RSP] < upper - 0.1
        assert not rig.cycle.state.status[RSP] & Status.TAKEN_OVER
        assert rig.told() == ["RSP follows its references again"]


def test_the_flag_of_a_joint_taken_over_goes_also_where_a_driver_writes_its_status_once():
    with Rig() as rig:
        rig.cycle.gate.taken[RSP] = 1
        rig.cycle._flag_taken(True)
        assert rig.cycle.state.status[RSP] & Status.TAKEN_OVER
        rig.cycle.gate.taken[RSP] = 0
        rig.go(2)
        assert not rig.cycle.state.status[RSP] & Status.TAKEN_OVER


def test_impedance_through_the_daemon_is_saturated_and_follows_targets_that_jump():
    body = ServoBody(ROBOT)
    with Rig(interface=body) as rig:
        rig.put("policy", {"RSP": 0.0}, mode=Mode.IMPEDANCE, stiffness=20.0, damping=3.0)
        for k in range(300):
            rig.put("policy", {"RSP": 0.3 * (-1) ** (k // 10)}, mode=Mode.IMPEDANCE, stiffness=20.0, damping=3.0)
            rig.go()
        jumps = np.abs(np.diff([values[0, RSP] for values, *_ in body.written]))
        assert jumps.max() == pytest.approx(0.6)
        assert laws_broken(rig.cycle.gate.limits, PERIOD, body.written) == {}


def test_an_encoder_that_fails_makes_no_command_that_is_no_number():
    with Rig() as rig:
        rig.interface._state.status[RSP] = 0  # off: its command follows the encoder
        rig.interface._read_into = None
        rig.interface._here[RSP] = np.nan
        rig.interface._next[RSP] = np.nan
        for _ in range(5):
            rig.go()
            assert np.isfinite(rig.cycle.command.position).all()


def test_a_robot_without_limits_says_once_at_the_start_which_are_taken():
    with Rig(robot=without_limits(robots.load("hoap3"))) as rig:
        rig.go(100)
        texts = rig.told()
        assert len(texts) == 2
        assert "no velocity limit: " in texts[0]
        assert "6 rad/s is taken. Write velocity limits into the robot's YAML or URDF" in texts[0]
        assert "no effort limit: " in texts[1]
        assert rig.cycle.gate.step == pytest.approx(6.0 * PERIOD)


# Numbers that clients send beside references.


@pytest.mark.parametrize("period", [1e300, np.inf, 1.0001])
def test_a_lease_for_ever_locks_nobody_out(period):
    with Rig() as rig:
        rig.put("holder", {"RSP": 0.0}, period=period, lease=True)
        rig.put("other", {"RSP": -0.01})
        rig.go()
        assert rig.command("RSP") == -0.01
        assert rig.refused(Refusal.LEASED, "RSP") == 0
        complaints = [text for text in rig.told() if text.startswith("'holder'")]
        assert len(complaints) == 1
        assert "give from 0.0001 to 1 s; no joint is leased to it" in complaints[0]


def test_the_longest_lease_of_a_holder_that_died_ends_after_three_seconds():
    with Rig() as rig:
        rig.put("other", {})
        rig.put("holder", {"RSP": 0.0}, period=bounds.LEASE_PERIOD.most, lease=True)
        rig.go(round(3 / PERIOD))
        rig.put("other", {"RSP": -0.01})
        rig.go()
        assert rig.command("RSP") == 0.0
        rig.go(2)
        rig.put("other", {"RSP": -0.01})
        rig.go()
        assert rig.command("RSP") == -0.01


@pytest.mark.parametrize("period", [1e300, 5e-324, -1.0, np.nan])
def test_a_declared_period_out_of_bounds_is_told_once_and_counts_as_the_nearest(period):
    with Rig() as rig:
        for k in range(5):
            rig.put("mine", {"RSP": 0.001 * k}, period=period)
            rig.go()
        assert sum("a controller's declared period of" in text for text in rig.told()) == 1
        declared = list(rig.cycle.controllers.declared.values())
        assert all(1e-4 <= each <= 10.0 for each in declared)
        assert len(declared) == (period > 0)


@pytest.mark.parametrize(
    "wrong", [{"period": 1e300}, {"period": 1.5, "lease": True}, {"period": 1e-9}, {"period": np.inf}]
)
def test_a_contract_out_of_bounds_is_refused_at_the_client_with_the_bounds(wrong):
    with pytest.raises(BadPeriod, match=r"give from 0\.0001 to (1|10) s"):
        connect("mine", timeout=0.1, **wrong)


@pytest.mark.parametrize("wrong", [{"period": 1e300}, {"misses_allowed": 10**9}, {"misses_allowed": -1}])
def test_a_loop_out_of_bounds_is_refused_with_the_bounds(wrong):
    with pytest.raises(BadPeriod, match="give "):
        Contract(**wrong)


@pytest.mark.parametrize(
    ("verb", "values", "says"),
    [
        (Verb.STEP_LIMIT, (1e9,), "a step limit of 1e+09 rad per period; give from 1e-09 to 10 rad per period"),
        (Verb.STEP_LIMIT, (5e-324,), "give from 1e-09"),
        (Verb.FILTER, (Filter.SMOOTH, 1e300), "give a whole number from 1 to 100000"),
        (Verb.FILTER, (Filter.COMPLIANT, 1.0), "give from 0 to 0.99999"),
        (Verb.GAINS, (1e300, 0.0, 0.0), "a gain of a board of 1e+300; give from 0 to 65535"),
        (Verb.GAINS, (1.0, -1.0, 0.0), "a gain of a board of -1"),
    ],
)
def test_a_request_out_of_bounds_is_refused_with_the_bounds(verb, values, says):
    with Rig() as rig:
        answer = rig.ask(verb, "RSP", *values)
        assert not answer.accepted
        assert says in answer.text


def test_every_bound_stands_in_the_document():
    text = (Path(__file__).parents[2] / "docs" / "robot_layer.md").read_text()
    for bound in bounds.BOUNDS:
        what, number = bound.what.removeprefix("a "), f"{bound.most:g}"
        assert f"| {what} | {bound.least:g} | {number}" in text, bound


# Stop.


def test_a_stop_on_its_channel_is_in_the_reference_a_period_later_however_many_requests_wait():
    assert periods_until_it_holds(by_channel=True, others=50) == 1


def test_a_stop_by_a_request_is_in_the_reference_two_periods_later():
    assert periods_until_it_holds(by_channel=False) == 2


def periods_until_it_holds(by_channel, others=0):
    """Periods from a stop that arrives between two of them to the first command written that goes nowhere."""
    body = ServoBody(ROBOT)
    with Rig(interface=body) as rig, Channel(rig.names.stop) as stops, stops.writer() as stop, BoardClient() as boards:
        rig.put("mine", {"RSP": 1.0})
        rig.go(5)  # it goes on for many more
        for _ in range(others):
            boards.send(BoardRequest(Verb.STATUS))
        if by_channel:
            stop.put()
        else:
            boards.send(BoardRequest(Verb.STOP))
        arrived = len(body.written)
        rig.go(10)
        path = [values[0, RSP] for values, *_ in body.written[arrived - 1 :]]
        return next(periods for periods in range(1, 10) if path[periods] <= path[periods - 1])
