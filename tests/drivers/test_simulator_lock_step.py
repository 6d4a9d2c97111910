"""A simulator and a daemon, two processes: lock-step, whoever is killed."""

import random
import time
from contextlib import ExitStack

import pytest
from simulator_peers import (
    PERIOD,
    assert_lock_step,
    daemon,
    free_simulator,
    make_channels,
    new_records,
    process,
    simulator,
    stamped,
    wait_until,
)

from wholebody import robots
from wholebody.channels import Channel
from wholebody.drivers.simulator_link import SimulatorLink

ROBOT = "minihubo"


@pytest.fixture(scope="module")
def robot():
    return robots.load(ROBOT)


def test_a_simulator_and_a_daemon_go_in_lock_step_for_thousands_of_periods(robot):
    make_channels(robot)
    rng = random.Random(1)
    with process(simulator, ROBOT), SimulatorLink(robot) as link:
        state, reference = new_records(robot)
        ahead = Channel("robot.from_simulator").reader()
        for cycle in range(4000):
            now = link.tick()
            assert now == cycle * PERIOD, "time goes on by one period each cycle"
            if rng.random() < 0.02:
                ahead.latest()
                time.sleep(rng.random() * 0.005)
                assert not ahead.unread, "the simulator does not run ahead, however long the daemon takes"
            reference.time = now
            link.write(reference)
            link.read(state)
            assert (state.time, state.tick) == (now, cycle)
        assert (link.missed, link.restarts) == (0, 0)
    beats, answers = Channel("robot.from_simulator"), Channel("robot.to_simulator")
    assert assert_lock_step(beats, answers) >= 3999
    assert len(stamped(answers)) <= 4001, "one answer a period"


def test_a_simulator_that_does_not_wait_is_found_out(robot):
    make_channels(robot)
    with process(free_simulator, ROBOT), SimulatorLink(robot) as link:
        _, reference = new_records(robot)
        for _ in range(20):
            link.tick()
            time.sleep(0.002)
            link.write(reference)
        assert link.missed > 0
    with pytest.raises((AssertionError, KeyError)):
        assert_lock_step(Channel("robot.from_simulator"), Channel("robot.to_simulator"))


@pytest.mark.slow
def test_whoever_is_killed_at_any_moment_it_goes_on_and_skips_nothing(robot):
    beats, answers, *_ = make_channels(robot)
    rng = random.Random(2)
    work = {"simulator": simulator, "daemon": daemon}
    with ExitStack() as stack:
        living = {side: stack.enter_context(process(work[side], ROBOT)) for side in work}
        for _ in range(40):
            before = beats.newest
            wait_until(lambda before=before: beats.newest > before + 10)
            for side in rng.choice([["simulator"], ["daemon"], ["simulator", "daemon"], ["daemon", "simulator"]]):
                time.sleep(rng.random() * 0.01)
                living[side].kill()
                living[side].join()
                living[side] = stack.enter_context(process(work[side], ROBOT))
        before = beats.newest
        wait_until(lambda: beats.newest > before + 100)
    assert assert_lock_step(beats, answers) > 500
    assert len({sender for _, sender, _ in stamped(beats)}) > 10, "there were many simulators"
    assert len({sender for _, sender, _ in stamped(answers)}) > 10, "there were many daemons"
