"""The driver dynamixel: a ServoRobot on serial devices, or on the lines of simulated servos."""

from __future__ import annotations

from collections.abc import Sequence

from wholebody.drivers import simulated_devices
from wholebody.drivers.dynamixel.ports import DatagramPort, Port, SerialPort
from wholebody.drivers.dynamixel.robot import ServoRobot
from wholebody.robots.robot import Robot


def dynamixel(robot: Robot, period: float, name: str, *, devices: Sequence[str] = ()) -> ServoRobot:
    """Servos on serial lines of 1 Mbit/s (Dynamixel protocol 1.0); without devices, simulated servos.

    devices  serial devices in the order of the servo table, such as /dev/ttyUSB0,/dev/ttyUSB1; none: simulated servos
    """
    if devices:
        serial: list[Port] = [SerialPort(device) for device in devices]
        return ServoRobot(robot, serial, period, simulated=False)
    found = simulated_devices.announced(name, "give devices=/dev/ttyUSB0, or begin them: wholebody start")
    return ServoRobot(robot, [DatagramPort(number) for number in found.ports], period)
