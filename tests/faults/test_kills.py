"""Kills in mid-motion: a small number of what `tests/faults/kills.py` does a thousand times."""

import pytest
from kills import strike


@pytest.mark.slow
@pytest.mark.parametrize("physics", [False, True])
def test_no_reference_and_no_joint_makes_a_step_above_its_limit_whoever_is_killed(physics):
    kills = strike(controllers=20, daemons=10, physics=physics)
    assert kills.steps.periods > 200
    assert kills.steps.reference == pytest.approx(1.0, abs=1e-9), (
        "controllers did go as fast as they may, and no faster"
    )
    if not physics:  # with it, arms that are thrown about swing the torso
        assert kills.steps.joint <= 1.0 + 1e-9
