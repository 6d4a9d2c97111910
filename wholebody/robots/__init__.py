"""Which robots exist: data for each, plus any URDF or MJCF.

from wholebody import robots
hubo = robots.load("hubo2plus")
hubo.joint_names, hubo.posture("stand"), hubo.mass, hubo.gaps
"""

from wholebody.robots.catalog import findings, load, names
from wholebody.robots.missing import Finding
from wholebody.robots.robot import (
    Coupling,
    Gain,
    Joint,
    Link,
    Loop,
    Mimic,
    Placement,
    Robot,
    Sensor,
    Shape,
    Surface,
)

__all__ = [
    "Coupling",
    "Finding",
    "Gain",
    "Joint",
    "Link",
    "Loop",
    "Mimic",
    "Placement",
    "Robot",
    "Sensor",
    "Shape",
    "Surface",
    "findings",
    "load",
    "names",
]
