"""The daemon as a process: python -m wholebody.processes.daemon PLAN; `wholebody start` begins it.

Its driver is whatever the plan names. It loads neither Pinocchio nor MuJoCo: a simulator is another process.
"""

from __future__ import annotations

import warnings
from functools import partial

from wholebody import robots
from wholebody.daemon.cycle import Cycle
from wholebody.daemon.process import Summary, run
from wholebody.drivers import Clock
from wholebody.drivers.catalog import open_driver
from wholebody.processes.launch_plan import Plan, filter_request
from wholebody.processes.main import as_process

PRIORITY = 50


def main(text: str) -> None:
    """Run what the plan says until SIGTERM or SIGINT, and print how the time was spent."""
    warnings.showwarning = lambda message, *_: say(str(message))
    plan = Plan.parse(text)
    robot = robots.load(plan.robot)
    interface = open_driver(plan.driver, robot, plan.period, plan.name)
    clock = interface if isinstance(interface, Clock) else None  # real time
    say(f"{robot.name} ({plan.behind}) runs as '{plan.name}'")
    prepare = partial(set_filter, plan.filter) if plan.filter else None
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


def say(text: str) -> None:
    """Write a line into the log."""
    print(f"daemon: {text}", flush=True)


if __name__ == "__main__":
    as_process("daemon", main)
