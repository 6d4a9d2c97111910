"""wholebody device: be the simulated device of a driver, for whoever speaks its protocol."""

from __future__ import annotations

from typing import Annotated

import typer

from wholebody.cli import options
from wholebody.drivers.catalog import DriverChoice
from wholebody.errors import BadDriver
from wholebody.processes import main
from wholebody.processes.devices import SERVED
from wholebody.processes.launch_plan import LaunchPlan


def device(
    robot: options.Which,
    driver: options.Driver = "unitree:interface=lo,domain=1",
    name: options.Name = "device",
    gantry: Annotated[
        float, typer.Option(min=0.0, help="Hang in a gantry, for so many s after the first command; 0: stand.")
    ] = 0.0,
    physics: Annotated[bool, options.Physics] = True,
    scene: options.Scene = "flat",
) -> None:
    """Be a simulated robot on the wire of a driver, until Ctrl-C: other people's programs for the real one move it.

    \b
      wholebody device g1.xml --gantry 5        Unitree's topics on lo, domain 1; lowered 5 s after the first command
      wholebody start g1.xml --driver unitree:interface=lo,domain=1     our daemon, instead of their programs
    """
    if (served := DriverChoice.parse(driver).name) not in SERVED:
        raise BadDriver(f"driver '{served}' has no simulated device of its own; there are {', '.join(SERVED)}")
    plan = LaunchPlan.make(name, robot, driver, physics, gantry=gantry, scene=scene)
    main.main(["boards", "--plan", plan.text()])
