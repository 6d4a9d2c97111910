"""What the camera says of objects: only what is in view and not hidden, and as sure as it is right."""

import math

import numpy as np
import pytest

from wholebody import robots
from wholebody.operator.head import Head
from wholebody.perception.colour_regions import looks
from wholebody.perception.objects import GONE, Memory
from wholebody.processes.pictures import LENS, SOUGHT, Camera
from wholebody.robots.robot import Placement

ROBOT = robots.load("hubo2plus")


@pytest.fixture(scope="module")
def camera():
    camera = Camera(ROBOT, "antenna")
    camera.truth = camera._world.object_poses
    yield camera
    camera.close()


class Looker:
    """A robot that stands somewhere in the scene and looks, with noise of its own."""

    def __init__(self, camera, seed=0):
        self.camera, self.random, self.time = camera, np.random.default_rng(seed), 0.0
        self.memory = Memory(LENS)
        self.bias = LENS.bias * self.random.standard_normal()
        self.objects = camera.truth
        self.height = camera._world.base_to_world[2, 3]

    def looks(self, x, y, heading, times=1, objects=None, down=0.0):
        positions = ROBOT.posture("stand")
        positions[[ROBOT.index["NK1"], ROBOT.index["NK2"]]] = down
        base = Placement((x, y, self.height), (0.0, 0.0, heading)).matrix
        self.camera.put(positions, base, self.objects if objects is None else objects)
        for _ in range(times):
            self.time += 0.1
            depth, to_world = LENS.as_measured(self.camera.depth(), self.bias, self.random), self.camera_to_world(base)
            found = looks(self.camera.picture(), depth, SOUGHT, LENS, up_in_camera=to_world[2, :3])
            self.memory.see(self.time, found, depth, to_world)
        return self.memory.objects

    def camera_to_world(self, base):
        return base @ self.camera.to_base(base)

    def error(self, item):
        return float(np.linalg.norm(self.objects[:, :3] - item.position_in_world, axis=1).min())


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
    behind = Looker(camera).objects.copy()
    behind[:, :3] = [(4.0, 1.35, 0.9), (4.2, 1.3, 0.9)]  # the pillar is at 3, 1
    assert len(Looker(camera).looks(0.0, 0.0, 0.32, objects=behind)) == 0
    behind[:, :3] = [(2.5, 0.8, 0.9), (4.2, 1.3, 0.9)]
    assert len(Looker(camera).looks(0.0, 0.0, 0.32, objects=behind)) == 1


@pytest.mark.slow
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
    (kept,) = looker.memory.objects
    assert not kept.visible
    gone = looker.objects.copy()
    gone[:, 1] += 5.0
    assert looker.looks(0.0, 0.0, 0.0, times=GONE + 1, objects=gone) == []


ANTENNA = 1.1, 0.9, 0.853
"""m: the middle of what one sees of it, as its dish hides its upper end."""


def test_the_middle_of_a_thing_is_that_of_its_ends_however_steeply_one_looks_down_on_it(camera):
    for far, down in ((1.2, 0.05), (0.8, 0.2), (0.6, 0.3), (0.45, 0.4)):
        looker = Looker(camera)
        (antenna,) = looker.looks(ANTENNA[0] - far, ANTENNA[1], 0.0, times=30, down=down)
        off = antenna.position_in_world - ANTENNA
        assert np.abs(off[:2]).max() < 3 * LENS.depth_error(far, LENS.bias), far
        assert abs(off[2]) < 0.005, far


@pytest.mark.slow
def test_who_sees_a_part_of_a_thing_is_not_sure_of_it_however_often(camera):
    looker = Looker(camera)
    (antenna,) = looker.looks(0.6, 0.9, 0.0, times=100, down=0.2)  # the picture ends above its foot
    assert antenna.visible
    assert antenna.deviation > 0.1
    assert antenna.position_in_world[2] > ANTENNA[2] + 0.03, "nor is one right"
    (antenna,) = looker.looks(0.6, 0.9, 0.0, times=5, down=0.35)
    assert antenna.deviation < 0.005
    assert antenna.position_in_world == pytest.approx(ANTENNA, abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize("down", [0.1, 0.2])
def test_who_has_seen_all_of_a_thing_knows_from_a_part_where_it_is(camera, down):
    looker = Looker(camera)
    looker.looks(0.0, 0.9, 0.0, times=10, down=0.1)
    (antenna,) = looker.looks(0.6, 0.9, 0.0, times=100, down=down)
    assert antenna.visible
    assert antenna.deviation < 0.005
    assert antenna.position_in_world == pytest.approx(ANTENNA, abs=0.008)


def test_what_the_robot_itself_hides_is_not_the_end_of_a_thing(camera):
    looker, pan = Looker(camera), 0.79
    positions = ROBOT.posture("stand")
    for name, angle in Head(ROBOT).positions(pan, -0.71).items():
        positions[ROBOT.index[name]] = angle
    base = Placement((ANTENNA[0] - 0.28, ANTENNA[1] - 0.28, looker.height)).matrix
    camera.put(positions, base, camera.truth)
    (look,) = looks(camera.picture(), camera.depth(), SOUGHT, LENS, looker.camera_to_world(base)[2, :3])
    assert look.ends == (False, True)
    assert look.sides
    assert look.length < 0.15
