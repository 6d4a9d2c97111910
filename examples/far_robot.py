"""Dreamer over UDP: its simulator in one process, or on one machine, the whole-body controller in another.

    python -m examples.far_robot serve 7700                # or: serve 7700 PATIENCE
    python -m examples.far_robot 127.0.0.1 7700 3          # for three seconds

Kill either and start it again. The simulator waits for the answer to each state, at most PATIENCE seconds (0.1 unless
told otherwise); a real robot would not wait: `patience=0` and a SteadyClock.
"""

from __future__ import annotations

import sys

import numpy as np

from wholebody import robots
from wholebody.constraints import Coactuation
from wholebody.control import WBOSC, Problem
from wholebody.control.servo import Servo
from wholebody.drivers.udp import UdpRobot, UdpServer
from wholebody.model import Model
from wholebody.simulation import Simulation
from wholebody.tasks import CartesianPositionTask, JointPositionTask

ONCE, RISE = 3.0, 0.03  # s, m: the hand goes up and down


def serve(port: str, patience: str = "0.1") -> None:
    robot = robots.load("dreamer")
    with (
        Simulation(robot, control_period=0.001) as simulation,
        UdpServer(robot, simulation, simulation, ("127.0.0.1", int(port)), patience=float(patience)) as server,
    ):
        print(f"dreamer listens at {server.address[0]}:{server.address[1]}", flush=True)
        server.run()


def control(host: str, port: str, seconds: str = "3") -> None:
    robot = robots.load("dreamer")
    model = Model(robot)
    home = model.at(model.posture("stand")).position(model.frame("right_palm")).copy()
    hand = CartesianPositionTask("hand", "right_palm", home)
    problem = Problem([hand, JointPositionTask("posture", robot.posture("stand"))], Coactuation.of(model))

    def rise(time, snapshot):
        w = 2 * np.pi / ONCE
        hand.goal[2] = home[2] + RISE * (1 - np.cos(w * time))
        hand.goal_velocity[2], hand.goal_acceleration[2] = RISE * w * np.sin(w * time), RISE * w**2 * np.cos(w * time)
        return problem

    with UdpRobot(robot, (host, int(port))) as far:
        servo = Servo(far, far, WBOSC(model), rise)
        servo.run(float(seconds))
        off = 1e3 * np.linalg.norm(servo.command.error("hand"))
        print(f"the hand is {off:.2f} mm off; a reference is back after {1e3 * far.latency:.2f} ms; {far.counters}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case "serve", port, *patience if len(patience) < 2:
            serve(port, *patience)
        case host, port, *seconds if host != "serve":
            control(host, port, *seconds)
        case _:
            sys.exit(__doc__)
