"""USE: a lever in a hall is pushed by a robot that people ask to, and what it does is told part by part."""

import math
import re

import numpy as np
import pytest
from reaching_rig import ReachingRig
from robot_processes import wait_for
from test_antenna import hall, item

from wholebody import robots
from wholebody.errors import Refused
from wholebody.operator.robot.fetching import PUSH

ROBOT = robots.load("hubo2plus")
LEVER = np.array([1.1, 0.0, 0.86])
"""m, its middle."""
THROWN = 0.15
"""rad. Further than what a gust would do."""


def tilt(pose):
    """rad between a lever and the vertical."""
    x, y = pose[3:5]
    return math.acos(min(1.0, max(-1.0, 1 - 2 * (x**2 + y**2))))


class Pressing(ReachingRig):
    """A robot that stands as an arm wants it for pressing, so far aside."""

    item = LEVER

    def __init__(self, side, aside=0.0):
        self.tilts = []
        super().__init__(ROBOT, "lever", side, "pressing_spot", aside)

    def looks(self):
        self.tilts.append(tilt(self.world.object_poses[0]))

    def presses(self, point_in_base, force):
        self.does("reach", point_in_base - [0.15, 0, 0], standoff=0.1)
        self.does("open")
        self.does("reach", point_in_base, standoff=0.1)
        self.does("press", point_in_base, force)

    @property
    def in_base(self):
        base = self.world.base_to_world
        return base[:3, :3].T @ (LEVER - base[:3, 3])


@pytest.mark.slow
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_hand_presses_until_the_wrist_feels_it_and_no_further(side):
    for force in (2.0, 5.0):
        robot = Pressing(side)
        robot.presses(robot.in_base, force)
        assert force <= robot.reaching.pressed(side) < force + 3.0
        pushed = max(robot.tilts)
        away = robot.does("reach", robot.in_base, standoff=0.1)
        assert away[1] == pytest.approx(away[0], abs=0.1), "it takes as long as it said"
        robot.goes_on(0.5)
        assert robot.tilts[-1] < 0.02, "the lever comes back"
        assert 0.5 * force * 0.14 / 2.5 < pushed < 2.5 * force * 0.14 / 2.5


def test_a_hand_that_meets_nothing_goes_to_its_end_and_says_that_it_feels_nothing():
    robot = Pressing("right", aside=0.5)
    robot.presses(robot.in_base + np.array([0.0, 0.5, 0.0]), 4.0)
    assert robot.reaching.pressed("right") < 0.5
    assert max(robot.tilts) < 0.02


@pytest.mark.slow
def test_people_have_a_lever_pushed_hear_how_far_it_is_and_may_leave_it_alone():
    with hall(seed=0, scene="lever") as (rig, client):
        tilts = []
        rig.world.spoil = lambda state: tilts.append(tilt(item(rig, "lever")))
        client.connect("operator")
        client.take_control()
        client.ask("NOTIFY [event, progress]")
        client.do("MOVE TURNING LEFT 2 DEGREES", 300.0)
        wait_for(lambda: "seen.candidate_1" in client.ask("QUERY SENSOR []"), 120)
        with pytest.raises(Refused, match="nobody has said what the lever is"):
            client.do("USE OBJECT(lever)")
        assert client.do("GOTO OBJECT(lever)", 400.0, lambda ways: "candidate_1") == "COMPLETED"
        with pytest.raises(Refused, match="left alone"):
            client.do("USE OBJECT(lever)", 60.0, lambda ways: ways[-1])
        assert max(tilts) < 0.02

        client.heard.clear()
        ways = []
        assert client.do("USE OBJECT(lever)", 400.0, lambda each: ways.extend(each) or each[0]) == "COMPLETED"
        assert sorted(ways[:-1]) == ["push_with_left_arm", "push_with_right_arm"]
        assert max(tilts) > THROWN
        assert tilts[-1] < 0.02
        assert rig.upright
        heard = "\n".join(client.heard)
        assert re.search(r"NOTIFY event the \w+ hand pushed the lever with \d", heard)
        told = re.findall(r"NOTIFY progress \d+ UNDERWAY (\d+) of (\d+): ([\w ]+), (\d+) s left", heard)
        parts = list(dict.fromkeys(what for _, _, what, _ in told))
        assert parts == [each for each in PUSH if each in parts]
        assert len(parts) >= len(PUSH) - 1, "it may stand as it shall already"
        assert int(told[-1][3]) <= 5 < int(told[0][3])
