"""The page and what the robot sees and asks: objects on the video, goals by a click, decisions, a gamepad."""

import itertools
import math
import os
import re
import signal

import numpy as np
import pytest
from page_browser import chromium, in_browser, page_of  # noqa: F401
from robot_processes import end_all, wait_for, wholebody

from wholebody.channels import Channel
from wholebody.perception.camera_frames import camera_channel

pytestmark = in_browser
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


SEEN = """() => { const {objects: {shown}} = wholebody, text = document.getElementById('seen').textContent;
    const [group] = shown.values();
    return shown.size === 1 && text.includes('candidate_1') && [text, group.children[1].scale.x, group.position]; }"""
"""What is written beside an object, and what is drawn of it, at the same moment: with every look it is better known."""


def order(page, line):
    """Say a line as a button does."""
    page.evaluate("(line) => wholebody.drive.say(line)", line)


def said(page):
    return page.text_content("#said")


@pytest.mark.slow
def test_things_are_drawn_where_they_are_clicked_to_go_there_and_asked_about(page):
    text, ball, at = wait_for(lambda: page.evaluate(SEEN), 60)
    far, off = re.search(r"candidate_1 ([\d.]+) m ± (\d+) mm", text).groups()
    assert float(far) == pytest.approx(math.hypot(CANISTER[0] + 0.02, CANISTER[1]), abs=0.1)
    assert int(off) == 8 or ("look again" in text) == (int(off) > 8), "a hand needs 8 mm"
    assert (at["x"], at["y"], at["z"]) == pytest.approx(CANISTER, abs=0.15), "in the 3D view, too"
    assert ball == pytest.approx(0.04 + 2.8 * int(off) / 1000, abs=0.02), "as large as one is unsure"
    assert page.locator("#objects li").count() == 4, "it, and three stands"

    at = page.evaluate("(p) => wholebody.overlay.screen(p)", CANISTER)
    drawn = page.evaluate("wholebody.overlay.shown[0].at")
    assert np.hypot(at[0] - drawn[0], at[1] - drawn[1]) < 8, "the circle is on the canister"
    floor = page.evaluate("wholebody.overlay.screen([3.4, 0.6, 0])")
    ground = page.evaluate("([x, y]) => wholebody.overlay.ground(x, y)", floor)
    assert (ground["x"], ground["y"]) == pytest.approx((3.4, 0.6), abs=1e-6)
    assert page.evaluate("wholebody.overlay.ground(100, 5)") is None, "the sky is no place to go"

    wait_for(lambda: "controller" not in page.text_content("#legs"), 60)
    order(page, "GOTO OBJECT(antenna)")
    page.wait_for_selector("#decision button", timeout=60_000)
    assert page.text_content("#asks-for") == "GOTO OBJECT(antenna)"
    assert "STRATEGY" not in said(page), "it is asked in words"
    assert page.locator("#choices button").all_text_contents() == ["candidate_1", "none_of_these"]
    page.click("#choices >> text=none_of_these")
    page.wait_for_selector("#commands [data-stage=FAILED]", timeout=60_000)
    assert "nothing that was seen is the antenna" in page.text_content("#commands")
    assert not page.is_visible("#decision")

    page.locator("#picture").click(position={"x": at[0], "y": at[1]})
    wait_for(lambda: "GOTO OBJECT(candidate_1)" in page.text_content("#commands"))
    order(page, "STOP")
    page.locator("#picture").click(position={"x": floor[0], "y": floor[1]})
    wait_for(lambda: re.search(r"GOTO 3\.\d+ 0\.\d+", page.text_content("#commands") + page.text_content("#queue")))


@pytest.mark.slow
def test_a_gamepad_drives_and_stops_and_what_waits_can_be_cancelled(page):
    wait_for(lambda: "controller" not in page.text_content("#legs"), 60)
    page.evaluate(PAD)
    page.evaluate("window.pad.axes = [0, -1, 0]")
    page.wait_for_selector("#commands li:first-child[data-stage=STARTED]", timeout=60_000)
    assert "DRIVE" in page.text_content("#commands li:first-child")
    page.evaluate("window.pad.axes = [0, 0, 0]; window.pad.buttons[1].pressed = true")
    wait_for(lambda: "STOP" in page.text_content("#commands li:first-child"))
    page.evaluate("window.pad.buttons[1].pressed = false")

    order(page, "MOVE TURNING LEFT 90 DEGREES")
    order(page, "MOVE TURNING RIGHT 45 DEGREES")
    page.wait_for_selector("#queue button", timeout=60_000)
    wait_for(lambda: "RIGHT 45" in page.text_content("#queue"))
    page.locator("#queue button").last.click()
    wait_for(lambda: "RIGHT 45" not in page.text_content("#queue"))
    cancelled = page.locator("#commands li", has_text="RIGHT 45")
    wait_for(lambda: cancelled.get_attribute("data-stage") == "INTERRUPTEDBY")


THINGS = """() => { const {view, objects, overlay, map} = wholebody;
    const box = (each) => { const r = each.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
    const at = (x, y) => view.camera.position.clone().set(x, y, 0.99).unproject(view.camera).toArray();
    const named = (position, i) => ({name: `candidate_${i}`, position, distance: 2, deviation: 0.01, radius: 0.03});
    objects.show([at(0.5, 0.5), at(0.52, 0.52), at(-0.99, 0), at(-0.99, 0.02), at(0, 0.99), at(3, 0)].map(named));
    view.labels.place();
    const labels = [...document.querySelectorAll('.label:not([hidden])')].map(box);
    const ahead = [[1.7, -0.25, 0.8], [1.7, -0.2, 0.8], [1.7, 0.5, 0.8], [1.7, -0.6, 0.8]].map(named);
    overlay.show(ahead, overlay.cameraView);
    const texts = [...document.querySelectorAll('#seen text')].map(box);
    map.show(map.place, ahead);
    const words = map.words.map(({x, y, w, h}) => [x, y, x + w, y + h]);
    const inside = [0, 0, map.canvas.clientWidth, map.canvas.clientHeight];
    return [[box(view.canvas), box(document.querySelector('.camera'))], labels,
            [box(document.getElementById('picture'))], texts, [inside], words]; }"""


def apart(boxes, by=0.0):
    """Whether none of them overlaps another."""
    pairs = itertools.combinations(boxes, 2)
    return all(a[2] <= b[0] + by or b[2] <= a[0] + by or a[3] <= b[1] + by or b[3] <= a[1] + by for a, b in pairs)


def inside(box, of):
    return box[0] >= of[0] and box[1] >= of[1] and box[2] <= of[2] and box[3] <= of[3]


@pytest.mark.slow
@pytest.mark.parametrize("width", [1100, 360])
def test_names_stay_inside_and_apart_and_beside_the_picture(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    wait_for(lambda: page.evaluate("wholebody.pictures > 3 && wholebody.overlay.cameraView !== null"), 60)
    (view, camera), labels, (picture,), texts, (map,), words = page.evaluate(THINGS)
    assert len(labels) == 5, "one is out of view"
    assert all(inside(each, view) for each in labels)
    assert apart([camera, *labels])
    assert len(texts) >= 4
    assert all(inside(each, picture) for each in texts)
    assert apart(texts, by=4.0), "lines are near to each other, and that is all"
    assert len(words) == 1 + 4 + 4, "the robot, distances, objects"
    assert all(inside(each, map) for each in words)
    assert apart(words)


def test_commands_are_on_the_first_screen_and_parameters_say_what_they_mean(page):
    for line in ("MOVE HEAD LEFT 10 DEGREES", "MOVE HEAD RIGHT 10 DEGREES"):
        order(page, line)
    page.wait_for_selector("#commands [data-stage]", timeout=60_000)
    box = page.locator("#commands").bounding_box()
    assert box["y"] + box["height"] < 800
    page.click("summary:text('Parameters')")
    page.wait_for_selector("text=how fast keys and sticks make it walk", timeout=60_000)
    described = page.get_attribute("[id='parameters-walking.speed']", "aria-describedby")
    about, bounds = (page.text_content(f"[id='{each}']") for each in described.split())
    assert "how fast keys" in about
    assert bounds.endswith("m/s")


AGES = """() => [...['old', 'picture-age'].map((id) => document.getElementById(id).textContent),
    getComputedStyle(document.getElementById('picture')).filter]"""


def camera_process():
    """The process that draws what the camera sees."""
    with Channel(camera_channel("robot")) as channel:
        return channel.writer_processes()[0]


@pytest.mark.slow
def test_a_picture_that_is_not_what_the_camera_sees_now_is_grey_and_says_how_old_it_is(page):
    wait_for(lambda: page.evaluate("wholebody.pictures") > 3, 60)
    wait_for(lambda: page.evaluate(AGES)[0] == "" and page.evaluate(AGES)[1].endswith(" ms"))
    camera = camera_process()
    os.kill(camera, signal.SIGSTOP)
    try:
        old, age, looks = wait_for(lambda: (ages := page.evaluate(AGES))[0] and ages, 20)
        assert re.fullmatch(r"\d+ s old", old)
        assert age == old
        assert "grayscale" in looks
    finally:
        os.kill(camera, signal.SIGCONT)
    wait_for(lambda: page.evaluate(AGES)[::2] == ["", "none"], 20)
