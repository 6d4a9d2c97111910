"""The operator page, in a real browser, beside a real daemon."""

import json
import os
import re
import signal
import sys
import time
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pytest
from page_browser import SCREENSHOTS, chromium, in_browser, page_of, page_process  # noqa: F401
from robot_processes import end_all, wait_for, wholebody

from wholebody import robots
from wholebody.behaviors.state_machine import Published, State, StateMachine
from wholebody.cli.operator import on_a_desktop
from wholebody.drivers import connect
from wholebody.messages import Mode
from wholebody.operator.monitor.watcher import Watcher
from wholebody.operator.page.poses import drawing, xyzw
from wholebody.operator.page.server import SILENCE, TYPES
from wholebody.robots.robot import Placement

ROOT = Path(__file__).resolve().parents[2]


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
def test_the_page_shows_the_robot_and_what_it_sees_and_asks_nobody_else_for_anything(address, browser):
    page, asked = opened(browser, address, drawn=True)
    wait_for(lambda: page.evaluate("window.wholebody.poses") > 20, 30)
    wait_for(lambda: page.evaluate("window.wholebody.pictures") > 5, 60)
    host = address.split("/#")[0]
    own = (host, "data:", f"blob:{host}", host.replace("http", "ws"))
    assert all(url.startswith(own) for url in asked)
    assert page.evaluate("window.wholebody.view.frames") > 0
    width = "document.getElementById('picture').naturalWidth"  # 0 while the next picture is being decoded
    wait_for(lambda: page.evaluate(width) == 320, 30)
    wait_for(lambda: page.text_content("#condition") == "running")
    assert page.text_content("#robot") == "hubo2plus"
    page.click("text=Joints")
    wait_for(lambda: page.locator("#panel-joints tbody tr").count() == len(robots.load("hubo2plus").joint_names))
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((each) => each.id)")
    assert len(ids) == len(set(ids)), "or one of two is shown and the other is not"
    room = [float(page.text_content(f"#{side}")) for side in ("ahead", "left", "behind", "right")]
    assert room == pytest.approx([4.5, 2.0, 1.5, 2.0], abs=0.1), "the walls of the hall"


@pytest.mark.slow
@in_browser
def test_who_has_control_looks_around_by_keys_sets_parameters_and_lets_a_stopped_robot_go_on(address, browser):
    page = in_control(browser, address)
    page.locator("#view").focus()
    page.keyboard.press("KeyJ")
    page.wait_for_selector("#commands [data-stage=COMPLETED]", timeout=60_000)
    assert "MOVE HEAD LEFT 10 DEGREES" in page.text_content("#commands")
    wait_for(lambda: page.text_content("#looks").startswith("10° left"))

    page.click("text=Parameters")
    field = page.locator("[id='parameters-goto.range']")
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
    page.click("#resume", timeout=60_000)
    wait_for(lambda: not Watcher().look().stopped)


@pytest.mark.slow
@in_browser
def test_the_state_machine_of_a_program_is_drawn_live_while_it_runs(address, browser):
    page, _ = opened(browser, address)
    grasp = StateMachine("grasp", [State("reach", on={"arrived": "done"}), State("done")])
    work = StateMachine(
        "work", [State("pick", inside=grasp, on={"done": "place"}), State("place", on={"put": "home"}), State("home")]
    )
    lit = page.locator("#machines .now")
    seen = []

    def wait(events, timeout):
        """What happens next, once the page has shown what is."""
        current = [each.current.name for each in (work, grasp) if each.current is not None]
        wait_for(lambda: lit.all_text_contents() == current)
        seen.append(current)
        return events[0]

    with Published("work") as published:
        work.run(wait, [published])
        assert page.locator("figcaption").all_text_contents() == ["work", "work/pick"]
        assert page.locator("#machines line").count() == 3
    assert seen == [["pick", "reach"], ["place"]]
    wait_for(lambda: page.locator("#machines figure").count() == 0)


@pytest.mark.slow
@in_browser
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


ANGLES = """(index) => [wholebody.told, wholebody.measured].map((robot) =>
    2 * Math.acos(robot.joints.find((each) => each.index === index).child.quaternion.w))"""
BUSY = "(seconds) => { const end = performance.now() + 1000 * seconds; while (performance.now() < end); }"


@pytest.mark.slow
@in_browser
def test_a_busy_page_or_machine_keeps_control_and_one_that_hangs_loses_it(browser):
    wholebody("start", "hubo2plus", "--no-physics", "--scene", "hall")
    with page_process("robot", "--no-camera") as (server, address):
        page = in_control(browser, address)

        def control():
            """Who has it, as news tell that come from now on."""
            page.evaluate("document.body.dataset.control = ''")
            return wait_for(lambda: page.evaluate("document.body.dataset.control"))

        def controls():
            """The same for more than a second, in which a silence would have been noticed."""
            return {control() for _ in range(8)}

        page.evaluate(BUSY, 2 * SILENCE)
        assert controls() == {"mine"}, "it draws slowly, and that is all"
        server.send_signal(signal.SIGSTOP)
        time.sleep(SILENCE + 0.8)
        server.send_signal(signal.SIGCONT)
        assert controls() == {"mine"}, "the words have waited for a server that was busy"
        page.evaluate(BUSY, 5.0 + SILENCE + 1.5)
        wait_for(lambda: control() == "nobody")  # who could have stopped the robot there?
    end_all()


@pytest.mark.slow
@in_browser
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
    page.click("text=Joints")
    told = page.locator("#panel-joints tr", has_text="RSP").locator("td").nth(2)
    wait_for(lambda: told.count() == 1)
    wait_for(lambda: abs(float(told.text_content()) + 0.5) < 1e-3)


@pytest.mark.slow
@in_browser
def test_the_ghost_of_soft_arms_is_where_they_were_told_to_be_and_the_robot_where_they_hang(browser):
    wholebody("start", "hubo2plus", "--scene", "hall")
    with page_of("robot", "--no-camera") as address, connect("soft") as robot:
        page, _ = opened(browser, address, drawn=True, width=1000, height=700)
        arms = [robot.index[name] for name in ("LSP", "RSP")]

        def lift(share):
            robot.wait()
            robot.reference.mode[arms], robot.reference.stiffness[arms] = Mode.IMPEDANCE, 8.0
            robot.reference.damping[arms] = 1.0
            robot.move({"LSP": -1.2 * share, "RSP": -1.2 * share})

        def measured():
            """As the page shows it, once it shows what the arms were told."""
            for _ in range(20):
                lift(1.0)
            told, measured = page.evaluate(ANGLES, robot.index["RSP"])
            return measured if told == pytest.approx(1.2, abs=0.05) else None

        for share in np.linspace(0.0, 1.0, 300):
            lift(share)
        assert wait_for(measured) < 0.9, "they hang"
        page.screenshot(path=SCREENSHOTS / "page-ghost.png") if SCREENSHOTS else None
    end_all()


def test_without_a_robot_it_says_how_to_start_one():
    run = wholebody("page", check=False)
    assert run.returncode == 1
    assert "wholebody start" in run.stderr


def test_it_opens_in_the_browser_of_a_desktop_or_where_it_is_told_to(tmp_path, monkeypatch):
    wholebody("start", "hubo2plus", "--no-physics")
    browser, asked = tmp_path / "browser", tmp_path / "asked"
    browser.write_text(f'#!/bin/sh\necho "$1" >>{asked}\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    monkeypatch.setenv("DISPLAY", ":9")
    with page_of("robot", "--no-camera", "--open") as address:
        wait_for(lambda: asked.is_file() and asked.read_text().strip())
        told = asked.read_text().strip()
        assert "token" not in told, "others see what a browser is started with"
        assert f"url={address}" in Path(told.removeprefix("file://")).read_text()
    with page_of("robot", "--no-camera"):
        time.sleep(0.5)
    assert len(asked.read_text().splitlines()) == 1, "nobody sits at a pipe"
    end_all()


def test_where_no_browser_is_found_it_says_so(tmp_path, monkeypatch):
    wholebody("start", "hubo2plus", "--no-physics")
    monkeypatch.setenv("DISPLAY", ":9")
    monkeypatch.setenv("BROWSER", str(tmp_path / "nowhere"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with page_process("robot", "--no-camera", "--open") as (page, _):
        assert any("no browser" in line for line in page.stdout)
    end_all()


@pytest.mark.parametrize(
    ("terminal", "environment", "opens"),
    [
        (True, {"DISPLAY": ":0"}, True),
        (True, {"WAYLAND_DISPLAY": "wayland-0"}, True),
        (False, {"DISPLAY": ":0"}, False),
        (True, {}, False),
        (True, {"DISPLAY": ":0", "CI": "true"}, False),
    ],
)
def test_a_desktop_is_a_terminal_and_a_display(monkeypatch, terminal, environment, opens):
    monkeypatch.setattr(os, "environ", environment)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
    assert on_a_desktop() is opens


def test_a_wheel_has_all_that_the_page_is_made_of():
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    patterns = rules["wholebody.operator.page"]
    assert all(any(fnmatch(f"static/{name}", each) for each in patterns) for name in TYPES)
    needs = re.search(r"^wheel:([^#]*)", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()
    assert "$(BUNDLE)" in needs, "so that the bundle is built before"


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
