"""Simulated boards or servos as a process, `wholebody process boards`; `wholebody start` begins it.

It announces where it can be reached on the channel robot.boards, whose only writer it is.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Sequence

from wholebody import robots
from wholebody.channels import directory
from wholebody.drivers.interface import Plant
from wholebody.drivers.simulated_devices import Announce, announcing
from wholebody.errors import RealtimeWarning
from wholebody.processes.launch_plan import LaunchPlan
from wholebody.processes.main import Ready, speaker
from wholebody.processes.registry import BOARDS
from wholebody.realtime import realtime
from wholebody.robots import Robot

PRIORITY = 60  # above the daemon's
USUAL_FOLDER = "/dev/shm/wholebody"
say = speaker(BOARDS)


def servos(plan: LaunchPlan, robot: Robot, announce: Announce) -> None:
    """Servos on UDP ports, whichever are free."""
    from wholebody.drivers.dynamixel.simulated_bus import serve

    serve(robot, plant(plan, robot), ports=(), ready=lambda ports: announce("servos", ports))


def boards(plan: LaunchPlan, robot: Robot, announce: Announce) -> None:
    """Boards on CAN buses of the robot's name."""
    from wholebody.drivers.hubo_can.simulated.process import run_boards

    name = bus_name(plan)
    announce(name, ())
    run_boards(robot, plant(plan, robot), name)


SERVED: dict[str, Callable[[LaunchPlan, Robot, Announce], None]] = {
    "simulated dynamixel": servos,
    "simulated hubo_can": boards,
}


def plant(plan: LaunchPlan, robot: Robot) -> Plant | None:
    """The joints of the MuJoCo robot, if physics is asked for; without it the boards' own joints."""
    if not plan.physics:
        return None
    from wholebody.simulation import Simulation
    from wholebody.simulation.lockstep import SimulatedPlant

    return SimulatedPlant(Simulation(robot, control_period=0.001))


def bus_name(plan: LaunchPlan) -> str:
    """What the buses are called after: the robot; buses are common to the machine, so other channels, other buses."""
    folder = str(directory.folder())
    return plan.name if folder == USUAL_FOLDER else f"{plan.name}-{zlib.crc32(folder.encode()):08x}"


def main(plan: LaunchPlan, *, ready: Ready) -> None:
    """Be the boards of the plan's robot until SIGTERM or SIGINT."""
    robot = robots.load(plan.robot)
    with announcing(plan.name) as announced:

        def announce(name: str, ports: Sequence[int]) -> None:
            announced(name, ports)
            ready()

        say(f"{robot.name}, {plan.behind}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RealtimeWarning)
            realtime(PRIORITY)  # real boards wait for nobody either
        SERVED[plan.behind](plan, robot, announce)
    say("ended")
