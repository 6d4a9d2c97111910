"""The same RobotInterface on MuJoCo, or on DART: worlds, sensors, disturbances and cameras, with physics or without."""

import logging
import os

os.environ.setdefault("MUJOCO_GL", "egl")  # read once, when mujoco is imported

import mujoco

from wholebody.simulation.contacts import Collision, Push, Touch
from wholebody.simulation.engines import ENGINES
from wholebody.simulation.lockstep import Pace, SimulatedPlant, join
from wholebody.simulation.scenes import SCENES, Scene, named
from wholebody.simulation.sensors import SensorModel
from wholebody.simulation.simulation import Simulation
from wholebody.simulation.world import AnkleFlexibility, Load

__all__ = [
    "ENGINES",
    "SCENES",
    "AnkleFlexibility",
    "Collision",
    "Load",
    "Pace",
    "Push",
    "Scene",
    "SensorModel",
    "SimulatedPlant",
    "Simulation",
    "Touch",
    "join",
    "named",
]

# MuJoCo would write its warnings into a file of the current folder; what matters we raise ourselves.
mujoco.set_mju_user_warning(logging.getLogger(__name__).debug)
