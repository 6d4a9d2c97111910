"""A robot on legs that stands or walks, with its daemon and its walking controller as processes, in lock step.

The world notes in every period what the robot was told and what it did, so all times are the robot's own.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from little import allow_little_memory, small_disk
from rich.console import Console
from robot_processes import MAIN, wait_for
from walking_rig import NAME, Rig, Spoilt

from wholebody.behaviors.walking_goals import WalkingClient
from wholebody.channels import Channel
from wholebody.cli import watch
from wholebody.drivers import Names
from wholebody.errors import WholebodyError
from wholebody.operator.recordings.script import Process, follow
from wholebody.operator.robot.diagnostics import Diagnostics
from wholebody.operator.robot.navigation import Legs
from wholebody.processes import lifecycle, registry
from wholebody.processes.registry import WALK

RIGS = Path(__file__).resolve().parents[1] / "rigs"
DISTANCE = 0.3
"""m that a robot is asked to walk: some steps of its own."""


class Seen(NamedTuple):
    """One period, in truth."""

    time: float  # s that went by
    command: np.ndarray  # rad, of all joints
    tilt: float  # rad
    speed: float  # m/s, of the centre of mass


class Watched(Spoilt):
    """A world that notes each period, and does something in the period in which it is due."""

    def __init__(self, *arguments, **options):
        self.jump = 0.0  # s by which its clock is ahead
        super().__init__(*arguments, **options)
        self.seen: list[Seen] = []
        self.waits = True  # for the controller, as long as that lives
        self._due = None
        self._told = self._servo.position.copy()
        self._com = self.com_in_world

    def at(self, so, do):
        """Do something in the first period in which something is so; what is set then."""
        done = threading.Event()
        self._due = (so, do, done)
        return done

    def write(self, reference):
        super().write(reference)
        self._told = np.where(reference.mask, reference.position, self._told)

    def advance(self):
        super().advance()
        com, before = self.com_in_world, self._com
        self._com = com
        tilt = math.acos(max(-1.0, min(1.0, self.base_to_world[2, 2])))
        speed = float(np.linalg.norm(com - before)) / self.period
        self.seen.append(Seen(self.went_by, self._told, tilt, speed))
        if self._due is not None and self._due[0]():
            _, do, done = self._due
            self._due = None
            do()
            done.set()

    @property
    def went_by(self):
        """Seconds that went by, whatever the clock shows."""
        return self._tick * self._period

    @property
    def time(self):
        return self.went_by + self.jump

    def _wait_for_controller(self, client):
        if self.waits:
            super()._wait_for_controller(client)


class LeggedRig(Rig):
    world_type = Watched


class Standing(contextlib.ExitStack):
    """A robot that stands; `user` has typed `wholebody walk`, and reads what that says."""

    about = "stands"
    robot = "hoap3"
    lines = ("wait 1000",)

    def __enter__(self):
        super().__enter__()
        self.log = lifecycle.log_file(NAME)
        self.log.parent.mkdir(parents=True)
        self.disk()
        self.rig = self.enter_context(LeggedRig(self.robot, log=self.log))
        self.world, self.begun = self.rig.world, math.inf
        self.limits = np.array([joint.velocity for joint in self.rig.robot.moving]) * self.world.period
        self.rig.client.wait(self.rig.client.stand(1.0))
        self.user = Typed(*self.lines)
        self._page = Diagnostics(NAME, self.enter_context(contextlib.closing(Legs(NAME))).doing)
        self._page.now()
        self._commands = []
        self._typed = Path(self.enter_context(tempfile.TemporaryDirectory())) / "said"
        return self

    def disk(self):
        """On which its processes write what they say: that of the machine."""

    def strike(self, inject):
        """Let a fault happen when it is time for it, between two periods of the world."""

        def strike():
            self.begun = self.world.went_by
            inject(self)

        wait_for(self.world.at(self.due, strike).is_set, 240)

    def due(self):
        return True

    # What can be done to it.

    def kill(self, process):
        """As a crash would, or somebody who types kill -9."""
        self.world.waits = False
        os.kill(process.pid, signal.SIGKILL)

    def hang(self, process, seconds=math.inf):
        """Stop a process (SIGSTOP), and let it go on after so many seconds of the robot."""
        self.world.waits = False
        os.kill(process.pid, signal.SIGSTOP)
        self.callback(self._let_go, process)
        if seconds < math.inf:
            until = self.world.went_by + seconds
            self.world.at(lambda: self.world.went_by >= until, lambda: self._let_go(process))

    def _let_go(self, process):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGCONT)
        self.world.waits = True

    def pause(self, seconds):
        """Let no time go by for so many real seconds, as a simulator does that hangs for a while."""
        time.sleep(seconds)

    def type(self, *words):
        """Have the user type another command of ours; what that says is to be read in 'command'."""
        with self._typed.open("a") as said:
            process = subprocess.Popen([*MAIN, *map(str, words)], stdout=said, stderr=said)
        self.callback(lambda: (process.kill(), process.wait()))
        self._commands.append(process)

    def crowd(self, others):
        """Let so many other controllers come, who move nothing."""
        layout = self.rig.robot.reference_dtype()
        for number in range(others):
            channel = self.enter_context(Channel(Names(NAME).reference(f"other{number}"), layout))
            self.enter_context(channel.writer()).put()

    def feed_all_memory(self):
        """Have a behaviour eat until the kernel kills it."""
        hungry = self.rig.begin(registry.BEHAVIOR, behavior=f"{RIGS / 'hungry.py'}:Eat")
        wait_for(lambda: registry.running_as(registry.BEHAVIOR, NAME, f"{RIGS / 'hungry.py'}:Eat"), 60)
        group = allow_little_memory(hungry.pid)
        self.callback(lambda: (hungry.kill(), hungry.wait(), group.rmdir()))
        self.type("console", "--name", NAME, "-c", "eat")

    def jump(self, seconds):
        """Let the robot's clock show so much more."""
        self.world.jump += seconds

    def end_world(self):
        """As if the simulator had been killed: nobody lets time go by any more."""
        self.rig.stop_world()

    def spoil(self, spoil):
        """Have something done to all that sensors say."""
        self.world.spoil = spoil

    # What people see, and what it does.

    @property
    def busy(self):
        """Whether a command that was typed is still under way."""
        return not self.user.ended or any(each.poll() is None for each in self._commands)

    def said(self, where):
        """What is to be read there, now."""
        reads = {
            "walk": lambda: self.user.said,
            "page": lambda: "\n".join(self._page.now()),
            "status": lambda: said_by(watch.status, NAME),
            "log": lambda: self.log.read_text(errors="replace"),
            "command": lambda: self._typed.read_text(errors="replace"),
        }
        return reads[where]()

    def periods(self, seconds):
        """Those since the fault, once so many seconds have gone by."""
        wait_for(lambda: self.rig.world_has_ended or self.world.went_by >= self.begun + seconds, 240)
        return [each for each in list(self.world.seen) if each.time >= self.begun]


class Walking(Standing):
    """A robot that walks, as the user has asked; what happens, happens in mid-step."""

    about = "walks"
    lines = (f"walk {DISTANCE}",)

    def due(self):
        """Some steps have been made, and a foot is in the air."""
        loads = np.abs(self.world.truth.force_torque.force).max(axis=1)
        return self.world.com_in_world[0] > 0.1 and loads.min() < 1.0


class OnSmallDisk:
    """The same, with logs on a disk of its own, which has room for little."""

    def disk(self):
        self.enter_context(small_disk(self.log.parent))

    def fill(self):
        """Leave no room, not even in the log's last block."""
        for file in (self.log.with_suffix(".more"), self.log):
            with contextlib.suppress(OSError), file.open("ab", buffering=0) as stream:
                while True:
                    stream.write(bytes(1))


class StandingOnSmallDisk(OnSmallDisk, Standing):
    pass


class WalkingOnSmallDisk(OnSmallDisk, Walking):
    pass


class Alone:
    """The same, with nobody who lets time go by: boards hold what joints were told last, and physics goes on."""

    def periods(self, seconds):
        self.rig.end_world()
        while self.world.went_by < self.begun + seconds:
            self.world.advance()
        return [each for each in self.world.seen if each.time >= self.begun]


class StandingAlone(Alone, Standing):
    pass


class WalkingAlone(Alone, Walking):
    pass


class Typed:
    """`wholebody walk --name NAME --order …`, typed by somebody: what it has said so far."""

    def __init__(self, *lines):
        self._text, self.ended = io.StringIO(), False
        self._thread = threading.Thread(target=self._run, args=(lines,), daemon=True)
        self._thread.start()

    def _run(self, lines):
        console = Console(file=self._text, width=200)
        try:
            follow(NAME, lines, Process(WalkingClient, WALK), console)
        except WholebodyError as error:
            console.print(f"wholebody: {error}", soft_wrap=True)
        self.ended = True

    @property
    def said(self):
        return self._text.getvalue()


def said_by(command, *arguments):
    """What a command of ours prints, and the error that it ends with."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        try:
            command(*arguments)
        except WholebodyError as error:
            print(f"wholebody: {error}")
        except BaseException as error:
            if type(error).__name__ != "Exit":
                raise
    return text.getvalue()
