"""A robot that carries a table with a partner, in MuJoCo: it goes where it is pulled, and stops when it is not."""

import numpy as np
import pytest

from experiments.carried_table import STILL, around, run
from wholebody import robots
from wholebody.behaviors import Walking
from wholebody.behaviors.carrying import Carrying
from wholebody.errors import BadGait


def a_little_ahead(seconds):
    return min(max(0.0, 0.15 * seconds), 0.3), 0.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lead", "seconds", "within"),
    [(a_little_ahead, 13.0, 0.2), (around, 20.0, 0.35)],  # it turns on until the partner pulls back with 5 N
    ids=["ahead", "around"],
)
def test_a_robot_that_feels_its_wrists_follows_the_partner_and_one_that_does_not_stays(lead, seconds, within):
    follows = run(lead, 3, seconds=seconds)
    holds = run(lead, 3, STILL, seconds=0.6 * seconds)
    assert not follows.fell
    assert not holds.fell
    assert follows.followed == pytest.approx(1.0, abs=within)
    assert abs(holds.followed) < 0.1
    assert follows.pull < 0.5 * holds.pull


def test_a_pull_is_felt_in_the_direction_and_size_in_which_it_acts():
    """Forces on both hands, in the axes of sensors that are turned with the wrists."""
    carrying = Carrying(Walking(robots.load("hubo2plus")))
    model = carrying.walking.walker.model
    robot = model.robot
    state = np.zeros(1, robot.state_dtype())[0]
    state.position[:] = carrying.posture
    q = model.neutral()
    q[7:] = carrying.posture
    seen = model.at(q)
    names = [sensor.name for sensor in robot.sensors_of("force_torque")]
    pull = np.array([6.0, -4.0, 1.0])
    for hand in ("left_hand", "right_hand"):
        reading = state.force_torque[names.index(hand)]
        reading["force"] = seen.rotation(model.sensor(hand)).T @ pull
    for _ in range(2000):
        carrying._feel(state, 0.005)
    at = np.mean([seen.position(model.sensor(hand)) for hand in ("left_hand", "right_hand")], axis=0)
    assert carrying.pull.forward == pytest.approx(12.0, abs=1e-6)
    assert carrying.pull.leftward == pytest.approx(-8.0, abs=1e-6)
    assert carrying.pull.turn == pytest.approx(at[0] * -8.0 - at[1] * 12.0, abs=1e-6)
    state.force_torque[names.index("left_hand")].force[:] = np.nan
    carrying._feel(state, 0.005)
    assert carrying.pull.forward == pytest.approx(12.0, abs=1e-6)


def test_a_robot_without_wrist_sensors_is_refused():
    with pytest.raises(BadGait, match="would not feel a partner"):
        Carrying(Walking(robots.load("hoap3")))
