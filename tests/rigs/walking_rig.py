"""A robot in a world of this process, with its daemon and its walking controller as processes of their own."""

from __future__ import annotations

import threading
from contextlib import ExitStack

import numpy as np
from robot_processes import wait_for

from wholebody import robots
from wholebody.behaviors.walking_goals import WalkingClient
from wholebody.channels import Channel
from wholebody.drivers import Names
from wholebody.operator.recordings.world import WalkedWorld
from wholebody.processes import lifecycle, registry
from wholebody.processes.launch_plan import LaunchPlan
from wholebody.simulation import SensorModel, join

NAME = "told"


class Rig(ExitStack):
    """Simulated time waits for daemon and controller, so that a busy machine decides nothing.

    `real_time` is the most of it that goes by in a second; None for as much as the machine can do.
    """

    def __init__(self, robot="hubo2plus", seed=0, scene="flat", real_time=None, log=None):
        super().__init__()
        self.robot, self.log = robots.load(robot), log
        self.world = self.world_type(self.robot, NAME, [], sensors=SensorModel.realistic(), seed=seed, scene=scene)
        self._running = True
        self.callback(self._end)
        plan = LaunchPlan.make(NAME, robot, scene=scene)
        self._children = [lifecycle.spawn(registry.DAEMON, log=log, plan=plan)]
        self._thread = threading.Thread(target=join, args=(self.world, NAME, real_time, lambda: self._running))
        self._thread.start()
        self.begin_controller()

    @property
    def daemon(self):
        """The daemon's process."""
        return self._children[0].process

    def stop_world(self):
        """Let no more time go by, as if the simulator had been killed."""
        self._running = False

    @property
    def world_has_ended(self):
        """Whether nobody lets time go by any more."""
        return not self._thread.is_alive()

    def end_world(self):
        """The same, and wait for it."""
        self.stop_world()
        self._thread.join()

    def begin_controller(self):
        """Begin a controller, and a client of it."""
        self.controller = self.begin(registry.WALK)
        self.client = self.enter_context(WalkingClient(NAME, timeout=90))

    def begin(self, role, **options):
        """Begin another process of the robot."""
        self._children.append(lifecycle.spawn(role, log=self.log, name=NAME, robot=self.robot.name, **options))
        return self._children[-1].process

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
            child.process.kill()
            child.process.wait()
        self.end_world()
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


Rig.world_type = Spoilt


class Feet:
    """What each foot bears and where it is, and where the centre of mass is, in truth, whenever it is called."""

    def __init__(self, world):
        self.world, self.robot = world, world.robot
        links = [self.robot.surface(f"{side}_sole").link for side in ("left", "right")]
        sensors = self.robot.sensors_of("force_torque")
        self._sensors = [next((n, each) for n, each in enumerate(sensors) if each.link == link) for link in links]
        self.weight = 9.81 * sum(link.mass for link in self.robot.links)
        self._rows = []

    def __call__(self, state=None):
        forces, row = self.world.truth.force_torque.force, [self.world.time]
        soles = []
        for number, sensor in self._sensors:
            link = self.world.link_to_world(sensor.link)
            row.append((link[:3, :3] @ sensor.at.rotation)[2] @ forces[number])
            soles += list(link[:3, 3])
        self._rows.append([*row, *soles, *self.world.com_in_world[:2]])

    def since(self, time):
        """N of both feet, m of both soles, m/s of the centre of mass."""
        rows = np.array([row for row in list(self._rows) if row[0] >= time])
        speed = np.hypot(*np.gradient(rows[:, 9:], rows[:, 0], axis=0).T)
        return rows[:, 1:3], rows[:, 3:9], speed

    def assert_rest(self, time):
        """From some time on both feet bear, none of them moves, and the body hardly does."""
        loads, soles, speed = self.since(time)
        assert len(loads) > 100
        assert loads.min() > 0.2 * self.weight
        assert np.ptp(soles, axis=0).max() < 0.005
        assert speed.max() < 0.06
