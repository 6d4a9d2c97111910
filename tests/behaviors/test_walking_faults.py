"""What goes wrong while a robot walks, mostly through the daemon, with real processes: it stops, stands, says why."""

import math
import re

import numpy as np
import pytest
from spoilt import frozen, gyro, left_foot, right_knee
from walking_rig import Rig

from wholebody import robots
from wholebody.behaviors import Walking, walking
from wholebody.behaviors.walking_goals import Bearing
from wholebody.errors import GoalNotDone, NoController, SensorLost
from wholebody.simulation import SensorModel, Simulation


def dead_imu(state):
    state.imu.orientation[:] = state.imu.angular_velocity[:] = math.nan


def silent_accelerometer(state):
    state.imu.linear_acceleration[:] = 0.0


def silent_foot(state):
    state.force_torque[1].force[:] = state.force_torque[1].torque[:] = 0.0


FROZEN = {
    "the gyro reads the same": lambda: frozen(gyro),
    "the accelerometer reads": lambda: silent_accelerometer,
    "the force-torque sensor of 'left_sole' reads the same": lambda: frozen(left_foot),
    "force-torque sensor of 'left_sole' .*: it is frozen": lambda: silent_foot,
    "the encoder of 'R_KN' reads the same": lambda: frozen(right_knee),
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


class Late:
    """HOAP-3 walks, and for a while no states come; joints hold meanwhile, and then go as fast as they can."""

    def __init__(self, silent_from, seconds):
        robot = robots.load("hoap3")
        self.walking, self.step = Walking(robot), np.array([joint.velocity for joint in robot.moving]) * 0.005
        self.tilt, told = 0.0, math.inf
        with Simulation(robot, sensors=SensorModel.realistic()) as world:
            state, reference, command = world.new_state(), world.new_reference(), world.new_reference()
            self.walking.stand(1.0)
            while world.time < min(9.0, told + 4.0) and self.tilt < 0.8:
                world.read(state)
                if self.walking.up and told == math.inf:
                    told = world.time
                    self.walking.walk(distance=1.0)
                if not silent_from <= world.time - told < silent_from + seconds:
                    self.walking.cycle(state, reference)
                    np.clip(
                        reference.position, command.position - self.step, command.position + self.step, command.position
                    )
                world.write(command)
                world.advance()
                self.tilt = max(self.tilt, math.acos(min(1.0, world.base_to_world[2, 2])))


@pytest.mark.slow
def test_states_that_do_not_come_in_mid_step_make_it_hold_its_joints_where_catching_up_would_throw_it(monkeypatch):
    late = Late(1.6, 0.3)
    assert "no state came for 0.3" in late.walking.trouble
    assert late.tilt < 0.1
    assert Late(1.6, 0.05).walking.trouble == "", "a short gap is walked through"
    monkeypatch.setattr(walking, "LONGEST_GAP", math.inf)
    assert Late(1.6, 0.3).tilt > 0.5, "the control arm"
