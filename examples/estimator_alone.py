"""The estimator alone: gyro, accelerometer, joints and foot forces in; tilt, centre of mass and contacts out.

python -m examples.estimator_alone hubo2plus
"""

from __future__ import annotations

import math
import sys

from wholebody import robots
from wholebody.estimation import BalanceEstimator
from wholebody.model import Model
from wholebody.simulation import SensorModel, Simulation


def main(name: str = "hubo2plus", seconds: float = 2.0) -> float:
    """The greatest error of its tilt, rad."""
    robot = robots.load(name)
    estimator = BalanceEstimator(Model(robot))
    worst, now = 0.0, 0
    with Simulation(robot, sensors=SensorModel.realistic()) as world:  # or any other robot that can be read
        state = world.new_state()
        world.push(robot.root, (2.0 * robot.mass, 0.0, 0.0), 0.1, start=1.0)
        while world.time < seconds:
            world.read(state)
            balance = estimator.update(state)  # every period
            true = math.acos(min(1.0, float(world.base_to_world[2, 2])))
            worst = max(worst, abs(balance.tilt - true) if world.time > 0.5 else 0.0)
            if round(world.time / 0.1) != now:
                now = round(world.time / 0.1)
                speed = float(balance.com_velocity[0])
                print(
                    f"{world.time:5.2f} s: tilt {math.degrees(balance.tilt):5.2f}° (true {math.degrees(true):5.2f}°), "
                    f"ahead at {speed:6.3f} m/s, feet on the ground {balance.contact.tolist()}"
                )
            world.advance()
    return worst


if __name__ == "__main__":
    main(*sys.argv[1:2])
