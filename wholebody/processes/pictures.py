"""Pictures of a simulated robot, drawn by processes of their own so that the simulator is never late for them.

camera  draws what the robot's camera sees, steadies it, and tells what is there; `wholebody page` and `rcp` begin it.
        Where base and objects are in truth it learns from the simulator, to draw them; what it says of them it has from
        its pictures, in colour and with a depth as noisy as that of a stereo pair, and from where the robot believes
        that it is.
film    draws where a channel says that a robot was; `wholebody walk` begins it.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from wholebody import robots
from wholebody.channels import Channel
from wholebody.channels.owned import Opened
from wholebody.channels.subscription import Subscription
from wholebody.drivers import Names
from wholebody.errors import BadSimulation, MissingExtra
from wholebody.estimation.base_pose import BasePose, frame
from wholebody.messages import Floats, Record, State
from wholebody.perception.camera_frames import (
    DEPTH,
    LARGEST,
    camera_channel,
    frame_record,
    homography,
    turned,
    upright,
)
from wholebody.perception.camera_model import CameraModel
from wholebody.perception.colour_regions import Colour, looks
from wholebody.perception.objects import Memory, seen_channel, seen_record, write_seen
from wholebody.processes.main import Ready, speaker
from wholebody.realtime import until_told
from wholebody.robots.geometry import standing
from wholebody.robots.robot import Array, Placement, Robot, Sensor
from wholebody.simulation import Simulation
from wholebody.simulation.film import Recording
from wholebody.simulation.objects import ObjectsMessage

WIDTH, HEIGHT = 320, 240
FIELD_OF_VIEW = math.radians(45.0)
"""Vertical: that of MuJoCo's cameras."""
PERIOD = 0.1
"""s from picture to picture."""
QUALITY = 70
LENS = CameraModel(WIDTH, HEIGHT, FIELD_OF_VIEW)
SOUGHT = Colour(hue=308.0)
"""Of the objects that are to be found in our scenes."""


class Camera:
    """A robot's camera in a world of its own, in which robot and objects are put wherever they are."""

    def __init__(self, robot: Robot, scene: str) -> None:
        self.sensor = _camera_of(robot)
        self._world = Simulation(robot, scene, physics=False)
        self._lower = np.array([joint.lower for joint in robot.moving])
        self._upper = np.array([joint.upper for joint in robot.moving])
        self.objects = len(self._world.objects)

    def put(self, positions: Array, base_to_world: Array, objects: Array | None = None) -> None:
        """Put the robot there, and the objects, if their poses are known."""
        self._world.reset(np.clip(positions, self._lower, self._upper), Placement.of(base_to_world))
        if objects is not None:
            self._world.put_objects(objects)

    def picture(self) -> npt.NDArray[np.uint8]:
        """What it sees, as it is."""
        return self._world.image(self.sensor.name, WIDTH, HEIGHT)

    def depth(self) -> npt.NDArray[np.float32]:
        """How far all that is, m."""
        return self._world.depth(self.sensor.name, WIDTH, HEIGHT)

    def to_base(self, base_to_world: Array) -> Array:
        """The camera's 4 × 4 frame in the base, as the robot was put."""
        link_in_base = np.linalg.solve(base_to_world, self._world.link_to_world(self.sensor.link))
        return np.asarray(link_in_base @ self.sensor.at.matrix)

    def close(self) -> None:
        """Let go of OpenGL."""
        self._world.close()


def steadied(picture: npt.NDArray[np.uint8], camera_to_base: Array, base_to_world: Array) -> npt.NDArray[np.uint8]:
    """What a camera would see if the base stood upright."""
    H = homography(base_to_world[:3, :3], camera_to_base[:3, :3], WIDTH, HEIGHT, FIELD_OF_VIEW)
    turned_back = Image.fromarray(picture).transform(
        (WIDTH, HEIGHT), Image.Transform.PERSPECTIVE, tuple(H.ravel()[:8]), Image.Resampling.BILINEAR
    )
    return np.asarray(turned_back)


def _camera_of(robot: Robot) -> Sensor:
    cameras = robot.sensors_of("camera")
    if not cameras:
        raise BadSimulation(f"{robot.name} has no camera")
    return cameras[0]


def jpeg(picture: npt.NDArray[np.uint8]) -> bytes:
    """A picture as the bytes of a file."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "jpeg", quality=QUALITY)
    return file.getvalue()


class Eye(Opened):
    """Takes pictures of what the newest state says, puts them on a channel, and what is in them on another."""

    def __init__(self, name: str, robot: Robot, scene: str, seed: int = 0) -> None:
        super().__init__()
        self._camera = Camera(robot, scene)
        self._opened.callback(self._camera.close)
        self._state = Subscription(Names(name).state, State)
        self._truth = Subscription(Names(name).objects, ObjectsMessage)
        self._pose, self._unknown = BasePose(name), standing(robot, next(iter(robot.postures)))
        self._frames = self._writer(camera_channel(name), frame_record(), DEPTH, 1)
        self._seen = self._writer(seen_channel(name), seen_record(), DEPTH, 1)
        self._last = -1.0
        self._memory, self._random = Memory(LENS), np.random.default_rng(seed)
        self._bias = LENS.bias * float(self._random.standard_normal())

    def look(self) -> None:
        """Take a picture, if there is something new; from where is what the robot believes, not the truth."""
        state, truth = self._state.take(), self._truth.take()
        if state is None or truth is None or state.time == self._last:
            return
        base = self._pose.of(state)  # before it draws: the robot goes on meanwhile
        self._last = state.time
        there = frame(truth.base[:3], truth.base[3:])
        self._camera.put(np.nan_to_num(state.position), there, np.array(truth.pose))
        picture, camera_to_base = self._camera.picture(), self._camera.to_base(there)
        self._show(self._last, picture, camera_to_base, self._unknown if base is None else base)
        if self._camera.objects and base is not None:
            self._find(self._last, picture, base @ camera_to_base)

    def _show(self, time: float, picture: npt.NDArray[np.uint8], camera_to_base: Array, base: Array) -> None:
        data = jpeg(steadied(picture, camera_to_base, base))[:LARGEST]
        message = self._frames.message
        message.time, message.turned, message.size = time, turned(base), len(data)
        message.camera[:], message.field_of_view = base @ camera_to_base, FIELD_OF_VIEW
        message.camera[:3, :3] = upright(base) @ camera_to_base[:3, :3]
        message.jpeg[: len(data)] = np.frombuffer(data, np.uint8)
        self._frames.put()

    def _find(self, time: float, picture: npt.NDArray[np.uint8], camera_to_world: Array) -> None:
        depth = LENS.as_measured(self._camera.depth(), self._bias, self._random)
        found = looks(picture, depth, SOUGHT, LENS, up_in_camera=camera_to_world[2, :3])
        self._memory.see(time, found, depth, camera_to_world)
        write_seen(time, self._memory.objects, self._seen.message)
        self._seen.put()


def camera(name: str = "", robot: str = "", scene: str = "flat", *, ready: Ready) -> None:
    """Take pictures until SIGTERM or SIGINT."""
    goes_on = until_told()
    with Eye(name, robots.load(robot), scene) as eye:
        ready()
        instant = time.monotonic()
        while goes_on():
            eye.look()
            instant = max(instant + PERIOD, time.monotonic() - PERIOD)  # one that took long is made up for
            time.sleep(max(0.0, instant - time.monotonic()))


FILM_RATE = 20.0
"""Frames of a film in a second."""
KEPT = 4096
"""Frames that may wait to be drawn: three minutes."""
FILM_SIZE = (512, 384)
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


def film_record(robot: Robot) -> np.dtype[FilmFrame]:
    """The layout of a frame."""
    fields: list[Any] = [("position", "<f8", (len(robot.moving),)), ("base", "<f8", (6,)), ("over", "?")]
    return FilmFrame.of(np.dtype(fields, align=True))


def film(robot: str, folder: Path, name: str = "", scene: str = "flat", *, ready: Ready) -> None:
    """Draw every frame, at one's own pace, until the film is over, or SIGTERM or SIGINT: walk.mp4, and a filmstrip."""
    os.nice(5)  # the walk comes first
    goes_on, loaded = until_told(), robots.load(robot)
    with contextlib.ExitStack() as stack:
        reader = stack.enter_context(Channel(film_channel(name), film_record(loaded), depth=KEPT).reader())
        world = stack.enter_context(Simulation(loaded, scene, physics=False))
        films = [stack.enter_context(Recording(folder / "moments.png", 0.0, size=(240, 300)))]
        try:
            films.append(stack.enter_context(Recording(folder / "walk.mp4", 0.0, size=FILM_SIZE, rate=FILM_RATE)))
        except MissingExtra as error:
            speaker("film")(f"{error}; there is a filmstrip instead")
        ready()
        drawn = 0
        while goes_on():
            if not reader.wait(0.2, mode="next"):
                continue
            if reader.message.over:
                return
            _pose(world, reader.message)
            for each in films[0 if drawn % round(STRIP_EVERY * FILM_RATE) == 0 else 1 :]:
                each.add(world)
            drawn += 1


def _pose(world: Simulation, frame: FilmFrame) -> None:
    lower, upper = np.array([(joint.lower, joint.upper) for joint in world.robot.moving]).T
    xyz, rpy = frame.base[:3], frame.base[3:]
    at = Placement((float(xyz[0]), float(xyz[1]), float(xyz[2])), (float(rpy[0]), float(rpy[1]), float(rpy[2])))
    world.reset(np.clip(frame.position, lower, upper), base=at)
