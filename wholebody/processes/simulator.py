"""The simulator as a process, `wholebody process simulator`; `wholebody start` begins it."""

from __future__ import annotations

from wholebody import robots
from wholebody.processes.launch_plan import LaunchPlan
from wholebody.processes.main import Ready, speaker
from wholebody.processes.registry import SIMULATOR
from wholebody.realtime import until_told
from wholebody.simulation import Simulation
from wholebody.simulation.lockstep import Pace, join

say = speaker(SIMULATOR)


def main(plan: LaunchPlan, *, ready: Ready) -> None:
    """Be the simulator of the plan's robot until SIGTERM or SIGINT."""
    goes_on = until_told()
    robot = robots.load(plan.robot)
    news = News()
    with Simulation(robot, plan.scene, physics=plan.physics, control_period=plan.period) as simulation:
        say(f"{robot.name}, {'with' if plan.physics else 'without'} physics")
        ready()
        pace = join(simulation, plan.name, None if plan.fast else 1.0, goes_on, news.take)
    say(f"ended after {pace.simulated:.1f} s, at {pace.real_time:.2f} × real time, {pace.late} periods late")


class News:
    """Tells of what goes wrong, once each time it changes."""

    def __init__(self) -> None:
        self._before = ("", False)

    def take(self, pace: Pace) -> None:
        """Hear how it gets on."""
        trouble, waiting = self._before
        if pace.trouble != trouble:
            say(pace.trouble)
        if pace.waiting != waiting:
            say("the daemon does not answer: the world stands still" if pace.waiting else "the daemon answers again")
        self._before = pace.trouble, pace.waiting
