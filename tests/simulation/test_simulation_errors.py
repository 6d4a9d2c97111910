"""What cannot be simulated is refused, with the name of the joint, link or value, and what to do."""

import numpy as np
import pytest

from wholebody import robots
from wholebody.errors import (
    BadPosture,
    BadReference,
    BadSimulation,
    SimulationDiverged,
    UnknownName,
    WrongRecord,
)
from wholebody.messages import Mode
from wholebody.simulation import AnkleFlexibility, Simulation, named

HOAP = robots.load("hoap3")


@pytest.fixture
def simulation():
    return Simulation(HOAP)


@pytest.mark.parametrize(("step", "period"), [(0.001, 0.0025), (0.002, 0.005), (0.01, 0.005)])
def test_a_period_that_is_no_multiple_of_the_step(step, period):
    with pytest.raises(
        BadSimulation, match=f"{period} s is no multiple of the physics step of {step} s; take a period"
    ):
        Simulation(HOAP, step=step, control_period=period)


@pytest.mark.parametrize("step", [0.0, -0.001, float("nan"), float("inf")])
def test_a_step_that_is_none(step):
    with pytest.raises(BadSimulation, match="must be positive"):
        Simulation(HOAP, step=step)


@pytest.mark.parametrize("seed", [-1, 0.5])
def test_a_seed_that_is_none(seed):
    with pytest.raises(BadSimulation, match="seed"):
        Simulation(HOAP, seed=seed)


def test_a_posture_outside_the_limits_names_the_joint():
    positions = HOAP.posture("stand")
    positions[HOAP.index["R_KN"]] = 9.0
    with pytest.raises(BadPosture, match=r"joint 'R_KN' at 9\.0000, outside its limits"):
        Simulation(HOAP, posture=positions)


def test_a_posture_of_another_robot_or_of_no_name(simulation):
    with pytest.raises(BadPosture, match="26 joints"):
        simulation.reset(np.zeros(3))
    with pytest.raises(UnknownName, match="posture 'stend'; closest: 'stand'"):
        simulation.reset("stend")
    with pytest.raises(BadPosture, match="at nan"):
        simulation.reset(np.full(26, np.nan))
    with pytest.raises(BadPosture, match="is no posture"):
        simulation.reset(["a", "b"])


@pytest.mark.parametrize("field", ["position", "velocity", "effort", "stiffness", "damping"])
def test_nan_in_a_command_names_joint_and_field_and_changes_nothing(simulation, field):
    reference = simulation.new_reference()
    reference.position += 0.01
    reference[field][HOAP.index["L_KN"]] = np.nan
    with pytest.raises(BadReference, match=f"joint 'L_KN': {field} is nan"):
        simulation.write(reference)
    simulation.advance()
    assert np.array_equal(simulation.truth.reference, HOAP.posture("stand"))


def test_nan_of_a_joint_out_of_the_mask_is_not_looked_at(simulation):
    reference = simulation.new_reference()
    reference.position[3], reference.mask[3] = np.nan, False
    simulation.write(reference)
    simulation.advance()
    assert np.isfinite(simulation.truth.position).all()


def test_a_mode_that_is_none(simulation):
    reference = simulation.new_reference()
    reference.mode[2] = 7
    with pytest.raises(BadReference, match=rf"joint '{HOAP.joint_names[2]}': 7 is no mode"):
        simulation.write(reference)


def test_a_record_of_another_robot(simulation):
    other = Simulation(robots.load("teo"), physics=False)
    with pytest.raises(WrongRecord, match="of another robot than 'hoap3'"):
        simulation.write(other.new_reference())
    with pytest.raises(WrongRecord, match="of another robot than 'hoap3'"):
        simulation.read(other.new_state())


def test_a_record_of_another_kind(simulation):
    with pytest.raises(WrongRecord, match="no reference"):
        simulation.write(simulation.new_state())
    with pytest.raises(WrongRecord, match="no state"):
        simulation.read(simulation.new_reference())


def test_unknown_names(simulation):
    with pytest.raises(UnknownName, match="no scene 'flatt'; closest: 'flat'"):
        Simulation(HOAP, scene="flatt")
    with pytest.raises(UnknownName, match="no link 'WAISTT'; closest: 'WAIST'"):
        simulation.push("WAISTT", (1, 0, 0), 0.1)
    with pytest.raises(UnknownName, match="no link 'hand'"):
        simulation.attach(1.0, "hand")
    with pytest.raises(UnknownName, match="no camera 'head'"):
        simulation.image("head")


@pytest.mark.parametrize("text", ["slope:angel=0.1", "slope:angle", "slope:angle=x", "slope:angle=2", "steps:count=0"])
def test_parameters_of_scenes(text):
    with pytest.raises((BadSimulation, UnknownName)):
        Simulation(HOAP, scene=text)


def test_pushes_and_loads_that_are_none(simulation):
    with pytest.raises(BadSimulation, match="lasts 0"):
        simulation.push("WAIST", (1, 0, 0), 0.0)
    with pytest.raises(BadSimulation, match="not finite"):
        simulation.push("WAIST", (np.nan, 0, 0), 0.1)
    with pytest.raises(BadSimulation, match="three numbers"):
        simulation.push("WAIST", (1, 0), 0.1)
    with pytest.raises(BadSimulation, match="weighs -1"):
        simulation.attach(-1.0, "WAIST")
    with pytest.raises(BadSimulation, match="without physics"):
        Simulation(HOAP, physics=False).push("WAIST", (1, 0, 0), 0.1)


def test_ankles_that_are_none():
    with pytest.raises(BadSimulation, match="stiffness must be positive"):
        AnkleFlexibility(stiffness=0.0)
    with pytest.raises(BadSimulation, match="no soles"):
        Simulation(robots.load("dreamer"), ankles=AnkleFlexibility())


@pytest.mark.parametrize("size", [(0, 100), (100, 5000)])
def test_pictures_of_no_size(simulation, size):
    with pytest.raises(BadSimulation, match="pixels"):
        simulation.image("tracking", *size)


def test_physics_that_explodes_says_when_and_where(simulation, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reference = simulation.new_reference()
    reference.mode[:] = Mode.IMPEDANCE
    reference.stiffness[:], reference.damping[:] = 10.0, -1e6
    simulation.write(reference)

    def go_on():
        for _ in range(400):
            simulation.advance()

    with pytest.raises(SimulationDiverged, match=r"unstable at 0\.\d+ s, first at joint '\w+'"):
        go_on()
    simulation.stop()
    simulation.reset()
    simulation.advance()
    assert np.isfinite(simulation.truth.position).all(), "a reset heals it"
    assert not list(tmp_path.iterdir()), "no log file is left behind"


def test_a_scene_may_be_a_function_of_ones_own():
    assert callable(named("flat"))
    Simulation(HOAP, scene=named("slope:angle=0.02")).advance()
