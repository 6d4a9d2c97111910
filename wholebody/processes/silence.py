"""Why a robot, or a controller of it, says nothing any more: which of its processes has ended, and which hangs."""

from __future__ import annotations

from wholebody.channels import Channel, directory
from wholebody.channels.subscription import Subscription
from wholebody.drivers import Names
from wholebody.errors import ChannelError
from wholebody.processes.registry import DAEMON, ROLES, SIMULATOR, Role, plan_of, process_of

SILENT = 1.0
"""s without a state after which a robot is silent."""
HANGS = "hangs or is stopped"


def of_robot(name: str) -> str:
    """Why there are no states of the robot of a name, and what to do."""
    robot = Names(name).robot
    daemon, plan = process_of(DAEMON, robot), plan_of(robot)
    start = f"wholebody start{f' {plan.robot}' if plan else ''} --name {robot}"
    if daemon is None:
        return f"its daemon has ended; start it again: {start}"
    companion = ROLES.get(plan.companion) if plan else None
    process = process_of(companion or SIMULATOR, robot)
    if companion is not None and process is None:
        return f"its {companion.name} has ended; begin another: {start}"
    if process is not None and _answered(Names(robot)):
        return _hangs(companion or SIMULATOR, process)
    return _hangs(DAEMON, daemon)


def of_controller(name: str, controller: str) -> str:
    """Why a controller says nothing, and what to do: the robot itself is silent, or it has ended, or it hangs."""
    state = Subscription(Names(name).state)
    state.take()
    if process_of(DAEMON, name) is None or state.age > SILENT:
        return f"the robot '{Names(name).robot}' is silent: {of_robot(name)}"
    writers = directory.writers(Names(name).reference(controller))
    if not writers:
        return "it has ended"
    return f"its process {writers[0]} {HANGS}: continue it (kill -CONT {writers[0]}) or end it (kill -9 {writers[0]})"


def _hangs(role: Role, process: int) -> str:
    return (
        f"its {role.name} (process {process}) {HANGS}: continue it (kill -CONT {process}), or end it "
        f"(kill -9 {process}) and start it again"
    )


def _answered(names: Names) -> bool:
    """Whether it is the simulator's turn: the daemon has answered its newest beat."""
    try:
        numbers = [_newest(each) for each in (names.from_simulator, names.to_simulator)]
    except ChannelError:
        return False
    return numbers[0] == numbers[1]


def _newest(channel: str) -> int:
    with Channel(channel) as opened, opened.reader() as reader:
        reader.latest()
        return int(reader.message["number"])
