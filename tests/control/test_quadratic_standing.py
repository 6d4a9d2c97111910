"""Valkyrie and Hubo2+ stand, squat and lift a foot in MuJoCo, by the controller that keeps limits."""

import numpy as np
import pytest
from test_wbc_standing import fallen, model_of, play, whole_body

from examples.balance import PLANS, Plan
from wholebody.control import QuadraticController, Transitions


def limited(model, period):
    return QuadraticController(model, period=period, inset=0.01)


@pytest.mark.slow(but="valkyrie")
@pytest.mark.parametrize("name", ["hubo2plus", "valkyrie"])
def test_it_squats_and_stands_up_again_with_all_limits_kept(name):
    watch, simulation = play(name, PLANS["squat"](model_of(name)), made=limited)
    assert max(watch.com) < 0.01
    assert watch.heights[0] - min(watch.heights) == pytest.approx(0.08, abs=0.002)
    assert simulation.com_in_world[2] == pytest.approx(watch.heights[0], abs=0.001)
    strongest = np.array([each.effort for each in model_of(name).robot.moving])
    assert np.all(np.abs(watch.efforts) <= strongest + 1e-6)


@pytest.mark.slow
def test_hubo_stands_on_one_foot_and_comes_back_as_contacts_are_switched():
    watch, simulation = play("hubo2plus", PLANS["one foot"](model_of("hubo2plus")), made=limited)
    assert max(watch.com) < 0.01
    assert max(watch.feet) - watch.feet[0] == pytest.approx(0.05, abs=0.005)
    assert max(watch.tilts) < 1.0
    assert len(simulation.touches) == 8


@pytest.mark.slow
def test_with_transitions_the_efforts_make_no_step_when_a_contact_is_switched():
    plan = PLANS["one foot"](model_of("hubo2plus"))
    assert plan.lifted[0] == 2.7
    at_once, _ = play("hubo2plus", plan, 2.9, made=limited)
    smoothly, simulation = play("hubo2plus", plan, 2.9, made=lambda *given: Transitions(limited(*given)))
    jump, glide = (np.abs(np.diff(each.efforts[2600:], axis=0)).max() for each in (at_once, smoothly))
    assert jump > 5.0, "N·m"
    assert glide < 0.2 * jump
    assert not fallen(simulation, smoothly.heights[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hubo2plus", "valkyrie"])
def test_a_centre_of_mass_so_stiff_that_wbosc_falls_with_it_stands_where_limits_are_kept(name):
    without, fell = play(name, Plan(), 2.5, made=whole_body, push=(0.2, 0.0), softness=100.0)
    assert fallen(fell, without.heights[0])
    watch, simulation = play(name, Plan(), 2.5, made=limited, push=(0.2, 0.0), softness=100.0)
    assert not fallen(simulation, watch.heights[0])
    assert watch.com[-1] < 0.01
