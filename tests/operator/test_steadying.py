"""The picture of a camera that sways with its robot stands still once it is steadied."""

import numpy as np
import pytest

from wholebody import robots
from wholebody.processes.pictures import Camera, jpeg, steadied
from wholebody.robots.geometry import placements
from wholebody.robots.robot import Placement

ROBOT = robots.load("hubo2plus")


def swaying(camera, roll, pitch, yaw=0.4):
    """A base that leans, put so that the camera is where it is when the robot stands upright."""
    positions = ROBOT.posture("stand")
    eye = placements(ROBOT, positions)[camera.sensor.link] @ camera.sensor.at.matrix
    upright = Placement((0.0, 0.0, 0.9), (0.0, 0.0, yaw)).matrix
    leaning = Placement((0.0, 0.0, 0.0), (roll, pitch, yaw)).matrix
    leaning[:3, 3] = (upright @ eye)[:3, 3] - leaning[:3, :3] @ eye[:3, 3]
    return positions, upright, leaning


@pytest.mark.parametrize(("roll", "pitch"), [(0.12, 0.0), (0.0, -0.06), (-0.08, 0.05)])
def test_a_leaning_robot_sees_what_an_upright_one_does(roll, pitch):
    camera = Camera(ROBOT, "hall")
    positions, upright, leaning = swaying(camera, roll, pitch)
    middle = np.s_[50:-50, 60:-60]
    camera.put(positions, upright)
    wanted = camera.picture()[middle].astype(float)
    camera.put(positions, leaning)
    taken = camera.picture()
    back = steadied(taken, camera.to_base(leaning), leaning)[middle].astype(float)
    as_taken = taken[middle].astype(float)
    error, without = np.abs(back - wanted).mean(), np.abs(as_taken - wanted).mean()
    camera.close()
    assert without > 3.0, "the control arm: it does sway"
    assert error < 0.25 * without


def test_an_upright_robot_is_left_alone_and_a_picture_fits_a_message():
    from wholebody.perception.camera_frames import LARGEST, homography, turned, upright

    base = Placement((0.0, 0.0, 0.0), (0.0, 0.0, 1.1)).rotation
    tilted = Placement((0.0, 0.0, 0.0), (0.0, 0.7, 0.0)).rotation
    assert np.allclose(homography(base, tilted, 320, 240, 0.8), np.eye(3), atol=1e-9)
    assert np.allclose(upright(base), base)
    assert turned(Placement((0.0, 0.0, 0.0), (0.1, 0.0, 2.0)).rotation) == pytest.approx(0.1)
    noise = np.random.default_rng(0).integers(0, 255, (240, 320, 3), np.uint8)
    assert len(jpeg(noise)) < LARGEST
