"""A robot stands whatever keys of the page are pressed, and its body moves soon after each."""

import pytest

from experiments.walk_by_keys import drive


@pytest.mark.slow
def test_a_robot_that_is_walked_by_keys_stands_and_moves_within_a_second():
    run = drive(seed=5, seconds=30.0)
    assert run.fell is None
    assert run.moved
    assert max(run.moved) < 1.0
