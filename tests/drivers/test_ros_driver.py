"""The driver `ros`: a robot that another ROS owns, as our daemons have one; the owner here is a peer on DDS."""

import threading
import time

import numpy as np
import pytest
from ros_peer import DOMAIN

from wholebody import robots
from wholebody.drivers.catalog import open_driver
from wholebody.drivers.laws.check import check
from wholebody.errors import HardwareError
from wholebody.messages import Measured, new
from wholebody.ros.node import Node
from wholebody.ros.standard import Float64MultiArray, Header, JointState, JointTrajectory, Time

ROBOT = robots.load("minihubo")
PERIOD = 0.02
LAG = 0.03
"""s, of the motors there."""


class Owner:
    """Somebody else's robot: tells its joints in its own order, follows what comes, and has a joint that we lack."""

    def __init__(self, trajectory=True, known=ROBOT.joint_names):
        self.names = (*reversed(known), "camera_lift")
        self.position = np.zeros(len(self.names))
        self._target, self._over = self.position.copy(), threading.Event()
        self.node = Node("owner", domain=DOMAIN)
        self._states = self.node.publisher("joint_states", JointState)
        if trajectory:
            self.node.subscription("joint_trajectory_controller/joint_trajectory", JointTrajectory, self._follow)
        else:
            self.node.subscription("position/commands", Float64MultiArray, self._go)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _follow(self, told):
        for name, value in zip(told.joint_names, told.points[-1].positions, strict=True):
            self._target[self.names.index(name)] = value

    def _go(self, told):
        for name, value in zip(ROBOT.joint_names, told.data, strict=True):
            self._target[self.names.index(name)] = value

    def _run(self):
        before = time.monotonic()
        while not self._over.wait(0.005):
            self.node.spin()
            now = time.monotonic()
            passed, before = now - before, now
            moved = (self._target - self.position) * (1 - np.exp(-passed / LAG))
            self.position += moved
            self._states.put(JointState(Header(Time()), self.names, self.position, moved / passed))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()
        self.node.close()


@pytest.mark.slow
@pytest.mark.parametrize("options", ["", "commands=position/commands,trajectory=no,"])
def test_the_driver_keeps_all_laws(options):
    joints = ROBOT.joint_names[:2]
    with Owner(trajectory=not options):
        verdicts = list(
            check(lambda: open_driver(f"ros:{options}domain={DOMAIN}", ROBOT, PERIOD), ROBOT, PERIOD, joints=joints)
        )
    broken = [each for each in verdicts if not each.passed and each.law != "period"]
    assert len(verdicts) > 15
    assert broken == []


def test_what_the_owner_tells_counts_by_name_and_what_we_tell_moves_it():
    with Owner() as owner, open_driver(f"ros:domain={DOMAIN}", ROBOT, PERIOD) as robot:
        state, reference = new(ROBOT.state_dtype()), new(ROBOT.reference_dtype())
        robot.read(state)
        assert (state.measured == Measured.POSITION | Measured.VELOCITY).all()
        reference.mask[3], reference.position[3] = True, 0.1
        until = time.monotonic() + 40
        while abs(state.position[3] - 0.1) > 1e-3:
            assert time.monotonic() < until
            robot.write(reference)
            robot.read(state)
            time.sleep(0.005)
        assert owner.position[owner.names.index(ROBOT.joint_names[3])] == pytest.approx(0.1, abs=0.01)
        assert np.abs(np.delete(state.position, 3)).max() < 1e-6


def test_a_robot_that_tells_not_all_joints_is_not_taken():
    with Owner(known=ROBOT.joint_names[1:]), pytest.raises(HardwareError, match=ROBOT.joint_names[0]) as said:
        open_driver(f"ros:domain={DOMAIN},patience=0.3", ROBOT, PERIOD).__enter__()
    assert "is its driver up, on this network and domain?" in str(said.value)
