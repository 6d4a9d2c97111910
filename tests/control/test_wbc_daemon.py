"""Hubo2+ by positions through its daemon, with whole-body impedance: real processes, of which one is killed."""

import subprocess
import sys
import threading

import numpy as np
import pytest
from robot_processes import EXAMPLES, daemon, end_all, wait_for, wholebody

from examples.balance import without_hands
from examples.hubo_positions import DEPTH, SWAY
from wholebody import robots
from wholebody.channels import Channel
from wholebody.control.estimate import Estimate
from wholebody.drivers import connect
from wholebody.model import Model


@pytest.fixture
def robot():
    wholebody("start", "hubo2plus")
    yield robots.load("hubo2plus")
    end_all()


def exercise():
    command = [sys.executable, "-m", "examples.hubo_positions"]
    return subprocess.Popen(command, cwd=EXAMPLES.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Truth:
    """Every state of the daemon while something runs: the simulator says in it where the pelvis truly is."""

    def __init__(self, robot):
        self.model = Model(without_hands(robot))
        self.estimate = Estimate(self.model, robot.state_dtype())
        self.rows, self._ended = [], threading.Event()
        with Channel("robot.state") as channel:
            self._reader = channel.reader()
        self._reader.latest()

    def __enter__(self):
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def _run(self):
        while not self._ended.is_set():
            if self._reader.wait(0.1, mode="next"):
                self.rows.append(self._reader.message.copy())

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    @property
    def com(self):
        found = []
        for row in self.rows:
            self.estimate.state.setfield(row, row.dtype, 0)
            assert self.estimate.update() == ""
            found.append(self.model.at(self.estimate.q).com_in_world.copy())
        return np.array(found)

    @property
    def tilt(self):
        x, y = np.array([row["base"]["orientation"][:2] for row in self.rows]).T
        return np.degrees(2 * np.arcsin(np.hypot(x, y).max()))

    @property
    def steps(self):
        return np.abs(np.diff([row["reference"] for row in self.rows], axis=0)).max(axis=1)


@pytest.mark.slow
def test_it_sways_squats_and_tells_where_it_is(robot):
    with Truth(robot) as truth, Channel("robot.odometry", robot.state_dtype()) as odometry:
        reader = odometry.reader()
        run = exercise()
        out, err = run.communicate(timeout=120)
        assert reader.latest(), "odometry was published"
        thought = reader.message["base"]["position"].copy()
    assert run.returncode == 0, err
    com = truth.com
    start = com[0]
    assert com[:, 0].max() - start[0] == pytest.approx(SWAY, abs=0.005)
    assert com[:, 0].min() - start[0] == pytest.approx(-SWAY, abs=0.005)
    assert start[2] - com[:, 2].min() == pytest.approx(DEPTH, abs=0.005)
    assert com[-1] == pytest.approx(start, abs=0.005)
    assert truth.tilt < 1.5
    height = truth.rows[-1]["base"]["position"][2]
    assert thought[2] == pytest.approx(height, abs=0.003), "the world of odometry begins at the sole, on the ground"
    assert "comes back after" in out


@pytest.mark.slow
def test_killed_in_the_middle_of_a_squat_it_holds_and_the_next_one_goes_on(robot):
    process = daemon()
    with connect("look") as look, Truth(robot) as truth:
        height = float(look.state.base.position[2])
        run = exercise()
        wait_for(lambda: look.wait() and look.state.base.position[2] < height - 0.5 * DEPTH, 120)
        run.kill()
        run.communicate()
        wait_for(lambda: look.wait() and np.abs(look.state.velocity).max() < 0.02)
        killed = len(truth.rows)
        ticks = look.state.tick
        wait_for(lambda: look.wait() and look.state.tick > ticks + 200)
        again = len(truth.rows)
        run = exercise()
        _, err = run.communicate(timeout=120)
    assert run.returncode == 0, err
    com = truth.com
    assert np.ptp(com[killed:again], axis=0).max() < 1e-3, "it stands still"
    assert com[killed, 2] < com[0, 2] - 0.4 * DEPTH, "half way down"
    assert daemon() == process
    assert com[-1] == pytest.approx(com[0], abs=0.005), "the next one goes on, to the end"
    assert com[0, 2] - com[again:, 2].min() == pytest.approx(DEPTH, abs=0.005)
    assert truth.tilt < 1.5
    assert truth.steps.max() < 0.03, "rad a period: nothing jumps, neither at the death of one nor at the other's birth"
