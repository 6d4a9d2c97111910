"""The camera of a simulated robot as a process: it looks at the state, draws what the camera sees, and steadies it.

python -m wholebody.cli.camera_process NAME ROBOT SCENE; `wholebody page` begins it. No pictures are drawn in the
simulator, so that it is never late for them.
"""

from __future__ import annotations

import io
import math
import sys
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from wholebody import robots
from wholebody.channels import Channel
from wholebody.cli.picture import roll_pitch_yaw
from wholebody.collaboration.page.frames import DEPTH, LARGEST, camera_channel, frame_record
from wholebody.collaboration.page.steadying import homography, turned
from wholebody.errors import BadSimulation, ChannelError, MissingExtra, WholebodyError
from wholebody.hardware import Names, Record
from wholebody.parameters.owned import own_channel
from wholebody.realtime import until_told
from wholebody.robots.geometry import placements
from wholebody.robots.robot import Array, Placement, Robot, Sensor
from wholebody.simulation import Simulation

try:
    from PIL import Image
except ImportError as error:
    raise MissingExtra("pillow", "page") from error

WIDTH, HEIGHT = 320, 240
FIELD_OF_VIEW = math.radians(45.0)
"""Vertical: that of MuJoCo's cameras."""
PERIOD = 0.1
"""s from picture to picture."""
QUALITY = 70


class Camera:
    """A robot's camera in a world of its own, in which the robot is put wherever the state says."""

    def __init__(self, robot: Robot, scene: str) -> None:
        self._robot = robot
        self.sensor = _camera_of(robot)
        self._world = Simulation(robot, scene, physics=False)
        self._lower = np.array([joint.lower for joint in robot.moving])
        self._upper = np.array([joint.upper for joint in robot.moving])

    def picture(self, positions: Array, base_to_world: Array) -> npt.NDArray[np.uint8]:
        """What it sees, as it is."""
        self._world.reset(np.clip(positions, self._lower, self._upper), Placement.of(base_to_world))
        return self._world.image(self.sensor.name, WIDTH, HEIGHT)

    def steady(self, positions: Array, base_to_world: Array) -> npt.NDArray[np.uint8]:
        """What it would see if the base stood upright."""
        link = placements(self._robot, positions)[self.sensor.link]
        camera_to_base = link[:3, :3] @ self.sensor.at.rotation
        H = homography(base_to_world[:3, :3], camera_to_base, WIDTH, HEIGHT, FIELD_OF_VIEW)
        taken = Image.fromarray(self.picture(positions, base_to_world))
        steadied = taken.transform(
            (WIDTH, HEIGHT), Image.Transform.PERSPECTIVE, tuple(H.ravel()[:8]), Image.Resampling.BILINEAR
        )
        return np.asarray(steadied)

    def close(self) -> None:
        """Let go of OpenGL."""
        self._world.close()


def _camera_of(robot: Robot) -> Sensor:
    cameras = robot.sensors_of("camera")
    if not cameras:
        raise BadSimulation(f"{robot.name} has no camera")
    return cameras[0]


def base_of(state: Record) -> Array:
    """The base's 4 × 4 frame in world."""
    x, y, z = (float(each) for each in state["base"]["position"])
    return Placement((x, y, z), roll_pitch_yaw(state["base"]["orientation"])).matrix


def jpeg(picture: npt.NDArray[np.uint8]) -> bytes:
    """A picture as the bytes of a file."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "jpeg", quality=QUALITY)
    return file.getvalue()


def run(name: str, robot: str, scene: str, goes_on: Callable[[], bool]) -> None:
    """Take pictures until told to end, or until the robot has gone."""
    camera = Camera(robots.load(robot), scene)
    with (
        Channel(Names(name).state) as states,
        states.reader() as reader,
        own_channel(camera_channel(name), frame_record(), DEPTH, 1) as channel,
        channel.writer() as writer,
    ):
        message, instant = writer.message, time.monotonic()
        while goes_on():
            instant = max(instant + PERIOD, time.monotonic())
            if reader.wait(0.2) and reader.message["base"]["known"]:
                base = base_of(reader.message)
                data = jpeg(camera.steady(np.nan_to_num(reader.message["position"]), base))[:LARGEST]
                message["time"], message["turned"], message["size"] = reader.message["time"], turned(base), len(data)
                message["jpeg"][: len(data)] = np.frombuffer(data, np.uint8)
                writer.put()
            time.sleep(max(0.0, instant - time.monotonic()))
    camera.close()


def main(name: str, robot: str, scene: str) -> None:
    """Take pictures until SIGTERM or SIGINT."""
    run(name, robot, scene, until_told())


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (WholebodyError, ChannelError) as error:
        print(f"camera: {error}", file=sys.stderr, flush=True)
        sys.exit(1)
