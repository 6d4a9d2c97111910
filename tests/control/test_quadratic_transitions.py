"""Changes inside the controller with inequalities: Eq. 9 where no limit is reached; where one is, it holds."""

import gc
import tracemalloc

import numpy as np
import pytest
from quadratic_examples import UNLIMITED, limits_of, model_of, of_all, standing
from test_transitions import CYCLES, DURATION, LIMITED_CHANGES, PERIOD, reversed_levels, standing_hubo

from wholebody.control import Durations, QuadraticController, Transitions

DURATIONS = Durations(*[DURATION] * 5)
DONE = np.arange(1, CYCLES + 1) / (CYCLES + 1)
SHARES = 1.0 - DONE**2 * (3.0 - 2.0 * DONE)


def solved(controller, snapshot, problem, count=1):
    return [controller.solve(snapshot, problem) for _ in range(count)]


@pytest.mark.parametrize("change", LIMITED_CHANGES)
def test_as_long_as_no_limit_is_reached_the_way_is_that_of_equation_9(change):
    make, apply = LIMITED_CHANGES[change]
    snapshot, problem, task = make()
    smooth = Transitions(QuadraticController(snapshot.model, period=PERIOD, **UNLIMITED), DURATIONS)
    old = solved(smooth, snapshot, problem, 3)[-1]
    problem = apply(problem, task) or problem
    way = solved(smooth, snapshot, problem, CYCLES + 1)
    new = QuadraticController(snapshot.model, period=PERIOD, **UNLIMITED).solve(snapshot, problem)
    assert np.abs(new.effort - old.effort).max() > 0.1, "N·m"
    for what in ("effort", "acceleration", "velocity", "position"):
        begun, ends = getattr(old, what), getattr(new, what)
        for command, share in zip(way, [*SHARES, 0.0], strict=True):
            assert getattr(command, what) == pytest.approx(ends + share * (begun - ends), abs=1e-6)


def test_a_goal_that_asks_for_far_more_than_limits_permit_takes_all_of_its_time():
    """Both ends keep the limits, so all between them does: as long as the robot is still, this is Eq. 9 too."""
    model = model_of("hubo2plus")
    snapshot, problem = model.at(model.posture("stand")), standing(model)
    smooth = Transitions(QuadraticController(model, period=PERIOD), DURATIONS)
    old = solved(smooth, snapshot, problem, 3)[-1]
    problem.task("com").goal[0] += 0.1
    way = solved(smooth, snapshot, problem, CYCLES + 1)
    new = QuadraticController(model, period=PERIOD).solve(snapshot, problem)
    assert new.active
    for command, share in zip(way, [*SHARES, 0.0], strict=True):
        assert command.effort == pytest.approx(new.effort + share * (old.effort - new.effort), abs=1e-4)


def turned_back(inside, **levels):
    """Contact rows beyond their bounds, in units of the weight, as a goal jumps ahead and is then drawn back."""
    model = model_of("hubo2plus")
    snapshot, problem = model.at(model.posture("stand")), standing(model)
    controller = QuadraticController(model, period=PERIOD, **levels)
    controller.blends_inside = inside
    smooth = Transitions(controller, DURATIONS)
    solved(smooth, snapshot, problem, 3)
    goal = problem.task("com").goal
    goal[0] += 0.1
    limits, weight = limits_of(model, snapshot, problem), 9.81 * model.total_mass
    J = np.vstack([each.jacobian(snapshot) for each in problem.constraints])
    n, held = model.nv, len(J)
    whole = np.block([[snapshot.M, -J.T], [J, np.zeros((held, held))]])
    contact = np.all(limits.G[:, :n] == 0, axis=1)  # rows on forces alone
    worst = 0.0
    for _ in range(CYCLES):
        command = smooth.solve(snapshot, problem)
        assert command.fault is None
        pushed = np.concatenate([np.zeros(6), command.effort]) - snapshot.h
        felt = np.linalg.solve(whole, np.concatenate([pushed, np.zeros(held)]))
        if inside:
            assert felt[:n] == pytest.approx(command.acceleration, abs=1e-5)
        beyond = np.maximum(limits.lower - limits.G @ felt, limits.G @ felt - limits.upper)[contact]
        worst = max(worst, float(beyond.max()) / weight)
        goal[0] -= 0.008  # no jump, but as far back as it was ahead in half of the time
    return worst


@pytest.mark.parametrize("levels", [{}, {"strict": False, "level_ratio": 0.03}], ids=["strict", "weighted"])
def test_limits_of_contacts_hold_on_the_way_and_those_of_commands_that_fade_do_not(levels):
    assert turned_back(inside=True, **levels) < 1e-5
    assert turned_back(inside=False, **levels) > 0.01


def test_a_foot_that_is_lifted_bears_less_and_less_of_what_it_bore():
    snapshot, problem, _ = standing_hubo()
    model = snapshot.model
    smooth = Transitions(QuadraticController(model, period=PERIOD), DURATIONS)
    bore = solved(smooth, snapshot, problem, 2)[-1].contact_force("right").copy()
    left, right = (problem.constraint(side).jacobian(snapshot) for side in ("left", "right"))
    problem.constraint("right").state = "disabled"
    for share in [*SHARES, 0.0]:
        command = smooth.solve(snapshot, problem)
        needed = snapshot.M @ command.acceleration + snapshot.h
        given = np.concatenate([np.zeros(6), command.effort]) + left.T @ command.contact_force("left")
        assert needed - given == pytest.approx(share * right.T @ bore, abs=1e-6)


def test_a_foot_that_lands_bears_its_least_force_only_in_the_end():
    snapshot, problem, _ = standing_hubo(contacts=("left",))
    smooth = Transitions(QuadraticController(snapshot.model, period=PERIOD, least_force=20.0), DURATIONS)
    solved(smooth, snapshot, problem, 2)
    problem.constraint("right").state = "enabled"
    pressed = [each.contact_force("right")[2] for each in solved(smooth, snapshot, problem, CYCLES + 2)]
    assert abs(pressed[0]) < 0.5, "N"
    assert np.abs(np.diff(pressed)).max() < 0.1 * pressed[-1]
    assert all(force > (1 - share) * 20.0 - 1e-3 for force, share in zip(pressed, [*SHARES, 0.0, 0.0], strict=True))


def test_a_second_change_begins_where_the_first_one_is_whatever_problem_asks_for_it():
    snapshot, problem, hand = standing_hubo()
    smooth = Transitions(QuadraticController(snapshot.model, period=PERIOD), DURATIONS)
    commands = solved(smooth, snapshot, problem, 3)
    problem.constraint("right").state = "disabled"
    commands += solved(smooth, snapshot, problem, 10)
    hand.goal[:] += 0.05
    commands += solved(smooth, snapshot, problem, 10)
    _, other, _ = standing_hubo()
    commands += solved(smooth, snapshot, other, 10)
    commands += solved(smooth, snapshot, problem, 10)
    assert smooth.active
    commands += solved(smooth, snapshot, other, CYCLES + 1)
    assert not smooth.active
    efforts = np.array([each.effort for each in commands])
    assert np.abs(np.diff(efforts, axis=0)).max() < 0.1 * np.ptp(efforts, axis=0).max()
    fresh = QuadraticController(snapshot.model, period=PERIOD).solve(snapshot, other)
    assert of_all(commands[-1]) == pytest.approx(of_all(fresh), abs=1e-5)


def test_a_change_that_takes_no_time_is_made_at_once_and_ends_a_way_that_is_being_gone():
    snapshot, problem, hand = standing_hubo()
    smooth = Transitions(QuadraticController(snapshot.model, period=PERIOD), Durations(goal=DURATION, state=0.0))
    solved(smooth, snapshot, problem, 2)
    hand.goal[:] += 0.05
    solved(smooth, snapshot, problem, 5)
    assert smooth.active
    hand.state = "disabled"
    command = smooth.solve(snapshot, problem)
    assert not smooth.active
    fresh = QuadraticController(snapshot.model, period=PERIOD).solve(snapshot, problem)
    assert command.effort == pytest.approx(fresh.effort, abs=1e-6)


def test_a_fault_on_the_way_gives_the_last_command_from_which_the_way_begins_anew():
    snapshot, problem, hand = standing_hubo()
    smooth = Transitions(QuadraticController(snapshot.model, period=PERIOD), DURATIONS)
    solved(smooth, snapshot, problem, 2)
    hand.goal[:] += 0.05
    before = solved(smooth, snapshot, problem, 20)[-1]
    kept, height = before.effort.copy(), hand.goal[2]
    hand.goal[2] = np.nan
    bad = smooth.solve(snapshot, problem)
    assert bad.fault is not None
    assert np.array_equal(bad.effort, kept)
    hand.goal[2] = height
    after = smooth.solve(snapshot, problem)
    assert after.fault is None
    assert smooth.active
    assert np.abs(after.effort - kept).max() < 0.5, "N·m"


@pytest.mark.slow
def test_ten_thousand_cycles_with_a_change_now_and_then_leave_nothing_behind():
    snapshot, problem, hand = standing_hubo()
    model, other = snapshot.model, reversed_levels(problem)
    smooth = Transitions(QuadraticController(model, period=PERIOD), DURATIONS)

    def run(cycles):
        for cycle in range(cycles):
            if cycle % 100 == 0:
                hand.state = "disabled" if hand.state == "enabled" else "enabled"
            smooth.solve(model.at(snapshot.q, snapshot.v), other if cycle % 400 < 200 else problem)

    tracemalloc.start()
    try:
        run(400)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        run(10_000)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 2000, "bytes"
    finally:
        tracemalloc.stop()
