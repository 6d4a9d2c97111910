"""The forces of contacts: those by which the robot stands, lands and takes off, whoever looks at them."""

import numpy as np
import pytest

from wholebody import robots
from wholebody.errors import BadSimulation
from wholebody.model import Model
from wholebody.simulation import Simulation

STEP = 0.001
GRAVITY = 9.81


def landing(period, peaks=False):
    """The same hop with references held for 5 ms: the vertical forces on both feet, and the last positions."""
    robot = robots.load("hubo2plus")
    forces, sensors = [], robot.sensors_of("force_torque")
    with Simulation(robot, step=STEP, control_period=period, peaks=peaks) as simulation:
        reference, bent = simulation.new_reference(), robot.posture("stand")
        straight = bent.copy()
        for side in "LR":
            straight[[robot.index[f"{side}{joint}"] for joint in ("HP", "KN", "AP")]] *= 0.2
        reference.mask[:] = True
        while simulation.time < 0.8 - STEP / 2:
            if round(simulation.time / STEP) % 5 == 0:
                reference.position[:] = straight if 0.1 < simulation.time + STEP / 2 < 0.3 else bent
                simulation.write(reference)
            simulation.advance()
            if peaks:
                forces.append(simulation.peak_forces[:2])
            else:
                truth = simulation.truth.force_torque.force
                turns = [simulation.link_to_world(each.link)[2, :3] @ each.at.rotation for each in sensors[:2]]
                forces.append([turn @ force for turn, force in zip(turns, truth, strict=False)])
        return np.array(forces), simulation.truth.position.copy()


def hop(look):
    """Stretch the legs at once, leave the floor and land: momentum and forces in every step, and the last positions."""
    robot = robots.load("hubo2plus")
    model, momenta, forces = Model(robot), [], []
    with Simulation(robot, step=STEP, control_period=STEP) as simulation:
        reference, bent = simulation.new_reference(), robot.posture("stand")
        straight = bent.copy()
        for side in "LR":
            straight[[robot.index[f"{side}{joint}"] for joint in ("HP", "KN", "AP")]] *= 0.2
        reference.mask[:] = True
        while simulation.tick() < 0.8:
            reference.position[:] = straight if 0.1 < simulation.time < 0.3 else bent
            simulation.write(reference)
            truth = simulation.truth
            base = truth.base
            q = np.concatenate([base["position"], base["orientation"], truth.position])
            momenta.append(model.robot.mass * com_velocity(model, q, base, truth))
            if look:
                forces.append(sum((touch.force_in_world for touch in simulation.touches), np.zeros(3)))
        return robot.mass, np.array(momenta), np.array(forces), simulation.truth.position.copy()


def com_velocity(model, q, base, truth):
    turn = model.at(q).rotation(model.frame(model.robot.root))
    v = np.concatenate([turn.T @ base["linear_velocity"], base["angular_velocity"], truth.velocity])
    return np.array(model.at(q, v).com_velocity)


def test_contact_forces_are_what_changes_the_momentum_also_when_feet_land():
    mass, momenta, forces, _ = hop(look=True)
    needed = np.diff(momenta[:, 2]) / STEP + mass * GRAVITY
    found = forces[:-1, 2]
    assert found.min() == 0.0, "it leaves the floor"
    assert found.max() > 2 * mass * GRAVITY, "and lands"
    assert found.max() < 1.5 * needed.max()
    differ = np.abs(found - needed) > 0.1 * mass * GRAVITY
    assert differ.sum() <= 4, "where the command jumps: a force is that of the efforts before"


def test_who_looks_at_forces_changes_nothing():
    assert np.array_equal(hop(look=True)[3], hop(look=False)[3])


def test_peaks_are_the_highest_forces_of_all_physics_steps_of_a_period():
    peaks, _ = landing(0.005, peaks=True)
    each_step, _ = landing(STEP)
    at_the_ends, _ = landing(0.005)
    highest = each_step.reshape(-1, 5, 2).max(axis=1)
    assert peaks == pytest.approx(highest, rel=0.01, abs=2.0)
    assert peaks.max() > 1.05 * at_the_ends.max(), "what is read once in a period misses the impact"


def test_who_asks_for_peaks_changes_nothing_and_who_does_not_is_told_so():
    assert np.array_equal(landing(0.005, peaks=True)[1], landing(0.005)[1])
    with pytest.raises(BadSimulation, match="peaks=True"):
        _ = Simulation(robots.load("hoap3")).peak_forces
