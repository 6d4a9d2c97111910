"""The daemon as a process, `wholebody process daemon`; `wholebody start` begins it.

Its driver is whatever the plan names. It loads neither Pinocchio nor MuJoCo: a simulator is another process.
"""

from __future__ import annotations

from wholebody.daemon.cycle import Cycle
from wholebody.daemon.process import Summary, run
from wholebody.drivers import Clock
from wholebody.drivers.catalog import open_driver
from wholebody.processes.launch_plan import LaunchPlan, filter_request
from wholebody.processes.main import Ready, speaker
from wholebody.robots.catalog import load_apart

PRIORITY = 50
say = speaker("daemon")


def daemon(plan: LaunchPlan, *, ready: Ready) -> None:
    """Run what the plan says until SIGTERM or SIGINT, and print how the time was spent."""
    robot = load_apart(plan.robot)
    interface = open_driver(plan.driver, robot, plan.period, plan.name)
    clock = interface if isinstance(interface, Clock) else None  # real time
    say(f"{robot.name} ({plan.behind}) runs as '{plan.name}'")

    def prepare(cycle: Cycle) -> None:
        for text in cycle.gate.limits.said:
            say(text)
        if plan.filter:
            set_filter(plan.filter, cycle)
        ready()

    priority = PRIORITY if clock is None else None  # whatever beats by itself waits for us
    show(run(robot, interface, plan.name, plan.contract, clock, prepare=prepare, priority=priority))


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
