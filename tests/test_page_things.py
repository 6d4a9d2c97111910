"""The page and what the robot sees and asks: things on the video, goals by a click, decisions, markers, a gamepad."""

import math
import re
import threading
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest
from page_browser import chromium, in_browser, page_of  # noqa: F401
from robot_processes import end_all, wait_for, wholebody

from wholebody.cli.walk_process import NOTHING_ELSE
from wholebody.hardware import connect
from wholebody.parameters import Unit
from wholebody.parameters.desk import Desk
from wholebody.parameters.records import ControllerNames
from wholebody.parameters.reflection import Parameters
from wholebody.tasks.vectors import Vector3

pytestmark = [in_browser, pytest.mark.timeout(300)]
CANISTER = (1.7, -0.25, 0.8)
PAD = """() => { window.pad = {connected: true, axes: [0, 0, 0], buttons: [{}, {pressed: false}]};
    navigator.getGamepads = () => [window.pad]; }"""


@pytest.fixture
def page(browser):
    """The page of a robot without physics in the hall with the antenna, in control, its walking controller running."""
    wholebody("start", "hubo2plus", "--no-physics", "--scene", "antenna")
    with page_of("robot", walk=True) as address:
        page = browser.new_page(viewport={"width": 1100, "height": 800})
        page.goto(address)
        page.wait_for_selector("body[data-connection=connected]", timeout=60_000)
        page.click("#control")
        page.wait_for_selector("body[data-control=mine]")
        yield page
    end_all()


def order(page, line):
    """Say a line as a button does."""
    page.evaluate("(line) => wholebody.drive.say(line)", line)


def said(page):
    return page.text_content("#said")


def test_things_are_drawn_where_they_are_clicked_to_go_there_and_asked_about(page):
    wait_for(lambda: "candidate_1" in (page.text_content("#seen") or ""), 60)
    text = page.text_content("#seen")
    far, off = re.search(r"candidate_1 ([\d.]+) m ± (\d+) mm", text).groups()
    assert float(far) == pytest.approx(math.hypot(CANISTER[0] + 0.02, CANISTER[1]), abs=0.1)
    assert "look again" in text
    assert int(off) > 8

    at = page.evaluate("(p) => wholebody.overlay.screen(p)", CANISTER)
    drawn = page.evaluate("wholebody.overlay.shown[0].at")
    assert np.hypot(at[0] - drawn[0], at[1] - drawn[1]) < 8, "the circle is on the canister"
    floor = page.evaluate("wholebody.overlay.screen([3.4, 0.6, 0])")
    ground = page.evaluate("([x, y]) => wholebody.overlay.ground(x, y)", floor)
    assert (ground["x"], ground["y"]) == pytest.approx((3.4, 0.6), abs=1e-6)
    assert page.evaluate("wholebody.overlay.ground(100, 5)") is None, "the sky is no place to go"

    wait_for(lambda: "no walking" not in page.text_content("#legs"), 60)
    order(page, "GOTO OBJECT(antenna)")
    page.wait_for_selector("#decision button", timeout=20_000)
    assert page.locator("#choices button").all_text_contents() == ["candidate_1", "none_of_these"]
    page.click("#choices >> text=none_of_these")
    page.wait_for_selector("#commands [data-stage=FAILED]", timeout=20_000)
    assert "nothing that was seen is the antenna" in page.text_content("#commands")
    assert not page.is_visible("#decision")

    page.locator("#picture").click(position={"x": at[0], "y": at[1]})
    wait_for(lambda: "GOTO OBJECT(candidate_1)" in page.text_content("#commands"))
    order(page, "STOP")
    page.locator("#picture").click(position={"x": floor[0], "y": floor[1]})
    wait_for(lambda: re.search(r"GOTO 3\.\d+ 0\.\d+", page.text_content("#commands") + page.text_content("#queue")))


def test_a_gamepad_drives_and_stops_and_what_waits_can_be_cancelled(page):
    wait_for(lambda: "no walking" not in page.text_content("#legs"), 60)
    page.evaluate(PAD)
    page.evaluate("window.pad.axes = [0, -1, 0]")
    page.wait_for_selector("#commands li:first-child[data-stage=STARTED]", timeout=20_000)
    assert "DRIVE" in page.text_content("#commands li:first-child")
    page.evaluate("window.pad.axes = [0, 0, 0]; window.pad.buttons[1].pressed = true")
    wait_for(lambda: "STOP" in page.text_content("#commands li:first-child"))
    page.evaluate("window.pad.buttons[1].pressed = false")

    order(page, "MOVE TURNING LEFT 90 DEGREES")
    order(page, "MOVE TURNING RIGHT 45 DEGREES")
    page.wait_for_selector("#queue button", timeout=20_000)
    assert "RIGHT 45" in page.text_content("#queue")
    page.locator("#queue button").last.click()
    wait_for(lambda: "RIGHT 45" not in page.text_content("#queue"))
    cancelled = page.locator("#commands li", has_text="RIGHT 45")
    wait_for(lambda: cancelled.get_attribute("data-stage") == "INTERRUPTEDBY")


@dataclass
class Hand:
    """A task's goal."""

    goal: Annotated[Vector3, Unit("m")]


def test_a_task_marker_that_is_dragged_sets_the_goal_of_the_controller(page):
    hand, parameters = Hand(np.array([0.4, -0.4, 0.5])), Parameters()
    parameters.add_attributes("tasks.hand", hand)
    ending = threading.Event()
    with (
        connect("reach") as robot,
        Desk(ControllerNames("robot", "reach"), parameters, {"robot": "hubo2plus", **NOTHING_ELSE}) as desk,
    ):

        def serve():
            while not ending.is_set():
                robot.wait(0.1)
                desk.serve(robot.now)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            wait_for(lambda: page.evaluate("wholebody.markers.balls.size") == 1, 60)
            wait_for(lambda: page.evaluate("wholebody.pictures") > 0, 60)  # it makes room for them once
            x, y = page.evaluate(
                """() => { const {view, markers} = wholebody, box = view.canvas.getBoundingClientRect();
                const at = markers.balls.values().next().value.position.clone().project(view.camera);
                return [box.left + (at.x + 1) / 2 * box.width, box.top + (1 - at.y) / 2 * box.height]; }"""
            )
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x, y + 60, steps=4)
            page.mouse.up()
            wait_for(lambda: hand.goal[2] < 0.45, 20)
            wait_for(lambda: "OK PARAM reach:tasks.hand.goal" in said(page))
        finally:
            ending.set()
            thread.join()
