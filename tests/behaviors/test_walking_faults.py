"""What goes wrong while a robot walks, mostly through the daemon, with real processes: it stops, stands, says why."""

import math
import re

import numpy as np
import pytest
from walking_rig import Rig

from wholebody import robots
from wholebody.behaviors import Walking
from wholebody.behaviors.walking_goals import Bearing
from wholebody.errors import GoalNotDone, NoController, SensorLost
from wholebody.simulation import SensorModel, Simulation


def dead_imu(state):
    state.imu.orientation[:] = state.imu.angular_velocity[:] = math.nan


class Held:
    """Some numbers of a state stay as they are when it is first asked."""

    def __init__(self, pick):
        self.pick, self.kept = pick, None

    def __call__(self, state):
        part = self.pick(state)
        self.kept = part.copy() if self.kept is None else self.kept
        part[...] = self.kept


def gyro(state):
    return state.imu.angular_velocity


def left_foot(state):
    return state["force_torque"][1:2]


def right_knee(state):
    return state.position[3:4]


def silent_accelerometer(state):
    state.imu.linear_acceleration[:] = 0.0


def silent_foot(state):
    state.force_torque[1].force[:] = state.force_torque[1].torque[:] = 0.0


FROZEN = {
    "the gyro reads the same": lambda: Held(gyro),
    "the accelerometer reads": lambda: silent_accelerometer,
    "the force-torque sensor of 'left_sole' reads the same": lambda: Held(left_foot),
    "force-torque sensor of 'left_sole' .*: it is frozen": lambda: silent_foot,
    "the encoder of 'R_KN' reads the same": lambda: Held(right_knee),
}


def swinging(doing):
    return doing.bearing in (Bearing.LEFT, Bearing.RIGHT)


@pytest.mark.slow
def test_a_sensor_that_dies_while_walking_stops_the_robot_and_it_walks_again_when_the_sensor_is_back():
    with Rig("hoap3") as rig:
        robot = rig.client
        robot.wait(robot.stand(1.0))
        walk = robot.walk(distance=1.0)
        robot.wait_until(swinging)
        robot.wait_until(lambda doing: doing.place.x > 0.1)
        rig.world.spoil = dead_imu
        with pytest.raises(GoalNotDone, match=r"failed: .*IMU"):
            robot.wait(walk)
        robot.wait_until(lambda doing: doing.standing)
        begin = robot.doing.time
        robot.wait_until(lambda doing: doing.time > begin + 1.0)
        assert rig.upright
        assert "IMU" in robot.doing.trouble
        with pytest.raises(GoalNotDone, match=r"rejected: .*IMU"):
            robot.wait(robot.walk(distance=0.1))
        with pytest.raises(GoalNotDone, match=r"failed: .*IMU"):
            robot.wait(robot.stand(1.0))
        rig.world.spoil = None
        robot.wait(robot.stand(1.0))
        robot.wait(robot.walk(distance=0.1))
        assert robot.doing.trouble == ""
        assert rig.upright


@pytest.mark.slow(but="force-torque sensor of 'left_sole' .*: it is frozen")
@pytest.mark.parametrize("says", FROZEN)
def test_a_sensor_that_freezes_or_reads_nothing_while_walking_stops_the_robot_and_is_named(says):
    robot = robots.load("hoap3")
    walking, spoil = Walking(robot), FROZEN[says]()
    with Simulation(robot, sensors=SensorModel.realistic()) as world:
        state, reference = world.new_state(), world.new_reference()
        walking.stand(1.0)
        while world.time < 5.5 and world.base_to_world[2, 2] > 0.8:
            world.read(state)
            if world.time > 2.5:
                spoil(state)
            walking.cycle(state, reference)
            world.write(reference)
            world.advance()
            if world.time < 2.5:
                assert walking.trouble == ""
                if walking.standing:
                    walking.walk(distance=1.0)
        assert re.search(says, walking.trouble)
        assert walking.standing
        assert world.base_to_world[2, 2] > 0.99
        with pytest.raises(SensorLost, match=says):
            walking.walk(distance=0.1)


@pytest.mark.slow
def test_one_bad_reading_in_a_hundred_does_not_stop_it():
    with Rig("hoap3") as rig:
        robot = rig.client
        robot.wait(robot.stand(1.0))

        def now_and_then(state):
            if round(rig.world.time / rig.world.period) % 100 == 0:
                state.force_torque.force[:] = math.nan

        rig.world.spoil = now_and_then
        robot.wait(robot.walk(distance=0.2))
        assert robot.doing.trouble == ""
        assert rig.world.com_in_world[0] == pytest.approx(0.2, abs=0.03)


@pytest.mark.slow
def test_a_controller_killed_in_mid_step_leaves_the_joints_held_and_another_one_goes_on():
    with Rig("hoap3") as rig:
        robot = rig.client
        robot.wait(robot.stand(1.0))
        robot.walk(distance=0.3)
        robot.wait_until(lambda doing: doing.place.x > 0.1 and swinging(doing))
        rig.kill_controller()
        with pytest.raises(NoController, match="has ended"):
            robot.wait(robot.stop())
        held = rig.commanded
        rig.begin_controller()
        assert np.array_equal(rig.commanded, held), "the daemon holds the joints"
        assert rig.upright, "or there is nothing to recover"
        robot = rig.client
        robot.wait(robot.stand(1.0))
        robot.wait(robot.walk(distance=0.1))
        assert rig.upright
