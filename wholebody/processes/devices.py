"""Simulated devices as processes, which `wholebody start` begins: `wholebody process simulator`, `… boards`.

Boards and servos announce where they can be reached on the channel robot.boards, whose only writer their process is.
"""

from __future__ import annotations

import math
import warnings
import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from wholebody import robots
from wholebody.channels import directory
from wholebody.drivers.interface import Plant
from wholebody.drivers.simulated_devices import Announce, announcing
from wholebody.errors import RealtimeWarning
from wholebody.processes.launch_plan import LaunchPlan
from wholebody.processes.main import Ready, speaker
from wholebody.realtime import realtime, until_told
from wholebody.robots import Robot

if TYPE_CHECKING:
    from wholebody.simulation.lockstep import Pace

PRIORITY = 60  # above the daemon's
USUAL_FOLDER = "/dev/shm/wholebody"


def simulator(plan: LaunchPlan, *, ready: Ready) -> None:
    """Be the simulator of the plan's robot until SIGTERM or SIGINT."""
    from wholebody.simulation import Simulation
    from wholebody.simulation.lockstep import join

    say, goes_on = speaker("simulator"), until_told()
    robot = robots.load(plan.robot)
    with Simulation(
        robot, plan.scene, physics=plan.physics, control_period=plan.period, self_collision=plan.self_collision
    ) as simulation:
        say(f"{robot.name}, {'with' if plan.physics else 'without'} physics")
        ready()
        pace = join(simulation, plan.name, None if plan.fast else 1.0, goes_on, _News(say).take)
    say(f"ended after {pace.simulated:.1f} s, at {pace.real_time:.2f} × real time, {pace.late} periods late")


class _News:
    """Tells of what goes wrong, once each time it changes."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self._before = say, ("", False)

    def take(self, pace: Pace) -> None:
        """Hear how it gets on."""
        trouble, waiting = self._before
        if pace.trouble != trouble:
            self._say(pace.trouble)
        if pace.waiting != waiting:
            stands = "the daemon does not answer: the world stands still"
            self._say(stands if pace.waiting else "the daemon answers again")
        self._before = pace.trouble, pace.waiting


def boards(plan: LaunchPlan, *, ready: Ready) -> None:
    """Be the boards or servos of the plan's robot until SIGTERM or SIGINT."""
    say, robot = speaker("boards"), robots.load(plan.robot)
    with announcing(plan.name) as announced:

        def announce(name: str, ports: Sequence[int]) -> None:
            announced(name, ports)
            ready()

        say(f"{robot.name}, {plan.behind}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RealtimeWarning)
            realtime(PRIORITY)  # real boards wait for nobody either
        SERVED[plan.choice.name](plan, robot, announce)
    say("ended")


def _servos(plan: LaunchPlan, robot: Robot, announce: Announce) -> None:
    """Servos on UDP ports, whichever are free."""
    from wholebody.drivers.dynamixel.simulated import serve

    table = plan.choice.options.get("servos", "")
    serve(robot, _plant(plan, robot), servos=table, ready=lambda ports: announce("servos", ports))


def _can_boards(plan: LaunchPlan, robot: Robot, announce: Announce) -> None:
    """Boards on CAN buses of the robot's name."""
    from wholebody.drivers.hubo_can.simulated.process import run_boards

    name = bus_name(plan)
    announce(name, ())
    run_boards(robot, _plant(plan, robot), name)


def _moteus(plan: LaunchPlan, robot: Robot, announce: Announce) -> None:
    """Controllers on UDP ports, whichever are free."""
    from wholebody.drivers.moteus.simulated import serve
    from wholebody.drivers.moteus.wiring import Wiring

    wiring = Wiring.of(robot, plan.choice.options.get("motors", ""))
    serve(robot, _plant(plan, robot), wiring=wiring, ready=lambda ports: announce("moteus", ports))


def _unitree(plan: LaunchPlan, robot: Robot, announce: Announce) -> None:
    """A G1 on its DDS topics: of whoever speaks them on an interface, or without one of this robot's driver alone.

    Without physics asked for it hangs in its gantry, as other boards' joints hang in a stand.
    """
    from wholebody.drivers.unitree.dds import LOOPBACK, Participant
    from wholebody.drivers.unitree.motors import Motors
    from wholebody.drivers.unitree.simulated import PERIOD, SimulatedG1
    from wholebody.simulation import Simulation
    from wholebody.simulation.gantry import Gantry

    options = plan.choice.options
    domain, interface = int(options.get("domain", 0)), options.get("interface", "")
    tag = "" if interface else bus_name(plan)
    say = speaker("boards")
    with (
        Participant(interface or LOOPBACK, domain, tag) as participant,
        Simulation(robot, plan.scene, control_period=PERIOD) as simulation,
    ):
        hangs = plan.gantry if plan.physics else math.inf
        body = Gantry(simulation, hangs, say) if hangs else simulation
        device = SimulatedG1(robot, Motors.of(robot, options.get("motors", "")), body, participant, say)
        if isinstance(body, Gantry):
            body.begins = lambda: device.is_stiff
        announce(tag, (domain,))
        device.run(until_told())
        say(f"{device.received} commands, {device.bad} dropped")


SERVED: dict[str, Callable[[LaunchPlan, Robot, Announce], None]] = {
    "dynamixel": _servos,
    "hubo_can": _can_boards,
    "unitree": _unitree,
    "moteus": _moteus,
}


def _plant(plan: LaunchPlan, robot: Robot) -> Plant | None:
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
