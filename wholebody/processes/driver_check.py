"""check_driver: the laws of drivers on a driver as it is typed; its simulated device is begun beside it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from functools import partial

from wholebody import robots
from wholebody.drivers import laws
from wholebody.drivers.catalog import check_choice, for_robot, open_driver
from wholebody.drivers.laws import Verdict
from wholebody.processes import lifecycle
from wholebody.processes.launch_plan import NOT_IN_A_DAEMON, LaunchPlan, usual_robot
from wholebody.processes.registry import ROLES

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
            plan = LaunchPlan.make(f"check-{os.getpid()}", robot, str(choice), period=period)
            stack.enter_context(device(plan))
            name = plan.name
        opened = partial(open_driver, str(choice), loaded, period, name)
        yield from laws.check(opened, loaded, period, joints=joints, seconds=seconds)


@contextlib.contextmanager
def device(plan: LaunchPlan) -> Iterator[None]:
    """The simulated device that a plan needs, if it does; its channels and its log go with it."""
    role = ROLES.get(plan.companion)
    log = lifecycle.log_file(plan.name)
    with contextlib.ExitStack() as stack:
        stack.callback(lifecycle.remove_channels, plan.name, force=True)
        stack.callback(log.unlink, missing_ok=True)
        if role is not None:
            stack.enter_context(lifecycle.beside(role, log=log, plan=plan)).until_ready(seconds=STARTING)
        yield
