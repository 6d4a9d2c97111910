"""The servo loop: its order, its rates, what it does when something is wrong, and that it does not grow."""

import gc
import math
import tracemalloc

import numpy as np
import pytest
from paper_robot import PERIOD, NoEvents, Paper, hold

from wholebody import robots
from wholebody.channels import Channel
from wholebody.constraints import FixedBase
from wholebody.control import WBOSC, Problem
from wholebody.control.estimate import Estimate
from wholebody.control.introspection.steering import PublishState
from wholebody.control.joint_pid import JointPID
from wholebody.control.servo import Servo, damping_of
from wholebody.control.timing import Echo, Timing
from wholebody.drivers import Clock, RobotInterface
from wholebody.drivers.interface import SteadyClock
from wholebody.drivers.loopback import Loopback
from wholebody.errors import BadParameter, BadProblem, ControlLost, UnknownName
from wholebody.messages import Mode
from wholebody.model import Model
from wholebody.simulation import Simulation
from wholebody.tasks import JointPositionTask


@pytest.fixture(scope="module")
def model():
    return Model(robots.load("dreamer"))


def test_a_robot_on_paper_and_a_simulation_are_robots_and_clocks(model):
    for each in (Paper(model.robot), Simulation(model.robot)):
        assert isinstance(each, RobotInterface)
        assert isinstance(each, Clock)


def test_a_cycle_reads_behaves_writes_and_publishes_in_this_order(model):
    events = []
    robot = Paper(model.robot, events)
    servo = Servo(robot, robot, WBOSC(model), hold(model, events), publish=[lambda servo: events.append("publish")])
    servo.start()
    events.clear()
    servo.cycle()
    assert events == ["read", "behave", "write", "publish"]


def test_at_the_goal_the_command_is_what_gravity_needs(model):
    robot = Paper(model.robot)
    servo = Servo(robot, robot, WBOSC(model), hold(model))
    servo.run(0.005)
    gravity = model.at(model.posture("stand")).g
    driven = model.actuated_joints[1:]  # the first motor also bears the joint that has none
    assert robot.written.effort[driven] == pytest.approx(gravity[driven], abs=1e-9)
    assert robot.written.effort[0] == pytest.approx(gravity[0] + gravity[1], abs=1e-9)
    assert (robot.written.mode == Mode.EFFORT).all()
    assert robot.written.mask.all()


def test_an_exception_of_a_behavior_stops_the_robot_and_is_raised_again(model):
    robot = Paper(model.robot)
    calm = hold(model)

    def panics(time, snapshot):
        if time > 0.01:
            raise RuntimeError("the behavior is at a loss")
        return calm(time, snapshot)

    with pytest.raises(RuntimeError, match="at a loss"):
        Servo(robot, robot, WBOSC(model), panics).run(1.0)
    assert robot.stops == 1
    assert robot.ticks < 20


def test_a_state_that_is_no_number_leaves_the_last_command_and_is_counted(model):
    robot = Paper(model.robot)
    servo = Servo(robot, robot, WBOSC(model), hold(model))
    servo.run(0.005)
    before = robot.written.effort.copy()
    robot.state.velocity[3] = np.nan
    servo.run(0.01)
    assert np.array_equal(robot.written.effort, before)
    assert servo.counters.faults == 10
    assert "number" in servo.faults[-1][1]
    robot.state.velocity[3] = 0.0
    servo.run(0.005)
    assert servo.counters.faults == 10
    assert servo.counters.faults_in_a_row == 0


@pytest.mark.parametrize("trouble", ["nan", "old"])
def test_faults_that_go_on_stop_the_robot(model, trouble):
    robot = Paper(model.robot)
    servo = Servo(robot, robot, WBOSC(model), hold(model), patience=0.02, max_staleness=0.01)
    servo.run(0.005)
    if trouble == "nan":
        robot.state.position[0] = np.inf
    else:
        robot.measured = robot.ticks * PERIOD
    with pytest.raises(ControlLost, match="stopped"):
        servo.run(1.0)
    assert robot.stops == 1
    assert len(servo.faults) <= Servo.FAULTS_KEPT


def test_a_goal_that_is_no_number_is_a_fault_and_the_last_safe_command_stays(model):
    robot = Paper(model.robot)
    behavior = hold(model)
    servo = Servo(robot, robot, WBOSC(model), behavior)
    servo.run(0.005)
    before = robot.written.effort.copy()
    behavior(0, None).task("posture").goal[2] = np.nan
    servo.run(0.003)
    assert np.array_equal(robot.written.effort, before)
    assert servo.counters.faults == 3
    assert "posture" in servo.faults[-1][1]


def test_model_and_tasks_are_updated_at_their_own_rates_and_staleness_is_measured(model):
    robot = Paper(model.robot)
    servo = Servo(robot, robot, WBOSC(model), hold(model), model_every=4, task_every=10)
    servo.run(0.1)
    assert servo.counters.cycles == 100
    assert servo.counters.model_updates - 1 == 25
    assert servo.counters.task_updates - 1 == 10
    assert servo.worst_staleness == pytest.approx(3 * PERIOD)
    assert robot.writes == 100, "it writes in every cycle all the same"


def test_a_rate_that_breaks_the_bound_of_staleness_is_refused(model):
    robot = Paper(model.robot)
    with pytest.raises(BadProblem, match=r"grows 0\.1 s old"):
        Servo(robot, robot, WBOSC(model), hold(model), model_every=100)
    with pytest.raises(BadProblem, match="whole number"):
        Servo(robot, robot, WBOSC(model), hold(model), task_every=0)
    with pytest.raises(BadProblem, match="commands effort"):
        Servo(robot, robot, WBOSC(model), hold(model), mode=Mode.VELOCITY)


@pytest.mark.slow
def test_ten_thousand_cycles_grow_nothing_and_make_no_new_arrays(model):
    robot = Paper(model.robot, events=NoEvents())
    servo = Servo(robot, robot, WBOSC(model), hold(model))
    servo.run(0.5)
    gc.collect()
    objects = len(gc.get_objects())
    tracemalloc.start()
    servo.run(0.3)
    start, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    servo.run(10_000 * PERIOD)
    end, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    gc.collect()
    assert servo.counters.cycles > 10_500
    assert end - start < 3000, "bytes more than before"
    assert peak - start < 20_000, "bytes in use at any time"
    assert len(gc.get_objects()) - objects < 50


def test_it_runs_in_real_time_on_a_robot_that_stamps_nothing(model):
    beats: list[tuple[float, int]] = []

    class NotedClock(SteadyClock):
        def tick(self) -> float:
            beats.append((super().tick(), self.missed))
            return beats[-1][0]

    robot = Loopback(model.robot)
    servo = Servo(robot, NotedClock(0.002), WBOSC(model, period=0.002), hold(model), mode=Mode.POSITION)
    with robot:
        servo.run(0.2)
    assert servo.counters.faults == 0
    assert servo.counters.cycles <= 101, "machines are shared, so beats may be missed"
    (first, missed_before), (last, missed) = beats[0], beats[-1]
    assert round((last - first) / 0.002) == len(beats) - 1 + missed - missed_before, "each beat is met or counted"
    assert last - first > 0.19
    assert 0 < np.median(servo.timing.frequency) < 1000


# Estimate.


def test_joints_are_found_by_name_in_a_robot_that_has_more(model):
    full = robots.load("dreamer_full")
    estimate = Estimate(model, full.state_dtype())
    values = {name: 0.01 * index for index, name in enumerate(full.joint_names)}
    estimate.state.position[:] = list(values.values())
    assert estimate.update() == ""
    assert estimate.q == pytest.approx([values[name] for name in model.joint_names])


def test_a_robot_that_lacks_a_joint_of_the_model_is_refused(model):
    with pytest.raises(UnknownName, match="torso_lower_pitch"):
        Estimate(model, robots.load("trikey").state_dtype())


def test_the_base_is_that_of_the_state_and_must_be_known():
    hubo = Model(robots.load("hubo2plus"))
    simulation = Simulation(hubo.robot)
    estimate = Estimate(hubo, hubo.robot.state_dtype())
    simulation.push(hubo.robot.root, (50.0, 20.0, 0.0), 0.2)
    for _ in range(40):
        simulation.advance()
    simulation.read(estimate.state)
    assert estimate.update() == ""
    snapshot = hubo.at(estimate.q, estimate.v)
    foot = hubo.robot.surface("left_sole")
    truth = simulation.link_to_world(foot.link) @ foot.at.matrix
    assert snapshot.placement(hubo.frame("left_sole")) == pytest.approx(truth, abs=1e-9)
    assert snapshot.com_in_world == pytest.approx(simulation.com_in_world, abs=1e-6)
    before = estimate.q.copy()
    estimate.state.base.known = False
    assert "not known" in estimate.update()
    estimate.state.base.known = True
    estimate.state.base.orientation[:] = (0, 0, 0, 2)
    assert "unit length" in estimate.update()
    assert np.array_equal(estimate.q, before)


# Joints that the controller does not have.


def test_neck_and_fingers_are_held_by_themselves_while_the_body_is_controlled(model):
    full = robots.load("dreamer_full")
    with Simulation(full, control_period=PERIOD) as simulation:
        servo = Servo(simulation, simulation, WBOSC(model), hold(model), description=full)
        begin = simulation.truth.position.copy()
        servo.run(1.0)
        moved = np.abs(simulation.truth.position - begin)
        assert moved.max() < 0.05
    assert set(servo.others.joints) == set(full.joint_names) - set(model.joint_names)
    with Simulation(full, control_period=PERIOD) as simulation:
        limp = JointPID(full, servo.others.joints, stiffness=0.0, damping=0.0)
        Servo(simulation, simulation, WBOSC(model), hold(model), description=full, others=limp).run(1.0)
        assert np.abs(simulation.truth.position - begin).max() > 0.2, "without their PID they fall"


def test_a_joint_pid_goes_to_its_goal_and_its_integral_bears_a_load():
    robot = robots.load("dreamer_full")
    pid = JointPID(robot, ["upper_neck_yaw"], 0.3, stiffness=40.0, damping=4.0, integral_gain=200.0)
    q, v, inertia = np.zeros(len(robot.joint_names)), np.zeros(len(robot.joint_names)), 0.1
    column = robot.index["upper_neck_yaw"]
    pid.start(q)
    for _ in range(5000):
        effort = pid.update(q, v, PERIOD)
        v[column] += (effort[0] - 1.0) / inertia * PERIOD
        q[column] += v[column] * PERIOD
    assert q[column] == pytest.approx(0.3, abs=1e-4)
    assert effort[0] == pytest.approx(1.0, abs=1e-3)
    q[column] = -100.0
    assert pid.update(q, v, PERIOD)[0] == robot.joint("upper_neck_yaw").effort, "within the limit"
    with pytest.raises(BadParameter, match="≥ 0"):
        JointPID(robot, ["upper_neck_yaw"], stiffness=-1.0)
    with pytest.raises(UnknownName):
        JointPID(robot, ["upper_neck_jaw"])


def test_known_damping_of_joints_is_made_up_for_also_that_of_a_joint_dragged_along(model):
    D = damping_of(model.robot)
    v = np.zeros(16)
    v[:2] = 0.5
    assert (D @ v)[0] == pytest.approx(0.5 * (1.0 + 1.0))
    assert (D @ v)[1:] == pytest.approx(0.0)


def test_where_the_base_is_is_published_after_the_command(model):
    hubo = robots.load("hubo2plus")
    body = Model(hubo)
    problem = Problem([JointPositionTask("posture", hubo.posture("stand"))], [FixedBase("held")])
    robot = Paper(hubo)
    robot.state.base.position[:] = (0.1, 0.2, 0.9)
    with Channel("hubo.odometry", hubo.state_dtype()) as channel:
        publish = PublishState(channel.writer(), every=5)
        Servo(robot, robot, WBOSC(body), lambda time, snapshot: problem, publish=[publish]).run(0.02)
        reader = channel.reader()
        assert reader.latest()
        assert reader.sequence == 4
        assert reader.message["base"]["position"] == pytest.approx([0.1, 0.2, 0.9])
        assert reader.message["position"] == pytest.approx(hubo.posture("stand"))
    with pytest.raises(BadProblem, match="n-th cycle"):
        PublishState(None, every=0)


# Times.


def test_the_echo_of_a_command_tells_its_latency(model):
    with Simulation(model.robot, control_period=PERIOD) as simulation:
        servo = Servo(simulation, simulation, WBOSC(model), hold(model))
        servo.run(0.1)
    assert servo.echo.latency == pytest.approx(PERIOD)
    assert servo.echo.count > 50
    echo = Echo()
    for cycle in range(10):
        echo.send(float(cycle), cycle * PERIOD)
        echo.receive(float(cycle - 4), cycle * PERIOD)
    assert echo.latency == pytest.approx(4 * PERIOD)


def test_the_stages_add_up_to_the_total_and_the_oldest_cycles_are_forgotten():
    timing = Timing(("one", "two"), kept=8)
    assert timing.table == ()
    for _ in range(20):
        timing.begin()
        timing.mark(0)
        timing.mark(1)
        timing.end()
    assert timing.microseconds.shape == (8, 2)
    one, two, total = timing.table
    assert total.mean == pytest.approx(one.mean + two.mean)
    assert one.minimum <= one.median <= one.p99
    assert (timing.frequency > 0).all()
    assert str(timing).count("\n") == 3
    assert math.isnan(Echo().latency)
