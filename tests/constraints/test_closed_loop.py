"""Closed loops of a file: held in simulation, and a named constraint on the tree that the model is."""

import numpy as np
import pytest
from control_examples import states
from model_examples import model

from wholebody.constraints import ClosedLoop
from wholebody.control import WBOSC, Problem
from wholebody.model import Model
from wholebody.robots.formats.mjcf_reader import read_mjcf
from wholebody.simulation import Simulation
from wholebody.tasks import JointPositionTask

FOUR_BAR = """
<mujoco model="four_bar"> <compiler angle="radian"/>
  <default> <geom type="capsule" size=".01" contype="0" conaffinity="0"/> <joint axis="0 1 0" armature=".01"/>
  </default>
  <worldbody>
    <body name="crank" pos="0 0 1"> <joint name="crank"/> <geom fromto="0 0 0 0 0 -.2"/>
      <body name="rod" pos="0 0 -.2"> <joint name="rod"/> <geom fromto="0 0 0 .3 0 0"/> </body> </body>
    <body name="rocker" pos=".3 0 1"> <joint name="rocker"/> <geom fromto="0 0 0 0 0 -.2"/> </body>
  </worldbody>
  <equality> <{0} name="pin" body1="rod" body2="rocker" {1}/> </equality>
  <actuator> <motor joint="crank" forcerange="-9 9"/> </actuator>
</mujoco>
"""


def four_bar(folder):
    """A crank, a rod and a rocker in the world; the base is a body of its own, as a robot is one tree."""
    text = (
        FOUR_BAR.format("connect", 'anchor=".3 0 0"')
        .replace(
            "<worldbody>",
            '<worldbody> <body name="base"> <joint name="base" axis="0 0 1"/> <geom size=".1" type="sphere"/>',
        )
        .replace("</worldbody>", "</body> </worldbody>")
    )
    path = folder / "four_bar.xml"
    path.write_text(text)
    return read_mjcf(path)


@pytest.mark.parametrize("welded", [False, True])
def test_the_bias_of_a_loop_is_the_rate_of_its_velocity(welded):
    m, h = model("valkyrie"), 1e-6
    each = ClosedLoop("loop", "left_sole", "right_palm", (0.1, 0.2, 0.3), (-0.1, 0.0, 0.2), welded)
    for now in states("valkyrie"):
        ahead, back = (m.at(m.integrate(now.q, now.v, dt), now.v) for dt in (h, -h))
        rate = (each.jacobian(ahead) @ now.v - each.jacobian(back) @ now.v) / (2 * h)
        assert rate == pytest.approx(each.bias(now), abs=1e-5, rel=1e-5)
        assert (each.gap(ahead) - each.gap(back)) / (2 * h) == pytest.approx(each.jacobian(now)[:3] @ now.v, abs=1e-6)
        assert np.linalg.matrix_rank(each.jacobian(now)) == each.count_rows() == (6 if welded else 3)


def test_the_loop_of_a_file_is_closed_in_simulation_and_is_so_in_the_model(tmp_path):
    robot = four_bar(tmp_path)
    (loop,) = ClosedLoop.of(Model(robot))
    assert (loop.name, loop.one, loop.other) == ("pin", "rod", "rocker")
    m = Model(robot)
    with Simulation(robot) as simulation:
        reference, state = simulation.new_reference(), simulation.new_state()
        reference.position[robot.index["crank"]] = 0.6
        simulation.write(reference)
        while simulation.tick() < 1.5:
            simulation.read(state)
            now = m.at(state.position, state.velocity)
            assert np.abs(loop.gap(now)).max() < 2e-3
            assert np.abs(loop.jacobian(now) @ now.v).max() < 0.05
        assert state.position[robot.index["rocker"]] == pytest.approx(0.6, abs=0.02), "a parallelogram"
    assert not np.isclose(state.position[robot.index["rod"]], 0.0, atol=0.1)


def test_a_whole_body_controller_moves_a_loop_by_its_crank_alone(tmp_path):
    robot = four_bar(tmp_path)
    m = Model(robot)
    crank = JointPositionTask("crank", joints=["crank"], goal=[0.4])
    result = WBOSC(m).solve(m.at(m.neutral()), Problem([crank], ClosedLoop.of(m)))
    a = result.acceleration
    assert a[m.column("crank")] > 1.0
    assert a[m.column("rocker")] == pytest.approx(a[m.column("crank")], rel=1e-6)
    assert a[m.column("rod")] == pytest.approx(-a[m.column("crank")], rel=1e-6)
    free = WBOSC(m).solve(m.at(m.neutral()), Problem([crank])).acceleration
    assert abs(free[m.column("rocker")]) < 1e-9, "without it the rocker stays"
