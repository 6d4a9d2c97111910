"""wholebody start, stop, process: begin a robot, simulated or real, end it, or be one of its processes."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from wholebody import plugins, robots
from wholebody.channels import access, directory
from wholebody.cli import options
from wholebody.drivers.names import default_name
from wholebody.errors import HardwareError, RobotTaken
from wholebody.operator.monitor.watcher import Watcher
from wholebody.processes import lifecycle, logs, main
from wholebody.processes.launch_plan import LaunchPlan, filter_request
from wholebody.processes.registry import DAEMON, Role, plan_of, process_of
from wholebody.realtime import has_ended, when_told
from wholebody.robots import Robot

ASK_BOARDS_SECONDS = 0.5
GUARD_SECONDS = 30.0
"""s for which a guard may try to reach the device of a daemon that has died."""
console = Console(highlight=False, soft_wrap=True)


def start(
    robot: options.Which = "",
    driver: options.Driver = "virtual",
    name: options.Name = "",
    period: Annotated[float, options.Period] = 0.005,
    foreground: Annotated[bool, typer.Option("--foreground", help="Stay, and stop it with Ctrl-C.")] = False,
    fast: options.Fast = False,
    physics: Annotated[bool | None, options.Physics] = None,
    scene: options.Scene = "flat",
    self_collision: options.SelfCollision = "usual",
    filter: Annotated[
        str, typer.Option(metavar="MODE", help='For all joints: "smooth 20", "compliant 0.5", "feedback 20".')
    ] = "",
    misses_allowed: Annotated[int, typer.Option(min=0, help="Cycles in a row that the loop may miss.")] = 20,
    on_miss: Annotated[str, typer.Option(help="What more of them lead to: count, or stop the robot.")] = "count",
    behavior: options.Behavior = None,
    guard: Annotated[
        bool, typer.Option(help="Begin a guard, which stops a device when the daemon hangs or dies.")
    ] = True,
    group: Annotated[str, typer.Option(metavar="NAME", help="Members of this group may move it, too.")] = "",
    readable: Annotated[
        bool, typer.Option("--readable", help="Everybody on this machine may read its channels.")
    ] = False,
) -> None:
    """Start a robot: one process owns it, any number of controllers may move it.

    Without ROBOT it is the one that the driver is for. The simulator has physics, simulated boards only with --physics.

    \b
      wholebody start                     Hubo2+ in MuJoCo
      wholebody start --driver mini       Mini-Hubo on simulated servos
      wholebody start --driver full:buses=can0,can1
      wholebody start hubo2plus --driver path/to/mine.py:Mine
      wholebody start --behavior path/to/nod.py:Nod      then: wholebody console -c nod

    It runs in the background until `wholebody stop`. It belongs to the user who owns the folder of channels.
    """
    plan = checked_plan(
        robot,
        driver,
        name,
        period=period,
        fast=fast,
        physics=physics,
        scene=scene,
        self_collision=self_collision,
        filter=filter,
        misses_allowed=misses_allowed,
        on_miss=on_miss,
        behavior=behavior,
        guard=guard,
    )
    who = access.grant(group, readable)
    roles = roles_to_begin(plan)
    if process_of(DAEMON, plan.name) is None:
        lifecycle.sweep(plan.name, robots.load(plan.robot))
    if foreground:
        stay(plan, roles)
        return
    detach(plan, roles)
    if who.group or who.readable:
        console.print(f"{who}; only the owner of {directory.folder()} can change that", markup=False)


def checked_plan(
    robot: str = "",
    driver: str = "virtual",
    name: str = "",
    *,
    physics: bool | None = None,
    behavior: list[str] | None = None,
    **more: Any,
) -> LaunchPlan:
    """What is to run, by the options of `start`; all that is wrong with it is said before anything begins."""
    own = tuple(str(Path(each).resolve()) if plugins.is_in_file(each) else each for each in behavior or ())
    plan = LaunchPlan.make(name or default_name(), robot, driver, physics, behaviors=own, **more)
    plan.contract  # noqa: B018 - checks it
    check_behaviors(plan, robots.load(plan.robot))
    if plan.filter:
        filter_request(plan.filter)
    if plan.scene != "flat":
        from wholebody.simulation import named

        named(plan.scene)
    if plan.self_collision != "usual":
        from wholebody.simulation.jamming import check_choice

        check_choice(plan.self_collision)
    return plan


def roles_to_begin(plan: LaunchPlan) -> list[Role]:
    """What a plan needs and does not have yet; RobotTaken if another robot of the name runs."""
    running = process_of(DAEMON, plan.name)
    if running is not None and not (plan_of(plan.name) == plan and lifecycle.is_lacking(plan)):
        raise RobotTaken(
            f"a robot called '{plan.name}' is running already (process {running}); stop it (wholebody stop"
            f"{_name_option(plan)}), or give this one another name (--name)"
        )
    companion = lifecycle.companion_to_begin(plan)
    return [role for role in (companion, None if running else DAEMON) if role is not None]


def planned(words: Sequence[str]) -> tuple[LaunchPlan, str, bool]:
    """What `wholebody start` with these words would run, for which group, and whether others may read it."""
    app = typer.Typer()
    app.command()(start)
    given = typer.main.get_command(app).make_context("wholebody start", list(words)).params
    group, readable = given.pop("group"), given.pop("readable")
    del given["foreground"]
    return checked_plan(**given), group, readable


def check_behaviors(plan: LaunchPlan, robot: Robot) -> None:
    """Make each behaviour once, before anything begins: what is wrong with one is said here."""
    if plan.behaviors:
        from wholebody.behaviors.behavior import load

        for each in plan.behaviors:
            load(each, robot)


def detach(plan: LaunchPlan, roles: list[Role]) -> None:
    """Begin the processes, wait for the first state, and say what to type next."""
    log = lifecycle.log_file(plan.name)
    if DAEMON in roles:
        logs.rotate(log)
    children: list[lifecycle.Child] = []
    try:
        for role in roles:
            children.append(lifecycle.spawn(role, log=log, stays=True, plan=plan))
        with Console(stderr=True).status(f"starting {plan.robot}") as status:
            for waits in lifecycle.until_first_state(plan, children, log, status.console.print):
                status.update(f"starting {plan.robot}: waiting for {waits}")
            if plan.guarded:
                children.append(lifecycle.begin_guard(plan, log, stays=True))
                children[-1].until_ready(status.console.print)
            for each in plan.behaviors:
                children.append(lifecycle.begin_behavior(plan, each, log, stays=True))
                children[-1].until_ready(status.console.print)
    except BaseException:
        for child in children:
            child.end()
        raise
    console.print(f"[bold]{plan.robot}[/] runs as '{plan.name}' ({_described(plan)}); log: {log}")
    option = _name_option(plan)
    for command, what in (
        (f"console{option}", "home it, move joints"),
        (f"read{option}", "watch it"),
        (f"stop{option}", "end it"),
    ):
        console.print(f"  wholebody {command:<22} {what}", markup=False)
    if asleep(plan.name):
        console.print(f"its joints are off or not homed yet; first: wholebody console{option} -c homeAll")


def asleep(name: str) -> bool:
    """Whether most joints are off or do not know where they are; boards need a moment to say so."""
    watcher, until = Watcher(name), time.monotonic() + ASK_BOARDS_SECONDS
    while True:
        joints = [joint for joint in watcher.look().joints if joint.position is not None]
        off = [joint for joint in joints if not (joint.on and joint.homed)]
        if 2 * len(off) <= len(joints) or time.monotonic() > until:
            return 2 * len(off) > len(joints)
        time.sleep(0.05)


def stay(plan: LaunchPlan, roles: list[Role]) -> None:
    """Run until a signal, or until the daemon ends; the companions end with it."""
    told: list[bool] = []
    with contextlib.ExitStack() as stack:
        child = [stack.enter_context(lifecycle.beside(role, plan=plan)) for role in roles][-1]
        daemon = child.process
        guard = None
        if plan.guarded:
            child.until_ready()
            guard = lifecycle.begin_guard(plan)
            stack.callback(guard.end)
        for each in plan.behaviors:
            child.until_ready()
            stack.callback(lifecycle.begin_behavior(plan, each).end)

        def pass_on() -> None:
            told.append(True)
            daemon.terminate()

        with when_told(pass_on):
            code = daemon.wait()
        if code and guard is not None and not told:
            has_ended(guard.pid, GUARD_SECONDS)  # it makes the robot safe, and ends
    if code and not (told and code == -signal.SIGTERM):  # it had not even begun
        raise HardwareError(f"the daemon ended with exit code {code}")


def _described(plan: LaunchPlan) -> str:
    more = "" if plan.behind != "simulator" else ", with physics" if plan.physics else ", without physics"
    return f"{plan.behind}{more}, {1 / plan.period:g} Hz"


def _name_option(plan: LaunchPlan) -> str:
    return "" if plan.name == default_name() else f" --name {plan.name}"


def stop(
    name: options.Name = "",
    kill: Annotated[bool, typer.Option("--kill", help="At once, without letting processes end by themselves.")] = False,
) -> None:
    """End the robot that `wholebody start` started: its daemon, then what it had beside it; its channels go.

    To halt a robot that goes on running: wholebody console -c stop
    """
    for line in lifecycle.stop(name, kill):
        print(line)


@options.context(ignore_unknown_options=True, help_option_names=[])  # options, also --help, are those of the role
def process(words: Annotated[list[str] | None, typer.Argument(metavar="ROLE --OPTION VALUE …")] = None) -> None:
    """Be one process of a robot, such as its walking controller; --help lists them, ROLE --help their options.

    \b
      wholebody process walk --name robot
      wholebody process walk --help
    """
    main.main(words or ["--help"])
