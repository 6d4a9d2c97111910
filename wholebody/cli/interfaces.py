"""How a configuration's robot is reached: by a simulation in this process, by its daemon, or on paper.

An interface is a function of a robot, a period and a name, with options by keyword; it returns a RobotInterface, which
may be a Clock too. A clock is a function of a period.
"""

from __future__ import annotations

from wholebody.errors import BadPeriod
from wholebody.hardware import Clock, Connection, Loopback, RobotInterface, SteadyClock, connect
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
    from wholebody.cli.paced import PacedSimulation
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
        beats = 1 / link.period
        link.close()
        raise BadPeriod(
            f"the daemon of '{name}' beats at {beats:g} Hz, this controller at {1 / period:g}: set "
            f"servo_frequency: {beats:g}, or start the robot with --period {period:g}"
        )
    return link


def loopback(robot: Robot, period: float, name: str) -> RobotInterface:
    """A robot of nothing but numbers: its joints are where they are told to be."""
    return Loopback(robot)


def steady(period: float) -> Clock:
    """The beat of real time."""
    return SteadyClock(period)
