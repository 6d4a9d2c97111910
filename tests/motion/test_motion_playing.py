"""play: a robot goes through a motion from wherever it is, and is not moved at all if it cannot."""

from functools import cache

import numpy as np
import pytest

from wholebody import robots
from wholebody.drivers import Clock, RobotInterface
from wholebody.errors import BadMotion, BadState, LimitsExceeded, WrongRecord
from wholebody.kinematics import Collisions
from wholebody.motion import Limits, plan, play, quintic
from wholebody.simulation import Simulation


@cache
def hoap():
    return robots.load("hoap3")


@cache
def collisions():
    return Collisions(hoap())


def motion(duration=1.0, **joints):
    """From standing to standing with some joints elsewhere, in that time."""
    robot = hoap()
    there = robot.posture("stand").copy()
    for name, value in joints.items():
        there[robot.index[name]] = value
    return quintic([robot.posture("stand"), there], [0.0, duration])


class Noted:
    """A robot and its clock, of which every reference and beat is noted; at a beat of our choice it is interrupted."""

    def __init__(self, simulation, interrupt_at=None):
        self.simulation, self.interrupt_at = simulation, interrupt_at
        self.written, self.stopped, self.beats = [], 0, 0
        self.period, self.missed = simulation.period, 0

    def read(self, state):
        self.simulation.read(state)

    def write(self, reference):
        self.written.append(reference.position.copy())
        self.simulation.write(reference)

    def stop(self):
        self.stopped += 1
        self.simulation.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def tick(self):
        self.beats += 1
        if self.beats == self.interrupt_at:
            raise KeyboardInterrupt
        return self.simulation.tick()


def run(trajectory, *, physics=False, posture=None, interrupt_at=None, **options):
    with Simulation(hoap(), physics=physics, posture=posture) as simulation:
        robot = Noted(simulation, interrupt_at)
        assert isinstance(robot, RobotInterface)
        assert isinstance(robot, Clock)
        state, reference = simulation.new_state(), simulation.new_reference()
        try:
            played = play(trajectory, robot, robot, state, reference, Limits.of(hoap()), **options)
        except BaseException as error:
            return robot, state, error
        return robot, state, played


@pytest.mark.parametrize("physics", [False, True], ids=["kinematic", "physics"])
def test_the_references_are_the_motion_and_the_robot_ends_holding_its_last_posture(physics):
    trajectory = motion(R_SFE=-0.8, L_SFE=-0.4)
    robot, state, played = run(trajectory, physics=physics, hold=0.3)
    written = np.array(robot.written)
    count = round(1.0 / robot.period) + 1
    expected = trajectory.sample(np.arange(count) * robot.period).position
    assert written[:count] == pytest.approx(expected, abs=1e-12)
    assert (written[count:] == expected[-1]).all()
    assert len(written) == count + round(0.3 / robot.period)
    assert state.position == pytest.approx(expected[-1], abs=0.05)
    assert played.approach == 0.0
    assert played.final_error < 0.05
    assert robot.stopped == 0


def test_from_elsewhere_it_goes_to_the_beginning_first_without_a_jump_and_within_limits():
    crouch = hoap().posture("stand").copy()
    crouch[hoap().index["R_SFE"]] = -1.5
    robot, _, played = run(motion(R_SFE=-0.8), posture=crouch, speed=0.3, acceleration=3.0)
    written, limits = np.array(robot.written), Limits.of(hoap())
    approach = round(played.approach / robot.period)
    assert approach > 20
    assert (written[0] == crouch).all(), "it begins where the robot is"
    rates = np.diff(written[: approach + 1], axis=0) / robot.period
    assert (np.abs(rates) <= 0.3 * limits.velocity + 1e-9).all()
    assert np.abs(np.diff(rates, axis=0)).max() / robot.period <= 3.0 + 1e-6
    assert (written[approach] == motion(R_SFE=-0.8).at(0.0).position).all()


def test_on_the_way_all_joints_go_in_step():
    bent = hoap().posture("stand").copy()
    knee, ankle = hoap().index["R_KN"], hoap().index["R_AFE"]
    bent[[knee, ankle]] += 0.4, -0.2
    whole = plan(motion(R_SFE=-0.8), bent, Limits.of(hoap()), 0.005)
    way = whole.rows[: whole.approach] - whole.rows[whole.approach]
    assert len(way) > 20
    assert way[:, ankle] == pytest.approx(-0.5 * way[:, knee], abs=1e-12)
    with pytest.raises(BadMotion, match="speed is a share"):
        plan(motion(R_SFE=-0.8), bent, Limits.of(hoap()), 0.005, speed=2.0)


@pytest.mark.parametrize(
    ("joints", "duration", "quantity"), [({"R_SFE": -9.0}, 1.0, "position"), ({"R_SFE": -1.5}, 0.02, "velocity")]
)
def test_a_motion_beyond_limits_is_refused_before_anything_moves(joints, duration, quantity):
    robot, _, error = run(motion(duration, **joints))
    assert isinstance(error, LimitsExceeded)
    assert {each.quantity for each in error.violations} >= {quantity}
    assert error.violations[0].joint == "R_SFE"
    assert robot.written == []


def test_a_motion_that_collides_is_refused_and_so_is_a_way_there_that_does():
    free = hoap().posture("stand")
    inwards = free.copy()
    inwards[hoap().index["R_LAA"]] = hoap().joint("R_LAA").upper  # one leg in the other
    assert collisions().check(inwards), "the control arm: this posture collides"
    for start, end, where in ((free, inwards, "s"), (inwards, free, "on the way")):
        trajectory = quintic([free, end], [0.0, 2.0]) if where == "s" else motion(R_SFE=-0.2)
        with pytest.raises(LimitsExceeded, match=f"{where}.*collides: .* with "):
            plan(trajectory, start, Limits.of(hoap()), 0.005, checker=collisions())


def test_a_robot_that_does_not_know_where_it_is_is_not_moved():
    here = hoap().posture("stand").copy()
    here[hoap().index["R_KN"]] = np.nan
    with pytest.raises(BadState, match="joint R_KN says it is at nan"):
        plan(motion(R_SFE=-0.8), here, Limits.of(hoap()), 0.005)


def test_an_interrupted_robot_is_stopped():
    robot, _, error = run(motion(R_SFE=-0.8), interrupt_at=50)
    assert isinstance(error, KeyboardInterrupt)
    assert robot.stopped == 1
    assert len(robot.written) == 49


def test_a_joint_that_hangs_a_little_goes_on_from_what_it_was_told():
    """Else the arm would jerk by as much as it hangs."""
    with Simulation(hoap(), physics=True) as simulation:
        for _ in range(100):
            simulation.tick()
        state, reference = simulation.new_state(), simulation.new_reference()
        simulation.read(state)
        hangs = np.abs(state.position - state.reference).max()
        assert 1e-5 < hangs < 0.05
        robot = Noted(simulation)
        play(motion(R_SFE=-0.3), robot, robot, state, reference, Limits.of(hoap()))
        assert (robot.written[0] == hoap().posture("stand")).all()


def test_records_and_motions_of_another_robot_are_refused():
    with Simulation(hoap(), physics=False) as simulation:
        state, reference = simulation.new_state(), simulation.new_reference()
        with pytest.raises(WrongRecord):
            play(motion(), simulation, simulation, state, reference, Limits.of(robots.load("hubo2plus")))
        with pytest.raises(BadMotion, match="the motion has 1 joints"):
            play(quintic([[0.0], [1.0]], [0, 1]), simulation, simulation, state, reference, Limits.of(hoap()))
