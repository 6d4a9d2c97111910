"""Trikey turns its heading on three omni wheels, by efforts.

    python -m examples.trikey_heading

The rollers of the wheels are part of the wheels in the simulator, which lets them slide along their axes.
"""

from __future__ import annotations

import numpy as np

from wholebody import robots
from wholebody.constraints import OmniWheelContact
from wholebody.control import WBOSC, Problem
from wholebody.control.servo import Servo
from wholebody.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.motion import quintic
from wholebody.simulation import Simulation
from wholebody.tasks import CartesianPositionTask, Orientation3DTask

WHEELS = ("wheel0", "wheel1", "wheel2")


class Turn:
    """Turn by an angle in some seconds, on the spot."""

    def __init__(self, angle: float, seconds: float) -> None:
        angles = np.array([[0.0], [angle]])
        self.path = quintic(angles, [0.0, seconds], velocities=np.zeros_like(angles))
        self.problem: Problem | None = None

    def __call__(self, time: float, snapshot: Snapshot) -> Problem:
        if self.problem is None:
            here = snapshot.position(snapshot.model.frame("base")).copy()
            self.heading = Orientation3DTask("heading", "base", (0.0, 0.0, 0.0, 1.0))
            place = CartesianPositionTask("place", "base", here, axes="xy")
            radius = snapshot.model.robot.link("wheel0").shapes[0].size[0]
            wheels = [OmniWheelContact(f"{wheel}_contact", wheel, radius) for wheel in WHEELS]
            self.problem = Problem([[self.heading, place]], wheels)
        now = self.path.at(time)
        self.heading.goal[2:] = np.sin(now.position[0] / 2), np.cos(now.position[0] / 2)
        self.heading.goal_velocity[2] = now.velocity[0]
        self.heading.goal_acceleration[2] = now.acceleration[0]
        return self.problem


def heading(simulation: Simulation) -> float:
    """Where x of the base points to, about z."""
    rotation = simulation.base_to_world[:3, :3]
    return float(np.arctan2(rotation[1, 0], rotation[0, 0]))


def main() -> None:
    model = Model(robots.load("trikey"))
    with Simulation(model.robot, control_period=0.001) as simulation:
        servo = Servo(simulation, simulation, WBOSC(model), Turn(np.pi / 2, 2.0))
        servo.run(2.5)
        away = 1e3 * np.linalg.norm(simulation.base_to_world[:2, 3])
        print(f"turned by {np.degrees(heading(simulation)):.2f}°, {away:.2f} mm away from where it began")
        print(servo.timing)


if __name__ == "__main__":
    main()
