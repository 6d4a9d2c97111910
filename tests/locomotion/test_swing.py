"""A swing begins and ends at rest, goes over its via point, and can be led elsewhere without a jump."""

from dataclasses import replace

import numpy as np
import pytest

from wholebody import robots
from wholebody.errors import BadGait
from wholebody.locomotion.walking.footsteps import Footstep, Place
from wholebody.locomotion.walking.gait import gait_of, standing
from wholebody.locomotion.walking.gait_tuning import LegSwing, as_swung, by_cubics, leg_swing, via_of
from wholebody.locomotion.walking.pattern import Pattern
from wholebody.locomotion.walking.swing import Swing
from wholebody.model import DoublePendulum, Model

START, GOAL = Place(0.0, 0.1, 0.0), Place(0.4, 0.12, 0.3)


def rates(swing, time, dt=1e-4):
    """Velocity and acceleration of x, y, yaw and height by differences."""
    rows = [np.array([*swing.at(time + k * dt).place, swing.at(time + k * dt).height]) for k in (-1, 0, 1)]
    return (rows[2] - rows[0]) / (2 * dt), (rows[2] - 2 * rows[1] + rows[0]) / dt**2


@pytest.mark.parametrize("via", [0.3, 0.5, 0.7])
def test_a_swing_goes_from_place_to_place_over_its_via_point_and_lands_at_rest(via):
    swing = Swing(START, GOAL, 1.0, 1.5, 0.05, via)
    assert np.allclose(swing.at(1.0).place, START)
    assert np.allclose(swing.at(1.5).place, GOAL)
    assert swing.at(1.0 + 0.5 * via).height == pytest.approx(0.05)
    assert max(swing.at(t).height for t in np.linspace(1, 1.5, 200)) <= 0.05 + 1e-9
    for end in (1.0 + 2e-4, 1.5 - 2e-4):
        velocity, acceleration = rates(swing, end)
        assert np.abs(velocity).max() < 1e-4
        assert np.abs(acceleration).max() < 0.5  # of a swing whose largest is above 10
    assert max(np.abs(rates(swing, t)[1]).max() for t in np.linspace(1.05, 1.45, 50)) > 5.0


def test_a_swing_led_elsewhere_arrives_there_with_no_jump_in_acceleration():
    swing, plain = Swing(START, GOAL, 0.0, 0.5, 0.05), Swing(START, GOAL, 0.0, 0.5, 0.05)
    swing.redirect(0.2, Place(0.3, 0.2, 0.0))
    for one, other in zip(rates(swing, 0.2 + 2e-4), rates(plain, 0.2 - 2e-4), strict=True):
        assert np.allclose(one, other, atol=0.2)
    assert np.allclose(swing.at(0.5).place, (0.3, 0.2, 0.0))


def test_near_its_end_a_swing_is_not_led_any_more():
    swing = Swing(START, GOAL, 0.0, 0.5, 0.05)
    swing.redirect(0.45, Place(0.0, 0.2, 0.0))
    assert np.allclose(swing.at(0.5).place, GOAL)


@pytest.mark.parametrize(("end", "lift", "via"), [(0.0, 0.05, 0.5), (0.5, -0.01, 0.5), (0.5, 0.05, 0.0)])
def test_a_swing_that_is_none_is_refused(end, lift, via):
    with pytest.raises(BadGait):
        Swing(START, GOAL, 0.0, end, lift, via)


@pytest.mark.parametrize("path", [as_swung, by_cubics])
def test_the_via_time_found_by_newton_is_where_the_hip_torque_varies_least(path):
    leg = DoublePendulum(0.3, 0.3, 4.0, 3.0)
    swing = LegSwing(leg, (-0.2, -0.55), (0.2, -0.55), 0.06, 0.5, path=path)
    best = swing.best_via()
    everywhere = np.linspace(0.25, 0.75, 41)
    deviations = [swing.deviation(via) for via in everywhere]
    assert best == pytest.approx(everywhere[int(np.argmin(deviations))], abs=0.02)
    assert swing.deviation(best) <= min(deviations) + 1e-3
    assert max(deviations) > 1.05 * swing.deviation(best)


@pytest.mark.parametrize("gently", [0.0, 0.15])
@pytest.mark.parametrize("name", ["hubo2plus", "hoap3", "hrp2", "minihubo"])
def test_on_the_way_that_the_foot_really_goes_the_hip_torque_varies_least_at_the_via_time(name, gently):
    model = Model(robots.load(name))
    gait = replace(gait_of(model), gently=gently)
    length = 0.8 * gait.limits.length
    swing, best = leg_swing(model, gait, length), via_of(model, gait, length)
    feet, _ = standing(model)
    pattern = Pattern(replace(gait, via=best), feet)
    pattern.follow([Footstep("right", feet.left.beside(length, -gait.limits.spacing))], 0.0)
    times = np.linspace(0.0, gait.single_support, 50)
    walked = np.array([pattern.at(gait.begin + time).right.height for time in times])
    assert swing.path(swing, best, times)[:, 1] - swing.start[1] == pytest.approx(walked, abs=1e-6)
    for other in (best - 0.05, best + 0.05, 0.5):
        assert swing.deviation(best) < swing.deviation(other)


def test_the_leg_of_a_swing_reaches_where_it_is_put_or_is_refused():
    leg = DoublePendulum(0.3, 0.25, 4.0, 3.0)
    swing = LegSwing(leg, (-0.1, -0.5), (0.1, -0.5), 0.05, 0.5)
    place = leg.positions(swing._angles(0.07, -0.44))[1]
    assert np.allclose(place, (0.07, 0.0, -0.44))
    with pytest.raises(BadGait, match="does not reach"):
        LegSwing(leg, (0.0, -0.6), (0.1, -0.5), 0.05, 0.5)


@pytest.mark.parametrize("name", ["hubo2plus", "hoap3", "hrp2", "minihubo"])
def test_the_via_time_of_a_robot_is_the_best_of_its_leg_and_the_pattern_lifts_the_foot_by_it(name):
    model = Model(robots.load(name))
    gait = gait_of(model)
    length = 0.8 * gait.limits.length
    gait = replace(gait, via=via_of(model, gait, length))
    assert 0.2 < gait.via < 0.8
    feet, _ = standing(model)
    pattern = Pattern(gait, feet)
    pattern.follow([Footstep("right", feet.left.beside(length, -gait.limits.spacing))], 0.0)
    times = np.arange(gait.begin, gait.begin + gait.single_support, 0.002)
    heights = [pattern.at(time).right.height for time in times]
    highest = times[int(np.argmax(heights))] - gait.begin
    assert highest == pytest.approx(gait.via * gait.single_support, abs=0.01)
