"""Trikey: a base on three omni wheels, 27 kg.

A wheel at angle a from x turns about the outward radius; with wheel radius r and distance L from the centre,
ω = −(L ω_z − sin a · v_x + cos a · v_y) / r.

Missing, estimated or chosen by us:

- rollers: the 18 passive rollers of each wheel are part of the wheel; a simulation must let the wheel slide freely
  along its axis, a controller takes the constraint of an omni wheel
- geometry: made ideal from the wheel radius 0.098 m and the distance 0.272 m that the robot's own controller uses
- mass: 26.8 kg of the link figures; an older description has 35.2 kg, with a base of 32.7 kg
- inertia of camera and lidar: not credible in the source; computed from their size
- rotor inertia 0.02 kg·m² is an estimate; the IMU: chosen at the centre of the base
"""

from __future__ import annotations

from wholebody.robots.figures import Figures, assemble, gaps_in, sensor
from wholebody.robots.robot import Robot

WHEEL_RADIUS = 0.098
WHEEL_DISTANCE = 0.272


def robot() -> Robot:
    """Trikey as a robot."""
    return assemble(
        "trikey",
        Figures.read("trikey"),
        {"wheels": "wheel*"},
        {"*": 0.02},
        {"*": (50.0, 5.0)},
        title="Trikey",
        sensors=(
            sensor("imu", "imu", "base"),
            sensor("camera", "camera", "base", 0.3, -0.01239, 0.28607),
        ),
        postures={"home": {}, "stand": {}},
        gaps=gaps_in(__doc__),
    )
