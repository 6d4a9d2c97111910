"""Flexible ankles of the simulation bend by torque / K, swing at their frequency, and hide from encoders."""

from dataclasses import replace

import numpy as np
import pytest

from wholebody import robots
from wholebody.simulation import AnkleFlexibility, Simulation

ROBOT = robots.load("hubo2plus")
SERVO = ROBOT.gains["RAR"].stiffness


def hanging(ankles, robot=ROBOT):
    """Bolted by its base, so that feet hang in the air."""
    return Simulation(replace(robot, floating=False), ankles=ankles, step=0.0005, control_period=0.0005)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("stiffness", [753.0, 300.0])
def test_an_ankle_bends_by_torque_over_stiffness_and_its_encoder_sees_only_the_servo_give(axis, stiffness):
    simulation = hanging(AnkleFlexibility(stiffness, 18.0))
    for _ in range(800):
        simulation.advance()
    before, encoders = simulation.ankle_flexion, simulation.truth.position.copy()
    # A force 0.3 m under or above the ankle is a torque about it, wherever the foot's centre of mass is.
    torque, force = 6.0, [(0.0, 6.0 / 0.3, 0.0), (6.0 / 0.3, 0.0, 0.0)][axis]
    arm = simulation.link_to_world("Body_RAR")[:3, :3].T @ (0.0, 0.0, -0.3 if axis == 0 else 0.3)
    simulation.push("Body_RAR", force, 1.0, point=tuple(arm))
    for _ in range(1200):
        simulation.advance()
    bent = simulation.ankle_flexion - before
    assert bent[0, axis] == pytest.approx(torque / stiffness, rel=0.02)
    assert np.abs(np.delete(bent.ravel(), axis)).max() < 0.05 * torque / stiffness
    moved = simulation.truth.position - encoders
    assert moved[ROBOT.index[("RAR", "RAP")[axis]]] == pytest.approx(torque / SERVO, rel=0.02)


def test_a_foot_swings_at_the_frequency_of_its_spring():
    stiffness, step = 753.0, 0.0005
    legs = ("right_leg", "left_leg")
    locked = {name: 0.0 for leg in legs for name in ROBOT.groups[leg] if name not in ("RAR", "LAR")}
    simulation = hanging(AnkleFlexibility(stiffness, 0.0), ROBOT.locked(locked))
    simulation.push("Body_RAR", (5.0, 0.0, 0.0), 0.01, point=(0.0, 0.0, -0.1))
    angles = np.array([(simulation.advance(), simulation.ankle_flexion[0, 1])[1] for _ in range(1000)])[100:]
    foot = ROBOT.link("Body_RAR")
    inertia = foot.inertia_matrix[1, 1] + foot.mass * (foot.com[0] ** 2 + foot.com[2] ** 2)
    rising = np.flatnonzero(np.diff(np.sign(angles - angles.mean())) > 0)
    seconds = (rising[-1] - rising[0]) * step
    assert (len(rising) - 1) / seconds == pytest.approx(np.sqrt(stiffness / inertia) / (2 * np.pi), rel=0.01)


def test_stiff_ankles_have_no_flexion():
    assert Simulation(ROBOT).ankle_flexion.shape == (0, 2)
