"""What goes wrong while a robot walks, through the daemon, with real processes: it stops and stands, and says why."""

import math

import numpy as np
import pytest
from walking_rig import Rig

from wholebody.behaviors.walking_orders import Bearing
from wholebody.errors import NoController, OrderNotDone

pytestmark = pytest.mark.timeout(300)  # a busy machine simulates slowly


def dead_imu(state):
    state["imu"]["orientation"] = state["imu"]["angular_velocity"] = math.nan


def swinging(doing):
    return doing.bearing in (Bearing.LEFT, Bearing.RIGHT)


def test_a_sensor_that_dies_while_walking_stops_the_robot_and_it_walks_again_when_the_sensor_is_back():
    with Rig("hoap3") as rig:
        robot = rig.client
        robot.wait(robot.stand(1.0))
        walk = robot.walk(distance=1.0)
        robot.wait_until(swinging)
        robot.wait_until(lambda doing: doing.place.x > 0.1)
        rig.world.spoil = dead_imu
        with pytest.raises(OrderNotDone, match=r"failed: .*IMU"):
            robot.wait(walk)
        robot.wait_until(lambda doing: doing.standing)
        begin = robot.doing.time
        robot.wait_until(lambda doing: doing.time > begin + 1.0)
        assert rig.upright
        assert "IMU" in robot.doing.trouble
        with pytest.raises(OrderNotDone, match=r"refused: .*IMU"):
            robot.wait(robot.walk(distance=0.1))
        with pytest.raises(OrderNotDone, match=r"failed: .*IMU"):
            robot.wait(robot.stand(1.0))
        rig.world.spoil = None
        robot.wait(robot.stand(1.0))
        robot.wait(robot.walk(distance=0.1))
        assert robot.doing.trouble == ""
        assert rig.upright


def test_one_bad_reading_in_a_hundred_does_not_stop_it():
    with Rig("hoap3") as rig:
        robot = rig.client
        robot.wait(robot.stand(1.0))

        def now_and_then(state):
            if round(rig.world.time / rig.world.period) % 100 == 0:
                state["force_torque"]["force"] = math.nan

        rig.world.spoil = now_and_then
        robot.wait(robot.walk(distance=0.2))
        assert robot.doing.trouble == ""
        assert rig.world.com_in_world[0] == pytest.approx(0.2, abs=0.03)


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
