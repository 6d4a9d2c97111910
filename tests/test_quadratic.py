"""The controller with inequalities: WBOSC where no limit is near, the best that limits permit where they are."""

import numpy as np
import pytest
from quadratic_examples import feet, limits_of, model_of, near_standing, solve_level_by_level, standing

from wholebody.constraints import Coactuation, PointContact
from wholebody.control import WBOSC, Problem
from wholebody.control.quadratic import QuadraticController
from wholebody.control.quadratic_result import InfeasibleFault
from wholebody.errors import BadProblem, Infeasible, UnknownName, WrongRecord
from wholebody.kinematics.collision import Collisions
from wholebody.tasks import (
    CartesianPositionTask,
    CenterOfMassTask,
    CenterOfPressureTask,
    ExternalForceTask,
    InternalForceTask,
    JointPositionTask,
    MomentumTask,
    Task,
)

pytestmark = pytest.mark.timeout(600)  # the first test compiles

UNLIMITED = {"limit_contacts": False, "limit_positions": False, "limit_velocities": False, "limit_efforts": False}
WALKERS = ("hubo2plus", "valkyrie", "atlas", "hoap3")


def unlimited_wbosc(model):
    return WBOSC(model, enforce_effort_limits=False, enforce_position_limits=False, enforce_velocity_limits=False)


def assert_same(one, other, tolerance=1e-6):
    for what in ("acceleration", "effort", "contact_forces", "position", "velocity"):
        a, b = getattr(one, what), getattr(other, what)
        scale = max(1.0, float(np.abs(b).max(initial=0.0)))
        assert np.abs(a - b).max(initial=0.0) <= tolerance * scale, what


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


@pytest.mark.parametrize("name", ["hubo2plus", "atlas", "hoap3"])  # Valkyrie stands with its neck at a limit
def test_where_no_limit_is_reached_it_is_wbosc(name):
    model = model_of(name)
    snapshot, problem = model.at(model.posture("stand")), standing(model, com=(0.0, 0.001, 0.0))
    ours = QuadraticController(model).solve(snapshot, problem)
    assert ours.steps == 0
    assert_same(ours, unlimited_wbosc(model).solve(snapshot, problem))


# --- limits -----------------------------------------------------------------------------------------


def hard_cases(name, count=6):
    """States and goals that run into limits of all kinds."""
    model, rng = model_of(name), np.random.default_rng(5)
    for _ in range(count):
        q, v = near_standing(model, rng)
        posture = q[-len(model.joint_names) :] + rng.uniform(-0.5, 0.5, len(model.joint_names))
        problem = standing(model, rng.uniform(-0.05, 0.05, 3), rng.uniform(-0.2, 0.2, 3), posture, q)
        J = np.vstack([each.jacobian(model.at(q)) for each in problem.constraints])
        yield model, model.at(q, v - np.linalg.pinv(J) @ (J @ v)), problem


def of_all(result):
    return np.concatenate([result.acceleration, result.contact_forces])


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


def test_each_level_gets_the_best_that_limits_and_levels_above_permit():
    compared = 0
    for model, snapshot, problem in hard_cases("hubo2plus", 6):
        dense = solve_level_by_level(model, snapshot, problem)
        if dense is None:  # it is badly conditioned, and does not always converge
            continue
        compared += 1
        command = QuadraticController(model).solve(snapshot, problem)
        for level, wanted in zip(problem.levels, dense, strict=True):
            told = level[0].rows(snapshot)
            missing = told.jacobian @ command.acceleration + told.bias - told.desired
            assert np.linalg.norm(missing) == pytest.approx(np.linalg.norm(wanted), rel=1e-3, abs=1e-3)
    assert compared >= 2


def achieved(problem, snapshot, command, name):
    told = problem.task(name).rows(snapshot)
    return told.jacobian @ command.acceleration + told.bias


@pytest.mark.parametrize("name", ["hubo2plus", "valkyrie", "hoap3"])
def test_a_lower_level_never_disturbs_a_higher_one(name):
    changed = 0.0
    for model, snapshot, problem in hard_cases(name, 3):
        first = QuadraticController(model).solve(snapshot, problem)
        posture = problem.task("posture")
        posture.goal = posture.goal + np.random.default_rng(1).uniform(-0.3, 0.3, len(posture.goal))
        second = QuadraticController(model).solve(snapshot, problem)
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
        for limit in UNLIMITED:
            without = QuadraticController(model, **{limit: False}).solve(snapshot, problem)
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


# --- from cycle to cycle ------------------------------------------------------------------------------


def test_a_warm_start_gives_the_same_answer():
    model = model_of("hubo2plus")
    warm = QuadraticController(model)
    for _, snapshot, problem in hard_cases("hubo2plus", 4):
        for _ in range(3):
            command = warm.solve(snapshot, problem)
        assert_same(command, QuadraticController(model).solve(snapshot, problem), 1e-4)


@pytest.mark.parametrize("name", ["hubo2plus", "valkyrie"])
def test_in_a_rollout_no_joint_ever_leaves_its_limits(name):
    model = model_of(name)
    q, v, dt = model.posture("stand"), np.zeros(model.nv), 0.001
    count = len(model.joint_names)
    lower, upper, fastest = np.array([(each.lower, each.upper, each.velocity) for each in model.robot.moving]).T
    arms = np.array(
        [
            not any(word in each.lower() for word in ("hip", "knee", "ankle", "hy", "hr", "hp", "kn", "ap", "ar"))
            for each in model.joint_names
        ]
    )
    goal = np.where(arms, np.where(np.arange(count) % 2, upper + 1.0, lower - 1.0), q[-count:])
    com = CenterOfMassTask("com", model.at(q).com_in_world)
    posture = JointPositionTask("posture", goal=goal, stiffness=400.0)
    problem = Problem([com, posture], feet())
    controller = QuadraticController(model)
    reached = 0
    for _ in range(500):
        command = controller.solve(model.at(q, v), problem)
        assert command.fault is None
        v = v + command.acceleration * dt
        q = model.integrate(q, v, dt)
        assert np.all(q[-count:] >= lower - 1e-7)
        assert np.all(q[-count:] <= upper + 1e-7)
        assert np.all(np.abs(v[-count:]) <= fastest + 1e-6)
        assert np.all(np.abs(command.effort) <= controller.limits[3] + 1e-3)
        reached += bool(command.active)
    assert reached > 100
    assert np.any((q[-count:] > upper - 0.01) | (q[-count:] < lower + 0.01))


# --- what cannot be ----------------------------------------------------------------------------------


def test_motors_that_are_far_too_weak_are_named_with_the_tasks_that_lose_by_them():
    model = model_of("hubo2plus")
    weak = np.array([each.effort for each in model.robot.moving]) * 0.01
    command = QuadraticController(model, max_effort=weak).solve(model.at(model.posture("stand")), standing(model))
    assert command.fault is None  # it can still fall without breaking a limit
    assert np.all(np.abs(command.effort) <= weak)
    assert "effort of joint 'RKN'" in [str(each) for each in command.active]
    assert max(command.losses, key=lambda each: each.residual).residual > 1.0
    assert "com" in [each.task for each in command.losses]


def swinging_arm():
    """An arm that swings towards a limit too fast for motors that are far too weak."""
    model = model_of("dreamer")
    q, v = model.posture("stand"), np.zeros(model.nv)
    joint = model.column("right_elbow")
    q[joint], v[joint] = model.robot.moving[joint].upper - 0.001, 0.8
    problem = Problem([JointPositionTask("posture", goal=model.posture("stand"))], Coactuation.of(model))
    return model, model.at(q, v), problem


def test_limits_that_contradict_each_other_are_named_with_how_much_they_lack():
    model, snapshot, problem = swinging_arm()
    with pytest.raises(Infeasible, match=r"right_elbow.* by .*(rad/s²|N·m).*posture") as caught:
        QuadraticController(model, max_effort=0.01, raise_infeasible=True).solve(snapshot, problem)
    limits = {limit: (excess, unit) for limit, excess, unit in caught.value.violations}
    assert caught.value.lost == ("posture",)
    assert 1.0 < limits["motion of joint 'right_elbow'"][0] < 20.0
    assert limits["motion of joint 'right_elbow'"][1] == "rad/s²"


def test_feet_that_must_press_harder_than_the_robot_weighs_are_named():
    model = model_of("hubo2plus")
    controller = QuadraticController(model, least_force=3000.0)
    command = controller.solve(model.at(model.posture("stand")), standing(model))
    assert "pull of contact" in command.fault.reason


def test_in_the_loop_the_last_safe_command_is_given_with_the_fault():
    model = model_of("hubo2plus")
    controller = QuadraticController(model)
    problem = standing(model)
    snapshot = model.at(model.posture("stand"))
    good = controller.solve(snapshot, problem)
    problem.task("com").__dict__["numbers"][-1] = np.nan
    bad = controller.solve(snapshot, problem)
    assert bad.fault is not None
    assert "'com'" in bad.fault.reason
    np.testing.assert_array_equal(bad.effort, good.effort)


def test_before_there_was_a_safe_command_the_robot_is_held_where_it_is():
    model, snapshot, problem = swinging_arm()
    command = QuadraticController(model, max_effort=0.01).solve(snapshot, problem)
    assert isinstance(command.fault, InfeasibleFault)
    assert command.fault.error.violations
    assert np.all(np.abs(command.effort) <= 0.01)
    np.testing.assert_array_equal(command.position, snapshot.q)


def test_the_task_that_loses_is_named():
    model = model_of("hubo2plus")
    command = QuadraticController(model).solve(model.at(model.posture("stand")), standing(model, com=(0.3, 0.0, 0.0)))
    assert "com" in [each.task for each in command.losses]
    assert max(each.residual for each in command.losses) > 1.0


class Broken(Task):
    row_count = 1

    def error(self, snapshot):
        if snapshot.q[0] > 0.5:
            raise RuntimeError("lost")
        return np.zeros(1)

    def jacobian(self, snapshot):
        return np.eye(1, snapshot.model.nv)


def test_a_users_own_task_counts_and_may_break():
    model = model_of("hubo2plus")
    problem = Problem([Broken("mine"), JointPositionTask("posture", goal=np.zeros(38))], feet())
    controller = QuadraticController(model)
    q = model.posture("stand")
    assert controller.solve(model.at(q), problem).fault is None
    q[0] = 1.0
    assert "mine" in controller.solve(model.at(q), problem).fault.reason


# --- weights ----------------------------------------------------------------------------------------


def test_of_two_tasks_of_one_level_that_contradict_each_other_the_heavier_gets_more():
    model = model_of("hubo2plus")
    snapshot = model.at(model.posture("stand"))
    here = snapshot.position(model.frame("left_palm"))
    ahead = CartesianPositionTask("ahead", "left_palm", here + np.array([0.01, 0, 0]))
    aside = CartesianPositionTask("aside", "left_palm", here + np.array([0, 0.01, 0]))
    problem = Problem([[ahead, aside], JointPositionTask("posture", goal=model.posture("stand")[7:])], feet())
    controller = QuadraticController(model)
    even = achieved(problem, snapshot, controller.solve(snapshot, problem), "ahead")
    controller.weigh("ahead", 9.0)
    heavy = achieved(problem, snapshot, controller.solve(snapshot, problem), "ahead")
    np.testing.assert_allclose(even[:2], [0.5, 0.5], atol=1e-5)
    np.testing.assert_allclose(heavy[:2], [0.9, 0.1], atol=1e-5)


def test_with_weights_instead_of_levels_the_upper_task_is_nearly_met_and_limits_hold():
    for model, snapshot, problem in hard_cases("hubo2plus", 3):
        limits = limits_of(model, snapshot, problem)
        command = QuadraticController(model, strict=False).solve(snapshot, problem)
        value, scale = limits.G @ of_all(command), np.maximum(np.abs(limits.G).max(axis=1), 1.0)
        assert np.all(value >= limits.lower - 1e-6 * scale)
        assert np.all(value <= limits.upper + 1e-6 * scale)
        strict = QuadraticController(model).solve(snapshot, problem)
        one, other = (achieved(problem, snapshot, each, "com") for each in (command, strict))
        wanted = problem.task("com").rows(snapshot).desired
        assert np.linalg.norm(one - wanted) >= np.linalg.norm(other - wanted) - 1e-6
        assert np.linalg.norm(one - other) < 0.2 * np.linalg.norm(wanted) + 0.2


# --- what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"period": 0.0},
        {"braking": -1.0},
        {"friction": 0.0},
        {"friction": {"left_foot": -1.0}},
        {"inset": -0.1},
        {"max_effort": [1.0]},
        {"hard_tolerance": 2.0},
        {"clearance": np.nan},
    ],
    ids=str,
)
def test_options_that_mean_nothing_are_refused(options):
    with pytest.raises(BadProblem):
        QuadraticController(model_of("hubo2plus"), **options)


def test_the_friction_of_a_contact_that_is_not_there_is_refused():
    model = model_of("hubo2plus")
    with pytest.raises(UnknownName, match="left_foot"):
        QuadraticController(model, friction={"left_fot": 0.5}).prepare(standing(model))


def test_a_snapshot_of_another_model_is_refused():
    model = model_of("hubo2plus")
    other = model_of("atlas")
    with pytest.raises(WrongRecord):
        QuadraticController(model).solve(other.at(other.neutral()), standing(model))
    with pytest.raises(BadProblem):
        QuadraticController(model).weigh("com", 0.0)


# --- distances ---------------------------------------------------------------------------------------


def closest_in_a_rollout(with_limit):
    """How near links come when both hands go to one place."""
    model = model_of("hubo2plus")
    collisions = Collisions(model, margin=0.0)
    q, v, dt = model.posture("stand"), np.zeros(model.nv), 0.002
    middle = model.at(q).com_in_world + np.array([0.25, 0.0, 0.1])
    hands = [
        CartesianPositionTask(f"{side}_hand", f"{side}_palm", middle, stiffness=20.0) for side in ("left", "right")
    ]
    com = CenterOfMassTask("com", model.at(q).com_in_world)
    problem = Problem([com, hands, JointPositionTask("posture", goal=q[7:])], feet())
    controller = QuadraticController(model, period=dt, collisions=collisions if with_limit else None, clearance=0.01)
    tight = {(gap.one, gap.other) for gap in collisions.near(q, 0.02)}  # fingers, and legs side by side
    nearest = np.inf
    for cycle in range(500):
        snapshot = model.at(q, v)
        command = controller.solve(snapshot, problem)
        assert command.fault is None
        v = v + command.acceleration * dt
        q = model.integrate(q, v, dt)
        if cycle % 5 == 0:
            apart = [gap.distance for gap in collisions.near(snapshot, 0.05) if (gap.one, gap.other) not in tight]
            nearest = min([nearest, *apart])
    return nearest


def test_links_keep_their_distance_where_they_would_collide():
    assert closest_in_a_rollout(with_limit=False) < 0.0
    assert closest_in_a_rollout(with_limit=True) > 0.005
