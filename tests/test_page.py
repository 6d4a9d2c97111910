"""The operator page, in a real browser, beside a real daemon."""

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from robot_processes import end_all, wait_for, wholebody

from wholebody import robots
from wholebody.cli.watching import Watcher
from wholebody.collaboration.page.drawing import drawing, xyzw
from wholebody.hardware import connect
from wholebody.robots.robot import Placement

BROWSER = shutil.which("chromium")
FLAGS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
BUNDLE = Path(sys.modules["wholebody.collaboration.page"].__file__).parent / "static" / "page.js"

in_browser = pytest.mark.skipif(
    BROWSER is None or not BUNDLE.is_file(), reason="needs chromium, and the page built with npm (make page)"
)


@pytest.fixture
def address():
    """A loopback robot, and the address of its page, with the token."""
    wholebody("start", "hubo2plus", "--loopback")
    command = [sys.executable, "-m", "wholebody.cli", "page", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as page:
        yield re.search(r"http://\S+", page.stdout.readline())[0]
        page.terminate()
    end_all()


@pytest.fixture
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=[*FLAGS])
        yield browser
        browser.close()


def opened(browser, address, **size):
    """The page, once it is connected; and where it asked for anything."""
    page, asked = browser.new_page(viewport=size or {"width": 1000, "height": 700}), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    page.wait_for_selector("body[data-connection=connected]", timeout=20_000)
    return page, asked


@in_browser
@pytest.mark.timeout(120)
def test_the_page_shows_the_robot_and_asks_nobody_else_for_anything(address, browser):
    page, asked = opened(browser, address)
    host = address.split("/#")[0]
    assert all(url.startswith((host, "data:", host.replace("http", "ws"))) for url in asked)
    wait_for(lambda: page.evaluate("window.wholebody.poses") > 20)
    assert page.evaluate("window.wholebody.view.frames") > 0
    assert page.text_content("#robot") == "hubo2plus"
    wait_for(lambda: page.text_content("#condition") == "running")
    assert page.locator("#joints tr").count() == len(robots.load("hubo2plus").joint_names)


@in_browser
@pytest.mark.timeout(120)
def test_stop_stops_the_robot_and_it_can_go_on(address, browser):
    page, _ = opened(browser, address)
    page.keyboard.press("Escape")
    wait_for(lambda: Watcher().look().stopped)
    wait_for(lambda: page.text_content("#condition") == "stopped")
    wait_for(lambda: "stop" in page.text_content("#log"))
    page.click("#resume")
    wait_for(lambda: not Watcher().look().stopped)


@in_browser
@pytest.mark.timeout(120)
def test_without_the_token_one_may_look_and_nothing_else(address, browser):
    page, _ = opened(browser, address.split("#")[0] + "#token=guessed")
    assert page.text_content("#role") == "viewer"
    assert page.is_disabled("#stop")
    wait_for(lambda: page.evaluate("window.wholebody.poses") > 5)
    page.evaluate(
        """() => { const s = new WebSocket(`ws://${location.host}/line`);
        s.onopen = () => { s.send('{"token": "x"}'); s.send('{"do": "stop"}'); s.send('{"do"'); s.send('[]') } }"""
    )
    time.sleep(1.0)
    assert not Watcher().look().stopped


@in_browser
@pytest.mark.timeout(120)
def test_a_page_of_another_site_cannot_open_a_line(address, browser):
    page = browser.new_page()
    page.goto("data:text/html,<p>elsewhere</p>")
    port = re.search(r":(\d+)/", address)[1]
    opens = page.evaluate(
        """(port) => new Promise((done) => { const s = new WebSocket(`ws://127.0.0.1:${port}/line`);
        s.onopen = () => done(true); s.onerror = () => done(false) })""",
        port,
    )
    assert opens is False


@in_browser
@pytest.mark.timeout(120)
def test_the_ghost_goes_where_the_robot_is_told_to_go(address, browser):
    page, _ = opened(browser, address)
    with connect("test") as robot:
        for _ in range(100):
            robot.wait()
            robot.move({"RSP": -0.5})
    told = (
        "[...document.querySelectorAll('#joints tr')].find(r => r.cells[0].textContent === 'RSP').cells[2].textContent"
    )
    wait_for(lambda: abs(float(page.evaluate(told)) + 0.5) < 1e-3)


@in_browser
@pytest.mark.timeout(120)
def test_on_a_phone_the_stop_is_on_the_first_screen(address, browser):
    page, _ = opened(browser, address, width=390, height=844)
    box = page.locator("#stop").bounding_box()
    assert box["y"] + box["height"] < 844
    assert box["height"] >= 44
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_without_a_robot_it_says_how_to_start_one():
    run = wholebody("page", check=False)
    assert run.returncode == 1
    assert "wholebody start" in run.stderr


@pytest.mark.parametrize("name", robots.names())
def test_a_drawing_is_json_and_names_every_joint_that_moves(name):
    robot = robots.load(name)
    drawn = json.loads(json.dumps(drawing(robot), allow_nan=False))
    moved = {each["index"] for each in drawn["joints"] if each["kind"] != "fixed"}
    assert moved == set(range(drawn["count"]))
    assert any(link["shapes"] for link in drawn["links"])


@pytest.mark.parametrize("rpy", [(0, 0, 0), (np.pi, 0, 0), (0.3, -1.2, 2.5), (0, np.pi / 2, 0), (-3, 3, -3)])
def test_a_quaternion_turns_as_its_rotation_does(rpy):
    R = Placement(rpy=rpy).rotation
    x, y, z, w = xyzw(R)
    v = np.array([0.3, -0.7, 0.2])
    u = np.array([x, y, z])
    assert np.allclose(v + 2 * np.cross(u, np.cross(u, v) + w * v), R @ v)
