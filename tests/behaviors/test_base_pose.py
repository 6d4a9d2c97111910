"""Where the base is: the state says so, or the legs who have walked there; and nobody, if both are silent."""

import math

import numpy as np
import pytest
from test_walking import Told

from wholebody import robots
from wholebody.behaviors.walking_goals import CONTROLLER
from wholebody.channels import Channel
from wholebody.drivers import Names
from wholebody.estimation.base_pose import STALE, BasePose, doing_record
from wholebody.locomotion.walking.footsteps import Place
from wholebody.operator.robot.localization import AVERAGED, Pace
from wholebody.robots.robot import Placement

TURNED = (0.0, 0.0, math.sin(0.25), math.cos(0.25))


@pytest.fixture
def legs():
    """What the walking controller says."""
    with Channel(Names("told").doing(CONTROLLER), doing_record()) as channel, channel.writer() as writer:
        yield writer


def state_at(time, known):
    state = np.zeros(1, robots.load("hubo2plus").state_dtype())[0]
    state.time, state.base.known = time, known
    state.base.position[:], state.base.orientation[:] = (1.0, 2.0, 0.8), TURNED
    return state


def test_a_state_that_knows_counts_more_than_the_legs_and_legs_that_fell_silent_count_for_nothing(legs):
    pose = BasePose("told")
    assert np.allclose(pose.of(state_at(5.0, True)), Placement((1.0, 2.0, 0.8), (0.0, 0.0, 0.5)).matrix)
    assert pose.of(state_at(5.0, False)) is None, "nobody has said a word"
    legs.message["time"], legs.message["base"] = 5.0, (3.0, 4.0, 0.7, *TURNED)
    legs.put()
    assert np.allclose(pose.of(state_at(5.0, False)), Placement((3.0, 4.0, 0.7), (0.0, 0.0, 0.5)).matrix)
    assert pose.of(state_at(5.0, True))[0, 3] == 1.0
    assert pose.of(state_at(5.1 + STALE, False)) is None
    legs.message["base"][0] = math.nan
    legs.put()
    assert pose.of(state_at(5.0, False)) is None


@pytest.mark.slow
def test_legs_know_where_a_robot_is_that_was_pushed_off_its_plan():
    told = Told(seed=3)
    assert told.walking.sensed is None, "it has not stood up"
    told.walking.stand()
    told.stands()
    told.walking.go(0.6, 0.0, 0.5)
    told.world.push("Body_Torso", (0.0, 90.0, 0.0), 0.1, start=told.world.time + 2.0)
    told.stands()
    sensed, truth = told.walking.sensed, told.world.base_to_world
    off = np.linalg.norm(sensed.base_in_world - truth[:3, 3])
    assert off < 0.02, "a centimetre a metre, as measured over five seeds, and what a push makes of it"
    x, y, z, w = sensed.orientation
    assert math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) == pytest.approx(told.yaw, abs=math.radians(1.5))


def test_speed_is_that_of_the_last_two_steps_however_the_body_sways():
    pace, found = Pace(), []
    for time in np.arange(0.0, 6.0, 0.05):
        sway = 0.03 * math.sin(math.tau * time / 1.6)
        found.append(pace.at(float(time), Place(0.2 * float(time), sway, 0.0)))
    assert np.allclose(found[40:], 0.2, atol=0.01)
    assert pace.at(6.0 + AVERAGED, Place(9.0, 0.0, 0.0)) == 0.0, "nobody knows how it came there"
