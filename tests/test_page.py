"""The operator page, in a real browser, beside a real daemon."""

import json
import re
import time

import numpy as np
import pytest
from page_browser import SCREENSHOTS, chromium, in_browser, page_of  # noqa: F401
from robot_processes import end_all, wait_for, wholebody

from wholebody import robots
from wholebody.cli.watching import Watcher
from wholebody.collaboration.page.drawing import drawing, xyzw
from wholebody.hardware import connect
from wholebody.robots.robot import Placement


@pytest.fixture
def address():
    """A robot that moves without physics, and the address of its page, with the token."""
    wholebody("start", "hubo2plus", "--no-physics", "--scene", "hall")
    with page_of("robot") as address:
        yield address
    end_all()


def opened(browser, address, drawn=False, **size):
    """The page, once it is connected; and where it asked for anything."""
    page, asked = browser.new_page(viewport=size or {"width": 1000, "height": 700}), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address if drawn else f"{address}&view=off")
    page.wait_for_selector("body[data-connection=connected]", timeout=30_000)
    return page, asked


def in_control(browser, address):
    page, _ = opened(browser, address)
    page.click("#control")
    page.wait_for_selector("body[data-control=mine]")
    return page


@in_browser
@pytest.mark.timeout(180)
def test_the_page_shows_the_robot_and_what_it_sees_and_asks_nobody_else_for_anything(address, browser):
    page, asked = opened(browser, address, drawn=True)
    wait_for(lambda: page.evaluate("window.wholebody.poses") > 20, 30)
    wait_for(lambda: page.evaluate("window.wholebody.pictures") > 5, 60)
    host = address.split("/#")[0]
    own = (host, "data:", f"blob:{host}", host.replace("http", "ws"))
    assert all(url.startswith(own) for url in asked)
    assert page.evaluate("window.wholebody.view.frames") > 0
    assert page.evaluate("document.getElementById('picture').naturalWidth") == 320
    wait_for(lambda: page.text_content("#condition") == "running")
    assert page.text_content("#robot") == "hubo2plus"
    assert page.locator("#joints tr").count() == len(robots.load("hubo2plus").joint_names)
    assert page.text_content("#ahead").endswith(" m"), "the wall"


@in_browser
@pytest.mark.timeout(180)
def test_who_has_control_looks_around_by_keys_sets_parameters_and_lets_a_stopped_robot_go_on(address, browser):
    page = in_control(browser, address)
    page.locator("#view").focus()
    page.keyboard.press("KeyJ")
    page.wait_for_selector("#commands [data-stage=COMPLETED]", timeout=20_000)
    assert "MOVE HEAD LEFT 10 DEGREES" in page.text_content("#commands")
    wait_for(lambda: page.text_content("#looks").startswith("10° left"))

    page.click("text=Parameters")
    field = page.locator("[id='parameter-goto.range']")
    field.fill("0.6")
    field.press("Enter")
    wait_for(lambda: "OK PARAM goto.range 0.6" in page.text_content("#said"))
    field.fill("60")
    field.press("Enter")
    wait_for(lambda: "outside" in page.text_content("#said"))

    page.locator("#map").focus()
    for key in ("ArrowUp", "ArrowUp", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    x, y = (float(word) for word in page.evaluate("[wholebody.map.goal.x, wholebody.map.goal.y]"))
    assert (x, y) == pytest.approx((0.18, 0.1), abs=0.03), "a place chosen without a pointer"
    assert page.locator("#machine .now").all_text_contents() == ["controlled", "idle"]

    page.keyboard.press("Escape")
    wait_for(lambda: Watcher().look().stopped)
    page.click("#resume", timeout=20_000)
    wait_for(lambda: not Watcher().look().stopped)


@in_browser
@pytest.mark.timeout(180)
def test_one_is_in_control_others_look_on_and_who_has_no_token_or_another_site_never_is(address, browser):
    first = in_control(browser, address)
    time.sleep(0.5)  # secrets are tried a few times a second and no more
    second, _ = opened(browser, address)
    wait_for(lambda: second.text_content("#holder") == "operator has control")
    second.click("#control")
    wait_for(lambda: "has control" in second.text_content("#said"))
    assert second.evaluate("document.body.dataset.control") == "others"
    guessed, _ = opened(browser, address.split("#")[0] + "#token=guessed-it")
    assert guessed.text_content("#role") == "viewer"
    wait_for(lambda: guessed.is_disabled("#control"))
    wait_for(lambda: guessed.evaluate("window.wholebody.poses") > 5)
    answers = guessed.evaluate(
        """() => new Promise((done) => { const heard = [], s = new WebSocket(`ws://${location.host}/line`);
        s.onmessage = ({data}) => {
            if (typeof data === 'string' && !data.startsWith('{')) heard.push(...data.split('\\n'));
            if (heard.length > 4) done(heard); };
        s.onopen = () => ['CONNECT operator', 'CONTROL BEGIN', 'DRIVE 0.2 0 0', 'MOVE HEAD LEFT 10 DEGREES',
                          'SET goto.range 1'].forEach((line) => s.send(line)); })"""
    )
    assert answers[0] == "OK CONNECTED guest OBSERVER"
    assert all(answer.startswith("KO") for answer in answers[1:])
    elsewhere = browser.new_page()
    elsewhere.goto("data:text/html,<p>a page of another site</p>")
    opens = """(port) => new Promise((done) => { const s = new WebSocket(`ws://127.0.0.1:${port}/line`);
        s.onopen = () => done(true); s.onerror = () => done(false) })"""
    assert elsewhere.evaluate(opens, re.search(r":(\d+)/", address)[1]) is False
    first.close()
    wait_for(lambda: second.text_content("#holder") == "nobody has control")


@in_browser
@pytest.mark.timeout(180)
def test_on_a_phone_stop_and_pads_are_on_the_first_screen_and_the_ghost_goes_where_the_robot_is_told(address, browser):
    page, _ = opened(browser, address, drawn=True, width=360, height=780)
    for button in ("#stop", "[data-drive='1 0 0']", "[data-look=UP]"):
        box = page.locator(button).bounding_box()
        assert box["y"] + box["height"] < 780
        assert box["height"] >= 44
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    wait_for(lambda: page.evaluate("window.wholebody.pictures") > 0, 60)
    drawn = page.evaluate("window.wholebody.view.frames")
    wait_for(lambda: page.evaluate("window.wholebody.view.frames") > drawn + 2, 60)
    page.screenshot(path=SCREENSHOTS / "page-phone.png") if SCREENSHOTS else None
    with connect("test") as robot:
        for _ in range(100):
            robot.wait()
            robot.move({"RSP": -0.5})
    told = (
        "[...document.querySelectorAll('#joints tr')].find(r => r.cells[0].textContent === 'RSP').cells[2].textContent"
    )
    wait_for(lambda: abs(float(page.evaluate(told)) + 0.5) < 1e-3)


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
