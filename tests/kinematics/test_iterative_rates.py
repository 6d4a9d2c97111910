"""First- and second-order inverse kinematics: goals that move are followed, what is fixed stays."""

import numpy as np
import pytest

from wholebody import robots
from wholebody.errors import BadGoal, BadParameter, UnknownName
from wholebody.kinematics.inverse_rates import ResolvedMotion
from wholebody.model import Model
from wholebody.tasks import CartesianPositionTask, CenterOfMassTask, Orientation3DTask, PoseTask

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


def goals_of(model, kind, q, **gains):
    at = model.at(q)
    palm = at.placement(model.frame(PALM)).copy()
    return {
        "point": [CartesianPositionTask("palm", PALM, palm[:3, 3], **gains)],
        "pose": [PoseTask("palm", PALM, palm[:3, 3], palm[:3, :3], **gains)],
        "com": [
            CenterOfMassTask("com", at.com_in_world, axes="xy", **gains),
            Orientation3DTask("palm", PALM, palm[:3, :3], **gains),
        ],
    }[kind]


def starts_of(tasks):
    """Where each task that moves begins."""
    return [np.array(task.goal_position if isinstance(task, PoseTask) else task.goal) for task in tasks]


def move(tasks, starts, t):
    """Let the goals of all tasks but orientations move."""
    for task, start in zip(tasks, starts, strict=True):
        if isinstance(task, Orientation3DTask):
            continue
        x, rate, acceleration = circle(start, t)
        if isinstance(task, PoseTask):
            task.goal_position = x
            task.goal_velocity[:3], task.goal_acceleration[:3] = rate, acceleration
        else:
            task.goal, task.goal_velocity, task.goal_acceleration = x, rate, acceleration


def follow(model, resolved, goals, q, dt=0.002, duration=1.0):
    """Integrate v̇; the largest error of position, and the states."""
    v, worst, states, starts = np.zeros(model.nv), 0.0, [], starts_of(goals)
    for step in range(round(duration / dt)):
        snapshot = model.at(q, v)
        move(goals, starts, step * dt)
        worst = max(worst, np.abs(resolved._look(snapshot).error).max())
        v_dot = resolved.accelerations(snapshot)
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
    loose = goals_of(model, "point", q, stiffness=0.0, damping=0.0)
    open_loop, _ = follow(model, ResolvedMotion(model, loose), loose, q)
    look = ResolvedMotion._look

    def without_bias(self, snapshot):
        rows = look(self, snapshot)
        return rows._replace(bias=0 * rows.bias)

    monkeypatch.setattr(ResolvedMotion, "_look", without_bias)
    loose = goals_of(model, "point", q, stiffness=0.0, damping=0.0)
    wrong, _ = follow(model, ResolvedMotion(model, loose), loose, q)
    assert kept < open_loop < 0.1 * wrong


def test_the_acceleration_is_the_one_asked_for(model):
    """J v̇ + J̇ v = ẍ*, and the support's own acceleration is zero."""
    rng = np.random.default_rng(2)
    q, v = model.random(rng), rng.normal(size=model.nv)
    gains = {"stiffness": 0.0, "damping": 0.0}
    hand, com = PoseTask("hand", PALM, (0, 0, 0), **gains), CenterOfMassTask("com", (0, 0, 0), **gains)
    resolved = ResolvedMotion(model, [hand, com], FOOT, regularisation=1e-12)
    B, _ = resolved._response(model.at(q))
    v = B @ rng.normal(size=B.shape[1])  # a velocity at which the foot stands
    at = model.at(q, v)
    hand.goal_acceleration, com.goal_acceleration = rng.normal(size=6), rng.normal(size=3)
    v_dot = resolved.accelerations(at)
    palm, foot = model.frame(PALM), model.frame(FOOT)
    np.testing.assert_allclose(at.jacobian(palm) @ v_dot + at.bias(palm), hand.goal_acceleration, atol=1e-6)
    np.testing.assert_allclose(at.com_jacobian @ v_dot + at.com_bias, com.goal_acceleration, atol=1e-6)
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
    there = model.at(q).position(model.frame(PALM)) + np.array([0.05, 0.0, 0.05])
    resolved = ResolvedMotion(model, [CartesianPositionTask("palm", PALM, there)])
    errors = []
    for _ in range(100):
        at = model.at(q)
        errors.append(np.linalg.norm(there - at.position(model.frame(PALM))))
        q = model.integrate(q, resolved.velocities(at, rate=10.0), 0.005)
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
        v_dot = resolved.accelerations(model.at(q, v))
        q, v = model.integrate(q, v, 0.002), v + 0.002 * v_dot
    assert np.linalg.norm(v) < 0.05 * start


def test_bad_motions_are_refused(model):
    q = model.posture("stand")
    (pose,) = goals_of(model, "pose", q)
    with pytest.raises(BadParameter, match="6"):
        pose.goal_velocity = (0, 0, 0)
    with pytest.raises(BadParameter, match="nan"):
        pose.goal_velocity = (0, 0, 0, 0, 0, np.nan)
    with pytest.raises(BadGoal, match="no tasks"):
        ResolvedMotion(model, [])
    with pytest.raises(UnknownName):
        ResolvedMotion(model, [CartesianPositionTask("palm", "plam", (0, 0, 0))])
