"""Controllers and daemons killed at any instant, in mid-motion: no reference and no joint makes a step above its limit.

PYTHONPATH=tests/rigs .venv/bin/python tests/faults/kills.py --controllers 1000 --daemons 100
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from robot_processes import wait_for

from wholebody import robots
from wholebody.channels import directory
from wholebody.drivers import Names
from wholebody.processes.launch_plan import LaunchPlan
from wholebody.realtime import has_ended
from wholebody.simulation import Simulation, join

NAME = "struck"
LONGEST_LIFE = 0.05
"""s that a controller lives at most, from when it is begun."""
NURSERY = """
import math, os, random, signal, sys
from wholebody.processes import daemon as _
from wholebody.processes.main import main
from wholebody.drivers import connect
from wholebody.messages import Silence
signal.signal(signal.SIGCHLD, signal.SIG_IGN)

def controller(seed):
    chance = random.Random(seed)
    silence = Silence.HOLD if GENTLE else chance.choice((Silence.HOLD, Silence.DAMP))
    with connect(f"c{seed % 4}", NAME, period=chance.choice((0.0, 0.01)), silence=silence) as robot:
        told = dict(zip(robot.joints, robot.state.reference.tolist(), strict=True))
        begun, start = robot.now, {each: told[each] for each in chance.sample(robot.joints, 6)}
        while True:
            robot.wait(0.1)
            jump = 0.0 if GENTLE else chance.choice((0.0, 3.0))
            swing = 0.05 * math.sin(robot.now - begun)
            robot.move({each: at + swing + chance.uniform(-jump, jump) for each, at in start.items()})

for line in sys.stdin:
    what, seed = line.split()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        try:
            controller(int(seed)) if what == "controller" else main(["daemon", "--plan", PLAN])
        finally:
            os._exit(1)
    print(child, flush=True)
"""


class Nursery:
    """A process that has imported everything, and forks controllers and daemons in milliseconds."""

    def __init__(self, plan, log):
        program = NURSERY.replace("NAME", repr(NAME)).replace("PLAN", repr(plan.text()))
        program = program.replace("GENTLE", repr(plan.physics))  # what is thrown about goes faster than it is told
        self._said = log.open("w")
        self._process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # threads would not survive a fork
        )

    def begin(self, what, seed=0):
        """Its process."""
        self._process.stdin.write(f"{what} {seed}\n")
        self._process.stdin.flush()
        while not (line := self._process.stdout.readline()).strip().isdigit():  # what daemons say comes this way, too
            assert line, "the nursery has ended"
        return int(line)

    def close(self):
        self._process.kill()
        self._process.communicate()
        self._said.close()


@dataclass
class Steps:
    """The largest steps so far, as shares of what each joint may go in a period."""

    limits: np.ndarray
    reference: float = 0.0
    joint: float = 0.0
    periods: int = 0
    above: int = 0  # periods in which one was above the limit


class Struck(Simulation):
    """A robot whose commands and joints are measured in every period."""

    def __init__(self, robot, **options):
        super().__init__(robot, **options)
        self.steps = Steps(np.array([joint.velocity for joint in robot.moving]) * self.period)
        led = {each.slave for each in robot.couplings}
        self.steps.limits[[joint.name in led for joint in robot.moving]] = np.inf  # led, whatever they are told
        self._told, self._was = self._servo.position.copy(), np.array(self.truth.position)

    def advance(self):
        super().advance()
        told, now, steps = self._servo.position.copy(), np.array(self.truth.position), self.steps
        reference = float((np.abs(told - self._told) / steps.limits).max())
        joint = float((np.abs(now - self._was) / steps.limits).max())
        steps.reference, steps.joint = max(steps.reference, reference), max(steps.joint, joint)
        steps.above += max(reference, joint) > 1.0 + 1e-9
        steps.periods += 1
        self._told, self._was = told, now


@dataclass(frozen=True)
class Kills:
    """What happened."""

    controllers: int
    daemons: int
    steps: Steps

    def __str__(self):
        steps = self.steps
        return (
            f"{self.controllers} controllers and {self.daemons} daemons killed in {steps.periods} periods: largest "
            f"step of a reference {steps.reference:.6f}, of a joint {steps.joint:.6f} of its limit; {steps.above} above"
        )


@contextlib.contextmanager
def stage(robot, physics):
    """The world, which goes as fast as daemons answer, and the nursery."""
    loaded = robots.load(robot)
    plan = LaunchPlan.make(NAME, robot, physics=physics)
    with tempfile.TemporaryDirectory() as folder, Struck(loaded, physics=physics) as world:
        running = [True]
        thread = threading.Thread(target=join, args=(world, NAME, None, lambda: bool(running)))
        thread.start()
        nursery = Nursery(plan, Path(folder) / "log")
        try:
            yield world, nursery
        finally:
            for each in directory.writers(Names(NAME).tick):
                os.kill(each, signal.SIGKILL)
            nursery.close()
            running.clear()
            thread.join()


def strike(controllers, daemons, robot="dreamer", physics=False, seed=0):
    """Kill so many, each after a time of its own, while others move the robot on; a line now and then."""
    chance, killed = random.Random(seed), 0
    with stage(robot, physics) as (world, nursery):
        daemon = nursery.begin("daemon")
        wait_for(lambda: world.steps.periods > 10, 60)
        for number in range(controllers):
            process = nursery.begin("controller", number)
            time.sleep(chance.uniform(0.0, LONGEST_LIFE))
            kill(process)
            killed += 1
        mover = nursery.begin("controller", 1)
        for _ in range(daemons):
            before = world.steps.periods
            wait_for(lambda before=before: world.steps.periods > before + chance.randrange(5, 100), 60)
            assert not has_ended(daemon), "it ended by itself"
            kill(daemon)
            daemon = nursery.begin("daemon")
        before = world.steps.periods
        wait_for(lambda: world.steps.periods > before + 100, 60)
        kill(mover)
        return Kills(killed, daemons, world.steps)


def kill(process):
    os.kill(process, signal.SIGKILL)
    assert has_ended(process, 40.0)


def main(
    controllers: Annotated[int, typer.Option(min=0)] = 1000,
    daemons: Annotated[int, typer.Option(min=0)] = 100,
    robot: str = "dreamer",
    physics: bool = False,
    seed: int = 0,
) -> None:
    """Kill, and print the largest steps; exit code 1 if one is above the limit."""
    folder = tempfile.mkdtemp(prefix="wholebody-kills-", dir="/dev/shm")
    os.environ["WHOLEBODY_CHANNELS"] = folder
    try:
        kills = strike(controllers, daemons, robot, physics, seed)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(kills)
    sys.exit(bool(kills.steps.above))


if __name__ == "__main__":
    typer.run(main)
