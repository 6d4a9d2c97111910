"""A G1 of numbers behind Unitree's topics, in the process of its client: what is sent is there at once."""

import contextlib
import os
import site
import warnings
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from wholebody import messages, robots
from wholebody.drivers.unitree.dds import Participant
from wholebody.drivers.unitree.motors import Motors
from wholebody.drivers.unitree.robot import UnitreeRobot
from wholebody.drivers.unitree.simulated import PERIOD, SimulatedG1
from wholebody.errors import RobotWarning
from wholebody.messages import Measured, MeasuredMotion

FILE = "cmeel.prefix/share/example-robot-data/robots/g1_description/urdf/g1_29dof_rev_1_0.urdf"
NUMBERS = count(1)


def g1_file():
    """Where the package example-robot-data has a G1; what needs it is skipped if that is not installed."""
    pytest.importorskip("cyclonedds", reason="cyclonedds is not installed")
    found = [Path(each) / FILE for each in site.getsitepackages() if (Path(each) / FILE).is_file()]
    return str(found[0]) if found else pytest.skip("the package example-robot-data is not installed")


def g1():
    """The robot of that file, as it is read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)
        return robots.load(g1_file())


class Body:
    """Joints that are where a stiff command told them to be; joint i bears an effort of 0.1 i N·m."""

    def __init__(self, robot):
        self.position = np.linspace(-0.1, 0.1, len(robot.joint_names))
        self.written = []

    def read(self, state):
        state.position[:], state.velocity[:] = self.position, 0.5
        state.effort[:] = 0.1 * np.arange(len(self.position))
        state.measured[:] = Measured.POSITION
        state.imu.orientation[:] = (0.0, 0.0, np.sin(0.2), np.cos(0.2))  # turned left by 0.4 rad
        state.imu.angular_velocity[:], state.imu.linear_acceleration[:] = (0.1, 0.2, 0.3), (0.0, 0.0, 9.81)
        state.imu.measured[:] = sum(MeasuredMotion)

    def write(self, reference):
        copy = messages.new(reference.dtype)
        copy.copy_from(reference)
        self.written.append(copy)
        self.position = np.where(reference.stiffness > 0, reference.position, self.position)

    def advance(self):
        pass


@dataclass
class Rig:
    """A simulated G1, its body, and the time by which it goes."""

    robot: object
    tag: str
    stack: contextlib.ExitStack
    now: float = 100.0
    said: list = field(default_factory=list)

    def __post_init__(self):
        self.body = Body(self.robot)
        motors = Motors.of(self.robot)
        self.device = SimulatedG1(self.robot, motors, self.body, self.join(), self.said.append, lambda: self.now)

    def join(self):
        """A participant beside the device's."""
        return self.stack.enter_context(Participant(tag=self.tag))

    def driver(self, **more):
        """The driver, not yet entered."""
        return UnitreeRobot(self.robot, Motors.of(self.robot), self.join(), **more)

    def run(self, periods=1):
        """Let time go by."""
        for _ in range(periods):
            self.now += PERIOD
            self.device.cycle()

    @property
    def commanded(self):
        """What the body was told last."""
        return self.body.written[-1]


@contextlib.contextmanager
def rig(robot):
    """A simulated G1 that nobody else sees."""
    with contextlib.ExitStack() as stack:
        yield Rig(robot, f"test-{os.getpid()}-{next(NUMBERS)}", stack)
