"""The gate's function: whatever is wanted, nothing outside a joint's limits is told to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from gate_laws import Told, broken, five_robots, hostile, tiled, without_limits
from servo_joints import PERIOD, Gated, Motor, one_joint

from wholebody import robots
from wholebody.daemon.limits import safe_limits
from wholebody.messages import Measured, Mode, Refusal

ROBOT = robots.load("hubo2plus")
MEASURED = Measured.POSITION | Measured.VELOCITY


def attack(robot, references, rng):
    """So many hostile references, batch by batch, at states of all kinds; how often which law was broken."""
    count, found = 250, {}
    joints = Gated(tiled(robot, count, servo_period=rng.choice([0.0, 0.001, PERIOD])))
    n, limits = len(joints.mode), joints.limits
    lower, upper = np.nan_to_num(limits.lower, neginf=-10.0), np.nan_to_num(limits.upper, posinf=10.0)
    spans, centre = upper - lower, (upper + lower) / 2
    for batch in range(references // count):
        before = Told.of(joints.command)
        if batch % 3:  # else joints stay where they are
            joints.state.position[:] = centre + spans * rng.uniform(-0.55, 0.55, n)
            joints.state.velocity[:] = limits.velocity * rng.normal(size=n)
            joints.state.measured[:] = rng.choice([MEASURED, Measured.POSITION, 0, 255], n, p=[0.7, 0.1, 0.1, 0.1])
            if batch % 5 == 0:
                joints.state.position[:] = hostile(rng, spans, 0.2)
                joints.state.velocity[:] = hostile(rng, limits.velocity, 0.2)
        q, v = joints.state.position.copy(), joints.state.velocity.copy()
        measured = joints.state.measured.astype(int)
        joints.mode[:] = np.where(rng.random(n) < 0.9, rng.integers(0, 4, n), rng.integers(0, 256, n))
        for row, usual in enumerate((spans, limits.velocity, limits.effort, limits.stiffness, limits.damping)):
            joints.values[row] = hostile(rng, usual)
        joints.go()
        with np.errstate(all="ignore"):
            known = (measured & Measured.POSITION > 0) & np.isfinite(q)
            trusted = (
                known & (measured & Measured.VELOCITY > 0) & np.isfinite(v) & (np.abs(v) < 1e6) & (np.abs(q) < 1e6)
            )
            told = Told.of(joints.command)
            laws = broken(limits, joints.gate.step, before, told, q, v, known)
            judged = broken(*(_of(each, trusted) for each in (limits, joints.gate.step, before, told, q, v, known)))
        always = ("not finite", "not exist", "nobody knows", "out of range", "too long", "too high", "too stiff")
        laws = {law: many for law, many in laws.items() if any(word in law for word in always)}
        for law, many in (laws | judged).items():
            found[law] = found.get(law, 0) + many
    return found


def _of(what, which):
    """The part of limits, commands or arrays that belongs to some joints."""
    if isinstance(what, np.ndarray):
        return what[which]
    if isinstance(what, Told):
        return Told(what.values[:, which], what.mode[which])
    return replace(what, **{name: getattr(what, name)[which] for name in vars(what) if name != "said"})


# Properties.


@pytest.mark.parametrize("robot", five_robots(), ids=lambda robot: robot.name)
def test_no_reference_of_4000_a_robot_passes_the_gate_beyond_a_limit(robot):
    assert attack(robot, 4_000, np.random.default_rng(1)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("robot", five_robots(), ids=lambda robot: robot.name)
def test_no_reference_of_a_million_on_five_robots_passes_the_gate_beyond_a_limit(robot):
    assert attack(robot, 200_000, np.random.default_rng(2)) == {}


def test_the_laws_that_commands_are_judged_by_see_what_comes_without_a_gate():
    limits, rng = tiled(ROBOT, 50, 0.0), np.random.default_rng(3)
    n = len(limits.lower)
    with np.errstate(all="ignore"):
        wild = Told(np.array([hostile(rng, limits.velocity) for _ in range(5)]), rng.integers(0, 5, n))
        found = broken(limits, limits.velocity * PERIOD, wild, wild, np.zeros(n), limits.velocity, np.ones(n, bool))
    assert len(found) >= 9


# Position.


def test_a_position_goes_on_from_where_the_joint_is_measured_after_another_mode():
    joint = one_joint()
    joint.at(0.4)
    joint.want(Mode.IMPEDANCE, position=0.9, stiffness=10.0)
    joint.want(Mode.POSITION, position=0.9)
    assert joint.command.position[0] == pytest.approx(0.4 + 5.0 * PERIOD)
    assert joint.command.stiffness[0] == 0.0


def test_a_command_that_is_no_number_any_more_is_mended():
    joint = one_joint()
    joint.command.position[:] = np.nan
    joint.want(Mode.POSITION, position=np.nan)
    assert joint.command.position[0] == 0.0


# Impedance.


def test_an_impedance_command_within_limits_passes_bit_for_bit_however_far_its_target_moves():
    joint = one_joint()
    for position in (0.15, -0.15, 0.19):
        joint.want(Mode.IMPEDANCE, position=position, velocity=0.3, effort=-1.1, stiffness=71.3, damping=1.7)
        told = [getattr(joint.command, name)[0] for name in ("position", "velocity", "effort", "stiffness", "damping")]
        assert told == [position, 0.3, -1.1, 71.3, 1.7]
    assert joint.gate.refused.sum() == 0


@pytest.mark.parametrize("target", [0.9, -0.9, 3.0, -1e300])
def test_the_effort_of_an_impedance_command_is_saturated_and_the_rest_of_its_law_stays(target):
    joint = one_joint()
    joint.at(0.1, 0.5)
    joint.want(Mode.IMPEDANCE, position=target, effort=2.0, stiffness=80.0, damping=1.5)
    assert joint.effort_made()[0] == pytest.approx(20.0 if target > 0 else -20.0)
    assert (joint.command.mode[0], joint.command.stiffness[0], joint.command.damping[0]) == (Mode.IMPEDANCE, 80.0, 1.5)
    assert joint.refused(Refusal.TOO_STRONG) == 1
    assert joint.gate.refused.sum() == 1


def test_efforts_that_cancel_out_are_not_saturated_though_each_alone_is_beyond_the_limit():
    joint = one_joint()
    joint.at(0.2)
    joint.want(Mode.IMPEDANCE, position=0.7, effort=-45.0, stiffness=100.0)
    assert joint.effort_made()[0] == pytest.approx(5.0)
    assert abs(joint.command.effort[0]) <= 20.0
    assert joint.refused(Refusal.TOO_STRONG) == 0


def test_a_target_of_an_endless_joint_that_no_board_could_hold_is_brought_near():
    joint = one_joint(lower=-np.inf, upper=np.inf)
    joint.want(Mode.IMPEDANCE, position=1e300, effort=3.0)
    assert joint.command.position[0] == 0.0
    assert joint.effort_made()[0] == 3.0


def test_a_target_beyond_the_range_keeps_its_effort():
    joint = one_joint()
    joint.at(0.9)
    joint.want(Mode.IMPEDANCE, position=1.05, stiffness=100.0)
    assert joint.command.position[0] <= 1.0
    assert joint.effort_made()[0] == pytest.approx(15.0)


@pytest.mark.parametrize(
    ("stiffness", "damping"), [(1e300, 0.0), (101.0, 2.0), (-1.0, 1.0), (10.0, -1e-9), (10.0, 1e9)]
)
def test_stiffness_and_damping_keep_within_their_bounds(stiffness, damping):
    joint = one_joint()
    joint.want(Mode.IMPEDANCE, position=0.01, stiffness=stiffness, damping=damping)
    assert 0 <= joint.command.stiffness[0] <= 100.0
    assert 0 <= joint.command.damping[0] <= 2.0
    assert joint.refused(Refusal.TOO_STIFF) == 1


def test_the_stiffest_gains_of_a_period_bring_the_inertia_that_is_known_to_rest():
    robot = robots.load("hubo2plus")
    limits = safe_limits(robot, PERIOD)
    at = robot.index["RHY"]
    inertia = robot.joint("RHY").rotor_inertia
    assert limits.stiffness[at] == pytest.approx(inertia / (8 * PERIOD**2))
    assert limits.damping[at] == pytest.approx(inertia / (2 * PERIOD))
    for factor, rests in ((1.0, True), (4.0, False)):
        q, v, seen = 0.1, 0.0, (0.1, 0.0)
        for _ in range(400):
            effort = -factor * (limits.stiffness[at] * seen[0] + limits.damping[at] * seen[1])
            seen = q, v  # one period late
            q, v = q + v * PERIOD + effort / inertia * PERIOD**2 / 2, v + effort / inertia * PERIOD
        assert (abs(q) < 1e-6) == rests


def test_gains_of_a_joint_that_computes_continuously_are_the_robots_own():
    limits = safe_limits(ROBOT)
    assert limits.stiffness.tolist() == [ROBOT.gains[name].stiffness for name in ROBOT.joint_names]
    assert limits.damping.tolist() == [ROBOT.gains[name].damping for name in ROBOT.joint_names]


# Joints that are taken over.


@pytest.mark.parametrize("push", [1.0, 5.0, 20.0, -20.0])
@pytest.mark.parametrize("mode", [Mode.EFFORT, Mode.IMPEDANCE])
def test_a_joint_that_is_pushed_out_of_its_range_is_stopped_at_its_end(mode, push):
    motor = Motor(one_joint())
    path = motor.run(400, mode, effort=push)
    assert np.abs(path[:, 0]).max() < 1.0 + 0.005
    assert np.abs(path[:, 1]).max() < 1.2 * 5.0 + 1.0  # it gains 1 rad/s in a period
    assert path[-100:, 2].all()  # as long as it is pushed
    assert path[-1, 1] == pytest.approx(0.0, abs=1e-3)
    assert abs(path[-1, 0]) > 0.95  # it is braked towards the end, not before
    bare = Motor(one_joint(), gated=False).run(400, mode, effort=push)
    assert np.abs(bare[:, 0]).max() > 1.5


def test_a_joint_at_its_end_is_handed_back_when_it_is_pushed_inwards():
    motor = Motor(one_joint())
    motor.run(200, Mode.EFFORT, effort=5.0)
    path = motor.run(200, Mode.EFFORT, effort=-0.5)
    assert not path[40:60, 2].any()
    assert path[60, 0] < 0.95


def test_a_load_that_its_controller_does_not_carry_cannot_take_a_joint_out_of_its_range():
    path = Motor(one_joint(), load=5.0).run(600, Mode.EFFORT, effort=-1.0)
    assert path[:, 0].max() < 1.0 + 0.006  # its own servo gives way by 5/1000
    assert path[-1, 2]


def test_a_joint_that_is_taken_over_is_free_as_soon_as_it_is_told_a_position():
    motor = Motor(one_joint())
    motor.run(200, Mode.EFFORT, effort=5.0)
    path = motor.run(200, Mode.POSITION, position=0.2)
    assert not path[:, 2].any()
    assert not motor.joint.gate.taken.any()
    assert path[-1, 0] == pytest.approx(0.2, abs=1e-3)


def test_a_limp_joint_at_its_end_is_free_again_after_a_moment():
    motor = Motor(one_joint())
    motor.run(200, Mode.EFFORT, effort=2.0)
    motor.run(40, Mode.EFFORT, effort=0.0)
    motor.load = -1.0  # a hand
    assert motor.run(100, Mode.EFFORT, effort=0.0)[-1, 0] < 0.9


@pytest.mark.parametrize("mode", [Mode.EFFORT, Mode.IMPEDANCE])
def test_a_joint_that_turns_without_end_keeps_to_its_velocity_limit(mode):
    endless = {"lower": -np.inf, "upper": np.inf}
    path = Motor(one_joint(**endless)).run(600, mode, effort=5.0)
    assert np.abs(path[:, 1]).max() <= 5.0
    assert path[300:, 1].min() > 1.0  # and goes on
    bare = Motor(one_joint(**endless), gated=False).run(600, mode, effort=5.0)
    assert np.abs(bare[:, 1]).max() > 100.0


def test_a_velocity_fades_towards_the_end_of_the_range():
    motor = Motor(one_joint())
    path = motor.run(400, Mode.VELOCITY, velocity=9.0)
    assert path[:, 0].max() < 1.0 + 0.005
    assert np.abs(path[:, 1]).max() <= 5.0
    assert motor.run(200, Mode.VELOCITY, velocity=-1.0)[-1, 0] < 0.3


def test_a_controller_that_stays_within_the_limits_is_never_disturbed():
    motor = Motor(one_joint())
    for k in range(2000):
        position, velocity = 0.45 * (1 - np.cos(0.02 * k)), 1.8 * np.sin(0.02 * k)
        motor.cycle(Mode.IMPEDANCE, position=position, velocity=velocity, stiffness=60.0, damping=2.0)
    assert np.abs(np.array(motor.path)[:, 0]).max() > 0.85
    assert motor.joint.gate.refused.sum() == 0


def test_a_joint_that_its_controller_brakes_in_time_is_left_to_it():
    motor = Motor(one_joint())
    motor.q, motor.v = 0.8, 4.0  # going on like this it would be at its end in 50 ms
    motor.joint.at(0.8, 4.0)
    path = motor.run(13, Mode.EFFORT, effort=-6.0)
    assert (path[:, 0] + 0.05 * path[:, 1]).max() > 1.005
    assert path[:, 0].max() < 0.95
    assert motor.joint.gate.refused.sum() == 0


@pytest.mark.parametrize("mode", [Mode.VELOCITY, Mode.EFFORT, Mode.IMPEDANCE])
def test_a_joint_of_which_nobody_knows_where_it_is_follows_positions_only(mode):
    joint = one_joint()
    joint.state.measured[:] = 0
    joint.want(mode, velocity=1.0, effort=5.0, stiffness=10.0)
    assert (joint.command.mode[0], joint.command.effort[0]) == (Mode.POSITION, 0.0)
    assert joint.refused(Refusal.NOT_READY) == 1


def test_a_velocity_that_is_not_measured_comes_of_positions():
    joint = one_joint()
    joint.state.measured[:] = Measured.POSITION
    for k in range(20):
        joint.at(0.02 * k)
        taken = joint.want(Mode.EFFORT, effort=1.0)
    assert not taken
    for k in range(20, 45):
        joint.at(0.02 * k)
        taken = joint.want(Mode.EFFORT, effort=1.0)
    assert taken  # at 4 rad/s it would be there in 50 ms


# Robots without limits.


def test_a_robot_without_limits_gets_safe_ones_and_says_of_which_joints():
    robot = without_limits(robots.load("hoap3"))
    limits = safe_limits(robot)
    for each in (limits.velocity, limits.effort, limits.stiffness, limits.damping):
        assert np.isfinite(each).all()
        assert (each > 0).all()
    velocity, effort = limits.said
    assert "no velocity limit" in velocity
    assert f"{len(robot.moving) - 1} more" in velocity
    assert "Write effort limits" in effort
    assert safe_limits(robots.load("hoap3")).said == ()
