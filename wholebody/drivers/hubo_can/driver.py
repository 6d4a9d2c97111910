"""The driver hubo_can: a CanRobot on the buses of this machine, or on those of simulated boards."""

from __future__ import annotations

import time
from collections.abc import Sequence

import can

from wholebody.drivers import simulated_devices
from wholebody.drivers.hubo_can.robot import CanRobot
from wholebody.drivers.hubo_can.simulated.bus import SimulatedBus
from wholebody.drivers.hubo_can.simulated.process import channels
from wholebody.drivers.hubo_can.wiring import Wiring
from wholebody.errors import HardwareError
from wholebody.robots.robot import Robot

PATIENCE = 0.0
"""s to wait for the boards' answers: they take most of a period on a 1 Mbit/s bus, and are read in the next one."""


def hubo_can(
    robot: Robot, period: float, name: str, *, buses: Sequence[str] = (), interface: str = "socketcan"
) -> CanRobot:
    """Hubo's motor boards and sensors on CAN buses of 1 Mbit/s; without buses, simulated boards.

    buses      channels in the order of the wiring, such as can0,can1; none: simulated boards
    interface  which interface of python-can the buses have
    """
    wiring = Wiring.read(robot.name)
    if not buses:
        return _simulated(robot, period, name, wiring)
    opened: list[can.BusABC] = []
    try:
        for channel in buses:
            opened.append(can.Bus(channel, interface=interface))
        return CanRobot(robot, opened, wiring, period, PATIENCE)
    except BaseException as error:
        for bus in opened:
            bus.shutdown()
        if isinstance(error, can.CanError | OSError):
            raise HardwareError(f"cannot open the CAN buses {', '.join(buses)}: {error}") from error
        raise


def _simulated(robot: Robot, period: float, name: str, wiring: Wiring) -> CanRobot:
    """On a simulated bus; boards announce themselves a moment before they listen."""
    until = time.monotonic() + simulated_devices.PATIENCE
    while True:
        found = simulated_devices.announced(name, "give buses=can0,can1, or begin them: wholebody start")
        try:
            buses = [SimulatedBus(channel) for channel in channels(found.name, wiring.buses)]
            return CanRobot(robot, buses, wiring, period, PATIENCE)
        except can.CanInitializationError as error:
            if time.monotonic() > until:
                raise HardwareError(str(error)) from error
            time.sleep(0.05)
