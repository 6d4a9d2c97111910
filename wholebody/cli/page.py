"""wholebody page: the running robot in a browser."""

from __future__ import annotations

import asyncio
import contextlib
import math
from typing import Annotated, Any

import typer
from rich import print as show

from wholebody import robots
from wholebody.cli.plan import plan_of
from wholebody.cli.requests import Requests, daemon_of
from wholebody.cli.watching import Watcher
from wholebody.collaboration.page.drawing import drawing
from wholebody.collaboration.page.poses import Poses
from wholebody.errors import NoRobot, WholebodyError
from wholebody.hardware import Names
from wholebody.messages import Verb

PORT = 8080


def page(
    name: Annotated[str, typer.Option(help="The robot's name, if it is not 'robot'.")] = "",
    host: Annotated[
        str, typer.Option(help="The address to listen on: others may look in if it is not this machine.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 for any that is free.")] = PORT,
    robot: Annotated[str, typer.Option(help="Which robot to draw, if its daemon was not started by us.")] = "",
) -> None:
    """Show the robot in a browser: where it is, where it was told to be, how it is, and a stop."""
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(Sight(name, robot), host, port))


async def _serve(sight: Sight, host: str, port: int) -> None:
    from wholebody.collaboration.page.server import PageServer

    async with PageServer(sight, host, port) as server:
        show(f"the page of '{sight.name}' is at {server.address}")
        if host not in ("127.0.0.1", "localhost", "::1"):
            show("[yellow]others on the network can look; only who has the address with the token can stop it[/]")
        show("Ctrl-C ends it")
        await server.serve()


class Sight:
    """The running robot, as a page sees it."""

    def __init__(self, name: str, robot: str) -> None:
        self._names = Names(name)
        self._watcher, self._requests = Watcher(name), Requests(name)
        plan = plan_of(daemon_of(self._names.robot))
        if not robot and plan is None:
            raise NoRobot("nobody can tell which robot that is; say --robot hubo2plus, or whatever it is")
        self._robot = robots.load(robot or (plan.robot if plan else ""))
        self.poses = Poses(self._robot, self._names).newest

    @property
    def name(self) -> str:
        """What it is called."""
        return self._names.robot

    def drawing(self) -> dict[str, Any]:
        """The robot, to be drawn."""
        return drawing(self._robot)

    def news(self) -> dict[str, Any]:
        """How it is."""
        picture = self._watcher.look()
        slides = {joint.name for joint in self._robot.moving if joint.kind == "prismatic"}
        return {
            "health": {
                "condition": picture.condition,
                "robot": picture.robot or self.name,
                "rate": picture.rate,
                "missed": picture.missed,
                "age": picture.silent if math.isfinite(picture.silent) else None,
                "stopped": picture.stopped,
                "controllers": [each.name for each in picture.controllers if each.joints],
                "faults": [f"{joint}: {faults}" for joint, faults in picture.faults],
            },
            "joints": [
                (each.name, each.position, each.command, each.effort, "m" if each.name in slides else "rad")
                for each in picture.joints
            ],
            "events": [(each.age, each.name, each.text) for each in reversed(picture.events)],
        }

    def stop(self) -> None:
        """Stop it, by the channel that needs nobody to answer."""
        self._requests.stop()

    def resume(self) -> str:
        """Let it follow references again."""
        try:
            return self._requests.ask(Verb.RESUME).text
        except WholebodyError as error:
            return str(error)
