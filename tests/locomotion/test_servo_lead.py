"""Joints that are led by what their servos and the springs under their ankles yield are where they shall be."""

import numpy as np
import pytest

from wholebody import robots
from wholebody.estimation import AnkleSpring
from wholebody.locomotion.walking.gait import SOLES
from wholebody.locomotion.walking.walker import Walker
from wholebody.simulation import AnkleFlexibility, Simulation

STIFFNESS = {"hubo2plus": 753.0, "hrp2": 2000.0, "hoap3": 60.0}


def standing(name, knows):
    """Tilt of the pelvis, rad, how far the centre of mass is from between the soles, m, and flexion of the ankles, rad.

    Nothing is fed back.
    """
    robot, stiffness = robots.load(name), STIFFNESS[name]
    damping = stiffness / 20  # so that it soon stands still
    walker = Walker(robot, stabilizer="none", ankles=AnkleSpring(stiffness, damping) if knows else None)
    walker.stance()
    straight = walker.legs.joints.copy()
    with Simulation(robot, ankles=AnkleFlexibility(stiffness, damping), posture=straight) as simulation:
        reference = simulation.new_reference()
        while simulation.time < 3.0:
            walker.cycle_blind(simulation.time, reference)
            simulation.write(reference)
            simulation.advance()
        soles = [robot.surface(sole) for sole in SOLES]
        places = [(simulation.link_to_world(sole.link) @ sole.at.matrix)[:2, 3] for sole in soles]
        off = float(np.linalg.norm(simulation.com_in_world[:2] - np.mean(places, axis=0)))
        return float(np.arccos(simulation.base_to_world[2, 2])), off, simulation.ankle_flexion


@pytest.mark.slow(but="hoap3")
@pytest.mark.parametrize("name", STIFFNESS)
def test_on_soft_ankles_that_it_knows_a_robot_stands_upright_with_its_weight_in_place(name):
    tilt, off, flexion = standing(name, True)
    unaware, further, _ = standing(name, False)
    assert np.degrees(np.abs(flexion).max()) > 0.15, "or there is nothing to know"
    assert tilt < 0.25 * unaware
    assert off < 0.25 * further
