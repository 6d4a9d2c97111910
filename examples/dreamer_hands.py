"""Dreamer moves both hands, its body helping, by efforts at 1 kHz.

    python -m examples.dreamer_hands

Two levels: the hands, and below them the posture, which has what the hands leave. Upper and lower torso share a motor.
"""

from __future__ import annotations

import numpy as np

from wholebody import robots
from wholebody.constraints import Coactuation
from wholebody.control import WBOSC, Problem, Servo
from wholebody.model import Model
from wholebody.simulation import Simulation
from wholebody.tasks import CartesianPositionTask, JointPositionTask


def main() -> None:
    robot = robots.load("dreamer")
    model = Model(robot)
    start = model.at(model.posture("stand"))
    palms = ("right_palm", "left_palm")
    hands = [CartesianPositionTask(palm, palm, start.position(model.frame(palm))) for palm in palms]
    homes = [hand.goal.copy() for hand in hands]
    problem = Problem(
        [hands, JointPositionTask("posture", start.q)],
        [Coactuation("torso", "torso_lower_pitch", ["torso_upper_pitch"])],
    )

    def circle(time, snapshot):
        angle = 2 * np.pi * time / 5.0
        for hand, home in zip(hands, homes, strict=True):
            hand.goal[:] = home + 0.04 * np.array([1 - np.cos(angle), 0.0, np.sin(angle)])
            hand.goal_velocity[:] = 0.04 * 2 * np.pi / 5.0 * np.array([np.sin(angle), 0.0, np.cos(angle)])
        return problem

    with Simulation(robot, control_period=0.001) as simulation:
        servo = Servo(simulation, simulation, WBOSC(model), circle)
        servo.run(5.0)
    for hand in hands:
        print(f"{hand.name}: {1e3 * np.linalg.norm(servo.command.error(hand.name)):.2f} mm off")
    print(servo.timing)


if __name__ == "__main__":
    main()
