"""The antenna scenario: an operator over RCP, and a robot that searches, asks, walks, grasps, carries and puts down.

Daemon, walking and arm controllers, camera and RCP server are processes of their own, MuJoCo has sensor noise and
delay; nobody tells the robot where it is: it knows by its legs.
"""

import contextlib
import importlib.util
import re
import subprocess

import numpy as np
import pytest
from robot_processes import EXAMPLES, MAIN, wait_for
from walking_rig import NAME, Rig

from wholebody.behaviors.reaching_goals import ReachingClient
from wholebody.errors import Refused
from wholebody.operator.rcp.client import Client
from wholebody.processes.registry import ARMS, CAMERA
from wholebody.services import Stage
from wholebody.simulation.scenes import footprints

SCENE = "antenna"
GOAL = next(each for each in footprints(SCENE) if each.name == "goal_stand")


def operators():
    """The class of operators of the example."""
    found = importlib.util.spec_from_file_location("antenna_operator", EXAMPLES / "antenna_operator.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module.Operator


@contextlib.contextmanager
def hall(seed, scene=SCENE):
    """A robot in the hall with all its processes, and a client of it."""
    with Rig(scene=scene, seed=seed, real_time=2.0) as rig:  # nobody waits for camera and arms
        rig.begin(CAMERA, scene=scene)
        rig.begin(ARMS)
        command = [*MAIN, "rcp", "--port", "0", "--no-walk", "--no-camera", "--name", NAME]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                port = int(re.search(r":(\d+)", server.stdout.readline())[1])
                with Client(port=port) as client:
                    yield rig, client
            finally:
                server.terminate()


def item(rig, name):
    return rig.world.object_poses[rig.world.objects.index(name)]


def assert_stands_on_the_goal(rig):
    antenna = item(rig, "antenna")
    assert np.hypot(antenna[0] - GOAL.x, antenna[1] - GOAL.y) < GOAL.length / 2
    assert antenna[2] == pytest.approx(0.86, abs=0.01), "on the stand"
    upright = 1 - 2 * (antenna[3] ** 2 + antenna[4] ** 2)
    assert upright > 0.99


@pytest.mark.slow
def test_an_operator_has_the_antenna_found_fetched_and_put_where_it_belongs():
    with hall(seed=0) as (rig, client):
        operator = operators()(client)
        canister = item(rig, "canister").copy()
        assert operator.play() == "done", operator.reason
        assert operator.path == ["search", "approach", "grasp", "carry", "place", "done"]
        assert operator.decisions == 2, "which object it is, and which arm"
        assert_stands_on_the_goal(rig)
        assert item(rig, "canister") == pytest.approx(canister, abs=0.005), "the other object was left alone"
        assert rig.world.held == {}
        assert rig.upright
        print(f"{operator.commands} commands, {operator.decisions} decisions, {operator.robot_time() / 60:.1f} minutes")


def right_handed(robot):
    """An operator who has the antenna taken with the right hand, and held up, before it is carried."""

    class RightHanded(operators()):
        def choose_an_arm(self):
            self.order("GRAB OBJECT(antenna)", lambda arms: "right_arm")

        def go_to_the_goal(self):
            self.order("USE OBJECT(antenna)")
            if self.event == "done":
                super().go_to_the_goal()

    return RightHanded(robot)


@pytest.mark.slow
def test_what_the_right_hand_has_held_up_stands_where_it_was_put_down():
    with hall(seed=0) as (rig, client):
        operator = right_handed(client)
        assert operator.play() == "done", operator.reason
        assert_stands_on_the_goal(rig)
        assert rig.world.held == {}
        assert rig.upright


@pytest.mark.slow
def test_what_nobody_has_confirmed_or_holds_is_neither_grasped_nor_put_down():
    with hall(seed=1) as (rig, client):
        client.connect("operator")
        client.take_control()
        antenna = item(rig, "antenna").copy()
        client.do("MOVE TURNING LEFT 40 DEGREES", 300.0)
        with pytest.raises(Refused, match="nobody has said what the antenna is"):
            client.do("GRAB OBJECT(antenna)")
        with pytest.raises(Refused, match="nothing that was seen is the antenna"):
            client.do("GOTO OBJECT(antenna)", 60.0, lambda ways: ways[-1])
        with pytest.raises(Refused, match="no hand holds the antenna"):
            client.do("DROP OBJECT(antenna)")
        assert item(rig, "antenna") == pytest.approx(antenna, abs=1e-3)
        stops_while_an_arm_moves(rig, client)


def stops_while_an_arm_moves(rig, client):
    """STOP holds an arm where it is, whoever moves it, and the robot goes on standing."""

    def arm():
        return rig.world.truth.position[[rig.robot.index[name] for name in rig.robot.groups["right_arm"]]]

    def passes(seconds):
        since = rig.world.time
        wait_for(lambda: rig.world.time > since + seconds, 60.0)

    with ReachingClient(NAME) as arms:
        hanging = arm()
        carry = arms.carry("right")
        wait_for(lambda: np.abs(arm() - hanging).max() > 0.2, 60.0)
        assert client.do("STOP", 60.0) == "COMPLETED"
        assert arms.reports(carry)[-1].stage is Stage.PREEMPTED
        passes(0.5)
        held = arm()
        passes(2.0)
        assert arm() == pytest.approx(held, abs=0.02)
        assert np.abs(arm() - hanging).max() > 0.2, "it holds the arm, and does not let it fall"
        assert rig.upright
