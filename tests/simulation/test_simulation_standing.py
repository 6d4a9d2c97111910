"""Every legged robot of ours stands in its world; without gains it falls."""

import numpy as np
import pytest
from robot_dynamics import example_robot

from wholebody import robots
from wholebody.errors import RobotWarning
from wholebody.messages import Mode
from wholebody.simulation import AnkleFlexibility, SensorModel, Simulation

LEGGED = ["hubo2plus", "minihubo", "atlas", "atlas_v5", "valkyrie", "hoap3", "hrp2", "teo"]


def tilt(simulation):
    return np.degrees(np.arccos(min(1.0, simulation.base_to_world[2, 2])))


def run(simulation, seconds, watch=None):
    for _ in range(round(seconds / simulation.period)):
        simulation.advance()
        if watch is not None:
            watch()


def test_all_our_robots_with_soles_are_here():
    assert set(LEGGED) == {name for name in robots.names() if any("sole" in s.name for s in robots.load(name).surfaces)}


@pytest.mark.slow(but="minihubo")
@pytest.mark.parametrize("name", LEGGED)
def test_a_robot_stands_ten_seconds_under_stiff_position_control(name):
    simulation = Simulation(robots.load(name))
    com, upright = simulation.com_in_world, tilt(simulation)
    drifts, tilts = [], []
    run(
        simulation,
        10.0,
        lambda: (drifts.append(np.linalg.norm(simulation.com_in_world - com)), tilts.append(tilt(simulation))),
    )
    assert max(drifts) < 0.01, "drift of the centre of mass, m"
    assert max(tilts) - upright < 1.0, "tilt, degrees"


@pytest.mark.slow(but="minihubo")
@pytest.mark.parametrize("name", LEGGED)
def test_without_gains_it_falls(name):
    simulation = Simulation(robots.load(name))
    height = simulation.com_in_world[2]
    reference = simulation.new_reference()
    reference.mode[:] = Mode.IMPEDANCE
    simulation.write(reference)
    run(simulation, 2.0)
    assert simulation.com_in_world[2] < 0.7 * height


@pytest.mark.parametrize("name", LEGGED)
def test_it_begins_on_the_ground_and_not_in_it(name):
    simulation = Simulation(robots.load(name))
    assert simulation.collisions == [], "nothing is deeper in anything than a tenth of a millimetre"
    drop = simulation.com_in_world[2]
    run(simulation, 0.1)
    assert 0.0 < drop - simulation.com_in_world[2] < 0.003, "it settles by less than three millimetres"


@pytest.mark.parametrize("name", ["hubo2plus", "atlas"])
def test_the_feet_bear_the_weight_of_the_robot(name):
    simulation = Simulation(robots.load(name))
    run(simulation, 4.0)
    state = simulation.new_state()
    simulation.read(state)
    weight = simulation.robot.mass * 9.81
    force = np.zeros(3)
    for number, sensor in enumerate(simulation.robot.sensors_of("force_torque")):
        axes = simulation.link_to_world(sensor.link)[:3, :3] @ sensor.at.rotation
        force += axes @ state.force_torque.force[number]
    assert force == pytest.approx([0.0, 0.0, weight], abs=0.01 * weight)
    touching = sum(touch.force_in_world for touch in simulation.touches)
    assert touching == pytest.approx([0.0, 0.0, weight], abs=0.01 * weight)


def test_the_torque_of_a_foot_puts_the_centre_of_pressure_under_the_centre_of_mass():
    simulation = Simulation(robots.load("hubo2plus"))
    run(simulation, 3.0)
    state = simulation.new_state()
    simulation.read(state)
    moment, force = np.zeros(3), np.zeros(3)
    for number, sensor in enumerate(simulation.robot.sensors_of("force_torque")):
        frame = simulation.link_to_world(sensor.link) @ sensor.at.matrix
        pushed = frame[:3, :3] @ state.force_torque.force[number]
        force += pushed
        moment += frame[:3, :3] @ state.force_torque.torque[number] + np.cross(frame[:3, 3], pushed)
    pressure = np.array([-moment[1], moment[0]]) / force[2]
    assert pressure == pytest.approx(simulation.com_in_world[:2], abs=1e-3)


def test_flexible_ankles_bend_under_a_push_and_the_encoders_do_not_see_it():
    def sway(ankles):
        simulation = Simulation(robots.load("hubo2plus"), ankles=ankles)
        run(simulation, 1.0)
        before, height = simulation.new_state(), simulation.com_in_world
        simulation.read(before)
        simulation.push("Body_Torso", (30.0, 0.0, 0.0), 0.5)
        run(simulation, 0.5)
        after = simulation.new_state()
        simulation.read(after)
        return simulation.com_in_world[0] - height[0], after["position"] - before["position"]

    stiff, _ = sway(None)
    flexible, encoders = sway(AnkleFlexibility())
    assert flexible > 3 * stiff
    assert np.abs(encoders).max() < 0.2 * flexible


def test_a_robot_stands_on_a_slope_and_with_noise():
    simulation = Simulation(robots.load("hubo2plus"), scene="slope:angle=0.05", sensors=SensorModel.realistic(), seed=3)
    com = simulation.com_in_world
    run(simulation, 3.0)
    assert np.linalg.norm(simulation.com_in_world - com) < 0.01


def test_a_hard_push_topples_it_and_a_soft_one_does_not():
    def height(force):
        simulation = Simulation(robots.load("hubo2plus"))
        simulation.push("Body_Torso", (force, 0.0, 0.0), 0.2, start=0.5)
        run(simulation, 2.5)
        return simulation.com_in_world[2]

    assert height(50.0) > 0.5
    assert height(200.0) < 0.3


FOREIGN = {
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "talos": "talos_data/robots/talos_full_v2.urdf",
    "icub": "icub_description/robots/icub.urdf",
}


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.filterwarnings("ignore::wholebody.errors.RobotWarning")
def test_a_robot_that_we_did_not_write_stands_for_a_second(name):
    simulation = Simulation(robots.load(example_robot(FOREIGN[name]), repair=True))
    com = simulation.com_in_world
    run(simulation, 1.0)
    assert np.linalg.norm(simulation.com_in_world - com) < 0.01


@pytest.mark.filterwarnings("ignore:.*(mesh|dangerous to lack|jam on each other):wholebody.errors.RobotWarning")
def test_links_that_are_in_each_other_as_it_stands_are_named():
    """Talos's hulls overlap; without leaving their contacts out it is torn apart."""
    with pytest.warns(RobotWarning, match="'talos' has links that are in each other as it stands"):
        Simulation(robots.load(example_robot(FOREIGN["talos"]), repair=True))
