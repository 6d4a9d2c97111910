"""The film of a run as a process, `wholebody process film`: it draws where a channel says that a robot was."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from wholebody import robots
from wholebody.channels import Channel
from wholebody.errors import MissingExtra
from wholebody.messages import Floats, Record
from wholebody.processes.main import Ready, speaker
from wholebody.processes.registry import FILM
from wholebody.realtime import until_told
from wholebody.robots.robot import Placement, Robot
from wholebody.simulation import Simulation
from wholebody.simulation.film import Recording

say = speaker(FILM)
RATE = 20.0
"""Frames in a second."""
KEPT = 4096
"""Frames that may wait to be drawn: three minutes."""
SIZE = (512, 384)
STRIP_EVERY = 4.0
"""s from one picture of the filmstrip to the next."""


def film_channel(name: str) -> str:
    """Where the frames of a robot's film come."""
    return f"{name}.film"


class FilmFrame(Record):
    """Where the robot is: joints, and position and roll, pitch, yaw of its base in world; `over` ends the film."""

    position: Floats
    base: Floats  # type: ignore[assignment]  # numpy's own `base` of a record says nothing
    over: bool


def frame_record(robot: Robot) -> np.dtype[FilmFrame]:
    """The layout of a frame."""
    fields: list[Any] = [("position", "<f8", (len(robot.moving),)), ("base", "<f8", (6,)), ("over", "?")]
    return FilmFrame.of(np.dtype(fields, align=True))


def main(robot: str, folder: Path, name: str = "", scene: str = "flat", *, ready: Ready) -> None:
    """Draw every frame, at one's own pace, until the film is over, or SIGTERM or SIGINT: walk.mp4, and a filmstrip."""
    os.nice(5)  # the walk comes first
    goes_on, loaded = until_told(), robots.load(robot)
    with contextlib.ExitStack() as stack:
        reader = stack.enter_context(Channel(film_channel(name), frame_record(loaded), depth=KEPT).reader())
        world = stack.enter_context(Simulation(loaded, scene, physics=False))
        films = [stack.enter_context(Recording(folder / "moments.png", 0.0, size=(240, 300)))]
        try:
            films.append(stack.enter_context(Recording(folder / "walk.mp4", 0.0, size=SIZE, rate=RATE)))
        except MissingExtra as error:
            say(f"{error}; there is a filmstrip instead")
        ready()
        drawn = 0
        while goes_on():
            if not reader.wait(0.2, mode="next"):
                continue
            if reader.message.over:
                return
            _pose(world, reader.message)
            for film in films[0 if drawn % round(STRIP_EVERY * RATE) == 0 else 1 :]:
                film.add(world)
            drawn += 1


def _pose(world: Simulation, frame: FilmFrame) -> None:
    lower, upper = np.array([(joint.lower, joint.upper) for joint in world.robot.moving]).T
    xyz, rpy = frame.base[:3], frame.base[3:]
    at = Placement((float(xyz[0]), float(xyz[1]), float(xyz[2])), (float(rpy[0]), float(rpy[1]), float(rpy[2])))
    world.reset(np.clip(frame.position, lower, upper), base=at)
