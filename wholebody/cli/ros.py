"""wholebody ros: the running robot on ROS 2, without ROS."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from wholebody.cli import options as cli
from wholebody.operator.ros.bridge import RosBridge, RosOptions
from wholebody.operator.ros.velocity import TIMEOUT
from wholebody.realtime import until_told


def ros(
    name: cli.Name = "",
    namespace: Annotated[
        str, typer.Option(help="Before the names of topics and frames, where robots are several.")
    ] = "",
    domain: Annotated[str | None, typer.Option(help="The DDS domain; ROS_DOMAIN_ID, or 0, unless given.")] = None,
    network: Annotated[
        str, typer.Option(metavar="INTERFACE", help="Such as eth0; without one, nobody but this machine hears of it.")
    ] = "",
    rate: cli.Transforms = 50.0,
    timeout: cli.VelocityTimeout = TIMEOUT,
    wall: Annotated[bool, typer.Option("--wall", help="Stamp with this machine's clock; publish no /clock.")] = False,
    robot: cli.Robot = "",
) -> None:
    """Put the robot on ROS 2: joint states, transforms, sensors; trajectories and velocities to it. ROS is not needed.

    \b
      $ wholebody start
      $ wholebody ros &
      $ export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST        # Humble: ROS_LOCALHOST_ONLY=1
      $ ros2 topic echo /joint_states

    Velocities (/cmd_vel) are goals of the walking controller: `wholebody page` or `wholebody rcp` begin one.
    """
    console, goes_on = Console(highlight=False, soft_wrap=True), until_told()
    options = RosOptions(name, robot, namespace, domain, network, wall, rate, timeout)
    with RosBridge(options, lambda text: console.print(f"[yellow]{text}[/]")) as bridge:
        where = f"on {bridge.node.participant.network}, domain {bridge.node.participant.domain}"
        console.print(f"node /{bridge.node.full_name(bridge.node.name)} is {where}; Ctrl-C ends it")
        bridge.run(goes_on)
