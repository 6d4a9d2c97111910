"""Task markers on the page: goals and where objects are, in the world, and what becomes of a goal that is dragged."""

import subprocess
import threading
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest
from page_browser import chromium, in_browser, page_of  # noqa: F401
from robot_processes import MAIN, end_all, wait_for, wholebody

from wholebody.channels.owned import own_channel
from wholebody.control.introspection.markers import FRAME, POINT, marker_record
from wholebody.drivers import connect
from wholebody.operator.robot.page_view import TaskMarkers
from wholebody.parameters import Unit
from wholebody.parameters.records import ControllerNames, Description
from wholebody.parameters.reflection import Parameters
from wholebody.parameters.remote import Remote, running
from wholebody.parameters.server import ParameterServer
from wholebody.tasks.vectors import Vector3

NAMES = ControllerNames("robot", "reach")
QUARTER = (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5))
"""A quarter of a turn to the left, x y z w."""
ON_SCREEN = """(name) => { const {view, markers} = wholebody, box = view.canvas.getBoundingClientRect();
    const at = markers.shown.get(name).goal.position.clone().project(view.camera);
    return [box.left + (at.x + 1) / 2 * box.width, box.top + (1 - at.y) / 2 * box.height]; }"""
PLACES = """(name) => { const {goal, actual} = wholebody.markers.shown.get(name);
    return [goal, actual].map((each) => [each.position.toArray(), each.quaternion.toArray()]); }"""


@pytest.fixture
def page(browser):
    """The page of a robot without physics, in control."""
    wholebody("start", "hubo2plus", "--no-physics")
    with page_of("robot", "--no-camera") as address:
        page = browser.new_page(viewport={"width": 1100, "height": 800})
        page.goto(address)
        page.wait_for_selector("body[data-connection=connected]", timeout=60_000)
        page.click("#control")
        page.wait_for_selector("body[data-control=mine]")
        wait_for(lambda: page.evaluate("wholebody.view.frames > 0"), 60)
        yield page
    end_all()


def dragged(page, name, down):
    """Drag a goal down the screen; where it is dropped, in the world."""
    x, y = page.evaluate(ON_SCREEN, name)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + down, steps=4)
    (place, _), _ = page.evaluate(PLACES, name)
    page.mouse.up()
    return place


@dataclass
class Hand:
    """A task's goal, in the frame of a reference."""

    goal: Annotated[Vector3, Unit("m")]


def write_markers(writer):
    """A hand whose goal is seen from a frame that is turned and 1 m up, and a head's turn."""
    hand, head = writer.message["markers"]
    hand["task"], hand["parameter"], hand["shows"], hand["enabled"] = b"hand", b"tasks.hand.goal", POINT, True
    hand["goal_position"], hand["position"] = (0.4, -0.4, 0.9), (0.3, -0.3, 0.8)
    hand["reference_position"], hand["reference_orientation"] = (0.0, 0.0, 1.0), QUARTER
    head["task"], head["shows"], head["enabled"] = b"head", FRAME, True
    head["goal_position"] = head["position"] = (0.0, 0.0, 1.4)
    head["goal_orientation"], head["orientation"] = QUARTER, (0.0, 0.0, 0.0, 1.0)
    head["reference_orientation"] = (0.0, 0.0, 0.0, 1.0)
    writer.put()


def test_markers_are_told_on_the_map_until_their_controller_is_silent(monkeypatch):
    markers = TaskMarkers("robot", lambda x, y: (x + 2.0, y - 1.0))
    assert markers.newest() == []
    monkeypatch.setattr("wholebody.operator.robot.page_view.LOOK_EVERY", 0.0)
    with own_channel(NAMES.markers, marker_record(2)) as channel, channel.writer() as writer:
        write_markers(writer)
        hand, head = markers.newest()
        assert (hand["name"], hand["parameter"]) == ("reach:hand", "reach:tasks.hand.goal")
        assert hand["goal"]["position"] == pytest.approx((2.4, -1.4, 0.9))
        assert hand["reference"]["position"] == pytest.approx((2.0, -1.0, 1.0)), "so that they fit together"
        assert hand["goal"]["orientation"] is hand["actual"]["direction"] is None
        assert head["parameter"] == "", "it cannot be dragged"
        assert head["actual"]["orientation"] == [0, 0, 0, 1]
        monkeypatch.setattr("wholebody.operator.robot.page_view.GONE", -1.0)
        assert markers.newest() == []


@pytest.mark.slow
@in_browser
def test_a_goal_that_is_dragged_is_set_as_its_task_has_it_seen_from_its_reference(page):
    hand, parameters = Hand(np.array([-0.4, -0.4, -0.1])), Parameters()
    parameters.add_attributes("tasks.hand", hand)
    ending = threading.Event()
    page.evaluate("wholebody.view.off = true")  # as on a machine that takes long to draw
    with (
        connect("reach") as robot,
        ParameterServer(NAMES, parameters, Description("hubo2plus")) as commands,
        own_channel(NAMES.markers, marker_record(2)) as channel,
        channel.writer() as writer,
    ):

        def serve():
            while not ending.is_set():
                robot.wait(0.1)
                commands.serve(robot.now)
                write_markers(writer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            wait_for(lambda: page.evaluate("wholebody.markers.shown.size") == 2, 60)
            (goal, _), (actual, _) = page.evaluate(PLACES, "reach:hand")
            assert goal == pytest.approx((0.4, -0.4, 0.9)), "where the reference has it, in the world"
            assert actual == pytest.approx((0.3, -0.3, 0.8))
            (_, wanted), (_, turned) = page.evaluate(PLACES, "reach:head")
            assert wanted == pytest.approx(QUARTER)
            assert turned == pytest.approx((0, 0, 0, 1))
            x, y, z = dragged(page, "reach:hand", 60)
            wait_for(lambda: hand.goal[2] < -0.15)
            wait_for(lambda: "OK PARAM reach:tasks.hand.goal" in page.text_content("#said"))
            assert hand.goal == pytest.approx((y, -x, z - 1.0), abs=0.002)
        finally:
            ending.set()
            thread.join()


@pytest.mark.slow
@in_browser
def test_hands_of_a_ready_configuration_are_where_their_markers_are_and_follow_them(page):
    """Its goals are seen from the torso; it balances in a simulation of its own, beside the robot that is shown."""
    with subprocess.Popen([*MAIN, "run", "hubo2plus_stand", "--json"], stdout=subprocess.PIPE) as process:
        try:
            wait_for(lambda: running() or process.poll() is not None, 60)
            wait_for(lambda: page.evaluate("wholebody.markers.shown.size") == 4, 60)
            (goal, _), (actual, _) = page.evaluate(PLACES, "stand:right_hand")
            assert goal == pytest.approx(actual, abs=0.02)
            remote = Remote("stand", "robot")
            seen_from_torso = remote.get("tasks.right_hand.goal", 30)
            assert abs(goal[2] - seen_from_torso[2]) > 0.3, "which is no place in the world"
            dragged(page, "stand:right_hand", -40)
            wait_for(lambda: remote.get("tasks.right_hand.goal", 30)[2] > seen_from_torso[2] + 0.05, 30)
            wait_for(lambda: page.evaluate(PLACES, "stand:right_hand")[0][0][2] > goal[2] + 0.05, 30)
            wait_for(lambda: page.evaluate(PLACES, "stand:right_hand")[1][0][2] > actual[2] + 0.04, 60)
        finally:
            process.terminate()
