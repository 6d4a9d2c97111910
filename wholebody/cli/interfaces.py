"""How a configuration's robot is reached: by a simulation in this process, by its daemon, by udp, or on paper.

An interface is a function of a robot, a period and a name, with options by keyword; it returns a RobotInterface, which
may be a Clock too. A clock is a function of a period.
"""

from __future__ import annotations

from typing import Self

from wholebody.drivers import Clock, Connection, Loopback, RobotInterface, SteadyClock, connect
from wholebody.drivers.udp import UdpRobot
from wholebody.errors import BadPeriod
from wholebody.messages import Silence
from wholebody.robots.robot import Robot


def simulation(
    robot: Robot,
    period: float,
    name: str,
    *,
    scene: str = "flat",
    posture: str | None = None,
    seed: int = 0,
    real_time: bool = True,
    step: float = 0.001,
) -> RobotInterface:
    """The robot in MuJoCo, in this process, in real time or as fast as it goes."""
    from wholebody.operator.recordings.world import PacedSimulation
    from wholebody.simulation import Simulation

    kind = PacedSimulation if real_time else Simulation
    step = min(step, period)
    return kind(robot, scene, posture=posture, seed=seed, step=step, control_period=period)


def daemon(
    robot: Robot, period: float, name: str, *, controller: str = "wbc", lease: bool = False, hold: bool = True
) -> Connection:
    """The robot that a daemon runs (wholebody start), as one of its controllers."""
    silence = Silence.HOLD if hold else Silence.STOP
    link = connect(controller, name, period=10 * period, silence=silence, lease=lease)
    if abs(link.period - period) > 0.01 * period:
        beat = _other_beat(f"the daemon of '{name}'", link.period, period)
        link.close()
        raise BadPeriod(f"{beat}, or start the robot with --period {period:g}")
    return link


def udp(
    robot: Robot, period: float, name: str, *, host: str = "127.0.0.1", port: int = 7700, timeout: float = 5.0
) -> RobotInterface:
    """A robot at the other end of a network cable, behind a UdpServer; the loop beats with the states that arrive."""
    return _PacedUdp(robot, (host, port), timeout, period)


class _PacedUdp(UdpRobot):
    """A UdpRobot that must beat as a controller does."""

    def __init__(self, robot: Robot, address: tuple[str, int], timeout: float, period: float) -> None:
        super().__init__(robot, address, timeout)
        self._asked = period

    def __enter__(self) -> Self:
        """Take the robot, if its beat is the one asked for."""
        super().__enter__()
        if abs(self.period - self._asked) > 0.01 * self._asked:
            self.__exit__(None, None, None)
            raise BadPeriod(_other_beat(f"the server at {self.address[0]}:{self.address[1]}", self.period, self._asked))
        return self


def _other_beat(who: str, period: float, asked: float) -> str:
    return f"{who} beats at {1 / period:g} Hz, this controller at {1 / asked:g}: set servo_frequency: {1 / period:g}"


def loopback(robot: Robot, period: float, name: str) -> RobotInterface:
    """A robot of nothing but numbers: its joints are where they are told to be."""
    return Loopback(robot)


def steady(period: float) -> Clock:
    """The beat of real time."""
    return SteadyClock(period)
