"""Hubo2+ sways and squats through its daemon, by positions: whole-body control of joints that only follow positions.

    wholebody start hubo2plus
    python -m examples.hubo_positions

Kill it when you like: the daemon holds the robot where it is. Start it again: it goes on from there. Nobody tells it
where the pelvis is: the joints do, as long as the left foot lies flat. What it thinks is on `robot.odometry`.
"""

from __future__ import annotations

import numpy as np

from examples.balance import LEFT, Balance, Plan, moved, without_hands
from wholebody import robots
from wholebody.channels import Channel
from wholebody.control import WBOSC, Problem
from wholebody.control.estimate import BaseOnFoot
from wholebody.control.impedance import Impedance
from wholebody.control.introspection.steering import PublishState
from wholebody.control.joint_pid import JointPID
from wholebody.control.servo import Servo
from wholebody.drivers import connect
from wholebody.messages import Mode
from wholebody.model import Model
from wholebody.model.snapshot import Snapshot

RISE, DEPTH, SWAY = 1.5, 0.08, 0.03  # s, m, m
LATE = 0.01  # s: a beat that comes later than that after the last one does not take the motion along


class Exercise:
    """From wherever the robot is to where it stands upright; then forward, back, down and up again.

    It runs in real time on machines that have other objects to do, too: if beats are missed, the motion waits.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.balance: Balance | None = None
        self.done, self._before = 0.0, 0.0  # s, of the motion; and the time of the last beat

    def __call__(self, time: float, snapshot: Snapshot) -> Problem:
        if self.balance is None:
            self.balance = Balance(self.model, self._plan(snapshot), posture="stand")
        self.done += min(time - self._before, LATE)
        self._before = time
        return self.balance(self.done, snapshot)

    def _plan(self, snapshot: Snapshot) -> Plan:
        upright = com_over_foot(self.model.at(self.model.posture("stand"))) - com_over_foot(snapshot)
        ways = [(0.0, 0.0, 0.0), (SWAY, 0, 0), (-SWAY, 0, 0), (0, 0, 0), (0, 0, -DEPTH), (0, 0, 0)]
        times = RISE + np.array([0.0, 1.0, 2.4, 3.4, 5.0, 6.6])
        return Plan(com=moved(*((t, *(upright + way)) for t, way in zip(times, ways, strict=True))))


def com_over_foot(snapshot: Snapshot) -> np.ndarray:
    """From the left sole to the centre of mass, in the axes of the sole."""
    sole = snapshot.model.frame(LEFT)
    return snapshot.rotation(sole).T @ (snapshot.com_in_world - snapshot.position(sole))


def main() -> None:
    robot = robots.load("hubo2plus")
    model = Model(without_hands(robot))
    fingers = [joint for joint in robot.joint_names if joint not in model.joint_names]
    with connect("whole_body") as daemon, Channel("robot.odometry", robot.state_dtype()) as odometry:
        told = [daemon.state.reference[robot.index[joint]] for joint in fingers]
        servo = Servo(
            BaseOnFoot(daemon, model, LEFT, robot, trusting=False),
            daemon,
            Impedance(WBOSC(model, period=daemon.period)),
            exercise := Exercise(model),
            description=robot,
            mode=Mode.POSITION,
            others=JointPID(robot, fingers, told),
            publish=[PublishState(odometry.writer())],
        )
        servo.start()
        missed = daemon.missed
        while exercise.done < exercise.balance.plan.com.duration + 0.5:
            servo.run(0.1)
        away = 1e3 * np.linalg.norm(servo.command.solution.error("com"))
        print(f"its centre of mass is {away:.1f} mm from where it should be; {daemon.missed - missed} beats missed")
        print(f"a command comes back after {1e3 * servo.echo.latency:.1f} ms\n{servo.timing}")


if __name__ == "__main__":
    main()
