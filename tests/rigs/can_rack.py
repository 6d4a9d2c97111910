"""A rack of simulated boards for tests: joints of first order, time that is stepped."""

import math

import numpy as np

from wholebody import robots
from wholebody.drivers.hubo_can.robot import CanRobot
from wholebody.drivers.hubo_can.simulated.bus import SteppedBus
from wholebody.drivers.hubo_can.simulated.wire import Faults, Rack
from wholebody.messages import Measured, MeasuredMotion, MeasuredWrench

ROBOT = robots.load("hubo2plus")
PERIOD = 0.005


class Joints:
    """A Plant: q̇ = (u − q) / T; limp joints stay."""

    def __init__(self, robot=ROBOT, time_constant=0.01, start=None):
        self.position = np.zeros(len(robot.joint_names)) if start is None else np.array(start, float)
        self.velocity = np.zeros_like(self.position)
        self.effort = np.zeros_like(self.position)
        self.time_constant = time_constant
        self.orientation = (0.0, 0.0, 0.0, 1.0)
        self.targets = []  # of the joint that is watched
        self.watched = None

    def advance(self, seconds, target, powered):
        before = self.position.copy()
        share = 1 - math.exp(-seconds / self.time_constant)
        self.position += np.where(powered, (target - self.position) * share, 0.0)
        self.velocity = (self.position - before) / seconds
        if self.watched is not None:
            self.targets.append(float(target[self.watched]))

    def read(self, state):
        state.position[:], state.velocity[:], state.effort[:] = self.position, self.velocity, self.effort
        state.measured[:] = Measured.POSITION | Measured.VELOCITY | Measured.EFFORT
        state.imu.orientation[:] = self.orientation
        state.imu.angular_velocity[:] = (0.1, -0.2, 0.3)
        state.imu.measured[:] = sum(MeasuredMotion)
        state.force_torque.force[:] = (1.0, 2.0, 200.0)
        state.force_torque.torque[:] = (3.0, -4.0, 5.0)
        state.force_torque.measured[:] = sum(MeasuredWrench)


class Stage:
    """A CanRobot on a rack, and a loop of 200 Hz in stepped time."""

    def __init__(self, faults=None, homed=True, plant=None, robot=ROBOT, wiring=None, seed=0, **options):
        self.robot, self.plant = robot, plant or Joints(robot)
        self.rack = Rack(robot, self.plant, wiring, faults or Faults(), seed, homed)
        buses = [SteppedBus(self.rack, bus) for bus in range(len(self.rack.wires))]
        self.hubo = CanRobot(robot, buses, self.rack.wiring, PERIOD, now=lambda: self.rack.time, **options)
        self.state = np.zeros(1, robot.state_dtype())[0]
        self.reference = np.zeros(1, robot.reference_dtype())[0]
        self.reference.mask[:] = True
        self._next = 0.0

    def __enter__(self):
        self.hubo.__enter__()
        self._next = self.rack.time
        self.hubo.read(self.state)
        self.reference.position[:] = self.state.position
        return self

    def __exit__(self, *why):
        self.hubo.__exit__(*why)

    def cycle(self, **angles):
        """Go round once, with new references for some joints."""
        for joint, angle in angles.items():
            self.reference.position[self.robot.index[joint]] = angle
        self._next = max(self._next + PERIOD, self.rack.time)
        self.rack.advance_to(self._next)
        self.hubo.write(self.reference)
        self.hubo.read(self.state)

    def run(self, seconds, **angles):
        """Go round for a while."""
        for _ in range(round(seconds / PERIOD)):
            self.cycle(**angles)

    def at(self, joint, field="position"):
        """A joint's value in the last state."""
        return self.state[field][self.robot.index[joint]]

    def truth(self, joint):
        """Where a joint really is."""
        return self.plant.position[self.robot.index[joint]]


def sine(k, size=0.3):
    return size * math.sin(2 * math.pi * 0.5 * k * PERIOD)


def track(stage, cycles=200, joint="RSP"):
    """Follow a slow sine; return by how much the joint was off, at most, after the start."""
    errors = []
    for k in range(cycles):
        stage.cycle(**{joint: sine(k)})
        errors.append(abs(stage.at(joint) - sine(k)))
    return max(errors[20:])
