"""Walking and crawling take the tasks of inverse kinematics and of whole-body controllers."""

import numpy as np
import pytest

from wholebody import robots
from wholebody.control import WBOSC, Problem
from wholebody.errors import BadTask
from wholebody.kinematics import InverseKinematics
from wholebody.locomotion import Feet, Place, Walker
from wholebody.locomotion.balance.stabilizers import as_planned
from wholebody.locomotion.crawling.crawler import Crawler
from wholebody.locomotion.walking.footsteps import to_place
from wholebody.locomotion.walking.legs import Legs, LegTasks
from wholebody.model import Model
from wholebody.rotations import matrix_of_quaternion
from wholebody.tasks import CartesianPositionTask, CenterOfMassTask, Orientation3DTask, PoseTask


@pytest.fixture(scope="module")
def model():
    return Model(robots.load("hubo2plus"))


def in_world(legs):
    """The configuration that the legs found, its pelvis where the goals have it."""
    snapshot, tasks = legs.seen_from_pelvis(), legs.tasks
    q = legs.model.neutral()
    q[3:7], q[7:] = tasks.pelvis.goal, legs.joints
    q[:3] = tasks.com.goal - matrix_of_quaternion(tasks.pelvis.goal) @ snapshot.com_in_world
    return q


def user_tasks(model):
    """Tasks as a user makes them, in an order of his own, of a squat with one foot turned and the pelvis leaning."""
    turned = (0.0, 0.0, np.sin(0.1), np.cos(0.1))
    lean = (0.0, np.sin(0.05), 0.0, np.cos(0.05))
    return (
        CenterOfMassTask("weight", (0.0, 0.03, 0.54)),
        PoseTask("right", "right_sole", (0.0, -0.1, 0.0)),
        PoseTask("left", "left_sole", (0.02, 0.1, 0.01), turned),
        Orientation3DTask("upright", model.robot.root, lean),
    )


def test_legs_and_inverse_kinematics_find_the_same_joints_for_the_same_tasks(model):
    tasks = user_tasks(model)
    legs = Legs(model, tasks)
    for _ in range(5):
        legs.solve()
    q = in_world(legs)
    assert max(np.abs(task.error(model.at(q))).max() for task in tasks) < 1e-6
    start = model.posture("stand")
    ik = InverseKinematics(model, tasks, None, joints=["left_leg", "right_leg"], position_tolerance=1e-7)
    found = ik.solve(start)
    assert found.converged
    assert found.q[7:] == pytest.approx(q[7:], abs=1e-5)


def test_a_goal_that_is_set_counts_at_the_next_solution(model):
    legs = Legs(model, user_tasks(model))
    legs.solve()
    before = legs.joints.copy()
    legs.tasks.com.goal[2] -= 0.02
    legs.solve()
    assert np.abs(legs.joints - before).max() > 0.05


def test_legs_refuse_tasks_that_closed_form_cannot_do(model):
    com, right, left, upright = user_tasks(model)
    hand = CartesianPositionTask("hand", "left_palm", (0.3, 0.2, 0.9))
    seen_from_pelvis = PoseTask("left", "left_sole", 0.0, reference=model.robot.root)
    for wrong in ([], [com, right, left], [com, right, left, upright, hand], [com, right, seen_from_pelvis, upright]):
        with pytest.raises(BadTask, match="legs take"):
            Legs(model, wrong)
    assert LegTasks.among(model, [left, upright, com, right]) == (left, right, upright, com)


def test_what_a_walker_does_is_a_problem_for_a_whole_body_controller(model):
    walker = Walker(model.robot)
    walker.pattern.follow(to_place(walker.pattern.feet, Place(0.4, 0.0, 0.0), walker.gait.limits), 0.0)
    for time in np.arange(0.0, 1.4, 0.005):
        target = walker.pattern.at(float(time))
        walker.joints(as_planned(target), target, 0.005)
    assert target.support != "both"
    now = model.at(in_world(walker.legs))
    assert max(np.abs(task.error(now)).max() for task in walker.tasks) < 2e-4
    assert walker.tasks.com.goal_velocity[:2] == pytest.approx(target.com_velocity)
    feet = Feet(*(Place(*task.goal_position[:2], 0.0) for task in walker.tasks[:2]))
    assert (feet.left.x, feet.right.x) == pytest.approx((target.left.place.x, target.right.place.x))
    problem = Problem([list(walker.tasks)])
    assert np.isfinite(WBOSC(model).solve(now, problem).effort).all()


def test_a_crawlers_joints_are_where_its_tasks_have_them_and_inverse_kinematics_takes_the_same():
    crawler = Crawler(robots.load("atlas"))
    model, tasks = crawler.model, crawler.joints.tasks
    limbs, com = tasks[:4], tasks[4]
    at = model.at(crawler.q)
    assert max(np.abs(task.error(at)).max() for task in (*limbs, com)) < 1e-3
    weights = {task.name: 1e-3 for task in tasks if task not in (*limbs, com)}
    found = InverseKinematics(model, tasks, None, weights=weights).solve(crawler.q)
    assert max(error.position for error in found.errors[:5]) < 1e-3
