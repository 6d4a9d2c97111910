"""The laws of whole-body operational space control, on 200 random states of each of six robots."""

import numpy as np
import pytest
import wbosc_reference as reference
from control_examples import (
    CASES,
    FEW,
    ROBOTS,
    STATES,
    controller,
    linear,
    motors,
    redundant,
    relative,
    squeezed,
    standing,
    states,
    usual,
)
from model_examples import model

from wholebody.control import Problem


@pytest.mark.slow(
    but=[
        "trikey-usual",
        "dreamer-crowded",
        "dreamer-flying",
        "hubo2plus-on_points",
        "hubo2plus-on_one_foot",
        "valkyrie-redundant",
    ]
)
@pytest.mark.parametrize("case", CASES)
def test_the_fast_form_equals_the_reference(case):
    name, make = CASES[case]
    problem, m = make(name), model(name)
    for snapshot in states(name, STATES if make is usual else FEW):
        for task in problem.tasks:
            task.accumulated[:] = 0.0
        result = controller(name).solve(snapshot, problem)
        for task in problem.tasks:
            task.accumulated[:] *= 0.0
        expected = reference.solve(snapshot, without_integral(problem, controller(name).period, snapshot))
        assert result.fault is None
        assert relative(result.acceleration, expected.acceleration) < 1e-8
        assert relative(motors(m, result), expected.effort) < 1e-8
        assert relative(result.contact_forces, expected.contact_forces) < 1e-7


def without_integral(problem, period, snapshot):
    """The fast form adds e·dt to the integral before it uses it; let the reference see the same."""
    for task in problem.tasks:
        if np.any(task.integral_gain):
            task.accumulated[task.selected(snapshot)] = period * task.error(snapshot)
    return problem


@pytest.mark.parametrize("case", CASES)
def test_efforts_accelerations_and_forces_obey_the_equation_of_motion(case):
    name, make = CASES[case]
    problem, m = make(name), model(name)
    for moving in states(name, 10, seed=1):
        snapshot = standing(moving, problem.constraints) if make is redundant else moving
        result = controller(name).solve(snapshot, problem)
        Jc = np.vstack([np.zeros((0, m.nv)), *(each.jacobian(snapshot) for each in problem.constraints)])
        rate = np.concatenate([np.zeros(0), *(each.bias(snapshot) for each in problem.constraints)])
        pushed = m.selection.T @ motors(m, result) + Jc.T @ result.contact_forces
        assert relative(snapshot.M @ result.acceleration + snapshot.h, pushed) < 1e-9
        assert relative(Jc @ result.acceleration, -rate) < 1e-9


@pytest.mark.parametrize("name", ROBOTS)
def test_a_full_rank_task_is_achieved_in_constrained_forward_dynamics(name):
    problem = usual(name)
    top = linear(Problem([problem.levels[0], problem.levels[-1]], problem.constraints))
    for snapshot in states(name, seed=2):
        result = controller(name).solve(snapshot, top)
        dynamics = reference.constrained(snapshot, top)
        J = np.vstack([task.jacobian(snapshot) for task in top.levels[0]])
        inertia = (
            J @ dynamics.A_inverse @ dynamics.SNc.T @ dynamics.phi_inverse @ dynamics.SNc @ dynamics.A_inverse @ J.T
        )
        if np.linalg.eigvalsh(inertia)[0] < 1e-3 * np.max(np.diag(J @ dynamics.A_inverse @ J.T)):
            continue  # not of full rank here
        moved = dynamics.accelerations(motors(model(name), result))
        assert relative(moved, result.acceleration) < 1e-8
        rows = [task.rows(snapshot) for task in top.levels[0]]
        wanted = np.concatenate([each.desired - each.bias for each in rows])
        assert relative(J @ moved, wanted) < 1e-8


def undisturbed(name, snapshots):
    """Check that no level moves what is regular at one above; how many directions were not regular."""
    problem = usual(name)
    alone = [Problem(problem.levels[: k + 1], problem.constraints) for k in range(len(problem.levels))]
    singular = 0
    for snapshot in snapshots:
        whole = controller(name).solve(snapshot, problem).acceleration
        kept = reference.solve(snapshot, problem).kept
        for k, upper in enumerate(alone):
            without = controller(name).solve(snapshot, upper).acceleration
            J = kept[k].T @ np.vstack([task.jacobian(snapshot) for task in problem.levels[k]])
            scale = max(1.0, np.abs(J).max(initial=0.0) * np.abs(whole).max())
            assert np.abs(J @ (whole - without)).max(initial=0.0) < 1e-9 * scale
            singular += np.subtract(*kept[k].shape)
    return singular


@pytest.mark.slow(but=["trikey", "dreamer"])
@pytest.mark.parametrize("name", ROBOTS)
def test_a_lower_level_never_disturbs_the_one_above(name):
    """In all directions that are regular: all of them, unless a level is singular."""
    undisturbed(name, states(name, seed=3))


@pytest.mark.parametrize("name", ROBOTS)
def test_internal_forces_move_nothing_and_are_what_was_asked(name):
    m, problem = model(name), squeezed(name)
    squeeze = problem.task("squeeze")
    frames = [m.frame(problem.constraint(side).frame) for side in ("left", "right")]
    for snapshot in states(name, seed=8):
        results = []
        for goal in (0.0, 50.0):
            squeeze.goal = goal
            results.append(controller(name).solve(snapshot, problem))
        a, b = results
        assert relative(a.acceleration, b.acceleration) < 1e-10
        dynamics = reference.constrained(snapshot, problem)
        extra = motors(m, b) - motors(m, a)
        assert np.abs(extra @ dynamics.SNc).max() < 1e-7 * max(1.0, np.abs(extra).max())  # the left null space of S·Nc
        assert np.abs(extra).max() > 1e-3 or name in ("trikey", "zoo"), (
            "wheels do not feel what goes through their axles"
        )
        if name == "zoo":
            continue  # a joint without a motor cannot bear it
        between = snapshot.position(frames[1]) - snapshot.position(frames[0])
        n = between / np.linalg.norm(between)
        forces = [b.contact_force(side)[:3] for side in ("left", "right")]
        assert 0.5 * n @ (forces[1] - forces[0]) == pytest.approx(50.0, abs=1e-6)
