"""The forces of contacts: those by which the robot stands, lands and takes off, whoever looks at them."""

import numpy as np

from wholebody import robots
from wholebody.model import Model
from wholebody.simulation import Simulation

STEP = 0.001
GRAVITY = 9.81


def hop(look):
    """Stretch the legs at once, leave the floor and land: momentum and forces in every step, and the last positions."""
    robot = robots.load("hubo2plus")
    model, momenta, forces = Model(robot), [], []
    with Simulation(robot, step=STEP, control_period=STEP) as simulation:
        reference, bent = simulation.new_reference(), robot.posture("stand")
        straight = bent.copy()
        for side in "LR":
            straight[[robot.index[f"{side}{joint}"] for joint in ("HP", "KN", "AP")]] *= 0.2
        reference["mask"] = True
        while simulation.tick() < 0.8:
            reference["position"] = straight if 0.1 < simulation.time < 0.3 else bent
            simulation.write(reference)
            truth = simulation.truth
            base = truth["base"]
            q = np.concatenate([base["position"], base["orientation"], truth["position"]])
            momenta.append(model.robot.mass * com_velocity(model, q, base, truth))
            if look:
                forces.append(sum((touch.force_in_world for touch in simulation.touches), np.zeros(3)))
        return robot.mass, np.array(momenta), np.array(forces), simulation.truth["position"].copy()


def com_velocity(model, q, base, truth):
    turn = model.at(q).rotation(model.frame(model.robot.root))
    v = np.concatenate([turn.T @ base["linear_velocity"], base["angular_velocity"], truth["velocity"]])
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
