"""The problems that others are measured with: what goes over to them is what we solve."""

import json

import numpy as np
import pytest

from benchmarks import wbc_peers
from wholebody import robots
from wholebody.control import WBOSC
from wholebody.robots.formats.urdf import read_urdf, write_urdf


@pytest.mark.parametrize("name", wbc_peers.HANDS)
def test_we_solve_the_problem_exactly_and_a_wrong_answer_shows(name):
    case = wbc_peers.Case.of(name)
    controller, problem = WBOSC(case.model), case.problem()
    found = [controller.solve(case.model.at(q, v), problem).acceleration.copy() for q, v in case.states]
    assert case.off(np.array(found)) < 1e-6
    assert case.off(1.01 * np.array(found)) > 0.5


@pytest.mark.parametrize("name", wbc_peers.HANDS)
def test_the_urdf_and_the_plain_data_say_the_same_robot(name, tmp_path):
    case = wbc_peers.Case.of(name)
    data = json.loads(json.dumps(case.as_data()))
    path = tmp_path / "robot.urdf"
    path.write_text(write_urdf(case.model.robot))
    again = read_urdf(path, floating=case.model.floating)
    assert set(data["joints"]) == set(again.joint_names)
    assert again.mass == pytest.approx(robots.load(name).mass)
    links = {link.name for link in again.links}
    assert {each["frame"] for each in (*data["hands"], *data["feet"])} <= links
    assert len(data["q"]) == len(data["v"]) == wbc_peers.STATES
