"""Legs without a closed form go where legs in closed form go, straight knees and a waist above them included."""

from dataclasses import replace

import numpy as np
import pytest
from generated_robots import biped

from wholebody import robots
from wholebody.behaviors import Walking
from wholebody.errors import NoClosedForm
from wholebody.locomotion.balance.stabilizers import as_planned
from wholebody.locomotion.walking import legs as legs_module
from wholebody.locomotion.walking.footsteps import Feet, Place, StepLimits, to_place, within
from wholebody.locomotion.walking.gait import SOLES, gait_of
from wholebody.locomotion.walking.gait_tuning import STRAIGHTEST, Speed, needed, rehearsed
from wholebody.locomotion.walking.legs import ClosedLegs, Legs, leg_joints, load_on_one_leg, trouble_on_one_leg
from wholebody.locomotion.walking.pattern import Pattern
from wholebody.locomotion.walking.walker import Walker
from wholebody.model import Model
from wholebody.robots.inference import inferred


def walked(legs, gait, steps=3, length=0.1, often=0.05):
    """The joints of the legs, and how far a sole stays away, at instants of a planned walk."""
    model = legs.model
    feet = Walker(model.robot, gait).pattern.feet
    pattern = Pattern(gait, feet)
    limits = replace(gait.limits, length=length)
    pattern.follow(within(to_place(feet, Place(steps * length, 0.0, 0.0), limits), feet, gait.limits), 0.0)
    for time in np.arange(0.0, gait.begin + (steps + 1) * gait.step_time, often):
        command = as_planned(pattern.at(float(time)))
        seen = legs.balance(command.com, command.rotation, command.soles, rounds=10)
        yield legs.joints.copy(), legs.reach, command, seen


def test_by_iteration_legs_go_where_they_go_in_closed_form(monkeypatch):
    model = Model(robots.load("hubo2plus"))
    closed = Legs(model)
    assert closed.closed
    monkeypatch.setattr(legs_module, "ClosedLegs", NoClosedLegs)
    iterated = Legs(model)
    gait = gait_of(model)
    _, *both = zip(walked(closed, gait), walked(iterated, gait), strict=True)  # at first they come from far away
    for (one, *_), (other, *_) in both:
        assert other == pytest.approx(one, abs=2e-3)


class NoClosedLegs(ClosedLegs):
    """As of a robot that has no closed form."""

    def __init__(self, *_):
        raise NoClosedForm("not in this test")


@pytest.mark.parametrize("name", ["valkyrie", "atlas_v5"])
def test_a_robot_whose_legs_have_no_closed_form_is_put_where_it_is_to_be(name):
    model = Model(robots.load(name))
    legs = Legs(model)
    assert not legs.closed
    for _, reach, command, seen in walked(legs, gait_of(model)):
        assert reach < 1e-5
        pelvis = command.com - seen.com_in_world
        for sole, goal in zip(SOLES, command.soles, strict=True):
            assert seen.position(model.surface(sole)) + pelvis == pytest.approx(goal[:3, 3], abs=1e-4)


def test_long_steps_straighten_a_leg_which_bends_again_because_it_is_sought_from_bent_knees(monkeypatch):
    model = Model(robots.load("atlas_v5"))
    gait = gait_of(model)

    def farthest():
        legs = Legs(model)
        return max(reach for _, reach, *_ in walked(legs, gait, steps=4, length=0.3, often=0.01))

    assert farthest() < 0.003
    monkeypatch.setattr(legs_module, "BEND", 0.0)
    assert farthest() > 0.03


def test_a_waist_above_both_hips_belongs_to_neither_leg_and_stays_as_it_is():
    robot = inferred(biped(3, root="chest"))
    assert robot.groups["torso"] == ("waist",)
    assert all("waist" not in names for names in leg_joints(robot))
    legs = Legs(Model(robot))
    for joints, reach, *_ in walked(legs, gait_of(legs.model), length=0.02):
        assert joints[robot.index["waist"]] == 0.0
        assert reach < 1e-4


@pytest.mark.parametrize("yaw", [2e-8, 1e-3, 0.05])
def test_no_step_of_the_planner_is_refused_by_its_own_check_however_the_feet_stand(yaw):
    limits = StepLimits()
    feet = Feet(Place(0.0, limits.spacing / 2, yaw), Place(0.0, -limits.spacing / 2, -yaw))
    for goal in (Place(1.0, 0.0, 0.0), Place(0.0, 0.3, 0.0), Place(0.0, 0.0, 1.5), Place(0.5, 0.2, -0.7)):
        steps = within(to_place(feet, goal, limits), feet, limits)
        limits.check(steps, feet)


def test_the_gait_leaves_knees_bent_efforts_to_spare_and_hips_within_their_range():
    walker = Walking(robots.load("atlas")).walker
    asked, gait = gait_of(walker.model), walker.gait
    assert load_on_one_leg(walker.model, asked).share > 0.85
    assert load_on_one_leg(walker.model, gait).share <= 0.8
    legs, feet = Legs(walker.model), walker.pattern.feet
    assert needed(legs, gait, feet, gait.limits.length).knee >= 0.9 * min(STRAIGHTEST, 0.29)
    assert gait.limits.turn < asked.limits.turn
    assert Walking(robots.load("valkyrie")).gait.limits.turn == gait_of(Model(robots.load("valkyrie"))).limits.turn


def test_hips_that_turn_slowly_turn_by_small_steps():
    robot = robots.load("hubo2plus")
    slow = tuple(replace(j, velocity=0.4) if j.name in ("LHY", "RHY") else j for j in robot.joints)
    walker = Walking(replace(robot, joints=slow)).walker
    legs, gait, feet = Legs(walker.model), walker.gait, walker.pattern.feet
    assert gait.limits.turn < 0.7 * gait_of(walker.model).limits.turn
    speed = Speed(legs)
    for time, _ in rehearsed(legs, gait, feet, to_place(feet, Place(0.0, 0.0, 0.5), gait.limits), 0.02):
        speed.look(time)
    assert 0.6 < speed.greatest < 0.9, "the daemon would hold back joints that are too fast, and the robot fall"


def test_of_legs_that_cannot_level_their_soles_it_is_said_by_how_much_they_are_turned():
    robot = robots.load("hubo2plus").locked({"LAR": 0.0, "RAR": 0.0})
    model = Model(robot)
    assert trouble_on_one_leg(model, gait_of(model)).endswith("as its legs have 5 joints")
    whole = Model(robots.load("hubo2plus"))
    assert not trouble_on_one_leg(whole, gait_of(whole))
