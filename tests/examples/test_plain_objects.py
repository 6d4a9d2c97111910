"""Pattern, estimator and stabilizer alone, as the examples use them in loops of their own."""

import math

import pytest

from examples import estimator_alone, pattern_alone, stabilizer_alone


@pytest.mark.parametrize("robot", ["hubo2plus", "hoap3"])
def test_the_pattern_alone_leads_the_feet_where_they_were_told(robot, capsys):
    pattern_alone.main(robot, "0.3")
    *rows, last = capsys.readouterr().out.splitlines()
    assert last == "the feet stand about (0.30, 0.00) m"
    lifted = {row.split()[1] for row in rows if row.split()[1] in ("left", "right")}
    assert lifted == {"left", "right"}


def test_the_estimator_alone_knows_the_tilt_of_a_robot_that_is_pushed(capsys):
    assert estimator_alone.main() < math.radians(0.3)
    assert "[True, True]" in capsys.readouterr().out


@pytest.mark.parametrize(("which", "stands"), [("none", False), ("dcm", True)])
def test_the_stabilizer_alone_keeps_a_robot_standing_that_falls_without(which, stands):
    assert stabilizer_alone.main(which) is stands
