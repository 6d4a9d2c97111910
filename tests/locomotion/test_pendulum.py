"""The pendulum's closed forms solve its differential equation, join smoothly, and agree with preview control."""

import math

import numpy as np
import pytest

from wholebody.errors import BadGait
from wholebody.locomotion.walking.pendulum import (
    ContinuousSteps,
    LateralSway,
    Motion,
    PreviewControl,
    ZmpPath,
    frequency,
    single_support,
)
from wholebody.locomotion.walking.swing import from_rest_to_rest

OMEGA = frequency(0.61)
TIMES = [0.0, 1.0, 1.5, 1.6, 2.1, 2.2, 3.0]
KNOTS = [(0, 0), (0, 0.09), (0, 0.09), (0.2, -0.09), (0.2, -0.09), (0.4, 0.0), (0.4, 0.0)]


def test_single_support_solves_the_pendulum():
    start = Motion(np.array([-0.1, 0.05]), np.array([0.4, -0.2]))
    dt = 1e-4
    before, now, after = (single_support(start, 0.3 + k * dt, OMEGA) for k in (-1, 0, 1))
    assert np.allclose((after.position - before.position) / (2 * dt), now.velocity, atol=1e-6)
    assert np.allclose((after.velocity - before.velocity) / (2 * dt), OMEGA**2 * now.position, atol=1e-5)


def bent():
    """Two feet that swing, by polynomials that begin and end at rest: what is added to the zero moment point."""
    added = np.zeros((len(TIMES), 6, 2))
    for piece, way in ((1, (0.2, 0.02)), (3, (-0.1, 0.03))):
        added[piece] += from_rest_to_rest(np.array(way), TIMES[piece + 1] - TIMES[piece])
        added[piece + 1 :, 0] += way
    return added


@pytest.mark.parametrize("added", [None, bent()])
def test_the_path_solves_the_pendulum_everywhere_and_has_no_jump(added):
    path = ZmpPath(TIMES, KNOTS, OMEGA, (0.0, 0.0), added)
    dt = 1e-4
    for time in np.linspace(0.01, 2.9, 97):
        before, now, after = (path.at(time + k * dt) for k in (-1, 0, 1))
        assert np.allclose((after.com - before.com) / (2 * dt), now.com_velocity, atol=1e-4)
        acceleration = (after.com_velocity - before.com_velocity) / (2 * dt)
        assert np.allclose(acceleration, OMEGA**2 * (now.com - now.zmp), atol=2e-2)
        assert np.allclose(now.dcm, now.com + now.com_velocity / OMEGA)
    for time in TIMES[1:]:
        one, other = path.at(time - 1e-9), path.at(time + 1e-9)
        assert np.allclose(np.array(one), np.array(other), atol=1e-6)


def test_the_path_ends_at_rest_above_its_last_knot():
    end = ZmpPath(TIMES, KNOTS, OMEGA, (0.0, 0.0)).at(20.0)
    assert np.allclose(end.com, KNOTS[-1])
    assert np.allclose(end.com_velocity, 0.0, atol=1e-12)


def test_preview_control_finds_the_closed_form():
    period = 0.005
    path = ZmpPath(TIMES, KNOTS, OMEGA, (0.0, 0.0))
    # Two seconds at rest before, so that preview has time to begin as the closed form does.
    times = np.arange(-2.0, 5.0, period)
    reference = np.array([path.at(t).zmp for t in times])
    motion = PreviewControl(0.61, period, horizon=2.0, jerk=1e-9).follow(reference)
    late = times > 0.8
    com = np.array([path.at(t).com for t in times])
    assert np.abs(motion.com - com)[late].max() < 2e-3
    assert np.abs(motion.zmp - reference)[late].max() < 6e-3


def test_preview_gains_are_stable_fade_out_and_add_up_to_what_a_constant_reference_needs():
    preview = PreviewControl(0.61)
    assert (np.abs(preview.poles) < 1.0).all()
    decay = np.log(preview.preview[200] / preview.preview[-1]) / (0.005 * (319 - 200))
    assert decay == pytest.approx(OMEGA, rel=1e-3)  # what lies ahead counts e^(−ω t)
    assert preview.preview.sum() == pytest.approx(-preview.state[0], rel=5 * np.exp(-OMEGA * 1.6))
    still = preview.follow(np.full((400, 2), 0.3))
    assert np.allclose(still.com, 0.3, atol=0.3 * np.exp(-OMEGA * 1.6))


def test_preview_looks_ahead_and_the_control_arm_without_horizon_is_worse():
    reference = np.zeros((1200, 2))
    reference[600:, 0] = 0.2
    far, near = (PreviewControl(0.61, horizon=horizon).follow(reference) for horizon in (1.6, 0.1))
    assert far.com[590, 0] > 0.05  # it moves before the reference does

    def error(motion):
        return np.abs(motion.zmp - reference)[:, 0].mean()

    assert error(far) < 0.2 * error(near)


def test_equal_steps_are_continuous_and_solve_the_pendulum_in_single_support():
    steps = ContinuousSteps.of(length=0.2, velocity=0.25, share=0.2, half_distance=0.0935, omega=OMEGA)
    assert steps.period == pytest.approx(0.8)
    dt = 1e-5
    for time in np.linspace(-0.39, 3.0, 200):
        before, now, after = (steps.at(time + k * dt) for k in (-1, 0, 1))
        assert np.allclose((after.position - before.position) / (2 * dt), now.velocity, atol=1e-3)
    for time in (0.1, 0.25, 0.9):
        number = round(time / steps.period)
        foot = np.array([number * 0.2, 0.0935 if number % 2 == 0 else -0.0935])
        before, now, after = (steps.at(time + k * dt) for k in (-1, 0, 1))
        acceleration = (after.velocity - before.velocity) / (2 * dt)
        assert np.allclose(acceleration, OMEGA**2 * (now.position - foot), atol=1e-3)
    assert steps.at(0.8).position[0] - steps.at(0.0).position[0] == pytest.approx(0.2)


def test_the_thesis_relations_hold_for_the_sway():
    steps = ContinuousSteps(0.2, 0.0935, OMEGA, 0.64, 0.16)
    sway = steps.sway
    assert sway.double_support == pytest.approx(steps.double_support)
    end = steps.at(steps.single_support / 2)
    assert 0.0935 - end.position[1] == pytest.approx(sway.beta * 0.0935)
    assert abs(end.velocity[1]) == pytest.approx(sway.velocity)
    with pytest.raises(BadGait, match="β"):
        LateralSway.of(0.9, 0.64, 0.0935, OMEGA)


def test_the_walk_begins_and_ends_at_rest_by_cubics():
    steps = ContinuousSteps(0.2, 0.0935, OMEGA, 0.64, 0.16)
    first, begin = steps.from_rest(np.array([-0.1, 0.0]), 0.5, 0.0), steps.from_rest(np.array([-0.1, 0.0]), 0.5, 0.5)
    assert np.allclose(first.velocity, 0.0)
    assert np.allclose(begin.position, steps.at(-0.32).position)
    assert np.allclose(begin.velocity, steps.at(-0.32).velocity)
    end = steps.to_rest(3, np.array([0.8, 0.0]), 0.5, 0.5)
    assert np.allclose(end.position, (0.8, 0.0))
    assert np.allclose(end.velocity, 0.0)


@pytest.mark.parametrize("height", [0.0, -1.0, math.nan, math.inf])
def test_a_height_that_is_none_is_refused(height):
    with pytest.raises(BadGait):
        frequency(height)
    with pytest.raises(BadGait):
        PreviewControl(height)
