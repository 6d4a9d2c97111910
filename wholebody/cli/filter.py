"""wholebody filter: smooth a controller's references in a process of its own, between it and the daemon."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from wholebody.daemon import filters
from wholebody.drivers import Names
from wholebody.errors import ChannelNotFound, NoRobot
from wholebody.processes.launch_plan import filter_request
from wholebody.processes.registry import nothing_runs


def filter(
    controller: Annotated[str, typer.Argument(help="The controller, which says connect(…, filtered=True).")],
    words: Annotated[str, typer.Argument(help="pass | smooth L | compliant Kc | feedback L")] = "smooth 40",
    period: Annotated[float, typer.Option(min=1e-4, max=1.0, help="Seconds from one reference to the next.")] = 0.01,
    name: Annotated[str, typer.Option(help="The robot's name, if it is not 'robot'.")] = "",
) -> None:
    """Pass a controller's references on filtered and at a steady rate, until Ctrl-C; it may step, at any rate.

    wholebody filter wave "smooth 40"
    """
    mode, value = filter_request(words)
    names = Names(name)
    Console(stderr=True).print(
        f"{names.unfiltered(controller)} → {words} → {names.reference(controller)}, every {period:g} s", highlight=False
    )
    try:
        filters.run(controller, names.robot, mode, value, period)
    except ChannelNotFound as error:
        raise NoRobot(nothing_runs(names.robot)) from error
