"""A walking controller is told what to do through channels, by any process, and says what becomes of it."""

import math
import signal
import time
from dataclasses import dataclass
from typing import Annotated, ClassVar

import pytest
from walking_rig import NAME, Rig

from wholebody import robots
from wholebody.behaviors import Walking
from wholebody.behaviors.walking_goals import GOALS, Bearing, WalkingClient, WalkingGoal, WalkingServer
from wholebody.errors import BadFootsteps, GoalNotDone, NoController
from wholebody.locomotion.walking.footsteps import Footstep, Place
from wholebody.parameters import Bounds, Unit
from wholebody.services import Stage

DONE = [Stage.ACCEPTED, Stage.RUNNING, Stage.SUCCEEDED]


def stages(robot, number):
    return [report.stage for report in robot.reports(number)]


@pytest.mark.slow
def test_goals_come_through_channels_and_each_says_what_becomes_of_it():
    with Rig() as rig:
        robot = rig.client
        with pytest.raises(GoalNotDone, match="rejected: it does not stand yet; tell it to stand first"):
            robot.wait(robot.walk(distance=1.0))
        assert robot.doing.bearing is Bearing.NOT_UP

        stand = robot.stand(1.0)
        robot.wait(stand)
        assert stages(robot, stand) == DONE
        assert robot.doing.standing

        walk = robot.walk(distance=0.4)
        assert robot.wait_until(lambda doing: doing.bearing is Bearing.LEFT).goal == walk
        assert robot.wait_until(lambda doing: doing.bearing is Bearing.RIGHT).goal == walk
        robot.wait(walk)
        assert stages(robot, walk) == DONE
        assert robot.doing.place == pytest.approx((0.4, 0.0, 0.0), abs=1e-6)
        assert rig.world.com_in_world[0] == pytest.approx(0.4, abs=0.05)

        turn = robot.turn(1.4)
        robot.wait(turn, until=Stage.RUNNING)
        sideways = robot.go(leftward=0.05)
        robot.wait(sideways)
        assert stages(robot, turn) == [Stage.ACCEPTED, Stage.RUNNING, Stage.PREEMPTED]
        assert 0.0 < robot.doing.place.yaw < 1.39  # after the steps that could not be taken back
        assert rig.upright


@pytest.mark.slow
def test_a_velocity_ends_by_itself_unless_it_is_repeated_and_what_is_too_fast_is_said():
    with Rig() as rig, WalkingClient(NAME) as other:
        robot = rig.client
        robot.wait(robot.stand(1.0))
        first = robot.walk(velocity=(5.0, 0.0, 0.0))
        assert "faster than this robot can walk; it goes at (0.3" in robot.wait(first, until=Stage.ACCEPTED).text
        begin = robot.doing.time
        for number in range(10):  # in all five times as long as one order lasts
            robot.wait_until(lambda doing, number=number: doing.time >= begin + 0.25 * number)
            robot.wait(robot.walk(velocity=(0.15, 0.0, 0.1)), until=Stage.ACCEPTED)
        assert stages(robot, first)[-1] is Stage.PREEMPTED
        assert not robot.doing.standing
        walked = robot.doing.place.x
        last = other.walk(velocity=(0.15, 0.0, 0.1))
        ended = other.wait(last)
        assert walked > 0.1
        assert robot.doing.standing
        assert ended.time - begin < 2.5 + 0.5 + 5.0
        for wrong in (0.0, 11.0, math.nan):
            with pytest.raises(GoalNotDone, match="rejected"):
                robot.wait(robot.walk(velocity=(0.1, 0.0, 0.0), lasts=wrong))
        assert rig.upright


@pytest.mark.slow
def test_footsteps_that_no_legs_can_do_are_refused_and_the_robot_goes_on_standing():
    with Rig("minihubo") as rig:
        robot = rig.client
        robot.wait(robot.stand(1.0))
        half = Walking(rig.robot).walker.gait.limits.spacing / 2
        good = [Footstep("right", Place(0.04, -half, 0.0)), Footstep("left", Place(0.04, half, 0.0))]
        bad = {
            "mm more than this robot's longest": [Footstep("right", Place(0.3, -half, 0.0))],
            "crosses the other leg": [Footstep("right", Place(0.0, 2 * half, 0.0))],
            "feet take turns": [good[0], good[0]],
            "has no place": [Footstep("right", Place(math.nan, -half, 0.0))],
        }
        for reason, steps in bad.items():
            with pytest.raises(GoalNotDone, match=reason):
                robot.wait(robot.walk(footsteps=steps))
            assert robot.doing.standing
        robot.wait(robot.walk(footsteps=good))
        assert robot.doing.place.x == pytest.approx(0.04, abs=1e-9)
        given_up = robot.walk(steps_in_place=20)
        robot.wait(given_up, until=Stage.RUNNING)
        robot.wait(robot.cancel(given_up))
        with pytest.raises(GoalNotDone, match="cancelled"):
            robot.wait(given_up)
        assert robot.doing.standing
        in_place = robot.walk(steps_in_place=4)
        robot.wait(in_place, until=Stage.RUNNING)
        with pytest.raises(GoalNotDone, match="stop first"):
            robot.wait(robot.walk(footsteps=good))
        robot.wait(in_place)
        with pytest.raises(BadFootsteps, match="1 to 64"):
            robot.walk(footsteps=good * 40)


@dataclass(frozen=True)
class Lean(WalkingGoal):
    """Lean somewhere: a verb that nobody else has heard of."""

    angle: Annotated[float, Unit("rad"), Bounds(-0.5, 0.5)]
    needs_standing: ClassVar[bool] = False

    def begin(self, walking):
        if not self.angle:
            raise BadFootsteps("that is upright")
        walking.leans = self.angle


def test_a_new_verb_is_one_class():
    walking = Walking(robots.load("minihubo"))
    with WalkingServer(walking, NAME, goals=(*GOALS, Lean)) as server, WalkingClient(NAME) as robot:
        reasons = {0.0: "that is upright", 1.0: r"angle = 1.0 is outside -0.5 … 0.5 rad", math.nan: "must be finite"}
        for wrong, reason in reasons.items():
            lean = robot.send(Lean(wrong))
            server.serve(0.0)
            with pytest.raises(GoalNotDone, match=reason):
                robot.wait(lean)
        lean = robot.send(Lean(0.25))
        server.serve(0.0)
        assert stages(robot, lean)[0] is Stage.ACCEPTED
        assert walking.leans == 0.25
    with WalkingServer(walking, NAME), WalkingClient(NAME) as robot:
        lean = robot.send(Lean(0.25))
        with pytest.raises(GoalNotDone, match="knows no 'lean'; it knows stand, go,"):
            robot.wait(lean)


def test_a_controller_that_is_told_to_end_stops_the_robot_first_however_its_states_stall():
    with Rig("minihubo") as rig:

        def stall(_):
            rig.world.spoil = None
            time.sleep(0.6)

        robot = rig.client
        robot.wait(robot.stand(1.0))
        walk = robot.walk(distance=1.0)
        robot.wait_until(lambda doing: doing.bearing is Bearing.LEFT)
        rig.controller.send_signal(signal.SIGTERM)
        rig.world.spoil = stall
        with pytest.raises(GoalNotDone, match="preempted: the controller was told to end"):
            robot.wait(walk)
        assert rig.controller.wait(60) == 0
        assert robot.doing.standing
        assert rig.upright
        with pytest.raises(NoController, match="has ended"):
            robot.wait(robot.stop())
