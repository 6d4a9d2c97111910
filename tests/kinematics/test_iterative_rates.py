"""First- and second-order inverse kinematics: goals that move are followed, what is fixed stays."""

import numpy as np
import pytest

from wholebody import robots
from wholebody.errors import BadGoal, UnknownName
from wholebody.kinematics.inverse_goals import ComGoal, OrientationGoal, PointGoal, PoseGoal
from wholebody.kinematics.inverse_rates import GoalMotion, ResolvedMotion
from wholebody.model import Model

FOOT, PALM = "left_sole", "right_palm"


@pytest.fixture(scope="module")
def model():
    return Model(robots.load("atlas"))


def circle(centre, t, radius=0.05, period=1.0):
    """A point that starts at rest, at its centre, and swings: x(t), ẋ(t), ẍ(t)."""
    w = 2 * np.pi / period
    shape = np.array([1.0, 0.5, -1.0]) * radius
    return (
        centre + shape * (1 - np.cos(w * t)),
        shape * w * np.sin(w * t),
        shape * w * w * np.cos(w * t),
    )


def goals_of(model, kind, q):
    at = model.at(q)
    palm = at.placement(model.frame(PALM)).copy()
    return {
        "point": [PointGoal(PALM, palm[:3, 3])],
        "pose": [PoseGoal(PALM, palm)],
        "com": [ComGoal(at.com_in_world.copy(), axes="xy"), OrientationGoal(PALM, palm[:3, :3])],
    }[kind]


def motions_at(goals, t):
    motions = []
    for goal in goals:
        target = np.asarray(goal.target)
        if isinstance(goal, OrientationGoal):
            motions.append(GoalMotion(target))
            continue
        x, rate, acceleration = circle(target[:3, 3] if target.ndim == 2 else target, t)
        if isinstance(goal, PoseGoal):
            moved = target.copy()
            moved[:3, 3] = x
            zero = np.zeros(3)
            motions.append(GoalMotion(moved, np.r_[rate, zero], np.r_[acceleration, zero]))
        else:
            motions.append(GoalMotion(x, rate, acceleration))
    return motions


def follow(model, resolved, goals, q, dt=0.002, duration=1.0):
    """Integrate v̇; the largest error of position, and the states."""
    v, worst, states = np.zeros(model.nv), 0.0, []
    for step in range(round(duration / dt)):
        snapshot = model.at(q, v)
        motions = motions_at(goals, step * dt)
        worst = max(worst, np.abs(resolved._look(snapshot, motions).error).max())
        v_dot = resolved.accelerations(snapshot, motions)
        q = model.integrate(q, v + 0.5 * dt * v_dot, dt)
        v = v + dt * v_dot
        states.append((q, v))
    return worst, states


@pytest.mark.parametrize("fixed", ["pelvis", FOOT])
@pytest.mark.parametrize("kind", ["point", "pose", "com"])
def test_accelerations_follow_a_path_with_bounded_drift(model, kind, fixed):
    q = model.posture("stand")
    goals = goals_of(model, kind, q)
    worst, _ = follow(model, ResolvedMotion(model, goals, fixed), goals, q)
    assert worst < 1e-3


def test_without_the_jacobians_rate_or_feedback_it_drifts(model, monkeypatch):
    """The control arm: J̇ v and the feedback on e are what keeps the error small."""
    q = model.posture("stand")
    goals = goals_of(model, "point", q)
    kept, _ = follow(model, ResolvedMotion(model, goals), goals, q)
    open_loop, _ = follow(model, ResolvedMotion(model, goals, stiffness=0.0, damping=0.0), goals, q)
    look = ResolvedMotion._look

    def without_bias(self, snapshot, motions):
        rows = look(self, snapshot, motions)
        return rows._replace(bias=0 * rows.bias)

    monkeypatch.setattr(ResolvedMotion, "_look", without_bias)
    wrong, _ = follow(model, ResolvedMotion(model, goals, stiffness=0.0, damping=0.0), goals, q)
    assert kept < open_loop < 0.1 * wrong


def test_the_acceleration_is_the_one_asked_for(model):
    """J v̇ + J̇ v = ẍ*, and the support's own acceleration is zero."""
    rng = np.random.default_rng(2)
    q, v = model.random(rng), rng.normal(size=model.nv)
    goals = [PoseGoal(PALM, np.eye(4)), ComGoal((0, 0, 0))]
    resolved = ResolvedMotion(model, goals, FOOT, stiffness=0.0, damping=0.0, regularisation=1e-12)
    B, _ = resolved._response(model.at(q))
    v = B @ rng.normal(size=B.shape[1])  # a velocity at which the foot stands
    at = model.at(q, v)
    hand, com = rng.normal(size=6), rng.normal(size=3)
    v_dot = resolved.accelerations(
        at, [GoalMotion(np.eye(4), acceleration=hand), GoalMotion((0, 0, 0), acceleration=com)]
    )
    palm, foot = model.frame(PALM), model.frame(FOOT)
    np.testing.assert_allclose(at.jacobian(palm) @ v_dot + at.bias(palm), hand, atol=1e-6)
    np.testing.assert_allclose(at.com_jacobian @ v_dot + at.com_bias, com, atol=1e-6)
    np.testing.assert_allclose(at.jacobian(foot) @ v_dot + at.bias(foot), 0.0, atol=1e-9)


def test_the_support_stays_and_the_base_moves(model):
    q = model.posture("stand")
    goals = goals_of(model, "point", q)
    _, states = follow(model, ResolvedMotion(model, goals, FOOT), goals, q)
    foot = model.frame(FOOT)
    there = [model.at(q).position(foot) for q, _ in states[::20]]
    assert np.abs(np.array(there) - model.at(q).position(foot)).max() < 1e-4
    assert max(np.abs(state[:3]).max() for state, _ in states) > 1e-3


def test_velocities_lead_to_the_goal(model):
    """Eq. 3.18 with ẋ* = 0 is a decay of the error with the rate K_P."""
    q = model.posture("stand")
    goal = PointGoal(PALM, model.at(q).position(model.frame(PALM)) + np.array([0.05, 0.0, 0.05]))
    resolved = ResolvedMotion(model, [goal], stiffness=10.0)
    errors = []
    for _ in range(100):
        at = model.at(q)
        errors.append(np.linalg.norm(goal.position_in_world - at.position(model.frame(PALM))))
        q = model.integrate(q, resolved.velocities(at, [GoalMotion(goal.position_in_world)]), 0.005)
    assert abs(errors[20] / errors[0] - np.exp(-1.0)) < 0.03
    assert errors[-1] < 0.01 * errors[0]


def test_what_is_left_free_comes_to_rest(model):
    rng = np.random.default_rng(4)
    q, v = model.posture("stand"), np.zeros(model.nv)
    v[6:] = 0.1 * rng.normal(size=28)
    goals = goals_of(model, "point", q)
    resolved = ResolvedMotion(model, goals, posture_damping=5.0)
    start = np.linalg.norm(v)
    for _ in range(500):
        v_dot = resolved.accelerations(model.at(q, v), [GoalMotion(goals[0].position_in_world)])
        q, v = model.integrate(q, v, 0.002), v + 0.002 * v_dot
    assert np.linalg.norm(v) < 0.05 * start


def test_bad_motions_are_refused(model):
    q = model.posture("stand")
    resolved = ResolvedMotion(model, goals_of(model, "pose", q))
    at = model.at(q)
    with pytest.raises(BadGoal, match="needs 6 numbers"):
        resolved.accelerations(at, [GoalMotion(np.eye(4), (0, 0, 0))])
    with pytest.raises(BadGoal, match="needs 6 numbers"):
        resolved.velocities(at, [GoalMotion(np.eye(4), (0, 0, 0, 0, 0, np.nan))])
    with pytest.raises(BadGoal, match="2 motions for 1 goals"):
        resolved.velocities(at, [GoalMotion(np.eye(4))] * 2)
    with pytest.raises(BadGoal, match="no goals"):
        ResolvedMotion(model, [])
    with pytest.raises(UnknownName):
        ResolvedMotion(model, [PointGoal("plam", (0, 0, 0))])
