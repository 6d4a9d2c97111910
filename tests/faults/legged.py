"""A robot on legs that stands or walks, with its daemon and its walking controller as processes, in lock step.

The world notes in every period what the robot was told and what it did, so all times are the robot's own.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import shutil
import signal
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from robot_processes import wait_for
from walking_rig import NAME, Rig, Spoilt

from wholebody.behaviors.walking_goals import WalkingClient
from wholebody.cli import console
from wholebody.errors import WholebodyError
from wholebody.operator.recordings.script import Process, follow
from wholebody.processes.registry import WALK

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
        folder = Path(tempfile.mkdtemp(prefix="wholebody-faults-"))
        self.callback(shutil.rmtree, folder, ignore_errors=True)
        self.log = folder / "robot.log"
        self.rig = self.enter_context(LeggedRig(self.robot, log=self.log))
        self.world, self.begun = self.rig.world, math.inf
        self.limits = np.array([joint.velocity for joint in self.rig.robot.moving]) * self.world.period
        self.rig.client.wait(self.rig.client.stand(1.0))
        self.user = Typed(*self.lines)
        return self

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

    def said(self, where):
        """What is to be read there, now."""
        return {"walk": lambda: self.user.said, "status": lambda: said_by(console.status, NAME), "log": self._logged}[
            where
        ]()

    def _logged(self):
        return self.log.read_text(errors="replace")

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
