"""Key frames that say that they fall do fall in MuJoCo, and the frames beside them rest, as `wholebody check` says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wholebody import robots
from wholebody.messages import Mode
from wholebody.motion import files
from wholebody.motion.static_poses import FrameRest, rests
from wholebody.robots import geometry
from wholebody.robots.robot import Placement, Robot
from wholebody.simulation import Simulation

SECONDS = 1.5
FRAMES = [("roll_left", 5), ("roll_left", 6), ("roll_left", 9), ("roll_left", 10), ("kneel_down", 2), ("kneel_down", 3)]


@pytest.mark.slow(but=["roll_left-9", "roll_left-6"])
@pytest.mark.parametrize(("name", "number"), FRAMES)
def test_a_frame_falls_if_it_says_so_and_rests_if_it_does_not(name, number):
    robot = robots.load("atlas")
    each = rests(files.key_frames(robot, name))[number - 1]
    assert (each.rest.margin < 0) == each.frame.falls
    assert (turned_when_held(robot, each) > math.radians(10)) == each.frame.falls


def turned_when_held(robot: Robot, each: FrameRest) -> float:
    """How far a robot turns that is put down as the frame rests and holds its posture, rad."""
    up, across = each.rest.up, np.eye(3)[int(np.argmin(np.abs(each.rest.up)))]
    across = np.cross(across, up) / np.linalg.norm(np.cross(across, up))
    base = np.eye(4)
    base[:3, :3] = across, np.cross(up, across), up
    base[2, 3] = -geometry.extent(robot, each.frame.position, base)[0][2]
    with Simulation(robot, seed=0) as simulation:
        simulation.reset(each.frame.position, base=Placement.of(base))
        reference = simulation.new_reference()
        reference.position[:], reference.mode[:], reference.mask[:] = each.frame.position, Mode.POSITION, True
        while simulation.time < SECONDS:
            simulation.write(reference)
            simulation.advance()
        return math.acos(np.clip(up @ simulation.base_to_world[2, :3], -1.0, 1.0))
