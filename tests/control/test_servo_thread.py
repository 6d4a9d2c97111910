"""The loop in a real-time thread, and that neither it nor the whole of a humanoid's loop grows."""

import gc
import os
import time
import tracemalloc
import warnings

import numpy as np
import pytest

from examples.balance import LEFT, Balance, Plan, moved, without_hands
from wholebody import robots
from wholebody.channels import Channel
from wholebody.control import WBOSC
from wholebody.control.estimate import BaseOnFoot
from wholebody.control.impedance import Impedance
from wholebody.control.introspection.steering import PublishState
from wholebody.control.servo import Servo
from wholebody.control.servo_thread import ServoThread
from wholebody.drivers import Loopback, SteadyClock
from wholebody.errors import BadProblem, RealtimeWarning
from wholebody.messages import Mode
from wholebody.model import Model

PERIOD = 0.005


@pytest.fixture(scope="module")
def model():
    return Model(without_hands(robots.load("hubo2plus")))


class Beats:
    """A clock that never waits, and a robot that stands: for counting cycles."""

    period, missed = PERIOD, 0

    def __init__(self):
        self.count = 0

    def tick(self):
        self.count += 1
        return self.count * PERIOD


class Standing(Loopback):
    """A loopback robot that begins upright and says when it was stopped."""

    def __init__(self, robot):
        super().__init__(robot)
        self._position[:] = self._commanded[:] = robot.posture("stand")
        self.stops = 0

    def stop(self):
        self.stops += 1
        super().stop()


def servo_of(model, clock, behavior=None, publish=()):
    robot = robots.load("hubo2plus")
    interface = Standing(robot)
    behavior = behavior or Balance(model, Plan(com=moved((1000.0, 0.01, 0.0, 0.0))))
    known = BaseOnFoot(interface, model, LEFT, robot, trusting=False)
    solver = Impedance(WBOSC(model, period=PERIOD))
    servo = Servo(known, clock, solver, behavior, description=robot, mode=Mode.POSITION, publish=publish)
    return servo, interface


def test_the_loop_runs_in_a_thread_with_the_priority_that_is_permitted(model):
    seen = set()

    def who(servo):
        seen.add((os.sched_getscheduler(0), os.sched_getparam(0).sched_priority))

    servo, interface = servo_of(model, SteadyClock(PERIOD), publish=[who])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RealtimeWarning)
        with ServoThread(servo, priority=7) as thread:
            deadline = time.monotonic() + 30
            while servo.counters.cycles < 20 and time.monotonic() < deadline:
                time.sleep(0.01)
            assert thread.running
    assert not thread.running
    assert servo.counters.cycles >= 20
    assert seen == {(os.SCHED_FIFO, 7) if thread.granted else (os.SCHED_OTHER, 0)}
    assert interface.stops > 0, "a robot whose loop has ended is stopped"
    assert os.sched_getscheduler(0) == os.SCHED_OTHER, "the rest of the process is as it was"


def test_what_goes_wrong_in_the_thread_stops_the_robot_and_is_raised_where_it_was_begun(model):
    def panics(time, snapshot):
        raise RuntimeError("at a loss")

    servo, interface = servo_of(model, SteadyClock(PERIOD), behavior=panics)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RealtimeWarning)
        with pytest.raises(RuntimeError, match="at a loss"), ServoThread(servo) as thread:
            thread._thread.join(10)
    assert interface.stops > 0
    with pytest.raises(BadProblem, match="priority"):
        ServoThread(servo, priority=1000)


@pytest.mark.slow
def test_the_whole_loop_of_a_humanoid_by_positions_with_fingers_and_odometry_does_not_grow(model):
    layout = robots.load("hubo2plus").state_dtype()
    with Channel("robot.odometry", layout) as channel:
        servo, _ = servo_of(model, Beats(), publish=[PublishState(channel.writer())])
        servo.run(200 * PERIOD)
        gc.collect()
        objects = len(gc.get_objects())
        tracemalloc.start()
        servo.run(100 * PERIOD)
        start, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        servo.run(10_000 * PERIOD)
        end, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        gc.collect()
        assert servo.counters.cycles > 10_000
        assert servo.counters.faults == 0
        assert end - start < 4000, "bytes more than before"
        assert peak - start < 60_000, "bytes in use at any time"
        assert len(gc.get_objects()) - objects < 50
        assert len(servo.others.joints) == 10
        reader = channel.reader()
        reader.latest()
        assert np.linalg.norm(reader.message["base"]["position"]) > 0.5
