"""Walk two metres, turn and come back, on any robot with legs: simulated here, or through a daemon that runs.

python -m examples.walk hubo2plus
wholebody start hubo2plus; python -m examples.walk hubo2plus daemon
"""

from __future__ import annotations

import math
import sys

import numpy as np

from wholebody import robots
from wholebody.behaviors import Walking
from wholebody.drivers.connection import connect
from wholebody.simulation import SensorModel, Simulation


def main(name: str = "hubo2plus", where: str = "simulated") -> None:
    robot = robots.load(name)
    walking = Walking(robot)
    scale = walking.walker.gait.height / 0.6
    todo = [
        walking.stand,
        lambda: walking.walk(distance=2.0 * scale),
        lambda: walking.turn(math.pi),
        lambda: walking.walk(distance=2.0 * scale),
    ]
    world = connect("walk", period=0.02) if where == "daemon" else Simulation(robot, sensors=SensorModel.realistic())
    state, reference = robot_records(robot)
    with world:
        while not walking.standing or todo:
            if walking.standing:
                todo.pop(0)()
            time = world.tick()
            world.read(state)
            walking.cycle(state, reference)
            world.write(reference)
    at = walking.walker.pattern.feet.middle
    print(f"done after {time:.1f} s; by its steps it is at {at.x:.2f} m, {at.y:.2f} m, {math.degrees(at.yaw):.0f}°")


def robot_records(robot):
    """A state and a reference."""
    return np.zeros(1, robot.state_dtype())[0], np.zeros(1, robot.reference_dtype())[0]


if __name__ == "__main__":
    main(*sys.argv[1:])
