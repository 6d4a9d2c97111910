"""What the camera says of things: only what is in view and not hidden, and as sure as it is right."""

import math

import numpy as np
import pytest

from wholebody import robots
from wholebody.cli.camera_process import LENS, SOUGHT, Camera
from wholebody.perception.blobs import looks
from wholebody.perception.memory import GONE, Memory
from wholebody.robots.robot import Placement

ROBOT = robots.load("hubo2plus")


@pytest.fixture(scope="module")
def camera():
    camera = Camera(ROBOT, "antenna")
    camera.truth = camera._world.thing_poses
    yield camera
    camera.close()


class Looker:
    """A robot that stands somewhere in the scene and looks, with noise of its own."""

    def __init__(self, camera, seed=0):
        self.camera, self.random, self.time = camera, np.random.default_rng(seed), 0.0
        self.memory = Memory(LENS)
        self.bias = LENS.bias * self.random.standard_normal()
        self.things = camera.truth
        self.height = camera._world.base_to_world[2, 3]

    def looks(self, x, y, heading, times=1, things=None, down=0.0):
        positions = ROBOT.posture("stand")
        positions[[ROBOT.index["NK1"], ROBOT.index["NK2"]]] = down
        base = Placement((x, y, self.height), (0.0, 0.0, heading)).matrix
        self.camera.put(positions, base, self.things if things is None else things)
        for _ in range(times):
            self.time += 0.1
            depth = LENS.as_measured(self.camera.depth(), self.bias, self.random)
            found = looks(self.camera.picture(), depth, SOUGHT, LENS)
            self.memory.see(self.time, found, depth, base @ self.camera.to_base(base))
        return self.memory.things

    def error(self, thing):
        return float(np.linalg.norm(self.things[:, :3] - thing.position_in_world, axis=1).min())


def test_pixels_and_points_belong_together_and_depth_errs_as_disparity_does():
    point = LENS.point(100.0, 50.0, 2.0)
    assert LENS.pixel(point) == pytest.approx((100.0, 50.0))
    assert LENS.pixel(-point) is None
    disparity = LENS.focal * LENS.baseline / 2.0
    off = 2.0 - LENS.focal * LENS.baseline / (disparity + 1e-4)
    assert LENS.depth_error(2.0, 1e-4) == pytest.approx(off, rel=1e-3)


def test_only_what_is_in_view_and_not_hidden_is_seen(camera):
    assert len(Looker(camera).looks(0.0, 0.0, 0.0)) == 1, "the canister ahead, not the antenna beside"
    assert len(Looker(camera).looks(0.0, 0.0, math.pi)) == 0
    behind = Looker(camera).things.copy()
    behind[:, :3] = [(4.0, 1.35, 0.9), (4.2, 1.3, 0.9)]  # the pillar is at 3, 1
    assert len(Looker(camera).looks(0.0, 0.0, 0.32, things=behind)) == 0
    behind[:, :3] = [(2.5, 0.8, 0.9), (4.2, 1.3, 0.9)]
    assert len(Looker(camera).looks(0.0, 0.0, 0.32, things=behind)) == 1


def test_one_is_as_sure_as_one_is_right_less_from_afar_and_surer_after_more_looks(camera):
    shares, once, often = [], [], []
    for seed in range(12):
        looker = Looker(camera, seed)
        (first,) = looker.looks(0.0, 0.0, 0.0)
        once.append(first.deviation)
        shares.append(looker.error(first) / first.deviation)
        (first,) = looker.looks(0.0, 0.0, 0.0, times=10)
        often.append(first.deviation)
        shares.append(looker.error(first) / first.deviation)
    assert max(often) < 0.6 * min(once)
    assert min(often) > LENS.depth_error(1.5, LENS.bias), "what all looks have in common stays"
    assert max(shares) < 3.5
    assert np.mean(np.square(shares)) > 0.1, "nor is one less sure than one has to be"
    (near,) = Looker(camera).looks(0.9, -0.25, 0.0, down=0.25)
    assert near.deviation < 0.4 * once[0]


def test_a_thing_that_was_carried_away_is_forgotten_and_one_that_is_hidden_is_not(camera):
    looker = Looker(camera)
    looker.looks(0.0, 0.0, 0.0, times=3)
    looker.looks(0.0, 0.0, math.pi, times=3 * GONE)
    (kept,) = looker.memory.things
    assert not kept.visible
    gone = looker.things.copy()
    gone[:, 1] += 5.0
    assert looker.looks(0.0, 0.0, 0.0, times=GONE + 1, things=gone) == []
