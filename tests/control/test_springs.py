"""Bounded springs, and rows that come and go: goals out of reach and limits of joints make no steps in commands."""

import numpy as np
import pytest
import wbosc_reference as reference
from control_examples import achieved, constraints, controller, ends, posture, relative, states
from model_examples import model
from test_wbosc_singular import truncating
from wbosc_reference_levels import Stacked, excess

from wholebody.control import Problem
from wholebody.tasks import CartesianPositionTask, JointLimitTask, JointPositionTask, PoseTask
from wholebody.tasks.kinds import ERROR_LIMIT_OF_FRAMES, UNLIMITED

HANDED = ("dreamer", "valkyrie", "atlas")


def hand(name, **gains):
    """A hand at its place, as the only task above the posture."""
    task = CartesianPositionTask("hand", ends(name)[0], (0.0, 0.0, 0.0), **gains)
    return task, Problem([task, posture(name)], constraints(name))


def mobilities(snapshot, problem):
    """The eigenvalues of Λ⁻¹ of the upper level, and its greatest diagonal entry."""
    dynamics = reference.constrained(snapshot, problem)
    level = reference.stacked(snapshot, problem, dynamics, problem.levels[0])
    return np.linalg.eigvalsh(level.J_star @ dynamics.phi @ level.J_star.T), level.free.max()


@pytest.mark.parametrize("name", HANDED)
def test_what_is_within_a_task_s_limits_is_achieved_as_asked(name):
    """Errors up to limit · λ / mobility, however weak the direction, as long as it is regular without any error."""
    task, problem = hand(name)
    rng = np.random.default_rng(3)
    weak = 0
    for snapshot in states(name, 60, seed=21):
        values, mobility = mobilities(snapshot, problem)
        ratio = values[0] / mobility
        if ratio < 1.1e-3:
            continue
        away = rng.normal(size=3)
        task.goal = snapshot.position(model(name).frame(task.frame)) + 0.9 * ratio * away / np.linalg.norm(away)
        assert achieved(snapshot, controller(name).solve(snapshot, problem), [task]) < 1e-8
        weak += ratio < 0.1
    assert weak > 0


@pytest.mark.parametrize("name", HANDED)
def test_a_goal_that_is_far_asks_for_no_more_force_than_its_limit(name):
    """The accelerations of two goals in one direction, near and very far, differ; of two that are far, hardly."""
    task, problem = hand(name, damping=0.0)
    for snapshot in states(name, 20, seed=22):
        here = snapshot.position(model(name).frame(task.frame))
        _, mobility = mobilities(snapshot, problem)
        task.error_limit = ERROR_LIMIT_OF_FRAMES
        pulled = [controller(name).solve(snapshot, problem).acceleration]
        for distance in (10.0, 1000.0):
            task.goal = here + np.array([distance, 0.0, 0.0])
            pulled.append(controller(name).solve(snapshot, problem).acceleration)
        assert relative(pulled[1], pulled[2]) < 0.2
        J, bias = task.jacobian(snapshot), task.bias(snapshot)
        hardest = task.stiffness[0] * task.error_limit * np.sqrt(mobilities(snapshot, problem)[0][-1] / mobility) * 2
        assert np.linalg.norm(J @ pulled[2] + bias) < hardest
        task.error_limit = UNLIMITED
        assert np.linalg.norm(J @ controller(name).solve(snapshot, problem).acceleration) > 10 * hardest


def level_of(spring, pull):
    """Rows of one task that asks for nothing but its spring."""
    n, nothing = len(spring), np.zeros(len(spring))
    blocks = np.zeros(n, int)
    rows = np.zeros((n, n))
    return Stacked(rows, rows, nothing, nothing, nothing, blocks, spring, spring, np.full(n, pull), nothing + 1)


def test_a_bounded_spring_is_the_nearest_in_kinetic_energy_of_all_that_its_force_can_give():
    rng = np.random.default_rng(5)
    bounded = 0
    for _ in range(200):
        B = rng.normal(size=(3, 3)) * np.geomspace(1, 10 ** rng.uniform(-2, 0), 3)
        G, p, pull = B @ B.T, rng.normal(size=3), 10 ** rng.uniform(-1, 2)
        taken, _ = excess(level_of(p, pull), G, np.ones(3))
        force = np.linalg.solve(G, p - taken)
        assert np.linalg.norm(force) < pull * (1 + 1e-5)
        if np.linalg.norm(np.linalg.solve(G, p)) < pull:
            assert not taken.any()
            continue
        bounded += 1
        distance = taken @ np.linalg.solve(G, taken)
        for other in rng.normal(size=(20, 3)):
            nearby = force + 10 ** rng.uniform(-4, 0) * pull * other
            nearby *= min(1.0, pull / np.linalg.norm(nearby))
            gap = p - G @ nearby
            assert gap @ np.linalg.solve(G, gap) > distance * (1 - 1e-5)
    assert 20 < bounded < 200


def test_the_bound_of_a_pose_is_one_for_what_moves_and_another_for_what_turns():
    """A place out of reach takes nothing from an orientation that is almost right."""
    snapshot = next(states("dreamer", seed=23))
    frame = model("dreamer").frame("right_palm")
    far = snapshot.position(frame) + np.array([9.0, 0.0, 0.0])
    pose = PoseTask("pose", "right_palm", far, snapshot.rotation(frame))
    problem = Problem([pose, posture("dreamer")], constraints("dreamer"))
    dynamics = reference.constrained(snapshot, problem)
    level = reference.stacked(snapshot, problem, dynamics, problem.levels[0])
    assert list(level.blocks) == [0, 0, 0, 1, 1, 1]
    inertia = level.J_star @ dynamics.phi @ level.J_star.T
    taken, _ = excess(level, inertia, np.repeat([level.free[:3].max(), level.free[3:].max()], 3))
    assert np.linalg.norm(taken[:3]) > 100.0
    assert not taken[3:].any()


def entering(mine, steps):
    """Efforts of Dreamer as an elbow enters the margin of its limit at speed, while a hand pulls it further in."""
    m = model("dreamer")
    elbow = m.joint_names.index("right_elbow")
    limits = JointLimitTask.of(m)
    task = CartesianPositionTask("hand", "right_palm", (0.6, -0.2, 0.4))
    goal = JointPositionTask("posture", np.full(m.nq, 0.3))
    problem = Problem([limits, task, goal], constraints("dreamer"))
    efforts = []
    for angle in np.linspace(0.13, 0.02, steps):
        q, v = np.full(m.nq, 0.3), np.zeros(m.nv)
        q[elbow], v[elbow] = angle, -2.0
        efforts.append(mine.solve(m.at(q, v), problem).effort.copy())
    return np.array(efforts)


def test_commands_have_no_step_where_a_joint_enters_its_margin_and_truncated_ones_do():
    """With steps half as long efforts change half as much; without activation they jump however short the steps."""

    def jump(mine, steps):
        efforts = entering(mine, steps)
        return np.abs(np.diff(efforts, axis=0)).max() / np.ptp(efforts, axis=0).max()

    ours, plain = controller("dreamer"), truncating("dreamer")
    assert jump(ours, 4801) < 0.6 * jump(ours, 2401) < 0.005
    assert jump(plain, 1201) > 0.9 * jump(plain, 601) > 0.05


def test_a_joint_within_its_margin_is_shared_and_at_its_limit_it_is_the_limit_s_alone():
    m = model("dreamer")
    limits = JointLimitTask.of(m)
    problem = Problem([limits, JointPositionTask("posture", np.full(m.nq, 0.3))], constraints("dreamer"))
    q, v = np.full(m.nq, 0.3), np.zeros(m.nv)
    elbow, begins = m.joint_names.index("right_elbow"), m.robot.joint("right_elbow").lower + 0.1
    for inside, share in ((0.02, 0.104), (0.05, 0.5), (0.098, 0.9988), (0.1001, 1.0), (0.13, 1.0)):
        q[elbow], v[elbow] = begins - inside, -1.0
        got = controller("dreamer").solve(m.at(q, v), problem).acceleration[elbow]
        above, below = 100 * inside + 20.0, 100 * (0.3 - q[elbow]) + 20.0
        assert (got - below) / (above - below) == pytest.approx(share, abs=1e-3)
