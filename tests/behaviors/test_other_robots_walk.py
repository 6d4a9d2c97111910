"""A robot that nothing was tuned on walks by the same controller; a leg out of reach bends no other way for it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from robot_dynamics import example_robot

from experiments.any_robot import loaded, walk
from experiments.stabilizer_robots import fast_walk, size
from experiments.stabilizer_walk import heavier, mass_factor
from wholebody import robots
from wholebody.behaviors import Walking
from wholebody.kinematics import ClosedForm
from wholebody.locomotion.walking import gait, walker
from wholebody.locomotion.walking.gait import SOLES
from wholebody.locomotion.walking.legs import Legs
from wholebody.locomotion.walking.legs import leg as walking_leg
from wholebody.model import Model
from wholebody.robots import Gain
from wholebody.simulation import SensorModel, Simulation


@pytest.mark.slow
def test_a_robot_of_the_size_of_man_walks_fast_with_the_same_controller_and_shakily_or_not_at_all_without():
    plain, alone, balanced = (fast_walk("hrp2", arm, seed=3, steps=8) for arm in ("none", "none with legs", "dcm"))
    assert plain.fell
    assert not balanced.fell
    assert balanced.distance == pytest.approx(8 * 0.2 * size("hrp2"), abs=0.1)
    assert balanced.zmp_error < 0.6 * alone.zmp_error
    assert balanced.tilt < 0.4 * alone.tilt


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_robot_whose_soles_nearly_touch_in_its_posture_stands_wider_and_turns_and_goes_aside(seed):
    robot = robots.load("hrp2")
    walking = Walking(robot)
    with Simulation(heavier(robot, mass_factor(seed)), sensors=SensorModel.realistic(), seed=seed) as world:
        state, reference = world.new_state(), world.new_reference()

        def do(seconds=40.0):
            end, least = world.time + seconds, world.time + 0.1
            while world.time < least or not walking.standing:
                world.read(state)
                walking.cycle(state, reference)
                world.write(reference)
                world.advance()
                assert world.base_to_world[2, 2] > 0.95, f"it falls at {world.time:.2f} s"
                assert world.time < end

        walking.stand()
        do()
        begin = world.com_in_world
        walking.turn(math.pi / 2)
        do()
        walking.go(leftward=0.2)
        do()
        walking.turn(math.radians(-20))
        do()
        R = world.base_to_world
        assert math.degrees(math.atan2(R[1, 0], R[0, 0])) == pytest.approx(70, abs=2)
        assert (world.com_in_world - begin)[:2] == pytest.approx((-0.2, 0.0), abs=0.05)


def test_a_knee_never_leaps_to_its_other_side_when_an_ankle_is_at_the_end_of_its_range():
    legs = Legs(Model(robots.load("teo")))
    seen = legs.seen_from_pelvis()
    goal = seen.placement(legs.model.surface(SOLES[1])).copy()
    ground, leg = goal[2, 3], walking_leg(legs.model.robot, SOLES[1])
    free = ClosedForm.of(legs.model.robot, legs.model.robot.root, "right_sole")
    at = before = legs.joints[legs.columns[1]].copy()
    leapt = 0.0
    for height in np.arange(0.0, 0.12, 0.001):
        goal[2, 3] = ground + height
        now = leg.nearest(goal, before)
        assert np.abs(now.joints - before).max() < 0.1
        found = free.nearest(goal, at).joints
        leapt = max(leapt, float(np.abs(found - at).max()))
        at, before = found, now.joints
    assert now.distance > 0.01, "the foot cannot follow so far"
    assert leapt > 0.5, "the knee's whole range would let it leap"


@pytest.mark.slow
@pytest.mark.parametrize("weak", [False, True], ids=["drives", "urdf"])
def test_teo_walks_with_the_torques_of_its_drives_and_not_with_those_of_its_urdf(weak):
    robot = robots.load("teo")
    if weak:
        feeble = {"hip_yaw": 45.0, "hip_roll": 65.0, "hip_pitch": 60.0, "ankle_pitch": 85.0, "ankle_roll": 65.0}
        joints = tuple(replace(j, effort=feeble.get(j.name[2:], j.effort)) for j in robot.joints)
        robot = replace(robot, joints=joints)
    walking = Walking(robot)
    todo = [walking.stand, lambda: walking.walk(distance=1.0), lambda: walking.turn(math.pi / 2)]
    with Simulation(robot, sensors=SensorModel.realistic(), seed=3) as world:
        state, reference = world.new_state(), world.new_reference()
        while (todo or not walking.standing) and world.time < 40.0 and world.base_to_world[2, 2] > 0.6:
            if walking.standing:
                todo.pop(0)()
            world.tick()
            world.read(state)
            walking.cycle(state, reference)
            world.write(reference)
        assert (world.base_to_world[2, 2] > 0.95) == (not weak)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::wholebody.errors.RobotWarning")
@pytest.mark.parametrize("mass", [0.95, 1.05])
def test_a_robot_known_by_its_file_alone_walks_though_references_act_two_periods_later(mass):
    robot = loaded(str(example_robot("g1_description/urdf/g1_29dof_rev_1_0.urdf")))
    assert walk(robot, 0, late=2, mass=mass).stands


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::wholebody.errors.RobotWarning")
def test_with_servos_too_stiff_for_their_efforts_and_feet_that_land_late_and_fast_it_falls(monkeypatch):
    robot = loaded(str(example_robot("g1_description/urdf/g1_29dof_rev_1_0.urdf")))
    legs = {*robot.groups["left_leg"], *robot.groups["right_leg"]}
    stiff = {name: Gain(3200.0, 96.0) if name in legs else gain for name, gain in robot.gains.items()}
    monkeypatch.setattr(walker, "LATE", 0.0)
    monkeypatch.setattr(gait, "GENTLY", 0.0)
    assert not walk(replace(robot, gains=stiff), 0, late=2).stands
