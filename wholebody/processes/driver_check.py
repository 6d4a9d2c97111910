"""check_driver: the laws of drivers on a driver as it is typed; its simulated device is begun beside it."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from functools import partial

from wholebody import robots
from wholebody.channels import directory
from wholebody.drivers import laws
from wholebody.drivers.catalog import check_choice, for_robot, open_driver
from wholebody.drivers.laws import Verdict
from wholebody.errors import HardwareError
from wholebody.processes import lifecycle
from wholebody.processes.launch_plan import NOT_IN_A_DAEMON, Plan, usual_robot

STARTING = 30.0
"""s that a simulated device has to begin."""


def check_driver(
    driver: str,
    robot: str = "",
    *,
    period: float = 0.005,
    joints: Sequence[str] = (),
    seconds: float = 1.0,
    name: str = "",
) -> Iterator[Verdict]:
    """Go through all laws, one verdict after the other; nothing of it touches a robot that runs, unless it is named."""
    robot = robot or usual_robot(driver)
    loaded = robots.load(robot)
    choice = for_robot(driver, loaded)
    check_choice(str(choice))
    with contextlib.ExitStack() as stack:
        if not name and choice.name not in NOT_IN_A_DAEMON:
            plan = Plan.make(f"check-{os.getpid()}", robot, str(choice), period=period)
            stack.enter_context(device(plan))
            name = plan.name
        opened = partial(open_driver, str(choice), loaded, period, name)
        yield from laws.check(opened, loaded, period, joints=joints, seconds=seconds)


@contextlib.contextmanager
def device(plan: Plan) -> Iterator[None]:
    """The simulated device that a plan needs, if it does; its channels and its log go with it."""
    role = lifecycle.COMPANIONS.get(plan.behind)
    log = lifecycle.log_file(plan.name)
    log.parent.mkdir(parents=True, exist_ok=True)
    child = lifecycle.begin(role, plan, log) if role is not None else None
    try:
        until = time.monotonic() + STARTING
        while role is not None and child is not None and lifecycle.process_of(role, plan.name) != child.pid:
            if child.poll() is not None or time.monotonic() > until:
                raise HardwareError(f"the {role.name} did not start:\n{lifecycle.tail(log)}")
            time.sleep(0.02)
        yield
    finally:
        if child is not None:
            lifecycle.end(child.pid)
            child.wait()
        log.unlink(missing_ok=True)
        for each in directory.names():
            if each.startswith(f"{plan.name}."):
                directory.remove(each, force=True)
