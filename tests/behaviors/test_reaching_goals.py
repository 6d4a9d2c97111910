"""Arms are told what to do through channels: one goal for each arm, and what is told last counts."""

import math

import numpy as np
import pytest

from wholebody import robots
from wholebody.behaviors.reaching import Reaching
from wholebody.behaviors.reaching_goals import ReachingClient, ReachingServer
from wholebody.errors import GoalNotDone
from wholebody.services import Stage

ROBOT = robots.load("hubo2plus")
DONE = [Stage.ACCEPTED, Stage.RUNNING, Stage.SUCCEEDED]


class Arms:
    """A robot that does at once what it is told, without physics, its server and a client of it."""

    def __init__(self):
        self.reaching = Reaching(ROBOT)
        self.state, self.reference = (np.zeros(1, each)[0] for each in (ROBOT.state_dtype(), ROBOT.reference_dtype()))
        self.state.position[:] = ROBOT.posture("stand")

    def goes_on(self, seconds):
        for _ in range(round(seconds / 0.01)):
            self.state.time += 0.01
            self.reaching.cycle(self.state, self.reference)
            moved = self.reference.mask
            self.state.position[moved] = self.reference.position[moved]
            self.server.serve(self.state.time)

    def stages(self, number):
        return [report.stage for report in self.client.reports(number)]


@pytest.fixture
def arms():
    """Arms that hang."""
    arms = Arms()
    with ReachingServer(arms.reaching, "robot") as arms.server, ReachingClient("robot") as arms.client:
        arms.goes_on(0.02)
        yield arms


def test_one_arm_moves_beside_the_other_and_a_newer_goal_of_the_same_preempts(arms):
    left, first = arms.client.carry("left"), arms.client.carry("right")
    arms.goes_on(0.1)
    assert arms.stages(left) == arms.stages(first) == DONE[:2]
    assert arms.client.taken == (True, True)
    assert arms.client.left > 0.1
    last = arms.client.close_hand("right")
    arms.goes_on(5.0)
    assert arms.stages(first) == [*DONE[:2], Stage.PREEMPTED]
    assert arms.stages(left) == arms.stages(last) == DONE


def test_a_stop_preempts_both_arms_and_a_cancelled_goal_only_holds_its_own(arms):
    left, right = arms.client.carry("left"), arms.client.carry("right")
    arms.goes_on(0.1)
    cancel = arms.client.cancel(left)
    arms.goes_on(0.7)
    assert arms.stages(cancel) == [Stage.SUCCEEDED]
    assert arms.stages(left) == [*DONE[:2], Stage.CANCELLED]
    assert arms.stages(right) == DONE[:2]
    stop = arms.client.stop()
    arms.goes_on(0.1)
    assert arms.stages(right) == [*DONE[:2], Stage.PREEMPTED]
    assert arms.stages(stop) == DONE


def test_what_no_arm_can_do_is_rejected_and_says_why(arms):
    for wrong, reason in {
        arms.client.reach("right", (3.0, 0.0, 0.0)): "",
        arms.client.reach("right", (math.nan, 0.0, 0.0)): "point_in_base must be finite",
        arms.client.press("right", (0.3, -0.2, 0.1), 300.0): r"force = 300.0 is outside -20 … 20 N",
        arms.client.carry("middle"): "no arm 'middle'",
    }.items():
        arms.goes_on(0.04)
        with pytest.raises(GoalNotDone, match=f"rejected: .*{reason}"):
            arms.client.wait(wrong)
    assert arms.client.taken == (False, False)
