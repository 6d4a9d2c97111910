"""A robot in a world of this process, with its daemon and its walking controller as processes of their own."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import ExitStack
from dataclasses import replace

from robot_processes import wait_for

from wholebody import robots
from wholebody.behaviors.walking_client import WalkingClient
from wholebody.channels import Channel
from wholebody.cli import life
from wholebody.cli.plan import Plan
from wholebody.cli.walk_world import WalkedWorld
from wholebody.hardware import Names
from wholebody.simulation import SensorModel, join

NAME = "told"


class Rig(ExitStack):
    """Simulated time waits for daemon and controller, so that a busy machine decides nothing."""

    def __init__(self, robot="hubo2plus", seed=0, scene="flat", base_known=False):
        super().__init__()
        self.robot = robots.load(robot)
        sensors = replace(SensorModel.realistic(), base_known=base_known)
        self.world = Spoilt(self.robot, NAME, [], sensors=sensors, seed=seed, scene=scene)
        self._running = True
        self.callback(self._end)
        self._children = [life.begin(life.DAEMON, Plan.make(NAME, robot, "virtual", scene=scene), None)]
        self._thread = threading.Thread(target=join, args=(self.world, NAME, None, lambda: self._running))
        self._thread.start()
        self.begin_controller()

    def begin_controller(self):
        """Begin a controller, and a client of it."""
        command = [sys.executable, "-m", "wholebody.cli.walk_process", NAME, self.robot.name]
        self.controller = subprocess.Popen(command)
        self._children.append(self.controller)
        self.client = self.enter_context(WalkingClient(NAME, timeout=90))

    def begin(self, process, *arguments):
        """Begin another process of the robot."""
        self._children.append(subprocess.Popen([sys.executable, "-m", f"wholebody.cli.{process}", NAME, *arguments]))

    def kill_controller(self):
        """As a crash would."""
        self.controller.kill()
        self.controller.wait()

    @property
    def commanded(self):
        """What the daemon tells the joints, once it has found out that a controller is silent."""
        since = self.world.time
        wait_for(lambda: self.world.time > since + 0.5)
        with Channel(Names(NAME).commanded) as channel, channel.reader() as reader:
            reader.latest()
            return reader.message["position"].copy()

    @property
    def upright(self):
        """Whether the pelvis is upright, in truth."""
        return self.world.base_to_world[2, 2] > 0.95

    def _end(self):
        for child in reversed(self._children):
            child.kill()
            child.wait()
        self._running = False
        self._thread.join()
        self.world.close()


class Spoilt(WalkedWorld):
    """A world whose sensors can be spoilt."""

    spoil = None
    patience = 3.0  # other tests may run on this machine, and this one is not about time

    def read(self, state):
        """What the sensors say, and what became of it."""
        super().read(state)
        if self.spoil is not None:
            self.spoil(state)
