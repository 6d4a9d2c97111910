"""The daemon as a process: python -m wholebody.processes.daemon PLAN; `wholebody start` begins it.

It loads neither Pinocchio nor MuJoCo: a simulator is another process.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from wholebody import messages, robots
from wholebody.channels import Channel
from wholebody.daemon.cycle import Cycle
from wholebody.daemon.process import Summary, run
from wholebody.drivers import Clock, RobotInterface
from wholebody.errors import HardwareError
from wholebody.processes.launch_plan import Plan, boards_channel, filter_request
from wholebody.processes.main import as_process
from wholebody.robots import Robot

PRIORITY = 50
BOARDS_SECONDS = 20.0
PATIENCE = 0.0
"""s to wait for the boards' answers: they take most of a period on a 1 Mbit/s bus, and are read in the next one."""


@dataclass(frozen=True)
class Behind:
    """What stands behind the daemon, and what it beats with; without a clock, real time."""

    interface: RobotInterface
    clock: Clock | None = None


def loopback(plan: Plan, robot: Robot) -> Behind:
    """Joints that go where they are told."""
    from wholebody.drivers.loopback import Loopback

    return Behind(Loopback(robot))


def simulator(plan: Plan, robot: Robot) -> Behind:
    """A simulator in another process; its first beat is awaited, so that the daemon begins with a true state."""
    from wholebody.drivers.simulator_link import SimulatorLink

    link = SimulatorLink(robot, plan.name, say=say)
    link.tick()
    return Behind(link, link)


def servos(plan: Plan, robot: Robot) -> Behind:
    """Mini-Hubo's servos on their serial lines."""
    from wholebody.drivers.dynamixel.ports import SerialPort
    from wholebody.drivers.dynamixel.robot import ServoRobot

    ports = [SerialPort(device) for device in plan.device.split(",")]
    return Behind(ServoRobot(robot, ports, plan.period, simulated=False))


def simulated_servos(plan: Plan, robot: Robot) -> Behind:
    """Servos in another process."""
    from wholebody.drivers.dynamixel.ports import DatagramPort
    from wholebody.drivers.dynamixel.robot import ServoRobot

    ports = [DatagramPort(number) for number in announced(plan).ports]
    return Behind(ServoRobot(robot, ports, plan.period))


def boards(plan: Plan, robot: Robot) -> Behind:
    """Hubo's boards on the buses of this machine."""
    import can

    from wholebody.drivers.hubo_can.robot import CanRobot

    try:
        buses = [can.Bus(channel, interface="socketcan") for channel in plan.can]
    except (can.CanError, OSError) as error:
        raise HardwareError(f"cannot open the CAN buses {', '.join(plan.can)}: {error}") from error
    return Behind(CanRobot(robot, buses, period=plan.period, patience=PATIENCE))


def simulated_boards(plan: Plan, robot: Robot) -> Behind:
    """Boards in another process, on a simulated bus; they announce themselves a moment before they listen."""
    import can

    from wholebody.drivers.hubo_can.robot import CanRobot
    from wholebody.drivers.hubo_can.simulated.bus import SimulatedBus
    from wholebody.drivers.hubo_can.simulated.process import channels
    from wholebody.drivers.hubo_can.wiring import Wiring

    wiring = Wiring.read(robot.name)
    until = time.monotonic() + BOARDS_SECONDS
    while True:
        try:
            buses = [SimulatedBus(channel) for channel in channels(announced(plan).name, wiring.buses)]
            return Behind(CanRobot(robot, buses, wiring, plan.period, PATIENCE))
        except can.CanInitializationError as error:
            if time.monotonic() > until:
                raise HardwareError(str(error)) from error
            time.sleep(0.05)


BEHIND: dict[str, Callable[[Plan, Robot], Behind]] = {
    "loopback": loopback,
    "virtual": simulator,
    "mini": servos,
    "simulated mini": simulated_servos,
    "full": boards,
    "simulated full": simulated_boards,
}


@dataclass(frozen=True)
class Announced:
    """Where simulated boards can be reached: the name of their buses, or ports."""

    name: str
    ports: tuple[int, ...]


def announced(plan: Plan) -> Announced:
    """Wait until the simulated boards say where they are."""
    until = time.monotonic() + BOARDS_SECONDS
    with Channel(boards_channel(plan.name), messages.event(), writers=1) as channel, channel.reader() as reader:
        while time.monotonic() < until:
            if (reader.latest() or reader.sequence) and reader.process in channel.writer_processes():
                said = reader.message
                ports = tuple(int(number) for number in said.values[: said.count])
                return Announced(said.text, ports)
            time.sleep(0.01)
    raise HardwareError(f"no simulated boards of '{plan.name}' within {BOARDS_SECONDS:g} s")


def main(text: str) -> None:
    """Run what the plan says until SIGTERM or SIGINT, and print how the time was spent."""
    warnings.showwarning = lambda message, *_: say(str(message))
    plan = Plan.parse(text)
    robot = robots.load(plan.robot)
    behind = BEHIND[plan.behind](plan, robot)
    say(f"{robot.name} ({plan.behind}) runs as '{plan.name}'")
    prepare = partial(set_filter, plan.filter) if plan.filter else None
    priority = PRIORITY if behind.clock is None else None  # simulated time waits for us
    show(run(robot, behind.interface, plan.name, plan.contract, behind.clock, prepare=prepare, priority=priority))


def set_filter(words: str, cycle: Cycle) -> None:
    """Give all joints the filter that was asked for."""
    mode, value = filter_request(words)
    for joint in range(len(cycle.robot.moving)):
        cycle.filters.set(joint, mode, value)


def show(summary: Summary) -> None:
    """Write the final table into the log (Hubo-Ach §3.3)."""
    say(f"ended after {summary.cycles} cycles, {summary.missed} missed")
    print(f"{'stage':<12}{'mean ms':>10}{'deviation':>10}{'p99':>10}{'worst':>10}")
    for row in summary.table:
        values = "".join(f"{1000 * value:>10.4f}" for value in (row.mean, row.deviation, row.p99, row.worst))
        print(f"{row.name:<12}{values}", flush=True)


def say(text: str) -> None:
    """Write a line into the log."""
    print(f"daemon: {text}", flush=True)


if __name__ == "__main__":
    as_process("daemon", main)
