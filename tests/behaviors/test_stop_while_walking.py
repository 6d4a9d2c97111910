"""STOP while a robot walks: what it commands changes at once, and it rests on both feet, whichever was in the air."""

import numpy as np
import pytest
from test_walking import Told
from walking_rig import Feet

CHANGED = 0.2
"""s in which a stop must have changed what is commanded."""


def walks(seed, seconds):
    """A robot that has walked for a while, always the same for the same seed."""
    told = Told(seed)
    told.walking.stand()
    told.stands()
    told.walking.walk(velocity=(0.2, 0.0, 0.0))
    return told.go(seconds)


def commanded(told, seconds):
    """What it commands, cycle by cycle."""
    found = []
    for _ in range(round(seconds / 0.005)):
        found.append(told.go(0.004).reference["position"].copy())
    return np.array(found)


@pytest.mark.slow(but="0-2.0")
@pytest.mark.parametrize(("seed", "seconds"), [(0, 2.0), (1, 2.4), (2, 2.55), (3, 2.7)])
def test_a_stop_changes_the_reference_at_once_and_the_robot_rests_on_both_feet_a_step_and_half_a_second_later(
    seed, seconds
):
    stopped, goes_on = walks(seed, seconds), walks(seed, seconds)
    assert np.array_equal(stopped.reference.position, goes_on.reference.position)
    feet, unstopped = Feet(stopped.world), Feet(goes_on.world)
    stopped.walking.stop()
    since = stopped.world.time
    difference = np.abs(commanded(stopped, CHANGED) - commanded(goes_on, CHANGED)).max(axis=1)
    assert difference.max() > np.radians(0.1)
    late = since + stopped.walking.gait.step_time + 0.5
    for told, watch in ((stopped, feet), (goes_on, unstopped)):
        told.go(late - told.world.time)
        while told.world.time < late + 2.0:
            told.go(0.004)
            watch()
    feet.assert_rest(late)
    assert unstopped.since(late)[0].min() < 0.01 * feet.weight, "the control arm: it walks on, from foot to foot"
