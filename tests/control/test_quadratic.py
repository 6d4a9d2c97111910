"""The controller with inequalities: WBOSC where no limit is near, the best that limits permit where they are."""

import control_examples
import numpy as np
import pytest
from quadratic_examples import (
    UNLIMITED,
    achieved,
    assert_same,
    feet,
    hard_cases,
    limits_of,
    model_of,
    of_all,
    pull_of_levels,
    standing,
    unlimited_wbosc,
)

from wholebody.constraints import Coactuation, LineContact, PointContact
from wholebody.control import Problem
from wholebody.control.quadratic import QuadraticController
from wholebody.tasks import (
    CartesianPositionTask,
    CenterOfMassTask,
    CenterOfPressureTask,
    ExternalForceTask,
    InternalForceTask,
    JointPositionTask,
    MomentumTask,
)

SIDES = ("left", "right")
WALKERS = ("hubo2plus", "valkyrie", "atlas", "hoap3")
FAST = 300.0
"""rad/s², so that bounds on accelerations do not decide everything in hard cases."""


def all_sorts(model):
    """Problems of every kind, for a robot with feet."""
    left, right = feet()
    com = CenterOfMassTask("com", (0.0, 0.02, 0.6))
    hand = CartesianPositionTask("hand", "left_palm" if "left_palm" in model.frames else "left_sole", (0.3, 0.2, 0.9))
    posture = JointPositionTask("posture", goal=np.full(len(model.joint_names), 0.1))
    pressed = [
        CenterOfPressureTask("left_cop", "left_foot", (0.02, 0.01)),
        InternalForceTask("wide", "left_foot", "right_foot", -5.0),
    ]
    yield Problem([com, posture], [left, right])
    yield Problem([com, hand, *pressed, posture], [left, right])
    yield Problem([[com, *pressed], hand], [left, right])
    yield Problem([com, pressed[0], posture], [left])
    yield Problem([MomentumTask("momentum", (0.0,) * 6), posture], [])
    yield Problem([ExternalForceTask("push", hand.frame, (5.0, 0.0, -3.0)), com, posture], [left, right])
    yield Problem([com, posture], [PointContact("toe", "left_sole", (0.05, 0.0, 0.0))])
    yield Problem([[com, hand, posture]], [left, right])


@pytest.mark.parametrize("name", WALKERS)
def test_without_limits_it_is_wbosc(name):
    model, rng = model_of(name), np.random.default_rng(3)
    for problem in all_sorts(model):
        for _ in range(3):
            snapshot = model.at(model.random(rng), rng.normal(size=model.nv) * 0.3)
            ours = QuadraticController(model, **UNLIMITED).solve(snapshot, problem)
            assert ours.fault is None
            assert ours.steps == 0
            assert_same(ours, unlimited_wbosc(model).solve(snapshot, problem))


def test_without_limits_it_is_wbosc_for_an_arm_with_joints_that_follow_others():
    model, rng = model_of("dreamer"), np.random.default_rng(3)
    hand = CartesianPositionTask("hand", "right_palm", (0.4, -0.2, 0.3))
    problem = Problem([hand, JointPositionTask("posture", goal=np.full(16, 0.2))], Coactuation.of(model))
    for _ in range(5):
        snapshot = model.at(model.random(rng), rng.normal(size=model.nv))
        ours = QuadraticController(model, **UNLIMITED).solve(snapshot, problem)
        assert_same(ours, unlimited_wbosc(model).solve(snapshot, problem))


@pytest.mark.parametrize("name", control_examples.ROBOTS)
def test_without_limits_it_is_wbosc_in_two_hundred_states_of_six_robots(name):
    """Where the laws of singular levels differ, it keeps the paper's; there, columns are left out, not directions."""
    model, problem = control_examples.model(name), control_examples.linear(control_examples.usual(name))
    ours, sharing, truncating = (
        QuadraticController(model, **UNLIMITED),
        control_examples.controller(name),
        unlimited_wbosc(model),
    )
    regular = 0
    for moving in control_examples.states(name):
        snapshot = control_examples.standing(moving, problem.constraints)
        command, shared, truncated = (each.solve(snapshot, problem) for each in (ours, sharing, truncating))
        assert command.fault is None
        scale = np.abs(truncated.acceleration).max()
        if np.abs(shared.acceleration - truncated.acceleration).max() < 1e-9 * scale:
            assert_same(command, shared, 1e-8)
            regular += 1
        assert np.abs(command.acceleration - truncated.acceleration).max() < 1e-3 * scale
    assert regular > 0.8 * control_examples.STATES


def test_near_a_singular_state_its_efforts_are_bounded_by_limits_where_the_paper_s_law_has_no_bound():
    """What it has instead of sharing a direction between the levels: an arm all but straight, asked to go further."""
    model = model_of("dreamer")
    here = model.at(model.neutral()).position(model.frame("right_palm"))
    hand = CartesianPositionTask("out", "right_palm", here - np.array([0.0, 0.0, 0.3]))
    problem = Problem([hand, JointPositionTask("posture", goal=model.neutral())], Coactuation.of(model))
    ours, theirs = QuadraticController(model), unlimited_wbosc(model)
    strongest = np.array([each.effort for each in model.robot.moving])
    worst = 0.0
    for bent in np.geomspace(1e-3, 0.3, 20):
        snapshot = model.at(np.full(model.nq, bent))
        command = ours.solve(snapshot, problem)
        assert command.fault is None
        assert np.all(np.abs(command.effort) <= strongest + 1e-6)
        worst = max(worst, np.max(np.abs(theirs.solve(snapshot, problem).effort) / strongest))
    assert worst > 3.0, "times what motors can"


@pytest.mark.parametrize("name", ["hubo2plus", "atlas", "hoap3"])  # Valkyrie stands with its neck at a limit
def test_where_no_limit_is_reached_it_is_wbosc(name):
    model = model_of(name)
    snapshot, problem = model.at(model.posture("stand")), standing(model, com=(0.0, 0.001, 0.0))
    ours = QuadraticController(model).solve(snapshot, problem)
    assert ours.steps == 0
    assert_same(ours, unlimited_wbosc(model).solve(snapshot, problem))


# --- limits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WALKERS)
def test_every_limit_holds_and_wbosc_alone_breaks_some(name):
    broken = reached = 0
    for model, snapshot, problem in hard_cases(name):
        limits = limits_of(model, snapshot, problem)
        command = QuadraticController(model).solve(snapshot, problem)
        assert command.fault is None
        reached += bool(command.active)
        scale = np.maximum(np.abs(limits.G).max(axis=1), 1.0)
        value = limits.G @ of_all(command)
        assert np.all(value >= limits.lower - 1e-6 * scale)
        assert np.all(value <= limits.upper + 1e-6 * scale)
        without = limits.G @ of_all(unlimited_wbosc(model).solve(snapshot, problem))
        broken += bool(np.any((without < limits.lower - scale * 1e-3) | (without > limits.upper + scale * 1e-3)))
    assert broken >= 4
    assert reached >= 4


@pytest.mark.parametrize("name", WALKERS)
def test_efforts_forces_and_accelerations_keep_the_equation_of_motion(name):
    for model, snapshot, problem in hard_cases(name, 2):
        command = QuadraticController(model).solve(snapshot, problem)
        Jc = np.vstack([each.jacobian(snapshot) for each in problem.constraints])
        bias = np.concatenate([each.bias(snapshot) for each in problem.constraints])
        effort = np.concatenate([np.zeros(6), command.effort])
        left = snapshot.M @ command.acceleration + snapshot.h
        np.testing.assert_allclose(left, effort + Jc.T @ command.contact_forces, atol=1e-7)
        np.testing.assert_allclose(Jc @ command.acceleration + bias, 0.0, atol=1e-8)


@pytest.mark.parametrize("name", WALKERS)
def test_each_level_gets_the_best_that_limits_and_levels_above_permit(name):
    lost = 0
    for model, snapshot, problem in hard_cases(name, 10):
        command = QuadraticController(model, braking=FAST).solve(snapshot, problem)
        assert max(pull_of_levels(model, snapshot, problem, command, braking=FAST)) < 1e-5
        lost += bool(command.losses)
    assert lost >= 8


def test_weights_instead_of_levels_do_not_give_each_level_its_best():
    weighted = []
    for model, snapshot, problem in hard_cases("hubo2plus", 10):
        command = QuadraticController(model, braking=FAST, strict=False).solve(snapshot, problem)
        weighted.append(max(pull_of_levels(model, snapshot, problem, command, braking=FAST)))
    assert np.median(weighted) > 0.01


@pytest.mark.parametrize("name", WALKERS)
def test_a_lower_level_never_disturbs_a_higher_one(name):
    changed = 0.0
    for model, snapshot, problem in hard_cases(name, 3):
        first = QuadraticController(model, braking=FAST).solve(snapshot, problem)
        posture = problem.task("posture")
        posture.goal = posture.goal + np.random.default_rng(1).uniform(-0.3, 0.3, len(posture.goal))
        second = QuadraticController(model, braking=FAST).solve(snapshot, problem)
        changed = max(changed, np.abs(first.acceleration - second.acceleration).max())
        for task in ("com", "hand"):
            one, other = (achieved(problem, snapshot, each, task) for each in (first, second))
            np.testing.assert_allclose(one, other, atol=1e-6 * max(1.0, np.abs(one).max()))
    assert changed > 1.0


def test_taking_a_limit_away_never_makes_a_level_worse():
    for model, snapshot, problem in hard_cases("hubo2plus", 3):
        with_all = QuadraticController(model).solve(snapshot, problem)
        wanted = problem.task("com").rows(snapshot).desired
        worst = np.linalg.norm(achieved(problem, snapshot, with_all, "com") - wanted)
        for limit, off in UNLIMITED.items():
            without = QuadraticController(model, **{limit: off}).solve(snapshot, problem)
            assert np.linalg.norm(achieved(problem, snapshot, without, "com") - wanted) <= worst + 1e-5


def test_a_centre_of_pressure_wanted_outside_the_sole_stays_on_its_edge():
    model = model_of("hubo2plus")
    snapshot = model.at(model.posture("stand"))
    outside = CenterOfPressureTask("cop", "left_foot", (0.3, 0.0))
    problem = Problem([outside, CenterOfMassTask("com", snapshot.com_in_world)], feet())
    controller = QuadraticController(model, inset=0.01)
    command = controller.solve(snapshot, problem)
    assert command.fault is None
    force = command.contact_force("left_foot")
    x = -force[4] / force[2]
    assert x == pytest.approx(0.10, abs=1e-4)
    assert "tip of contact 'left_foot'" in [str(each) for each in command.active]


def test_a_contact_presses_with_the_least_force_asked_for():
    model = model_of("hubo2plus")
    snapshot = model.at(model.posture("stand"))
    problem = standing(model, com=(0.0, 0.02, 0.0))
    before = QuadraticController(model).solve(snapshot, problem).contact_force("right_foot")[2]
    after = QuadraticController(model, least_force=before + 20).solve(snapshot, problem).contact_force("right_foot")[2]
    assert after == pytest.approx(before + 20, abs=1e-2)


def test_ice_is_walked_on_more_softly_than_rubber():
    model = model_of("hubo2plus")
    snapshot, problem = model.at(model.posture("stand")), standing(model, com=(0.015, 0.0, 0.0))
    ice = QuadraticController(model, friction={"left_foot": 0.02, "right_foot": 0.02}).solve(snapshot, problem)
    rubber = QuadraticController(model, friction=1.0).solve(snapshot, problem)
    assert achieved(problem, snapshot, ice, "com")[0] < 0.5 * achieved(problem, snapshot, rubber, "com")[0]
    for foot in ("left_foot", "right_foot"):
        force = ice.contact_force(foot)
        assert np.hypot(*force[:2]) <= 0.02 * force[2] + 1e-3


# --- edges and points -------------------------------------------------------------------------------------


def test_on_the_edges_of_its_soles_the_pressure_stays_between_their_ends():
    model = model_of("hubo2plus")
    snapshot = model.at(model.posture("stand"))
    outline = np.array(model.robot.surface("left_sole").outline)
    edges = [LineContact(f"{side}_toe", f"{side}_sole", (0, 1, 0), (outline[:, 0].max(), 0, 0)) for side in SIDES]
    beside = CenterOfMassTask("com", snapshot.com_in_world + np.array([0.0, 0.3, 0.0]))
    problem = Problem([beside, JointPositionTask("posture", goal=snapshot.q[7:])], edges)
    command = QuadraticController(model).solve(snapshot, problem)
    assert command.fault is None
    assert {"tip of contact 'left_toe'", "tip of contact 'right_toe'"} & {str(each) for each in command.active}
    for side in SIDES:
        force = command.contact_force(f"{side}_toe")
        ends = np.array(model.robot.surface(f"{side}_sole").outline)[:, 1]
        assert force[2] >= -1e-6
        assert np.hypot(*force[:2]) <= 0.6 * force[2] + 1e-6
        least, greatest = ends.min() * force[2], ends.max() * force[2]  # of the torque along the sole
        assert least - 1e-5 <= force[4] <= greatest + 1e-5


def test_on_points_no_force_pulls_or_slips_where_wbosc_alone_does():
    model = model_of("hubo2plus")
    snapshot = model.at(model.posture("stand"))
    corners = [
        PointContact(f"{side}_{index}", f"{side}_sole", (x, y, 0.0))
        for side in SIDES
        for index, (x, y) in enumerate(model.robot.surface(f"{side}_sole").outline[:3])
    ]
    ahead = CenterOfMassTask("com", snapshot.com_in_world + np.array([0.05, 0.0, 0.0]))
    problem = Problem([ahead, JointPositionTask("posture", goal=snapshot.q[7:])], corners)
    ours, theirs = QuadraticController(model), unlimited_wbosc(model)
    kept, broken = (
        np.array([command.contact_force(each.name) for each in corners])
        for command in (ours.solve(snapshot, problem), theirs.solve(snapshot, problem))
    )
    assert np.all(np.hypot(*kept.T[:2]) <= 0.6 * kept[:, 2] + 1e-5)
    assert broken[:, 2].min() < -1.0, "N"
