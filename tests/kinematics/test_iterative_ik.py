"""Iterative inverse kinematics: goals are reached, with a fixed frame, a home posture and weights."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest
from iterative_examples import (
    LIMBS,
    arm,
    coupled,
    goals_at,
    near,
    pinocchio_error,
    pinocchio_placement,
    point,
    pose,
    stand,
    weights_of,
)

from wholebody import robots
from wholebody.errors import BadGoal, BadParameter, BadState, BadTask, UnknownName
from wholebody.kinematics.inverse import InverseKinematics
from wholebody.kinematics.inverse_rates import pseudo_inverse
from wholebody.kinematics.inverse_variables import moved_mass
from wholebody.model import Model
from wholebody.parameters import Unit
from wholebody.robots import Coupling
from wholebody.tasks import (
    CartesianPositionTask,
    CenterOfMassTask,
    JointLimitTask,
    JointPositionTask,
    MomentumTask,
    Orientation2DTask,
    Task,
)


@pytest.fixture(scope="module")
def atlas():
    return Model(robots.load("atlas"))


# --- goals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("fixed", ["pelvis", "left_sole", None])
@pytest.mark.parametrize("kind", ["points", "poses", "orientations", "com", "mixed"])
def test_converged_means_the_goals_are_reached_as_pinocchio_sees_it(atlas, kind, fixed):
    rng = np.random.default_rng(3)
    converged = 0
    for _ in range(20):
        start = near(atlas, atlas.posture("stand"), rng)
        there = near(atlas, start, rng, 0.3)
        if fixed == "left_sole":  # stand on the same spot in both
            there = stand(atlas, there, "left_sole", atlas.at(start).placement(atlas.frame("left_sole")))
        goals = goals_at(atlas, there, kind)
        solution = InverseKinematics(atlas, goals, fixed, weights=weights_of(kind)).solve(start)
        converged += solution.converged
        for goal, error in zip(goals, solution.errors, strict=True):
            position, rotation = pinocchio_error(atlas, solution.q, goal)
            assert abs(error.position - position) < 1e-9
            assert abs(error.rotation - rotation) < 1e-7
            if solution.converged:
                assert position <= 1e-4
                assert rotation <= 1e-4
    assert converged >= 18


@pytest.mark.parametrize("name", robots.names())
def test_every_robot_moves_its_outermost_links(name):
    model = Model(robots.load(name))
    inner = {joint.parent for joint in model.robot.joints}
    ends = [link.name for link in model.robot.links if link.name not in inner][:4]
    rng = np.random.default_rng(1)
    converged = 0
    for _ in range(10):
        start = near(model, model.neutral(), rng, 0.3)
        wish = model.at(coupled(model, near(model, start, rng, 0.2)))
        goals = [point(end, wish.position(model.frame(end)).copy()) for end in ends]
        solution = InverseKinematics(model, goals, restarts=5).solve(coupled(model, start))
        converged += solution.converged
        assert np.abs(model.transmission @ solution.q[model.nq - model.nv :]).max(initial=0.0) < 1e-12
    assert converged >= 9


def test_without_iterations_nothing_is_reached(atlas):
    """The control arm: the start does not satisfy the goals by itself."""
    rng = np.random.default_rng(3)
    start = near(atlas, atlas.posture("stand"), rng)
    solution = InverseKinematics(atlas, goals_at(atlas, near(atlas, start, rng), "points"), max_iterations=1).solve(
        start
    )
    assert not solution.converged
    assert solution.reason == "out of iterations"


def test_the_default_is_a_fixed_base_by_any_name(atlas):
    start = atlas.posture("stand")
    goals = goals_at(atlas, near(atlas, start, np.random.default_rng(5)), "points")
    for fixed in ("base", "pelvis"):
        solution = InverseKinematics(atlas, goals, fixed).solve(start)
        np.testing.assert_array_equal(solution.q[:7], start[:7])


def test_goals_can_change_from_call_to_call(atlas):
    start = atlas.posture("stand")
    tasks = goals_at(atlas, start, "poses")
    ik = InverseKinematics(atlas, tasks)
    there = near(atlas, start, np.random.default_rng(6), 0.2)
    targets = [atlas.at(there).placement(atlas.frame(name)).copy() for name in LIMBS]
    for task, target in zip(tasks, targets, strict=True):
        task.goal_position, task.goal_orientation = target[:3, 3], target[:3, :3]
    solution = ik.solve(start)
    assert solution.converged
    np.testing.assert_allclose(pinocchio_placement(atlas, solution.q, LIMBS[2]), targets[2], atol=2e-4)
    assert ik.solve(solution.q).iterations == 0


def test_only_the_joints_named_move(atlas):
    start = atlas.posture("stand")
    palm = atlas.at(start).position(atlas.frame("left_palm"))
    ik = InverseKinematics(
        atlas, [point("left_palm", palm + np.array([0.1, 0.0, 0.1]))], joints=["left_arm", "back_bkz"]
    )
    moved = np.flatnonzero(ik.solve(start).q != start) - 7
    names = {atlas.joint_names[index] for index in moved}
    assert names
    assert names <= {*atlas.robot.groups["left_arm"], "back_bkz"}


# --- the fixed frame, home and weights -------------------------------------------------------------


@pytest.mark.parametrize("fixed", ["left_sole", "right_palm", "r_foot", "head"])
def test_the_support_stays_where_it_is(atlas, fixed):
    rng = np.random.default_rng(9)
    for _ in range(10):
        start = atlas.random(rng)
        goals = [point("left_palm", start[:3] + 0.3), CenterOfMassTask("com", start[:3])]
        ik = InverseKinematics(atlas, goals, fixed, weights={"com": 0.2}, home="stand")
        solution = ik.solve(start, record=True)
        before = pinocchio_placement(atlas, start, fixed)
        for q in [*solution.iterates, solution.q]:
            np.testing.assert_allclose(pinocchio_placement(atlas, q, fixed), before, atol=1e-9)
        assert np.abs(solution.q[:3] - start[:3]).max() > 1e-3


def test_home_moves_the_posture_and_not_the_goals(atlas):
    rng = np.random.default_rng(10)
    home = atlas.posture("stand")
    nearer = 0
    for _ in range(20):
        start = near(atlas, home, rng)
        goals = goals_at(atlas, near(atlas, start, rng, 0.3), "points")
        plain = InverseKinematics(atlas, goals).solve(start)
        homely = InverseKinematics(atlas, goals, home="stand").solve(start)
        assert homely.converged == plain.converged
        if plain.converged:
            assert max(error.position for error in homely.errors) <= 1e-4
        away = np.linalg.norm(plain.q[7:] - home[7:])
        closer = np.linalg.norm(homely.q[7:] - home[7:])
        assert closer <= away
        nearer += closer < 0.9 * away
    assert nearer >= 18


def test_a_home_that_reaches_the_goals_is_found(atlas):
    home = atlas.posture("stand")
    start = near(atlas, home, np.random.default_rng(12), 0.3)
    solution = InverseKinematics(atlas, goals_at(atlas, home, "points"), home=home[7:]).solve(start)
    np.testing.assert_allclose(solution.q[7:], home[7:], atol=2e-2)


def test_mass_weighting_moves_heavy_links_less(atlas):
    start = atlas.posture("stand")
    palm = atlas.at(start).position(atlas.frame("left_palm"))
    travel = {}
    for weighting in (False, True):
        goals = [point("left_palm", palm + np.array([0.15, 0.05, 0.1]))]
        solution = InverseKinematics(atlas, goals, mass_weighting=weighting).solve(start)
        assert solution.converged
        travel[weighting] = np.linalg.norm(atlas.at(solution.q).com_in_world - atlas.at(start).com_in_world)
    assert travel[True] < 0.5 * travel[False]


def test_the_mass_a_joint_moves_is_beyond_it_and_behind_it_seen_from_a_support():
    model = arm(floating=True)
    np.testing.assert_allclose(moved_mass(model)[6:], [5 / 10, 1 / 10])
    np.testing.assert_allclose(moved_mass(model, model.frame("fore"))[6:], [5 / 10, 9 / 10])
    np.testing.assert_allclose(moved_mass(model, model.frame("upper"))[6:], [5 / 10, 1 / 10])


def test_a_heavier_weight_holds_a_joint(atlas):
    start = atlas.posture("stand")
    palm = atlas.at(start).position(atlas.frame("left_palm"))
    goal = [point("left_palm", palm + np.array([0.1, 0.1, 0.0]))]
    back = atlas.column("back_bkz") + 1
    free = InverseKinematics(atlas, goal).solve(start)
    held = InverseKinematics(atlas, goal, joint_weights={"back_bkz": 1e4}).solve(start)
    assert held.converged
    assert abs(held.q[back]) < 1e-2 * abs(free.q[back])


def test_where_two_goals_disagree_the_heavier_wins():
    tasks = [
        CartesianPositionTask("heavy", "hand", (1.2, 0.5, 0.0)),
        CartesianPositionTask("light", "hand", (1.1, 0.5, 0.0)),
    ]
    solution = InverseKinematics(arm(), tasks, weights={"heavy": 9.0}).solve([0.1, 0.4])
    np.testing.assert_allclose([error.position for error in solution.errors], [0.01, 0.09], atol=1e-4)


def test_joints_of_one_motor_stay_together():
    model = arm(couplings=(Coupling("shoulder", "elbow", 0.5),), reach=1.0)
    there = [0.6, 0.3]
    goal = point("hand", model.at(there).position(model.frame("hand")).copy())
    solution = InverseKinematics(model, [goal]).solve([0.0, 0.0])
    assert solution.converged
    np.testing.assert_allclose(solution.q, there, atol=1e-3)


# --- other methods ---------------------------------------------------------------------------------


def test_the_jacobian_transpose_gets_there_too(atlas):
    rng = np.random.default_rng(13)
    steps = {}
    for method in ("least squares", "transpose"):
        rng = np.random.default_rng(13)
        steps[method] = []
        for _ in range(10):
            start = near(atlas, atlas.posture("stand"), rng, 0.3)
            goals = goals_at(atlas, near(atlas, start, rng, 0.2), "points")
            ik = InverseKinematics(atlas, goals, method=method, position_tolerance=1e-3, max_iterations=3000)
            solution = ik.solve(start)
            assert solution.converged
            steps[method].append(solution.iterations)
    assert np.mean(steps["transpose"]) > np.mean(steps["least squares"])


def test_the_pseudo_inverse_is_that_of_eq_4_10():
    """W⁻¹Jᵀ (J W⁻¹Jᵀ + C⁻¹)⁻¹ = (JᵀCJ + W)⁻¹JᵀC, and undamped it is Moore and Penrose's."""
    rng = np.random.default_rng(14)
    J, mobility = rng.normal(size=(4, 7)), rng.uniform(0.5, 2.0, 7)
    C, W = np.eye(4) / 0.01, np.diag(1 / mobility)
    np.testing.assert_allclose(pseudo_inverse(J, 0.01, mobility), np.linalg.inv(J.T @ C @ J + W) @ J.T @ C, atol=1e-12)
    np.testing.assert_allclose(pseudo_inverse(J), np.linalg.pinv(J), atol=1e-12)


# --- any task is a goal ----------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class HandsLevel(Task):
    """A task from outside: the right palm so much above the left."""

    above: Annotated[float, Unit("m")] = 0.0
    row_count = 1

    def error(self, snapshot):
        left, right = (snapshot.model.frame(f"{side}_palm") for side in ("left", "right"))
        return self.above + snapshot.position(left)[2:] - snapshot.position(right)[2:]

    def jacobian(self, snapshot):
        left, right = (snapshot.model.frame(f"{side}_palm") for side in ("left", "right"))
        return snapshot.jacobian(right)[2:3] - snapshot.jacobian(left)[2:3]


@pytest.mark.parametrize("fixed", ["base", "right_sole", None])
def test_every_kind_of_task_that_says_where_something_is_can_be_a_goal(atlas, fixed):
    """Also a point beside its frame's origin, seen from another frame; a direction; joints; and a user's own."""
    rng = np.random.default_rng(2)
    start = near(atlas, atlas.posture("stand"), rng, 0.2)
    goal = atlas.at(near(atlas, start, rng, 0.3))
    if fixed == "right_sole":
        sole = atlas.frame(fixed)
        goal = atlas.at(stand(atlas, goal.q, fixed, atlas.at(start).placement(sole)))
    palm, head = atlas.frame("left_palm"), atlas.frame("head")
    point_in_palm, back = np.array([0.0, 0.05, 0.1]), ["back_bkz", "back_bkx"]
    point_in_head = goal.rotation(head).T @ (
        goal.position(palm) + goal.rotation(palm) @ point_in_palm - goal.position(head)
    )
    tasks = [
        CartesianPositionTask("seen", "left_palm", point_in_head, point_in_palm, reference="head", axes="xz"),
        Orientation2DTask("look", "head", axis=(1.0, 0.0, 0.0), goal=goal.rotation(head)[:, 0]),
        JointPositionTask("back", [goal.q[atlas.column(name) + 1] for name in back], back),
        HandsLevel("level", above=-float(HandsLevel("level").error(goal)[0])),
    ]
    solution = InverseKinematics(atlas, tasks, fixed, position_tolerance=1e-6, rotation_tolerance=1e-6).solve(start)
    assert solution.converged
    assert solution.iterations < 30, "Jacobians that do not fit the errors would take more"
    there = atlas.at(solution.q)
    for task, told in zip(tasks, solution.errors, strict=True):
        error = float(np.linalg.norm(task.error(there)))
        assert error == pytest.approx(told.position + told.rotation, abs=1e-9)
        assert error <= 1e-6
    assert max(np.linalg.norm(task.error(atlas.at(start))) for task in tasks) > 0.05


def test_a_task_that_is_not_enabled_asks_for_nothing(atlas):
    start = atlas.posture("stand")
    palm = atlas.at(start).position(atlas.frame("left_palm"))
    away, near_by = point("left_palm", palm + 0.2), CartesianPositionTask("here", "left_palm", palm)
    ik = InverseKinematics(atlas, [away, near_by])
    assert not ik.solve(start).converged
    away.state = "disabled"
    solution = ik.solve(start)
    assert solution.converged
    assert solution.iterations == 0
    assert solution.errors[0].position == 0.0


def test_an_error_in_a_task_of_the_users_own_comes_out_of_solve(atlas):
    class Broken(HandsLevel):
        def error(self, snapshot):
            raise RuntimeError("broken on purpose")

    class TooLong(HandsLevel):
        def error(self, snapshot):
            return np.zeros(2)

    for kind, error, text in ((Broken, RuntimeError, "on purpose"), (TooLong, BadTask, "not of 1 rows")):
        with pytest.raises(error, match=text):
            InverseKinematics(atlas, [kind("level")]).solve(atlas.posture("stand"))


# --- bad input -------------------------------------------------------------------------------------


ORIGIN = (0.0, 0.0, 0.0)


def com(goal=ORIGIN, axes="xyz"):
    return CenterOfMassTask("com", goal, axes=axes)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda m: InverseKinematics(m, []), BadGoal, "no tasks"),
        (lambda m: InverseKinematics(m, [point("left_plam", ORIGIN)]), UnknownName, "left_palm"),
        (lambda m: InverseKinematics(m, [point("left_palm", (0, 0))]), BadParameter, r"shape \(2,\)"),
        (lambda m: InverseKinematics(m, [point("left_palm", (0, np.nan, 0))]), BadParameter, "nan"),
        (lambda m: InverseKinematics(m, [point("left_palm", (0, 1e200, 0))]).solve(m.neutral()), BadGoal, "m away"),
        (lambda m: InverseKinematics(m, [point("left_palm", "here")]), BadParameter, "'here'"),
        (lambda m: InverseKinematics(m, [pose("left_palm", 2 * np.eye(4))]), BadTask, "no rotation"),
        (lambda m: InverseKinematics(m, [pose("left_palm", np.diag([1, 1, -1, 1]))]), BadTask, "no rotation"),
        (lambda m: InverseKinematics(m, [com()], weights={"com": 0}), BadGoal, "weight"),
        (lambda m: InverseKinematics(m, [com()], weights={"com": [1.0, 1.0]}), BadGoal, "3 of them"),
        (lambda m: InverseKinematics(m, [com()], weights={"cmo": 1.0}), UnknownName, "com"),
        (lambda m: InverseKinematics(m, [point("left_palm", ORIGIN, axes="xw")]), BadTask, "axes"),
        (lambda m: InverseKinematics(m, [com((0, 0, np.inf))]), BadParameter, "inf"),
        (lambda m: InverseKinematics(m, [com(), com()]), BadGoal, "twice"),
        (lambda m: InverseKinematics(m, [JointLimitTask.of(m)]), BadGoal, "joint limits always hold"),
        (lambda m: InverseKinematics(m, [MomentumTask("momentum")]), BadGoal, "does not say where"),
        (lambda m: InverseKinematics(m, [com()], "left_sol"), UnknownName, "left_sole"),
        (lambda m: InverseKinematics(m, [com()], joints=["left_am"]), UnknownName, "left_arm"),
        (lambda m: InverseKinematics(m, [com()], joints=[]), BadGoal, "nothing of atlas may move"),
        (lambda m: InverseKinematics(m, [com()], method="newton"), UnknownName, "least squares"),
        (lambda m: InverseKinematics(m, [com()], locality=0.0), BadGoal, "locality"),
        (lambda m: InverseKinematics(m, [com()], restarts=-1), BadGoal, "restarts"),
        (lambda m: InverseKinematics(m, [com()], home="stnd"), UnknownName, "stand"),
        (lambda m: InverseKinematics(m, [com()], home=[1.0]), BadState, "28 joint positions"),
        (lambda m: InverseKinematics(m, [com()], joint_weights={"back_bkz": -1}), BadGoal, "back_bkz"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_with_the_reason(atlas, make, error, text):
    with pytest.raises(error, match=text):
        make(atlas)


def test_a_bad_start_or_goal_is_refused(atlas):
    palm = point("left_palm", (0.3, 0.3, 0.3))
    ik = InverseKinematics(atlas, [palm])
    start = atlas.posture("stand")
    for bad, text in (([1.0, 2.0], "shape"), (start * np.nan, "nan"), (start * 2, "length")):
        with pytest.raises(BadState, match=text):
            ik.solve(bad)
    palm.goal[2] = np.nan
    with pytest.raises(BadGoal, match="'left_palm' is at values that are no numbers"):
        ik.solve(start)


def test_a_robot_bolted_down_stands_on_nothing_else():
    with pytest.raises(BadGoal, match="bolted down"):
        InverseKinematics(arm(), [point("hand", (1, 0, 0))], "fore")
