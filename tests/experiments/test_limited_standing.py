"""With noise, delay and masses that are 5 % off, the controller with limits stands; beside it, stiff joints."""

import pytest

from experiments.limited_standing import stand


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), [("hubo2plus", 0), ("hubo2plus", 1), ("valkyrie", 0)])
def test_a_push_from_anywhere_is_borne_by_giving_way_which_stiff_joints_do_not(name, seed):
    soft, stiff = stand(name, "push", seed), stand(name, "push", seed, "stiff")
    assert soft.stands
    assert stiff.stands
    assert soft.faults == 0
    assert 2 * stiff.off < soft.off < 0.05, "m"
    assert soft.back < 0.02, "m: it comes back, as far as it knows its mass"
    assert soft.effort < (0.8 if name == "hubo2plus" else 1.2) * stiff.effort


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), [("hubo2plus", 2), ("valkyrie", 3)])
def test_it_squats_and_stands_up_again(name, seed):
    done = stand(name, "squat", seed)
    assert done.stands
    assert done.faults == 0
    assert done.off < 0.015, "m"
