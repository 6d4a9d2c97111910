"""The behaviour server: sources at any rate, in processes of their own, make one smooth motion."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest

from wholebody import robots
from wholebody.behaviors.limb_server import (
    ACCELERATION,
    SPEED,
    LimbServer,
    LimbSource,
    request_channel,
    request_record,
    source_of,
)
from wholebody.channels import Channel
from wholebody.drivers import Names, connect
from wholebody.errors import BadPeriod, BadReference, UnknownName
from wholebody.processes import lifecycle
from wholebody.processes.registry import LIMBS

ROBOT = robots.load("hubo2plus")
PERIOD = 0.005
FASTEST = SPEED * np.array([joint.velocity for joint in ROBOT.moving])
DAEMON = """
from wholebody import robots
from wholebody.daemon.process import run
from wholebody.drivers import Loopback
robot = robots.load("hubo2plus")
run(robot, Loopback(robot))
"""
SOURCE = """
import sys, time
from wholebody import robots
from wholebody.behaviors.limb_server import LimbSource
name, source, rank, rate, joint, low, high = sys.argv[1:]
with LimbSource(name, robots.load("hubo2plus"), source, int(rank)) as source_:
    print("requests", flush=True)
    while True:
        source_.request({joint: float(high) if time.monotonic() % 1.0 > 0.5 else float(low)})
        time.sleep(1 / float(rate))
"""


def requested(rank=1, **joints):
    record = np.zeros(1, request_record(ROBOT.joint_names))[0]
    record["rank"] = rank
    for joint, position in joints.items():
        record["mask"][ROBOT.index[joint]], record["position"][ROBOT.index[joint]] = True, position
    return record


def server(**options):
    return LimbServer(ROBOT, np.zeros(len(ROBOT.joint_names)), PERIOD, **options)


def run(server, start, seconds):
    rows = [server.step(start + k * PERIOD).copy() for k in range(round(seconds / PERIOD))]
    return np.array(rows)


def test_wishes_that_jump_at_odd_rates_make_a_motion_within_bounds():
    random, merged, raw, rows = np.random.default_rng(3), server(), np.zeros(len(ROBOT.joint_names)), []
    jumps = 0.0
    for cycle in range(2000):
        now = cycle * PERIOD
        for source, joints, chance in (("fast", ("RSP", "REB"), 0.4), ("slow", ("LSP", "LEB"), 0.02)):
            if random.random() < chance:
                wished = {joint: random.uniform(-1.0, 0.0) for joint in joints}
                merged.tell(source, requested(**wished), now)
                before = raw.copy()
                raw[[ROBOT.index[joint] for joint in joints]] = list(wished.values())
                jumps = max(jumps, float(np.abs(raw - before).max() / PERIOD))
        rows.append(merged.step(now).copy())
    velocity = np.diff(rows, axis=0) / PERIOD
    assert (np.abs(velocity) <= FASTEST + 1e-9).all()
    assert np.abs(np.diff(velocity, axis=0)).max() / PERIOD <= 1.01 * ACCELERATION
    assert jumps > 20 * FASTEST.max()  # played as they come, they would be this fast
    for joint in ("RSP", "REB", "LSP", "LEB"):
        assert np.ptp(np.array(rows)[:, ROBOT.index[joint]]) > 0.2


def test_each_joint_follows_the_highest_rank_that_wishes_for_it_and_others_their_own_source():
    merged = server()
    merged.tell("low", requested(1, RSP=-0.5, LSP=-0.5), 0.0)
    merged.tell("high", requested(3, RSP=0.5), 0.0)
    run(merged, 0.0, 0.4)
    assert (merged.leader("RSP"), merged.leader("LSP"), merged.leader("REB")) == ("high", "low", "")
    merged.tell("low", requested(1, RSP=-0.5, LSP=-0.5), 0.4)
    merged.tell("high", requested(3), 0.4)  # withdraws
    end = run(merged, 0.4, 0.4)[-1]
    assert merged.leader("RSP") == "low"
    assert end[ROBOT.index["RSP"]] < 0.5


def test_of_two_of_one_rank_a_joint_stays_with_the_one_it_follows():
    merged = server()
    merged.tell("second", requested(1, LSP=0.1), 0.0)  # known for longer
    merged.tell("first", requested(1, RSP=-0.5), 0.0)
    merged.step(0.0)
    for cycle in range(1, 50):
        merged.tell("first", requested(1, RSP=-0.5), cycle * PERIOD)
        merged.tell("second", requested(1, RSP=0.5), cycle * PERIOD)
        merged.step(cycle * PERIOD)
        assert merged.leader("RSP") == "first"


def test_a_silent_source_is_dropped_and_its_joints_come_to_rest_without_turning_back():
    merged = server(patience=0.1)
    merged.tell("dies", requested(2, RSP=-1.0), 0.0)
    moving = run(merged, 0.0, 0.1)[:, ROBOT.index["RSP"]]
    resting = run(merged, 0.1 + PERIOD, 2.0)[:, ROBOT.index["RSP"]]
    assert merged.leader("RSP") == ""
    assert (np.diff(np.concatenate([moving, resting])) <= 1e-12).all()
    assert resting[-1] == resting[-100]
    assert resting[-1] > -0.9


def test_wishes_beyond_limits_or_of_no_number_do_no_harm():
    merged = server()
    merged.tell("mad", requested(1, RSP=1e6), 0.0)
    merged.tell("mad", requested(1, LSP=np.nan), 0.0)
    for cycle in range(1000):
        merged.tell("mad", requested(1, RSP=1e6), cycle * PERIOD)
        row = merged.step(cycle * PERIOD)
    assert row[ROBOT.index["RSP"]] == pytest.approx(ROBOT.joint("RSP").upper)
    assert row[ROBOT.index["LSP"]] == 0.0


def test_what_is_no_wish_is_refused(request):
    with pytest.raises(BadPeriod):
        server(patience=0.0)
    with pytest.raises(BadReference, match="rank"):
        LimbSource("nobody", ROBOT, "me", rank=-1)
    with LimbSource(f"nobody-{time.monotonic_ns()}", ROBOT, "me") as source:
        with pytest.raises(UnknownName, match="joint 'RSPP'"):
            source.request({"RSPP": 0.0})
        with pytest.raises(BadReference, match="no position"):
            source.request({"RSP": np.inf})
    assert source_of("hubo", request_channel("hubo", "me")) == "me"
    assert source_of("hubo", "hubo.walk.reference") is None


@contextmanager
def python(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([sys.executable, *arguments], text=True, stdout=subprocess.PIPE) as child:
        try:
            yield child
        finally:
            child.kill()


def wishing(name: str, source: str, rank: int, rate: float, joint: str, low: float, high: float):
    return python("-c", SOURCE, name, source, str(rank), str(rate), joint, str(low), str(high))


def watched(name: str, seconds: float) -> np.ndarray:
    reader, rows, end = Channel(Names(name).commanded).reader(), [], time.monotonic() + seconds
    while time.monotonic() < end:
        while reader.next():
            rows.append(reader.message["position"].copy())
        time.sleep(0.02)
    return np.array(rows)


@pytest.mark.slow
def test_processes_at_different_rates_move_different_arms_and_one_that_is_killed_is_dropped():
    with ExitStack() as stack:
        stack.enter_context(python("-c", DAEMON))
        with connect("first", timeout=20.0):
            pass
        name = Names().robot
        stack.enter_context(lifecycle.beside(LIMBS, name=name, robot="hubo2plus"))
        slow = stack.enter_context(wishing(name, "slow", 1, 7, "RSP", -0.3, -0.1))
        fast = stack.enter_context(wishing(name, "fast", 1, 90, "LSP", 0.1, 0.3))
        chief = stack.enter_context(wishing(name, "chief", 5, 20, "RSP", 0.4, 0.6))
        for child in (slow, fast, chief):
            child.stdout.readline()
        watched(name, 4.0)  # until all are found, and the arms have come
        both = watched(name, 2.0)
        chief.send_signal(signal.SIGKILL)
        watched(name, 2.0)
        after = watched(name, 1.5)
    right, left = ROBOT.index["RSP"], ROBOT.index["LSP"]
    assert both[:, right].min() > 0.3
    assert 0.05 < both[:, left].min() < both[:, left].max() < 0.35
    assert np.ptp(both[:, left]) > 0.1
    assert after[:, right].max() < 0.0
    steps = np.abs(np.diff(np.vstack([both, after])[:, [right, left]], axis=0)[: len(both) - 1])
    assert steps.max() <= 2 * FASTEST[[right, left]].max() * PERIOD
