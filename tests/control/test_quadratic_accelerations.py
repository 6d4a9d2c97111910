"""Accelerations are bounded in every level, strict or weighted, by what the brakes of joints assume."""

from dataclasses import replace
from functools import cache

import numpy as np
import piqp
import pytest
from quadratic_examples import feet, hard_cases, limits_of, model_of, of_all, standing

from wholebody import robots
from wholebody.control import Problem
from wholebody.control.quadratic import QuadraticController
from wholebody.model import Model
from wholebody.tasks import CartesianPositionTask, CenterOfMassTask, JointPositionTask

BRAKING, PERIOD = 20.0, 0.001
BENT = {"hpy": -0.25, "kny": 0.55, "aky": -0.3}
LEVELS = {"strict": {}, "weighted": {"strict": False, "level_ratio": 0.03}}


@cache
def atlas(rotor_inertia):
    """Atlas with rotors as raw URDFs have them."""
    robot = robots.load("atlas_v5")
    return Model(replace(robot, joints=tuple(replace(each, rotor_inertia=rotor_inertia) for each in robot.joints)))


def reach(rotor_inertia, cycles=1400, braking=BRAKING, **options):
    """A hand on a straight arm goes 23 cm ahead in 1 s, and `back_bky` to its limit: accelerations, commands, end."""
    model = atlas(rotor_inertia)
    q, v = model.neutral(), np.zeros(model.nv)
    for joint, name in enumerate(model.joint_names):
        q[7 + joint] = BENT.get(name[-3:], 0.0)
    start = model.at(q)
    hand_in_world = start.position(model.frame("right_palm")).copy()
    hand = CartesianPositionTask("hand", "right_palm", hand_in_world)
    com = CenterOfMassTask("com", start.com_in_world)
    problem = Problem([com, hand, JointPositionTask("posture", goal=q[7:])], feet())
    controller = QuadraticController(model, period=PERIOD, braking=braking, **options)
    accelerations, commands = np.zeros((cycles, len(model.joint_names))), []
    for cycle in range(cycles):
        x = min(1.0, cycle * PERIOD)
        hand.goal[0] = hand_in_world[0] + 0.23 * x**3 * (10 - 15 * x + 6 * x**2)
        command = controller.solve(model.at(q, v), problem)
        accelerations[cycle] = command.acceleration[6:]
        commands.append(command)
        v = v + PERIOD * command.acceleration
        q = model.integrate(q, v, PERIOD)
    return accelerations, commands, model.at(q, v), start


def longest_run(flags):
    """The most cycles in a row, of any joint, in which a flag is set."""
    longest = count = np.zeros(flags.shape[1], int)
    for now in flags:
        count = np.where(now, count + 1, 0)
        longest = np.maximum(longest, count)
    return int(longest.max())


@pytest.mark.slow(but="strict-0.0")
@pytest.mark.parametrize("rotor_inertia", [0.0, 0.001, 0.005, 0.02])
@pytest.mark.parametrize("levels", LEVELS)
def test_a_back_at_its_limit_makes_no_joint_faster_than_brakes_assume(levels, rotor_inertia):
    """In 1.4 s, of which 0.15 at the limit; later, strict levels go on along the bounds: docs/decisions.md."""
    accelerations, commands, end, start = reach(rotor_inertia, **LEVELS[levels])
    assert all(each.fault is None for each in commands)
    assert longest_run(np.abs(accelerations) > BRAKING * (1 + 1e-6)) <= 1
    assert np.abs(end.com_in_world - start.com_in_world).max() < 0.005
    assert np.abs(end.v[6:]).max() < 5.0, "rad/s"


@pytest.mark.slow
def test_without_bounds_strict_levels_fling_the_arms():
    """The control arm: the same hand, with rotors as light as raw URDFs have them."""
    accelerations, commands, end, _ = reach(0.0, acceleration_limit=np.inf)
    assert longest_run(np.abs(accelerations) > BRAKING) > 20
    assert np.abs(accelerations).max() > 100 * BRAKING
    assert np.abs(end.v[6:]).max() > 5.0, "rad/s"
    assert max(loss.residual for each in commands[-100:] for loss in each.losses if loss.task == "posture") > 1000.0


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("name", ["hubo2plus", "valkyrie", "atlas", "hoap3"])
def test_all_limits_hold_with_bounds_and_the_tasks_that_lose_are_named(name, levels):
    for model, snapshot, problem in hard_cases(name, 3):
        command = QuadraticController(model, **LEVELS[levels]).solve(snapshot, problem)
        assert command.fault is None
        assert command.relaxed == ()
        limits = limits_of(model, snapshot, problem)
        scale = np.maximum(np.abs(limits.G).max(axis=1), BRAKING)
        value = limits.G @ of_all(command)
        assert np.all(value >= limits.lower - 1e-6 * scale)
        assert np.all(value <= limits.upper + 1e-6 * scale)
        assert "posture" in [each.task for each in command.losses]
        assert "acceleration" in {each.quantity for each in command.active}


@pytest.mark.parametrize("levels", LEVELS)
def test_where_contacts_need_more_bounds_are_relaxed_first_and_named(levels):
    """Feet that must press with twice the robot's weight: no joint can stay below its bound, every other limit can."""
    model = model_of("hubo2plus")
    snapshot, problem = model.at(model.posture("stand")), standing(model)
    weight = model.total_mass * 9.81
    command = QuadraticController(model, least_force=weight, **LEVELS[levels]).solve(snapshot, problem)
    assert command.fault is None
    names = [f"joint '{each}'" for each in model.joint_names]
    fast = [name for name, each in zip(names, command.acceleration[6:], strict=True) if abs(each) > BRAKING * 1.001]
    assert fast
    assert {each.of for each in command.relaxed} == set(fast)
    assert {each.quantity for each in command.relaxed} == {"acceleration"}
    for foot in ("left_foot", "right_foot"):
        assert command.contact_force(foot)[2] >= weight * (1 - 1e-6)


def least_excess(model, snapshot, problem, least_force):
    """The least sum of squares by which accelerations exceed BRAKING where efforts and contacts hold, by piqp."""
    n, joints = model.nv, len(model.joint_names)
    Jc = np.vstack([each.jacobian(snapshot) for each in problem.constraints])
    held, limits = len(Jc), limits_of(model, snapshot, problem)
    passive = np.setdiff1d(np.arange(n), model.actuated_joints)
    dynamics = np.hstack([snapshot.M[passive], -Jc[:, passive].T])
    fixed = np.vstack([dynamics, np.hstack([Jc, np.zeros((held, held))])])
    to = np.concatenate([-snapshot.h[passive], np.zeros(held)])
    G, low, high = limits.G[joints:], limits.lower[joints:], limits.upper[joints:]  # without those of motion
    pressed = np.zeros((len(problem.constraints), n + held))
    pressed[np.arange(len(pressed)), n + 2 + 6 * np.arange(len(pressed))] = 1.0
    moved = np.hstack([np.zeros((joints, n - joints)), np.eye(joints), np.zeros((joints, held))])
    rows = [(G, low, high), (pressed, least_force, np.inf), (moved, -BRAKING, BRAKING)]
    matrix = np.vstack([each for each, _, _ in rows])
    slack = np.vstack([np.zeros((len(matrix) - joints, joints)), np.eye(joints)])
    bounds = [np.concatenate([np.broadcast_to(row[side], len(row[0])) for row in rows]) for side in (1, 2)]
    solver = piqp.DenseSolver()
    weights = np.diag(np.concatenate([np.full(n + held, 1e-10), np.ones(joints)]))
    equal = np.hstack([fixed, np.zeros((len(fixed), joints))])
    solver.setup(weights, np.zeros(len(weights)), equal, to, np.hstack([matrix, slack]), *bounds)
    assert solver.solve() == piqp.PIQP_SOLVED
    return float(np.sum(np.array(solver.result.x)[-joints:] ** 2))


def test_bounds_are_relaxed_by_the_least_sum_of_squares():
    model = model_of("hubo2plus")
    snapshot, problem = model.at(model.posture("stand")), standing(model)
    weight = model.total_mass * 9.81
    options = {"least_force": weight, "limit_positions": False, "limit_velocities": False}
    command = QuadraticController(model, **options).solve(snapshot, problem)
    assert command.fault is None
    excess = np.maximum(0.0, np.abs(command.acceleration[6:]) - BRAKING)
    assert np.sum(excess**2) == pytest.approx(least_excess(model, snapshot, problem, weight), rel=1e-3)
