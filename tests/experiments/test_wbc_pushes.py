"""What compliance is good for, and what transitions are: beside stiff joints, and beside contacts switched at once."""

from functools import partial

import pytest

from experiments.contact_transitions import run
from experiments.standing_pushes import DIRECTIONS, blow, by_efforts, by_positions, hand, stiffly, tracking


@pytest.mark.slow
@pytest.mark.parametrize(("name", "share"), [("hubo2plus", 0.5), ("valkyrie", 0.6)])
def test_a_hand_that_moves_the_pelvis_needs_half_the_force_and_so_do_the_motors(name, share):
    soft, stiff = (hand(name, way, 0.001, DIRECTIONS["forward"], 1.9) for way in (by_efforts, stiffly))
    assert soft.stands
    assert stiff.stands
    assert max(soft.force) < share * max(stiff.force)
    assert max(soft.away) > max(stiff.away), "it gives way"


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_blow_is_borne_by_stiff_joints_too_which_give_way_less_and_work_harder(direction):
    soft, stiff = (blow("hubo2plus", way, 0.001, DIRECTIONS[direction], seconds=1.5) for way in (by_efforts, stiffly))
    assert soft.stands
    assert stiff.stands
    assert max(stiff.away) < 0.5 * max(soft.away)
    assert max(soft.effort) < 0.8 * max(stiff.effort)


@pytest.mark.slow
def test_the_more_leaks_out_of_the_internal_model_the_softer_stiff_joints_get_and_the_less_exact():
    leaks = (10.0, 60.0)
    felt = [max(hand("hubo2plus", partial(by_positions, leak=leak), 0.005, (0.0, 1.0, 0.0)).force) for leak in leaks]
    off = [tracking(leak) for leak in leaks]
    assert felt[1] < 0.7 * felt[0]
    assert off[1] > 2 * off[0]


@pytest.mark.slow
def test_hands_that_become_contacts_in_a_transition_spare_motors_and_wall():
    found = {}
    for way in ("at once", "transition"):
        efforts, switches = run("valkyrie at a wall", way)
        found[way] = efforts.around(switches["brace"])
    assert found["transition"].step < 0.1 * found["at once"].step
    assert found["transition"].peak < 0.9 * found["at once"].peak
    assert found["transition"].shake < 0.3 * found["at once"].shake
