"""Every task's error, Jacobian and J̇v against finite differences, and what a task refuses."""

import copy
import math
import pickle

import numpy as np
import pytest
from control_examples import ROBOTS, controller, ends, states, usual
from model_examples import model

from wholebody.constraints import Coactuation
from wholebody.control import WBOSC, Problem, Servo
from wholebody.errors import BadParameter, BadTask, UnknownName
from wholebody.parameters import Packed
from wholebody.simulation import Simulation
from wholebody.tasks import (
    CartesianPositionTask,
    CenterOfMassTask,
    CenterOfPressureTask,
    ExternalForceTask,
    InternalForceTask,
    JointLimitTask,
    JointPositionTask,
    MomentumTask,
    Orientation2DTask,
    Orientation3DTask,
    PoseTask,
    SlidingMode,
    Task,
)

H = 1e-6


def quaternion(R):
    from wholebody.rotations import quaternion_of_matrix

    return quaternion_of_matrix(R)


def tasks_at(name, now):
    """Each kind of task, with its goal where the robot is: there, the error's rate is −J v."""
    m = model(name)
    one, two = ends(name)
    a, b, other = m.frame(one), m.frame(two), m.frames[3]
    R0, p0 = now.rotation(m.frame(other)), now.position(m.frame(other))
    tip = now.position(a) + now.rotation(a) @ (0.1, -0.2, 0.3)
    axis = now.rotation(a) @ (0.0, 0.6, 0.8)
    seen = {"reference": other}
    return [
        JointPositionTask("joints", now.q[-len(m.joint_names) :]),
        JointPositionTask("some", now.q[-1:], m.joint_names[-1:]),
        CartesianPositionTask("point", one, tip, point=(0.1, -0.2, 0.3)),
        CartesianPositionTask("seen", one, R0.T @ (tip - p0), point=(0.1, -0.2, 0.3), axes="yz", **seen),
        Orientation2DTask("axis", one, (0.0, 0.6, 0.8), axis),
        Orientation3DTask("turn", two, quaternion(now.rotation(b))),
        Orientation3DTask("turn_seen", two, quaternion(R0.T @ now.rotation(b)), **seen),
        PoseTask("pose", two, now.position(b), now.rotation(b)),
        PoseTask("pose_seen", two, R0.T @ (now.position(b) - p0), R0.T @ now.rotation(b), **seen),
        CenterOfMassTask("com", now.com_in_world, axes="xz"),
    ]


def moved(now, dt):
    m = now.model
    return m.at(m.integrate(now.q, now.v, dt), now.v)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_error_is_zero_at_the_goal_and_falls_as_the_jacobian_says(name):
    for now in states(name):
        ahead, back = moved(now, H), moved(now, -H)
        for task in tasks_at(name, now):
            assert task.error(now) == pytest.approx(0, abs=1e-9), task.name
            rate = (task.error(ahead) - task.error(back)) / (2 * H)
            assert rate == pytest.approx(-task.jacobian(now) @ now.v, abs=2e-7), task.name


@pytest.mark.parametrize("name", ROBOTS)
def test_the_bias_is_the_rate_of_the_velocity_when_nothing_accelerates(name):
    for now in states(name):
        ahead, back = moved(now, H), moved(now, -H)
        force = ExternalForceTask("force", ends(name)[0], (1.0, 2.0, 3.0), point=(0.1, 0.2, 0.3))
        for task in [*tasks_at(name, now), MomentumTask("momentum", part="both"), force]:
            rate = (task.jacobian(ahead) @ ahead.v - task.jacobian(back) @ back.v) / (2 * H)
            assert rate == pytest.approx(task.bias(now), abs=1e-5, rel=1e-5), task.name


@pytest.mark.parametrize("name", ROBOTS)
def test_at_the_goal_that_is_here_there_is_no_error(name):
    for now, elsewhere in zip(states(name), list(states(name))[::-1], strict=True):
        for task in [*tasks_at(name, elsewhere), MomentumTask("momentum", np.arange(6.0))]:
            goals = task.goal_here(now)
            assert set(goals) == set(task.goals)
            for goal, value in goals.items():
                setattr(task, goal, value)
            assert task.error(now) == pytest.approx(0, abs=1e-9), task.name


@pytest.mark.parametrize("name", ROBOTS)
def test_the_momentum_is_that_of_the_model(name):
    for now in states(name, 3):
        task = MomentumTask("momentum", np.arange(6.0), part="both")
        assert task.error(now) + now.momentum == pytest.approx(np.arange(6.0))
        assert task.velocity(now) == pytest.approx(now.momentum, abs=1e-9)


def test_the_joint_limit_task_has_rows_only_within_the_margin():
    m = model("dreamer")
    task = JointLimitTask.of(m, margin=0.05)
    lower, upper = np.array(task.lower), np.array(task.upper)
    middle = (lower + upper) / 2
    assert len(task.error(m.at(middle))) == 0
    q = middle.copy()
    q[3], q[5] = upper[3] - 0.02, lower[5] + 0.01
    now = m.at(q)
    assert task.error(now) == pytest.approx([-0.03, 0.04])
    assert np.flatnonzero(task.jacobian(now).any(axis=0)) == pytest.approx([3, 5])
    problem = Problem([task], usual("dreamer").constraints)
    q[3], q[5] = upper[3] + 0.01, lower[5] - 0.02  # beyond the limits, where rows count in full
    now = m.at(q)
    result = controller("dreamer").solve(now, problem)
    assert result.acceleration[[3, 5]] == pytest.approx(task.desired(now))


def test_a_half_turn_has_an_error_of_half_a_turn():
    m = model("dreamer")
    now = m.at(m.neutral())
    frame = m.frame("right_palm")
    for axis in np.eye(3):
        turned = (2 * np.outer(axis, axis) - np.eye(3)) @ now.rotation(frame)
        assert np.linalg.norm(Orientation3DTask("t", "right_palm", turned).error(now)) == pytest.approx(math.pi)
    opposite = Orientation2DTask("o", "right_palm", (1, 0, 0), -now.rotation(frame)[:, 0])
    assert np.linalg.norm(opposite.error(now)) == pytest.approx(math.pi)


def test_a_rotation_error_is_the_shorter_way_round_and_the_sign_of_a_quaternion_means_nothing():
    m = model("dreamer")
    for now in states("dreamer", 5):
        goal = np.random.default_rng(1).normal(size=4)
        one, two = (Orientation3DTask("t", "right_palm", sign * goal) for sign in (1, -1))
        assert one.error(now) == pytest.approx(two.error(now))
        assert np.linalg.norm(one.error(now)) <= math.pi
        angle, axis = np.linalg.norm(one.error(now)), one.error(now) / np.linalg.norm(one.error(now))
        K = np.cross(np.eye(3), axis)
        R = np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K
        reached = quaternion(R @ now.rotation(m.frame("right_palm")))
        assert abs(reached @ goal) / np.linalg.norm(goal) == pytest.approx(1.0)


def test_the_two_rows_of_a_direction_always_have_full_rank():
    for now in states("valkyrie", 20):
        task = Orientation2DTask("d", "pelvis", (1, 0, 0), (0, 0, 1))
        assert np.linalg.svd(task.jacobian(now)[:, 3:6])[1][-1] > 0.99


# --- the law, and parameters ----------------------------------------------------------------------


def test_the_law_is_pid_with_feed_forward():
    now = next(states("dreamer"))
    task = CartesianPositionTask(
        "hand", "right_palm", (0.3, 0.2, 0.1), stiffness=(1.0, 2.0, 3.0), damping=4.0, integral_gain=5.0,
        goal_velocity=(0.1, 0.2, 0.3), goal_acceleration=(7.0, 8.0, 9.0),
    )  # fmt: skip
    task.accumulated[:] = (0.01, 0.02, 0.03)
    e, rate = task.error(now), task.goal_velocity - task.jacobian(now) @ now.v
    expected = np.array([1, 2, 3]) * e + 4 * rate + 5 * np.array([0.01, 0.02, 0.03]) + (7, 8, 9)
    assert task.desired(now) == pytest.approx(expected)


def test_the_integral_grows_by_the_error_each_period_up_to_its_limit():
    m = model("dreamer")
    now = m.at(m.neutral())
    hand = CartesianPositionTask("hand", "right_palm", (9.0, 0.0, 0.0), integral_gain=1.0, integral_limit=0.02)
    problem = Problem([hand], usual("dreamer").constraints)
    controller("dreamer").solve(now, problem)
    assert hand.accumulated == pytest.approx(0.001 * hand.error(now))
    for _ in range(10):
        controller("dreamer").solve(now, problem)
    assert np.abs(hand.accumulated).max() == 0.02


def test_damping_is_critical_unless_told_and_follows_the_stiffness():
    task = CenterOfMassTask("com", (0, 0, 1), stiffness=25.0)
    assert task.damping == pytest.approx(10.0)
    task.stiffness = 100.0
    assert task.damping == pytest.approx(20.0)
    task.damping = 3.0
    task.stiffness = 400.0
    assert task.damping == pytest.approx(3.0)
    assert copy.copy(CenterOfMassTask("com", (0, 0, 1))).__dict__["_damping_follows"]


def test_parameters_carry_their_unit_and_bounds():
    found = {each.name: each for each in CartesianPositionTask.parameters()}
    assert found["goal"].unit == "m"
    assert found["goal"].size == 3
    assert found["stiffness"].unit == "1/s²"
    assert found["stiffness"].bounds.lower == 0
    assert "frame" not in found
    assert "name" not in found


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda task: pickle.loads(pickle.dumps(task))])
def test_a_copy_is_a_task_of_its_own(again):
    task = PoseTask("hand", "right_palm", (0.1, 0.2, 0.3), stiffness=50.0, state="sensing")
    other = again(task)
    assert other.goal_position == pytest.approx(task.goal_position)
    assert other.state == "sensing"
    other.goal_position[0] = 9.0
    assert task.goal_position[0] == 0.1
    assert other.numbers[0] == task.numbers[0] == 2


def test_vectors_are_views_of_the_numbers_the_kernels_read():
    task = CartesianPositionTask("hand", "right_palm", (0.1, 0.2, 0.3))
    task.goal[1] = 5.0
    assert 5.0 in task.numbers
    task.goal = [1, 2, 3]
    assert np.shares_memory(task.goal, task.numbers)
    assert task.goal[2] == 3.0


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (
            lambda: CenterOfMassTask("com", (0, 0, 1), stiffness=-1.0),
            BadParameter,
            "'com': stiffness = -1.0 is outside 0",
        ),
        (lambda: CenterOfMassTask("com", (0, 0, 1), damping=-1.0), BadParameter, "damping"),
        (lambda: CenterOfMassTask("com", (0, 0)), BadParameter, r"goal must have 3 numbers, not shape \(2,\)"),
        (lambda: CenterOfMassTask("com", (0, 0, math.nan)), BadParameter, "must be finite"),
        (lambda: CenterOfMassTask("com", "high"), BadParameter, "must be numbers, not 'high'"),
        (lambda: CenterOfMassTask("com", (0, 0, 1), axes="xq"), BadTask, "some of 'xyz', not 'xq'"),
        (lambda: CenterOfMassTask("com", (0, 0, 1), state="enable"), BadParameter, "closest: 'enabled'"),
        (lambda: CenterOfMassTask("", (0, 0, 1)), BadParameter, "needs a name"),
        (lambda: CenterOfMassTask("com", (0, 0, 1), stiffness=(1, 2)), BadParameter, "must have 3 numbers"),
        (lambda: Orientation3DTask("t", "base", (0, 0, 0, 0)), BadTask, "length 0"),
        (lambda: PoseTask("t", "base", (0, 0, 0), (0, 0, 0, 0)), BadTask, "length 0"),
        (lambda: Orientation3DTask("t", "base", np.zeros((3, 3))), BadTask, "no rotation matrix"),
        (lambda: Orientation3DTask("t", "base", (0, 0, 1)), BadTask, "quaternion x y z w"),
        (lambda: Orientation2DTask("t", "base", (0, 0, 0), (1, 0, 0)), BadTask, "the axis must be"),
        (lambda: JointPositionTask("p", [1.0, 2.0], ["a"]), BadTask, "1 joints, but goals of shape"),
        (lambda: JointPositionTask("p", [1.0, 2.0], ["a", "a"]), BadTask, "named twice"),
        (lambda: JointPositionTask("p", []), BadTask, "one position for each joint"),
        (lambda: JointLimitTask("l", ["a"], [-0.05], [0.05]), BadTask, "no room to joint 'a'"),
        (lambda: MomentumTask("m", part="spin"), BadTask, "linear, angular, both"),
        (lambda: MomentumTask("m", damping=1.0), BadParameter, "damping"),
        (lambda: InternalForceTask("i", "a", "a", 1.0), BadTask, "cannot press on itself"),
        (lambda: CenterOfPressureTask("c", "left", (0, 0, 0)), BadParameter, "must have 2 numbers"),
    ],
)
def test_what_cannot_be_is_refused_when_it_is_made(make, error, says):
    with pytest.raises(error, match=says):
        make()


def test_what_cannot_be_is_refused_when_it_is_set_and_changes_nothing():
    task = Orientation3DTask("turn", "base", (0, 0, 0, 2.0))
    assert task.goal == pytest.approx((0, 0, 0, 1))
    for name, value in [("goal", (0, 0, 0, 0)), ("stiffness", -1), ("state", "on"), ("frame", "hand"), ("goals", 1)]:
        with pytest.raises((BadTask, BadParameter)):
            setattr(task, name, value)
    assert task.goal == pytest.approx((0, 0, 0, 1))
    assert task.state == "enabled"
    assert task.frame == "base"
    with pytest.raises(BadParameter, match="no parameter 'stifness'; closest: 'stiffness'"):
        task.stifness = 1.0


def test_a_task_without_its_methods_says_what_it_needs():
    now = next(states("dreamer", 1))
    with pytest.raises(NotImplementedError, match="error"):
        Task("empty").error(now)
    assert isinstance(Task("empty"), Packed)


def test_an_unknown_frame_shows_the_nearest_name():
    with pytest.raises(UnknownName, match=r"task 'hand': no frame 'right_plam'; closest: 'right_palm'"):
        controller("dreamer").prepare(Problem([CartesianPositionTask("hand", "right_plam", (0, 0, 0))]))


def pushed_hand(law):
    """How far a hand is from its goal after a second and a half of a push that no model knows; and its last effort."""
    m = model("dreamer")
    start = m.at(m.posture("stand"))
    hand = CartesianPositionTask("hand", "right_palm", start.position(m.frame("right_palm")))
    problem = Problem([hand, JointPositionTask("posture", start.q)], Coactuation.of(m))
    other = law(hand)

    def behavior(time, snapshot):
        if other is not None:
            other.update(snapshot)
        return problem

    efforts = []
    with Simulation(m.robot, control_period=0.001) as simulation:
        simulation.push(m.robot.surface("right_palm").link, (6.0, 0.0, -8.0), 5.0, start=0.1)
        watch = [lambda servo: efforts.append(servo.command.effort.copy())]
        servo = Servo(simulation, simulation, WBOSC(m), behavior, publish=watch)
        servo.run(1.5)
    return np.linalg.norm(servo.command.error("hand")), np.abs(np.diff(efforts[-300:], axis=0)).max()


def test_another_law_than_pid_is_one_class_and_a_sliding_mode_bears_a_push_that_pd_gives_way_to():
    given_way, _ = pushed_hand(lambda hand: None)
    held, step = pushed_hand(lambda hand: SlidingMode(hand, slope=10.0, reach=20.0, width=0.05))
    assert given_way > 0.005, "m"
    assert held < 0.2 * given_way
    assert step < 1.0, "N·m from one cycle to the next: it does not chatter"


@pytest.mark.parametrize("wrong", [{"slope": 0.0}, {"reach": -1.0}, {"width": np.inf}])
def test_a_sliding_mode_that_cannot_be_is_refused(wrong):
    hand = CartesianPositionTask("hand", "right_palm", (0.0, 0.0, 0.0))
    with pytest.raises(BadTask, match=f"needs a {next(iter(wrong))}"):
        SlidingMode(hand, **{"slope": 10.0, "reach": 20.0, "width": 0.05} | wrong)
