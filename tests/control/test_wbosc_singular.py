"""Singular levels: commands are continuous, bounded and in order where plain truncation jumps."""

import copy
from functools import cache

import numpy as np
import pytest
import wbosc_reference as reference
from control_examples import (
    ROBOTS,
    achieved,
    controller,
    linear,
    motors,
    posture,
    relative,
    states,
    usual,
)
from model_examples import model
from test_wbc_laws import undisturbed

from wholebody.control import WBOSC, Problem
from wholebody.tasks import (
    CartesianPositionTask,
    Orientation3DTask,
    PoseTask,
)


def stretched(name, count=12, seed=11):
    """States near one with all joints at zero, where arms and legs are straight, at random distances from it."""
    m, rng = model(name), np.random.default_rng(seed)
    for spread in np.geomspace(1e-3, 0.5, count):
        q = m.integrate(m.neutral(), spread * rng.normal(size=m.nv), 1.0)
        if name == "trikey":
            q[3:7] = (0.0, 0.0, 0.0, 1.0)
        yield m.at(q, rng.normal(size=m.nv))


@cache
def truncating(name, tolerance=1e-6):
    free = {f"enforce_{what}_limits": False for what in ("effort", "position", "velocity")}
    return WBOSC(model(name), singular="truncated", task_tolerance=tolerance, **free)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("singular", ["shared", "truncated"])
def test_the_fast_form_equals_the_reference_near_singular_states(name, singular):
    problem, m = usual(name), model(name)
    mine = {"shared": controller, "truncated": truncating}[singular](name)
    for snapshot in stretched(name):
        result, expected = mine.solve(snapshot, problem), reference.solve(snapshot, problem, singular)
        assert relative(result.acceleration, expected.acceleration) < 1e-8
        assert relative(motors(m, result), expected.effort) < 1e-8


@pytest.mark.parametrize("name", ROBOTS)
def test_near_a_singular_state_a_lower_level_never_disturbs_what_is_regular_above(name):
    assert undisturbed(name, stretched(name)) > 0 or name == "trikey"  # which has no singular directions


def folding(mine, steps):
    """Efforts of Dreamer for a hand that shall go further out, while its elbow goes from bent to straight."""
    m = model("dreamer")
    here = m.at(m.neutral()).position(m.frame("right_palm"))
    hand = CartesianPositionTask("out", "right_palm", here - np.array([0.0, 0.0, 0.3]))
    problem = Problem([hand, posture("dreamer")], usual("dreamer").constraints)
    efforts = []
    for elbow in np.linspace(0.4, 0.0, steps):
        q = 0.02 * np.ones(m.nq)
        q[m.joint_names.index("right_elbow")] = elbow
        efforts.append(mine.solve(m.at(q), problem).effort.copy())
    return np.array(efforts)


def test_commands_are_continuous_through_a_singularity_and_truncated_ones_are_not():
    """With steps half as long efforts change half as much; those of plain truncation jump however short the steps."""

    def jump(mine, steps):
        efforts = folding(mine, steps)
        return np.abs(np.diff(efforts, axis=0)).max() / np.ptp(efforts, axis=0).max()

    ours, plain = controller("dreamer"), truncating("dreamer", 1e-2)
    assert jump(ours, 4001) < 0.6 * jump(ours, 2001) < 0.01
    assert jump(plain, 4001) > 0.9 * jump(plain, 2001) > 0.1


def test_a_singular_level_needs_no_infinite_effort():
    m = model("dreamer")
    here = m.at(m.neutral()).position(m.frame("right_palm"))
    tasks = [
        CartesianPositionTask("out", "right_palm", here - np.array([0.0, 0.0, 0.5])),
        Orientation3DTask("t", "right_palm", (0, 0, 0, 1)),
    ]
    problem = Problem([tasks, posture("dreamer")], usual("dreamer").constraints)
    for shake in (0.0, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2):
        snapshot = m.at(np.full(m.nq, shake))
        assert np.abs(controller("dreamer").solve(snapshot, problem).effort).max() < 1e4
        result, expected = (
            truncating("dreamer").solve(snapshot, problem),
            reference.solve(snapshot, problem, "truncated"),
        )
        assert np.abs(result.effort).max() < 1e5
        assert relative(motors(m, result), expected.effort) < 1e-7


def test_directions_a_singular_level_truncates_are_handed_to_the_levels_below():
    """Two tasks for the same point: the upper takes it all, the lower none; a third below them still has the rest."""
    snapshot = next(states("dreamer", seed=4))
    hand, twin = (CartesianPositionTask(n, "right_palm", (0.3, -0.2, 0.4)) for n in ("hand", "twin"))
    twin.goal = (0.0, 0.0, 0.0)
    other = CartesianPositionTask("other", "left_palm", (0.3, 0.2, 0.4))
    held = usual("dreamer").constraints
    both = controller("dreamer").solve(snapshot, linear(Problem([[hand], [twin, other]], held)))
    assert achieved(snapshot, both, [hand]) < 1e-9
    stacked = controller("dreamer").solve(snapshot, linear(Problem([[hand, copy.copy(hand)][:1], [other]], held)))
    assert achieved(snapshot, stacked, [other]) < 1e-9
    doubled = PoseTask("doubled", "right_palm", (0.3, -0.2, 0.4))
    again = CartesianPositionTask("again", "right_palm", (0.3, -0.2, 0.4))
    same = linear(Problem([[doubled, again], [other]], held))
    result = controller("dreamer").solve(snapshot, same)
    assert achieved(snapshot, result, [doubled, other]) < 1e-8


def test_commands_are_continuous_where_the_rank_is():
    """Along a path through regular states, a step of 1e-7 rad changes efforts by no more than in proportion."""
    m = model("dreamer")
    problem = usual("dreamer")
    rng = np.random.default_rng(5)
    q, d = m.random(rng), rng.normal(size=m.nq)
    a = controller("dreamer").solve(m.at(q), problem).effort
    b = controller("dreamer").solve(m.at(q + 1e-7 * d), problem).effort
    assert np.abs(a - b).max() < 1e-2 * max(1.0, np.abs(a).max())
