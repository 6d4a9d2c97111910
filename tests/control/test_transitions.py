"""Whatever changes in what is asked, the command does not jump; without transitions, it does."""

import numpy as np
import pytest
from control_examples import posture, usual
from model_examples import model

from wholebody.constraints import FlatContact
from wholebody.control import WBOSC, Durations, Impedance, Problem, QuadraticController, Servo, Transitions
from wholebody.errors import BadProblem
from wholebody.motion import quintic
from wholebody.simulation import Simulation
from wholebody.tasks import CartesianPositionTask, CenterOfMassTask, InternalForceTask

PERIOD = 0.001
DURATION = 0.05
CYCLES = 50


def dreamer():
    """Hands above a posture, at rest but not at its goal."""
    m = model("dreamer")
    snapshot = m.at(m.posture("stand"))
    here = snapshot.position(m.frame("right_palm"))
    hand = CartesianPositionTask("hand", "right_palm", here + 0.02)
    return snapshot, Problem([hand, posture("dreamer")], usual("dreamer").constraints), hand


def valkyrie():
    m = model("valkyrie")
    snapshot = m.at(m.posture("stand"))
    com = CenterOfMassTask("com", snapshot.com_in_world)
    still = posture("valkyrie", stiffness=10.0)
    still.goal = m.robot.posture("stand")
    return snapshot, Problem([com, still], [FlatContact("left", "left_sole"), FlatContact("right", "right_sole")]), com


def reversed_levels(problem):
    return Problem(reversed(problem.levels), problem.constraints)


def without_hand():
    snapshot, problem, hand = dreamer()
    hand.state = "disabled"
    return snapshot, problem, hand


def on_one_foot():
    snapshot, problem, com = valkyrie()
    problem.constraint("right").state = "disabled"
    return snapshot, problem, com


CHANGES = {
    "goal": (dreamer, lambda p, task: setattr(task, "goal", task.goal + 0.1)),
    "velocity": (dreamer, lambda p, task: setattr(task, "goal_velocity", 1.0)),
    "acceleration": (dreamer, lambda p, task: setattr(task, "goal_acceleration", 20.0)),
    "gain": (dreamer, lambda p, task: setattr(task, "stiffness", 400.0)),
    "disable": (dreamer, lambda p, task: setattr(task, "state", "disabled")),
    "enable": (without_hand, lambda p, task: setattr(task, "state", "enabled")),
    "priority": (dreamer, lambda p, task: reversed_levels(p)),
    "contact": (valkyrie, lambda p, task: setattr(p.constraint("right"), "state", "disabled")),
    "landing": (on_one_foot, lambda p, task: setattr(p.constraint("right"), "state", "enabled")),
}


def run(change, smooth):
    """Efforts of some cycles before and after a change, the robot held still."""
    make, apply = CHANGES[change]
    snapshot, problem, task = make()
    mine = WBOSC(snapshot.model, period=PERIOD, enforce_effort_limits=False)
    controller = Transitions(mine, Durations(*[DURATION] * 5)) if smooth else mine
    efforts = [controller.solve(snapshot, problem).effort.copy() for _ in range(5)]
    problem = apply(problem, task) or problem
    efforts += [controller.solve(snapshot, problem).effort.copy() for _ in range(CYCLES + 5)]
    return np.array(efforts)


@pytest.mark.parametrize("change", CHANGES)
def test_no_change_makes_the_command_jump_and_without_transitions_it_does(change):
    smooth, hard = run(change, True), run(change, False)
    whole = np.abs(hard[-1] - hard[0]).max()
    assert np.abs(np.diff(hard, axis=0)).max() == pytest.approx(whole)
    assert whole > 0.5
    assert np.abs(np.diff(smooth, axis=0)).max() < 1.6 * whole / CYCLES  # a smooth step is 1.5 times as steep
    assert smooth[:5] == pytest.approx(hard[:5])
    assert smooth[-1] == pytest.approx(hard[-1], abs=1e-9)  # in the end it is the new law


def standing_hubo(contacts=("left", "right"), hand_state="enabled"):
    """Hubo2+ on both feet, limits far: the centre of mass, then a hand, then the posture."""
    m = model("hubo2plus")
    snapshot = m.at(m.posture("stand"))
    here = snapshot.position(m.frame("right_palm"))
    hand = CartesianPositionTask("hand", "right_palm", here + 0.01, stiffness=50.0, state=hand_state)
    com = CenterOfMassTask("com", snapshot.com_in_world, stiffness=10.0)
    still = posture("hubo2plus", stiffness=10.0)
    still.goal = m.robot.posture("stand")
    held = [FlatContact(side, f"{side}_sole") for side in ("left", "right")]
    for each in held:
        each.state = "enabled" if each.name in contacts else "disabled"
    return snapshot, Problem([com, hand, still], held), hand


LIMITED_CHANGES = {
    "disable": (standing_hubo, lambda p, task: setattr(task, "state", "disabled")),
    "enable": (
        lambda: standing_hubo(hand_state="disabled"),
        lambda p, task: setattr(task, "state", "enabled"),
    ),
    "goal": (standing_hubo, lambda p, task: setattr(task, "goal", task.goal + 0.03)),
    "priority": (standing_hubo, lambda p, task: reversed_levels(p)),
    "contact": (standing_hubo, lambda p, task: setattr(p.constraint("right"), "state", "disabled")),
    "landing": (
        lambda: standing_hubo(contacts=("left",)),
        lambda p, task: setattr(p.constraint("right"), "state", "enabled"),
    ),
}


@pytest.mark.parametrize("change", LIMITED_CHANGES)
def test_the_controller_with_limits_makes_no_jump_either(change):
    """Cycle by cycle, the robot held still; in the end it is the new law, and efforts never exceed their limits."""
    make, apply = LIMITED_CHANGES[change]
    efforts = {}
    for smooth in (True, False):
        snapshot, problem, task = make()
        mine = QuadraticController(snapshot.model, period=PERIOD)
        controller = Transitions(mine, Durations(*[DURATION] * 5)) if smooth else mine
        found = [controller.solve(snapshot, problem).effort.copy() for _ in range(5)]
        problem = apply(problem, task) or problem
        found += [controller.solve(snapshot, problem).effort.copy() for _ in range(CYCLES + 5)]
        efforts[smooth] = np.array(found)
    smooth, hard = efforts[True], efforts[False]
    whole = np.abs(hard[-1] - hard[0]).max()
    assert whole > 0.1, "N·m"
    assert np.abs(np.diff(hard, axis=0)).max() > 0.9 * whole
    steepest = 3.0 if change == "contact" else 1.6  # one sole reaches its edge on the way, and all goes on from there
    assert np.abs(np.diff(smooth, axis=0)).max() < steepest * whole / CYCLES
    assert smooth[-1] == pytest.approx(hard[-1], abs=1e-6)
    assert np.all(np.abs(smooth) <= [each.effort + 1e-9 for each in snapshot.model.robot.moving])


def test_a_force_that_grows_by_newtons_a_second_is_followed_as_it_is_and_one_that_jumps_is_not():
    snapshot, problem, _ = valkyrie()
    squeeze = InternalForceTask("squeeze", "left", "right", 0.0)
    problem = Problem([squeeze, *problem.levels], problem.constraints)
    plain, smooth = WBOSC(snapshot.model), Transitions(WBOSC(snapshot.model))
    for _ in range(50):
        squeeze.goal += 0.5  # N in a millisecond: far more than a goal of motion may move by
        assert np.array_equal(smooth.solve(snapshot, problem).effort, plain.solve(snapshot, problem).effort)
        assert not smooth.active
    squeeze.goal += 20.0
    smooth.solve(snapshot, problem)
    assert smooth.active


def test_a_contact_change_stays_between_the_old_and_the_new_command():
    smooth, hard = run("contact", True), run("contact", False)
    low, high = np.minimum(hard[0], hard[-1]) - 1e-9, np.maximum(hard[0], hard[-1]) + 1e-9
    assert np.all((smooth >= low) & (smooth <= high))


def test_a_goal_that_moves_along_a_trajectory_is_followed_as_it_is():
    snapshot, problem, hand = dreamer()
    plain, smooth = WBOSC(snapshot.model), Transitions(WBOSC(snapshot.model))
    path = quintic([hand.goal, hand.goal + np.array([0.4, 0.0, 0.2])], [0.0, 0.5])
    for time in np.arange(0.0, 0.5, PERIOD):
        now = path.at(time)
        hand.goal[:], hand.goal_velocity[:], hand.goal_acceleration[:] = now.position, now.velocity, now.acceleration
        assert np.array_equal(smooth.solve(snapshot, problem).effort, plain.solve(snapshot, problem).effort)
        assert not smooth.active


def test_a_second_change_begins_where_the_first_one_is():
    snapshot, problem, hand = dreamer()
    smooth = Transitions(WBOSC(snapshot.model, enforce_effort_limits=False), Durations(goal=DURATION, state=DURATION))
    efforts = [smooth.solve(snapshot, problem).effort.copy() for _ in range(3)]
    hand.goal = hand.goal + 0.2
    efforts += [smooth.solve(snapshot, problem).effort.copy() for _ in range(20)]
    assert smooth.active
    hand.state = "disabled"
    efforts += [smooth.solve(snapshot, problem).effort.copy() for _ in range(CYCLES + 2)]
    assert not smooth.active
    assert np.abs(np.diff(efforts, axis=0)).max() < 2 * 1.6 * np.ptp(efforts, axis=0).max() / CYCLES
    assert efforts[-1] == pytest.approx(WBOSC(snapshot.model).solve(snapshot, problem).effort)


def test_efforts_stay_within_their_limits_and_a_fault_gives_the_last_command():
    snapshot, problem, hand = dreamer()
    smooth = Transitions(WBOSC(snapshot.model, max_effort=4.0), Durations(goal=DURATION))
    last = smooth.solve(snapshot, problem).effort.copy()
    hand.goal = hand.goal - 0.5
    for _ in range(10):
        last = smooth.solve(snapshot, problem).effort.copy()
        assert np.abs(last).max() <= 4.0
    hand.goal[1] = np.nan
    bad = smooth.solve(snapshot, problem)
    assert bad.fault is not None
    assert np.array_equal(bad.effort, last)


def test_impedance_takes_transitions_as_its_controller_and_positions_do_not_jump():
    """A contact is lifted: positions for a stiff servo move little by little, and without transitions they jump."""

    def positions(smooth):
        snapshot, problem, _ = valkyrie()
        mine = WBOSC(snapshot.model, period=PERIOD, enforce_effort_limits=False)
        controller = Impedance(Transitions(mine, Durations(*[DURATION] * 5)) if smooth else mine, leak=0.0)
        controller.prepare(problem)
        rows = [controller.solve(snapshot, problem).position.copy() for _ in range(5)]
        problem.constraint("right").state = "disabled"
        return np.array(rows + [controller.solve(snapshot, problem).position.copy() for _ in range(5)])

    step = {smooth: np.abs(np.diff(positions(smooth), axis=0)).max() for smooth in (True, False)}
    assert step[True] < 0.2 * step[False]


def test_a_servo_takes_transitions_as_its_controller():
    """A goal that jumps by 10 cm: the robot's efforts do not."""

    def largest_step(smooth):
        m = model("dreamer")
        mine = WBOSC(m, enforce_effort_limits=False)
        hand = CartesianPositionTask("hand", "right_palm", m.at(m.posture("stand")).position(m.frame("right_palm")))
        problem = Problem([hand, posture("dreamer")], usual("dreamer").constraints)
        problem.task("posture").goal = m.robot.posture("stand")
        efforts = []

        def jump(time, snapshot):
            hand.goal[0] += 0.1 if abs(time - 0.1) < 0.0005 else 0.0
            return problem

        with Simulation(m.robot, control_period=PERIOD) as simulation:
            watch = [lambda servo: efforts.append(servo.command.effort.copy())]
            Servo(simulation, simulation, Transitions(mine) if smooth else mine, jump, publish=watch).run(0.3)
        return np.abs(np.diff(efforts[50:], axis=0)).max()

    assert largest_step(True) < 0.1 * largest_step(False)


def test_times_that_cannot_be_are_refused():
    with pytest.raises(BadProblem, match="goal"):
        Durations(goal=-1.0)
    with pytest.raises(BadProblem, match="above 0"):
        Transitions(WBOSC(model("dreamer")), jump=0.0)
    with pytest.raises(BadProblem, match="a force"):
        Transitions(WBOSC(model("dreamer")), force_jump=-1.0)
