"""wholebody stop: end a robot's processes."""

from __future__ import annotations

from typing import Annotated

import typer

from wholebody.processes import lifecycle


def stop(name: Annotated[str, typer.Option(help="The robot's name, if it is not 'robot'.")] = "") -> None:
    """End the robot that `wholebody start` started: its daemon, then what it had beside it; its channels go.

    To halt a robot that goes on running: wholebody console -c stop
    """
    for line in lifecycle.stop(name):
        print(line)
