"""A robot on paper, which is its own clock, and a behavior that holds a posture: for the laws of the servo loop."""

import numpy as np

from wholebody.constraints import Coactuation
from wholebody.control import Problem
from wholebody.tasks import JointPositionTask

PERIOD = 0.001


class Paper:
    """A robot on paper: it is where it is told to be, and notes what happens. It is its own clock."""

    period = PERIOD

    def __init__(self, robot, events=None):
        self.robot, self.events = robot, [] if events is None else events
        self.state = np.zeros(1, robot.state_dtype())[0]
        self.state.position[:] = robot.posture("stand")
        self.state.base.known, self.state.base.orientation[:] = True, (0, 0, 0, 1)
        self.written = np.zeros(1, robot.reference_dtype())[0]
        self.writes = self.stops = self.ticks = self.missed = 0
        self.measured = None  # an instant at which measuring ended

    def tick(self):
        self.ticks += 1
        return self.ticks * PERIOD

    def read(self, state):
        self.events.append("read")
        self.state.time = self.ticks * PERIOD if self.measured is None else self.measured
        state.copy_from(self.state)

    def write(self, reference):
        self.events.append("write")
        self.written.copy_from(reference)
        self.state.reference[:] = reference.position
        self.writes += 1

    def stop(self):
        self.stops += 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def hold(model, events=None):
    problem = Problem(
        [JointPositionTask("posture", model.robot.posture("stand"))],
        [Coactuation("torso", "torso_lower_pitch", ["torso_upper_pitch"])],
    )

    def behavior(time, snapshot):
        if events is not None:
            events.append("behave")
        return problem

    return behavior


class NoEvents:
    """Events that nobody keeps."""

    def append(self, event):
        pass
