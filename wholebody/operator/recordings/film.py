"""A film of a run that keeps real time: the world notes where the robot is, and a process of its own draws that.

python -m wholebody.operator.recordings.film CHANNEL ROBOT SCENE FOLDER draws what comes on the channel until it is
told to end.
"""

from __future__ import annotations

import contextlib
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

import numpy as np

from wholebody import robots
from wholebody.channels import Channel
from wholebody.errors import MissingExtra, WholebodyError
from wholebody.messages import Floats, Record
from wholebody.robots.robot import Placement, Robot
from wholebody.simulation import Simulation
from wholebody.simulation.film import Recording

RATE = 20.0
"""Frames in a second."""
KEPT = 4096
"""Frames that may wait to be drawn: three minutes."""
SIZE = (512, 384)
PATIENCE = 120.0
"""s. How long the film may take when the run is over."""
STRIP_EVERY = 4.0
"""s from one picture of the filmstrip to the next."""


class FilmFrame(Record):
    """Where the robot is: joints, and position and roll, pitch, yaw of its base in world; `over` ends the film."""

    position: Floats
    base: Floats  # type: ignore[assignment]  # numpy's own `base` of a record says nothing
    over: bool


def frame_record(robot: Robot) -> np.dtype[FilmFrame]:
    """The layout of a frame."""
    fields: list[Any] = [("position", "<f8", (len(robot.moving),)), ("base", "<f8", (6,)), ("over", "?")]
    return FilmFrame.of(np.dtype(fields, align=True))


class Film:
    """The world's end: note() every period; leaving the `with` block waits until the film is drawn."""

    def __init__(self, robot: Robot, name: str, folder: Path, description: str, scene: str) -> None:
        self._channel = Channel(f"{name}.film", frame_record(robot), depth=KEPT)
        self._writer = self._channel.writer()
        self._next = -math.inf
        drawer = [sys.executable, "-m", "wholebody.operator.recordings.film"]
        self._process = subprocess.Popen([*drawer, self._channel.name, description, scene, str(folder)])

    def note(self, simulation: Simulation) -> None:
        """Remember where the robot is, if it is time to."""
        if simulation.time < self._next - simulation.period / 2:
            return
        self._next = max(self._next, simulation.time) + 1 / RATE
        message, base = self._writer.message, simulation.base_to_world
        message.position[:] = simulation.truth.position
        message.base[:] = (*base[:3, 3], *_roll_pitch_yaw(base))
        self._writer.put()

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Say that it is over, and wait for what is still to be drawn."""
        self._writer.message.over = True
        self._writer.put()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._writer.close()
        self._channel.close()


def _roll_pitch_yaw(frame: Any) -> tuple[float, float, float]:
    pitch = -math.asin(min(1.0, max(-1.0, float(frame[2, 0]))))
    return math.atan2(frame[2, 1], frame[2, 2]), pitch, math.atan2(frame[1, 0], frame[0, 0])


def draw(channel: str, robot: Robot, scene: str, folder: Path) -> None:
    """Draw every frame, at one's own pace: walk.mp4, and a filmstrip of some moments."""
    os.nice(5)  # the walk comes first
    parent = os.getppid()
    with contextlib.ExitStack() as stack:
        reader = stack.enter_context(Channel(channel, frame_record(robot), depth=KEPT).reader())
        world = stack.enter_context(Simulation(robot, scene, physics=False))
        films = [stack.enter_context(Recording(folder / "moments.png", 0.0, size=(240, 300)))]
        try:
            films.append(stack.enter_context(Recording(folder / "walk.mp4", 0.0, size=SIZE, rate=RATE)))
        except MissingExtra as error:
            print(f"film: {error}; there is a filmstrip instead", file=sys.stderr, flush=True)
        drawn = 0
        while os.getppid() == parent:
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


if __name__ == "__main__":
    try:
        draw(sys.argv[1], robots.load(sys.argv[2]), sys.argv[3], Path(sys.argv[4]))
    except WholebodyError as error:
        print(f"film: {error}", file=sys.stderr, flush=True)
        sys.exit(1)
