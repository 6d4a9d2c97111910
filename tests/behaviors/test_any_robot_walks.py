"""Robots whose legs have no closed form, and one that is a file and nothing else, stand, walk, turn and stop."""

from dataclasses import replace

import pytest

from experiments.any_robot import walk
from wholebody import robots
from wholebody.locomotion.balance import dcm_stabilizer
from wholebody.robots.inference import inferred


def bare(name):
    """One of ours with all that its file does not say inferred."""
    robot = robots.load(name)
    return inferred(replace(robot, groups={}, surfaces=(), sensors=(), postures={}, gains={}))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["valkyrie", "atlas_v5", "atlas"])
def test_a_robot_without_closed_form_of_its_legs_walks_and_turns(name):
    assert walk(robots.load(name), seed=2).stands


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hubo2plus", "hoap3", "hrp2", "valkyrie"])
def test_a_robot_of_which_only_links_and_joints_are_known_walks_and_turns(name):
    assert walk(bare(name), seed=1).stands


@pytest.mark.slow
def test_atlas_falls_in_the_turn_if_balance_is_slow(monkeypatch):
    slow = dcm_stabilizer.DcmGains
    monkeypatch.setattr(dcm_stabilizer, "DcmGains", lambda **more: slow(**{"proportional": 2.0, **more}))
    run = walk(robots.load("atlas_v5"), seed=2)
    assert not run.stands
    assert "turning" in run.where
