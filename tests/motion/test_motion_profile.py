"""The on-line profile: within limits, no overshoot, and it arrives, whatever the limits, states and goals."""

from math import ceil, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wholebody.errors import BadMotion, BadReference
from wholebody.motion import OnlineProfile

positive = st.floats(0.01, 100.0)
periods = st.sampled_from([0.001, 0.005, 0.02, 0.1])
places = st.one_of(st.floats(-10.0, 10.0), st.sampled_from([0.0, 1.0, 1e-9]))
goals = st.lists(st.tuples(places, st.integers(1, 60)), min_size=1, max_size=6)


def braking(speed, steepest, period):
    """The distance in which a joint that brakes as hard as it may comes to stand."""
    distance = 0.0
    while speed > 0:
        after = max(speed - steepest * period, 0.0)
        distance, speed = distance + (speed + after) * period / 2, after
    return distance


def longest(distance, speed, fastest, steepest, period):
    """No more periods than this: to stand still, and to go the way from there with a trapezoid, and a few to spare."""
    way = abs(distance) + speed**2 / (2 * steepest) + speed * period
    seconds = speed / steepest + way / fastest + 2 * sqrt(way / steepest) + fastest / steepest
    return ceil(seconds / period) + 5


class Watched:
    """A profile of one joint that checks the limits at every step."""

    def __init__(self, fastest, steepest, period, position=0.0, velocity=0.0):
        self.fastest, self.steepest, self.period = fastest, steepest, period
        self.profile = OnlineProfile(fastest, steepest, period, position=[position], velocities=[velocity])

    @property
    def now(self):
        return float(self.profile.position[0]), float(self.profile.velocity[0])

    def step(self, goal):
        (x0, v0), x = self.now, float(self.profile.step([goal])[0])
        v = self.now[1]
        slack = 1e-14 * (abs(x0) + abs(goal)) + 1e-16  # of the numbers themselves
        assert abs(v) <= self.fastest
        assert abs(v - v0) <= self.steepest * self.period * (1 + 1e-9) + slack / self.period
        assert abs(x - x0 - (v + v0) * self.period / 2) <= slack
        return x


@given(positive, positive, periods, places, st.floats(-1.0, 1.0), goals)
@settings(max_examples=100)
def test_limits_hold_no_static_goal_is_overshot_and_it_arrives(fastest, steepest, period, position, share, goals):
    # Velocities of more than some thousand periods' acceleration only make the test slow.
    fastest = min(fastest, 1000 * steepest * period)
    watched = Watched(fastest, steepest, period, position, share * fastest)
    for number, (goal, steps) in enumerate(goals):
        x, v = watched.now
        side = 1.0 if goal >= x else -1.0
        beyond = max(braking(max(side * v, 0.0), steepest, period) - abs(goal - x), 0.0)
        slack = 1e-14 * (1 + abs(x) + abs(goal))
        last = number == len(goals) - 1
        bound = longest(goal - x, abs(v), fastest, steepest, period)
        for _ in range(min(bound, 8000) if last else steps):
            x = watched.step(goal)
            assert side * (x - goal) <= beyond + slack  # as far beyond as braking must go: not at all, if it can stop
            if watched.profile.arrived:
                break
    if bound <= 8000:
        assert watched.now == (goal, 0.0)  # exactly


@given(positive, positive, periods, places, st.floats(-1.0, 1.0), places)
@settings(max_examples=80)
def test_after_an_overshoot_that_could_not_be_helped_there_is_no_second_one(
    fastest, steepest, period, position, share, goal
):
    fastest = min(fastest, 200 * steepest * period)
    watched = Watched(fastest, steepest, period, position, share * fastest)
    x, v = watched.now
    side, crossings = np.sign(goal - x), 0
    for _ in range(min(longest(goal - x, abs(v), fastest, steepest, period), 5000)):
        x = watched.step(goal)
        if abs(x - goal) > 1e-12 * (1 + abs(goal)) and np.sign(goal - x) != side:
            side, crossings = np.sign(goal - x), crossings + 1
    assert crossings <= 1 + (position == goal)


@given(positive, positive, periods, st.floats(1e-3, 10.0))
@settings(max_examples=60)
def test_from_rest_it_takes_no_more_than_a_period_or_two_longer_than_the_ideal_trapezoid(
    fastest, steepest, period, goal
):
    fastest = min(fastest, 1000 * steepest * period)
    triangle = goal <= fastest**2 / steepest
    ideal = 2 * sqrt(goal / steepest) if triangle else goal / fastest + fastest / steepest
    if ideal / period > 20_000:
        return
    watched, steps = Watched(fastest, steepest, period), 0
    while not watched.profile.arrived or not steps:
        watched.step(goal)
        steps += 1
    assert ideal / period - 1e-6 <= steps <= ideal / period + 3


@pytest.mark.parametrize("goal", [0.317, -0.0123, 1.2346])
def test_the_document_s_own_formula_never_settles_and_ours_does(goal):
    """The control arm is L.22 as it stands, with velocity and its change limited; only lucky goals are reached."""
    fastest, steepest, period = 1.0, 4.0, 0.01
    x = v = 0.0
    moving = 0
    for step in range(2000):
        d = goal - x
        u = np.sign(d)
        inner = (steepest * period**2 - 4 * u * v * period + 8 * abs(d)) / (4 * steepest)
        wanted = np.clip(u * steepest * (sqrt(max(inner, 0.0)) - period / 2), -fastest, fastest)
        after = np.clip(wanted, v - steepest * period, v + steepest * period)
        x, v = x + (v + after) * period / 2, after
        moving += step >= 1000 and abs(v) > 1e-6
    assert moving > 500  # for ever, long after the ideal profile has ended
    ours = Watched(fastest, steepest, period)
    for _ in range(500):
        ours.step(goal)
    assert ours.now == (goal, 0.0)


def test_joints_do_not_disturb_each_other():
    rng = np.random.default_rng(0)
    fastest, steepest, goal = rng.uniform(1, 5, 38), rng.uniform(5, 30, 38), rng.normal(size=38)
    together = OnlineProfile(fastest, steepest, 0.005)
    alone = [OnlineProfile(v, a, 0.005, position=[0.0]) for v, a in zip(fastest, steepest, strict=True)]
    for _ in range(200):
        together.step(goal)
        apart = [one.step([g])[0] for one, g in zip(alone, goal, strict=True)]
        assert np.allclose(together.position, apart, rtol=0.0, atol=1e-12)  # vectorised or one by one: to a rounding


def test_acceleration_is_the_change_of_velocity():
    profile = OnlineProfile([1.0], [5.0], 0.01)
    before = 0.0
    for _ in range(150):
        profile.step([0.7])
        assert np.isclose(profile.acceleration[0], (profile.velocity[0] - before) / 0.01)
        before = profile.velocity[0]
    assert profile.arrived


def test_a_limit_may_be_infinite():
    free = OnlineProfile([np.inf], [np.inf], 0.01)
    free.step([3.0])
    free.step([3.0])
    assert free.arrived
    accelerated = OnlineProfile([np.inf], [100.0], 0.01)
    while not accelerated.arrived:
        accelerated.step([3.0])


def test_a_goal_that_is_no_number_moves_nothing():
    profile = OnlineProfile(1.0, 5.0, 0.01, names=("hip", "knee"))
    profile.step([1.0, 1.0])
    x = profile.position.copy()
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(BadReference, match="goal of joint knee is"):
            profile.step(np.array([1.0, bad]))
    assert profile.position.tolist() == x.tolist()
    with pytest.raises(BadMotion, match="2 numbers"):
        profile.step([1.0])


def test_positions_shown_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        OnlineProfile(1.0, 1.0, 0.01).position[0] = 1.0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((0.0, 1.0, 0.01), "velocity limit is positive, not 0"),
        ((1.0, [1.0, -2.0], 0.01), "joint 1: the acceleration limit is positive, not -2"),
        ((np.nan, 1.0, 0.01), "velocity limit"),
        ((1.0, 1.0, 0.0), "period"),
        (([1.0, 2.0], [1.0, 2.0, 3.0], 0.01), "do not fit together"),
    ],
)
def test_limits_that_are_none_are_refused(arguments, says):
    with pytest.raises(BadMotion, match=says):
        OnlineProfile(*arguments)


def test_it_cannot_begin_faster_than_its_limit():
    with pytest.raises(BadMotion, match="cannot begin with a velocity of 2: its limit is 1"):
        OnlineProfile(1.0, 1.0, 0.01, velocities=[2.0])
