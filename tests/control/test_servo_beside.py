"""The model updated by a thread beside the loop: the same commands, bounded staleness, and a loop that never waits."""

import gc
import os
import time
import tracemalloc

import numpy as np
import pytest
from paper_robot import PERIOD, NoEvents, Paper, hold

from experiments.controlit_dreamer import GAINS, SIDES, run
from wholebody import robots
from wholebody.control import WBOSC, servo
from wholebody.control.servo import Servo
from wholebody.control.servo_thread import ServoThread
from wholebody.drivers import Loopback, SteadyClock
from wholebody.errors import BadProblem
from wholebody.messages import Mode
from wholebody.model import Model
from wholebody.model.updater import ModelUpdater, Updated

CRITICAL = GAINS["critical"]
NEVER = 3600.0


@pytest.fixture(scope="module")
def model():
    return Model(robots.load("dreamer"))


def beside(model, robot, *, model_every=10, nap=None, **others):
    """A loop with a thread beside it, which looks for work after a nap of so many seconds, if given."""
    made = Servo(robot, robot, WBOSC(model), hold(model), model_beside=True, model_every=model_every, **others)
    if nap is not None:
        made.updater = ModelUpdater(model, nap)
    return made


class Moving(Paper):
    """A robot on paper whose first joint tells the cycle."""

    def read(self, state):
        self.state.position[0] = 1e-4 * self.ticks
        super().read(state)


def native_threads():
    return len(os.listdir("/proc/self/task"))


def test_a_robot_that_does_not_move_is_commanded_as_if_the_loop_did_it_all(model):
    robots_on_paper = Paper(model.robot), Paper(model.robot)
    for robot in robots_on_paper:
        robot.state.velocity[4] = 0.1
    inside = Servo(robots_on_paper[0], robots_on_paper[0], WBOSC(model), hold(model))
    outside = beside(model, robots_on_paper[1], model_every=10**6, max_staleness=1e4, nap=1e-6)
    inside.run(0.05)
    while outside.counters.updates_beside < 10:
        outside.run(0.05)
    assert outside.counters.model_updates - outside.counters.updates_beside <= 2, "the start and the first cycle"
    for name in robots_on_paper[0].written.dtype.names:
        if name != "time":
            assert np.array_equal(robots_on_paper[0].written[name], robots_on_paper[1].written[name]), name


@pytest.mark.parametrize("nap", [1e-6, 2e-4, NEVER])
def test_the_model_is_never_older_than_permitted_and_never_goes_back(model, nap):
    robot, shown = Moving(model.robot), []
    looking = [lambda servo: shown.append((servo.snapshot.q[0], servo.staleness))]
    loop = beside(model, robot, model_every=5, nap=nap, publish=looking)
    loop.run(0.5)
    positions, ages = np.array(shown).T
    assert ages.max() <= 4.001 * PERIOD
    assert loop.worst_staleness == ages.max()
    assert np.diff(positions).min() >= 0.0
    now = 1e-4 * np.arange(2, len(positions) + 2)  # the first tick is that of the start
    assert (now - positions) / 1e-4 * PERIOD == pytest.approx(ages, abs=1e-9), "staleness is what it is said to be"


class Late:
    """In place of a thread: each snapshot is ready so many cycles after it was asked for."""

    def __init__(self, model, cycles):
        self.model, self.cycles = model, cycles
        self.waiting, self.left = None, 0

    def ask(self, q, v, read, measured):
        if self.waiting is None:
            self.waiting, self.left = Updated(self.model.at(q, v), read, measured), self.cycles

    def take(self):
        self.left -= 1
        if self.waiting is None or self.left > 0:
            return None
        done, self.waiting = self.waiting, None
        return done

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


@pytest.mark.parametrize("late", [1, 2, 3, 4, 7])
def test_a_model_from_beside_that_is_older_than_the_one_in_use_is_not_taken(model, late):
    robot, shown = Moving(model.robot), []
    loop = beside(model, robot, model_every=5, publish=[lambda servo: shown.append(servo.snapshot.q[0])])
    loop.updater = Late(model, late)
    loop.run(0.1)
    assert np.diff(shown).min() >= 0.0
    assert loop.worst_staleness <= 4.001 * PERIOD
    assert (loop.counters.updates_beside > 0) == (late < 5)


def test_a_model_that_was_asked_for_before_a_pause_is_not_used_after_it(model):
    robot = Moving(model.robot)
    loop = beside(model, robot, model_every=5, nap=1e-6)
    for _ in range(20):
        loop.run(0.005)
        robot.ticks += 200
    assert loop.counters.faults == 0
    assert loop.worst_staleness < 4.001 * PERIOD


def test_a_thread_that_never_answers_is_not_waited_for_and_the_loop_updates_the_model_itself(model):
    robot, plain = Moving(model.robot), Moving(model.robot)
    stopped = beside(model, robot, model_every=4, nap=NEVER)
    stopped.run(0.1)
    assert robot.writes == stopped.counters.cycles == 100
    assert stopped.counters.updates_beside == stopped.counters.faults == 0
    assert stopped.counters.model_updates - 1 == 25
    Servo(plain, plain, WBOSC(model), hold(model), model_every=4).run(0.1)
    assert np.array_equal(robot.written.effort, plain.written.effort), "as a loop without a thread"


def test_a_rate_at_which_nothing_is_left_for_the_thread_is_refused(model):
    robot = Paper(model.robot)
    with pytest.raises(BadProblem, match="model_every=2 or more"):
        beside(model, robot, model_every=1)
    assert beside(model, robot).updater.nap == pytest.approx(PERIOD / servo.LOOKS_A_CYCLE)
    assert Servo(robot, robot, WBOSC(model), hold(model)).updater is None, "unless asked for, there is no thread"


def test_the_thread_ends_with_the_loop_also_if_something_goes_wrong(model):
    before, during = native_threads(), []
    robot = Paper(model.robot)
    loop = beside(model, robot, publish=[lambda servo: during.append(native_threads())])
    loop.run(0.003)
    loop.run(0.003)
    assert set(during) == {before + 1}
    assert native_threads() == before
    loop.publish = (lambda servo: 1 / 0,)
    with pytest.raises(ZeroDivisionError):
        loop.run(0.003)
    assert native_threads() == before
    assert robot.stops == 1


@pytest.mark.filterwarnings("ignore:the servo's thread was given no real-time priority")
def test_in_real_time_what_is_asked_for_in_one_cycle_is_there_in_a_later_one(model):
    before = native_threads()
    robot, clock = Loopback(model.robot), SteadyClock(0.002)
    controller = WBOSC(model, period=0.002)
    loop = Servo(robot, clock, controller, hold(model), mode=Mode.POSITION, model_beside=True, model_every=20)
    with robot, ServoThread(loop) as thread:
        while loop.counters.updates_beside < 20 and thread.running:
            time.sleep(0.01)
    assert loop.counters.faults == 0
    assert native_threads() == before


@pytest.mark.slow
def test_ten_thousand_cycles_with_a_thread_grow_nothing_and_make_no_new_arrays(model):
    robot = Paper(model.robot, events=NoEvents())
    loop = beside(model, robot, nap=5e-5)
    loop.run(0.5)
    gc.collect()
    objects = len(gc.get_objects())
    tracemalloc.start()
    loop.run(0.3)
    start, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    loop.run(10_000 * PERIOD)
    end, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    gc.collect()
    assert loop.counters.updates_beside > 100
    assert end - start < 3000, "bytes more than before"
    assert peak - start < 20_000, "bytes in use at any time"
    assert len(gc.get_objects()) - objects < 50


def test_hands_follow_their_paths_with_a_model_from_beside_and_do_not_if_nothing_bounds_its_age(monkeypatch):
    bounded = run(CRITICAL, disturbed=False, seconds=1.5, settled=0.5, model_every=5, model_beside=True)
    assert bounded.servo.worst_staleness < 0.0041
    monkeypatch.setattr(servo, "LOOKS_A_CYCLE", 1e-3 / NEVER)  # a thread that never looks
    stuck = run(
        CRITICAL, disturbed=False, seconds=1.5, settled=0.5, model_every=1000, model_beside=True, max_staleness=1.0
    )
    for side in SIDES:
        assert max(bounded.hands.millimetres[side]) < 1.0
        assert max(stuck.hands.millimetres[side]) > 10.0
