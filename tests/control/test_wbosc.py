"""Whole-body operational space control: levels, contacts, tasks that change, limits, and faults."""

import gc
import re
import tracemalloc
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import wbosc_reference as reference
from control_examples import (
    achieved,
    controller,
    crowded,
    feet,
    flying,
    linear,
    motors,
    on_one_foot,
    posture,
    redundant,
    relative,
    standing,
    states,
    usual,
)
from model_examples import model

from wholebody import robots
from wholebody.constraints import FlatContact, PointContact
from wholebody.control import WBOSC, Problem
from wholebody.errors import WrongRecord
from wholebody.model import Model
from wholebody.tasks import (
    CartesianPositionTask,
    CenterOfMassTask,
    CenterOfPressureTask,
    ExternalForceTask,
    JointPositionTask,
    Task,
)


def test_tasks_of_one_level_share_what_they_cannot_all_have():
    """Two goals for one hand on one level: the mean; on two levels: the upper one."""
    snapshot = next(states("dreamer"))
    here = snapshot.position(model("dreamer").frame("right_palm"))
    left, right = (
        CartesianPositionTask(n, "right_palm", here + np.array([0.0, y, 0.0])) for n, y in (("a", 0.1), ("b", -0.1))
    )
    held = usual("dreamer").constraints
    both = controller("dreamer").solve(snapshot, Problem([[left, right]], held))
    one = controller("dreamer").solve(snapshot, Problem([left, right], held))
    J, mean = left.jacobian(snapshot), (left.desired(snapshot) + right.desired(snapshot)) / 2 - left.bias(snapshot)
    assert relative(J @ both.acceleration, mean) < 1e-9
    assert achieved(snapshot, one, [left]) < 1e-9
    assert achieved(snapshot, one, [right]) > 1e-3


def test_what_no_task_asks_for_is_left_to_itself():
    """With every task disabled there are no efforts, and the robot falls."""
    problem = flying("valkyrie")
    for task in problem.tasks:
        task.state = "disabled"
    snapshot = next(states("valkyrie"))
    result = controller("valkyrie").solve(snapshot, problem)
    assert np.abs(result.effort).max() < 1e-9
    assert relative(snapshot.M @ result.acceleration, -snapshot.h) < 1e-9


# --- contacts ------------------------------------------------------------------------------------


def test_in_flight_the_momentum_follows_gravity_whatever_the_tasks_ask():
    m = model("valkyrie")
    for snapshot in states("valkyrie", 10, seed=6):
        result = controller("valkyrie").solve(snapshot, flying("valkyrie"))
        rate = snapshot.momentum_matrix @ result.acceleration + snapshot.momentum_bias
        assert relative(rate, np.r_[m.total_mass * m.gravity, 0, 0, 0]) < 1e-9


def test_redundant_contacts_give_the_same_motion_and_the_least_effort():
    corners, flat = redundant("valkyrie"), Problem(redundant("valkyrie").levels, feet())
    for moving in states("valkyrie", 5, seed=7):
        snapshot = standing(moving, flat.constraints)
        many, two = (controller("valkyrie").solve(snapshot, each) for each in (corners, flat))
        assert relative(many.acceleration, two.acceleration) < 1e-8
        assert relative(many.effort, two.effort) < 1e-7
        J = np.vstack([each.jacobian(snapshot) for each in flat.constraints])
        inner = np.linalg.svd(J[:, :6].T)[2][6:]  # forces that the base does not feel: they would change τ alone
        assert np.abs(inner @ J[:, 6:] @ two.effort).max() < 1e-6 * np.abs(two.effort).max() * np.abs(J).max()


def center_of_pressure(m, snapshot, frame, wrench):
    R = snapshot.rotation(m.frame(frame))
    f, t = R.T @ wrench[:3], R.T @ wrench[3:]
    return np.array([-t[1] / f[2], t[0] / f[2]])


@pytest.mark.parametrize("name", ["valkyrie", "hubo2plus"])
def test_centres_of_pressure_are_where_they_are_asked_to_be(name):
    m = model(name)
    cops = [CenterOfPressureTask("l", "left", (0.03, -0.01)), CenterOfPressureTask("r", "right", (-0.02, 0.01))]
    both = linear(Problem([CenterOfMassTask("com", (0, 0, 0.9)), cops, posture(name)], feet()))
    for snapshot in states(name, 5, seed=9):
        result = controller(name).solve(snapshot, both)
        for side, goal in (("left", (0.03, -0.01)), ("right", (-0.02, 0.01))):
            found = center_of_pressure(m, snapshot, f"{side}_sole", result.contact_force(side))
            assert found == pytest.approx(goal, abs=1e-7)
        assert achieved(snapshot, result, both.levels[0]) < 1e-8  # the body does what it did
        one = controller(name).solve(snapshot, on_one_foot(name))
        found = center_of_pressure(m, snapshot, "left_sole", one.contact_force("left"))
        assert found == pytest.approx((0.02, 0.01), abs=1e-7)


def test_forces_that_all_but_contradict_each_other_are_not_had_at_any_price():
    """Two centres of pressure a hundredth of a millimetre apart can be met by lifting the foot; it is not."""
    m = model("valkyrie")
    near = [CenterOfPressureTask(name, "left", (x, 0.0)) for name, x in (("a", 0.02), ("b", 0.02001))]
    problem = Problem([near, CenterOfMassTask("com", (0, 0, 0.9)), posture("valkyrie")], feet())
    snapshot = m.at(m.posture("stand"))
    pushed = [
        each.solve(snapshot, problem).contact_force("left")
        for each in (controller("valkyrie"), WBOSC(m, force_tolerance=1e-12, enforce_effort_limits=False))
    ]
    assert center_of_pressure(m, snapshot, "left_sole", pushed[0]) == pytest.approx((0.02, 0.0), abs=1e-4)
    assert abs(pushed[0][2]) > 100.0
    assert abs(pushed[1][2]) < 1.0, "N: at any price"


@pytest.mark.parametrize("level", [0, 1])
def test_a_wall_feels_exactly_the_external_force(level):
    m = model("valkyrie")
    push = ExternalForceTask("push", "right_palm", (20.0, -5.0, 8.0), point=(0.01, 0.0, 0.02))
    levels = [push, CenterOfMassTask("com", (0, 0, 0.9)), posture("valkyrie")]
    if level:
        levels[0], levels[1] = levels[1], levels[0]
    problem = Problem(levels, feet())
    wall = PointContact("wall", "right_palm", (0.01, 0.0, 0.02))
    blocked = Problem(problem.levels, [*problem.constraints, wall])
    for snapshot in states("valkyrie", 5, seed=10):
        result = controller("valkyrie").solve(snapshot, problem)
        dynamics = reference.constrained(snapshot, blocked)
        against = np.linalg.pinv(dynamics.Jc @ dynamics.A_inverse @ dynamics.Jc.T)
        free = dynamics.A_inverse @ (m.selection.T @ motors(m, result) - snapshot.h)
        reaction = against @ (-dynamics.Jc_rate - dynamics.Jc @ free)
        assert -reaction[-3:] == pytest.approx(push.goal, abs=1e-5)


def test_a_contact_can_be_switched_while_running():
    problem = Problem([CenterOfMassTask("com", (0, 0, 0.9)), posture("valkyrie")], feet())
    alone = Problem(problem.levels, [FlatContact("left", "left_sole")])
    snapshot = next(states("valkyrie"))
    problem.constraint("right").state = "disabled"
    off, one = (controller("valkyrie").solve(snapshot, each) for each in (problem, alone))
    assert np.array_equal(off.effort, one.effort)
    assert len(off.contact_forces) == 6
    problem.constraint("right").state = "enabled"
    on = controller("valkyrie").solve(snapshot, problem)
    assert len(on.contact_forces) == 12
    assert not np.allclose(on.effort, off.effort)


# --- tasks that change, users' own, limits and faults ----------------------------------------------


def test_goals_gains_and_states_count_in_the_next_cycle():
    problem = linear(usual("dreamer"))
    snapshot = next(states("dreamer"))
    hand = problem.task("one")

    def asked():
        result = controller("dreamer").solve(snapshot, problem)
        assert achieved(snapshot, result, [hand]) < 1e-8
        return result.effort

    efforts = [asked()]
    hand.goal[2] += 0.1
    efforts.append(asked())
    hand.goal = (0.0, 0.0, 0.0)
    efforts.append(asked())
    hand.stiffness = 10.0
    efforts.append(asked())
    hand.goal_acceleration = (1.0, 2.0, 3.0)
    efforts.append(asked())
    assert all(not np.allclose(a, b) for a, b in pairwise(efforts))


def test_a_sensing_task_shows_its_error_and_does_nothing():
    problem = usual("dreamer")
    snapshot = next(states("dreamer"))
    hand = problem.task("one")
    hand.state = "disabled"
    without = controller("dreamer").solve(snapshot, problem)
    hand.state = "sensing"
    sensing = controller("dreamer").solve(snapshot, problem)
    assert np.array_equal(sensing.effort, without.effort)
    assert sensing.error("one") == pytest.approx(hand.error(snapshot), abs=1e-12)


class OwnPosition(Task):
    """What a user would write: a hand's position, in Python."""

    row_count = 3
    frame = "right_palm"

    def error(self, snapshot):
        return np.array([0.4, -0.2, 0.3]) - snapshot.position(snapshot.model.frame(self.frame))

    def jacobian(self, snapshot):
        return snapshot.jacobian(snapshot.model.frame(self.frame))[:3]

    def bias(self, snapshot):
        return snapshot.bias(snapshot.model.frame(self.frame))[:3]


def test_a_users_own_task_is_one_class_and_does_the_same_as_ours():
    snapshot = next(states("dreamer"))
    ours, held = CartesianPositionTask("hand", "right_palm", (0.4, -0.2, 0.3)), usual("dreamer").constraints
    one = controller("dreamer").solve(snapshot, linear(Problem([ours, posture("dreamer")], held)))
    two = controller("dreamer").solve(snapshot, Problem([OwnPosition("own"), posture("dreamer")], held))
    assert relative(two.effort, one.effort) < 1e-10
    assert two.error("own") == pytest.approx(ours.error(snapshot))


def test_limits_are_enforced_and_a_warning_names_the_joint():
    m = model("dreamer")
    snapshot = m.at(m.neutral(), np.full(m.nv, 3.0))
    result = WBOSC(m, max_effort=5.0).solve(snapshot, usual("dreamer"))
    loose = controller("dreamer").solve(snapshot, usual("dreamer"))
    assert np.abs(result.effort).max() == 5.0
    beyond = {w.joint for w in result.warnings if w.quantity == "effort"}
    strongest = [min(5.0, joint.effort) for joint in m.robot.moving]
    assert beyond == {n for n, e, s in zip(m.joint_names, loose.effort, strongest, strict=True) if abs(e) > s}
    assert "right_elbow" in str(next(w for w in result.warnings if w.joint == "right_elbow"))
    lower, upper, fastest, _ = result._limits
    assert np.all(result.position >= lower)
    assert np.all(result.position <= upper)
    assert np.all(np.abs(result.velocity) <= fastest)


def test_positions_and_velocities_are_those_after_one_period():
    m = model("dreamer")
    snapshot = next(states("dreamer"))
    result = controller("dreamer").solve(snapshot, usual("dreamer"))
    assert result.velocity == pytest.approx(snapshot.v + 0.001 * result.acceleration)
    assert result.position == pytest.approx(m.integrate(snapshot.q, result.velocity, 0.001))


def test_joints_of_the_gravity_compensation_mask_get_no_gravity_effort():
    robot = robots.load("dreamer")
    plain, masked = Model(robot), Model(robot, gravity_compensation_mask=["right_elbow"])
    elbow = plain.column("right_elbow")
    hold = JointPositionTask("posture", robot.posture("stand"))
    problem = Problem([hold], usual("dreamer").constraints)
    efforts = [WBOSC(m).solve(m.at(m.posture("stand")), problem).effort for m in (plain, masked)]
    g = plain.at(plain.posture("stand")).g[elbow]
    assert abs(g) > 0.1
    assert efforts[0][elbow] - efforts[1][elbow] == pytest.approx(g)


@pytest.mark.parametrize("how", ["goal", "stiffness", "own", "raises"])
def test_what_is_not_a_number_never_leaves_the_controller(how):
    own = OwnPosition("own")
    hand = CartesianPositionTask("hand", "left_palm", (0.4, 0.2, 0.3))
    problem = Problem([own, hand, posture("dreamer")], usual("dreamer").constraints)
    mine = WBOSC(model("dreamer"))
    snapshot = next(states("dreamer"))
    good = mine.solve(snapshot, problem)
    if how == "own":
        object.__setattr__(
            own, "__class__", type("Bad", (OwnPosition,), {"jacobian": lambda s, n: np.full((3, 16), np.nan)})
        )
    elif how == "raises":
        object.__setattr__(own, "__class__", type("Bad", (OwnPosition,), {"error": lambda s, n: 1 / 0}))
    else:
        getattr(hand, how)[1] = np.nan
    bad = mine.solve(snapshot, problem)
    assert bad.fault is not None
    assert ("own" if how in ("own", "raises") else "hand") in bad.fault.reason
    assert np.array_equal(bad.effort, good.effort)
    if how == "goal":
        hand.goal = (0.4, 0.2, 0.3)
        assert mine.solve(snapshot, problem).fault is None


def test_a_fault_in_the_first_cycle_holds_the_robot_against_gravity():
    problem = usual("dreamer")
    problem.task("one").goal[0] = np.inf
    snapshot = next(states("dreamer"))
    result = WBOSC(model("dreamer")).solve(snapshot, problem)
    assert result.fault is not None
    assert result.position == pytest.approx(snapshot.q)
    assert np.isfinite(result.effort).all()
    assert np.abs(result.effort).max() > 0


def test_a_snapshot_of_another_model_is_refused():
    with pytest.raises(WrongRecord, match="valkyrie"):
        controller("dreamer").solve(next(states("valkyrie")), usual("dreamer"))


def test_results_stay_as_they_are_while_they_are_kept_and_no_buffers_pile_up():
    problem, mine = usual("dreamer"), WBOSC(model("dreamer"))
    snapshots = list(states("dreamer", 6))
    results = [mine.solve(each, problem) for each in snapshots]
    kept = [each.effort.copy() for each in results]
    again = [mine.solve(each, problem).effort.copy() for each in snapshots]
    assert np.array_equal(kept, again)
    assert np.array_equal([each.effort for each in results], kept)
    buffers = mine._now.buffers
    for _ in range(1000):
        result = mine.solve(snapshots[0], problem)
    assert len(buffers._buffers) <= buffers.KEPT
    assert result.effort.flags.writeable is False


def test_the_same_state_gives_the_same_command_to_the_bit():
    snapshot = next(states("valkyrie"))
    problem = crowded("valkyrie")
    a = controller("valkyrie").solve(snapshot, problem).effort.copy()
    for task in problem.tasks:
        task.accumulated[:] = 0.0
    assert np.array_equal(a, controller("valkyrie").solve(snapshot, problem).effort)


@pytest.mark.slow
def test_ten_thousand_cycles_leave_nothing_behind():
    problem, mine = usual("dreamer"), WBOSC(model("dreamer"))
    m = model("dreamer")
    q, v = m.neutral(), np.zeros(m.nv)
    tracemalloc.start()
    try:
        for _ in range(200):
            mine.solve(m.at(q, v), problem)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(10_000):
            mine.solve(m.at(q, v), problem)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 2000
    finally:
        tracemalloc.stop()


def test_the_example_on_the_page_on_whole_body_control_runs():
    page = Path(__file__).parents[2] / "docs" / "whole_body_control.md"
    example = re.search(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL).group(1)
    names = {}
    exec(example, names)
    command, weight = names["command"], 9.81 * names["model"].total_mass
    assert command.fault is None
    assert sum(command.contact_force(f"{side}_foot")[2] for side in ("left", "right")) == pytest.approx(
        weight, rel=1e-3
    )


def test_the_task_of_ones_own_on_the_page_does_what_it_says():
    page = Path(__file__).parents[2] / "docs" / "whole_body_control.md"
    examples = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    names = {}
    exec(next(each for each in examples if "class HandsLevel" in each), names)
    snapshot, level = next(states("dreamer")), names["level"]
    step = 1e-6 * np.ones(snapshot.model.nv)
    moved = snapshot.model.at(snapshot.model.integrate(snapshot.q, step, 1.0))
    change = level.error(snapshot) - level.error(moved)
    assert change == pytest.approx(level.jacobian(snapshot) @ step, abs=1e-10)
    problem = Problem([level, posture("dreamer")], usual("dreamer").constraints)
    assert achieved(snapshot, controller("dreamer").solve(snapshot, problem), [level]) < 1e-8
