"""The page tells the truth: what cannot be done and why, what starts, has ended, or lies on the ground."""

import json
import os
import re
import signal

import pytest
from page_browser import chromium, in_browser, page_of  # noqa: F401
from robot_processes import end_all, wait_for, wholebody

from experiments.slow_line import slowed
from wholebody.drivers import connect
from wholebody.operator.monitor.watcher import Watcher
from wholebody.processes.registry import WALK, process_of, running_as

pytestmark = in_browser
SLOW_TO_SAY_WHO = """
    window.said = [];
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (message) {
        const late = message.what === 'say' && message.data.startsWith('CONNECT') ? 900 : 0;
        setTimeout(() => post.call(this, message), late);
    };
    document.addEventListener('DOMContentLoaded', () => new MutationObserver(() =>
        window.said.push(document.getElementById('said').textContent)
    ).observe(document.getElementById('said'), { childList: true }));
"""
SHOWN = """() => {
    const mug = { name: 'mug', distance: 1, deviation: 0.001, accurate: true };
    wholebody.hands.show([mug], '', { x: 0, y: 0 }, true);
    const buttons = [...document.querySelectorAll("[aria-label$='mug']")];
    return Object.fromEntries(buttons.map((each) => [each.getAttribute('aria-label'), each.title]));
}"""


@pytest.fixture
def ends():
    """Whatever runs ends with the test."""
    yield
    end_all()


def opened(browser, address, script=""):
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    page.add_init_script(script) if script else None
    page.goto(f"{address}&view=off")
    page.wait_for_selector("body[data-connection=connected]", timeout=60_000)
    return page


def in_control(browser, address):
    page = opened(browser, address)
    page.click("#control")
    page.wait_for_selector("body[data-control=mine]")
    return page


def say(page, line):
    page.fill("#typed", line)
    page.press("#typed", "Enter")


def test_what_one_reads_first_is_a_welcome_and_what_cannot_be_pressed_says_why(browser, ends):
    wholebody("start", "hoap3", "--no-physics", "--scene", "antenna")
    with page_of("robot", "--no-camera") as address:
        page = opened(browser, address, SLOW_TO_SAY_WHO)
        wait_for(lambda: page.evaluate("said.length") > 0)
        assert page.evaluate("said").pop(0).startswith("Welcome")
        forward = page.get_by_label("walk forward")
        wait_for(lambda: forward.get_attribute("title") == "take control first")
        assert page.text_content("#why") == "take control first"
        forward.focus()
        page.keyboard.press("Enter")
        wait_for(lambda: page.text_content("#said") == "Not now: take control first.")
        page.click("#control")
        page.wait_for_selector("body[data-control=mine]")
        wait_for(lambda: page.text_content("#why") == "no walking controller runs")
        told = page.evaluate(SHOWN)
        assert told == {"grasp mug": "this robot has no hands", "use mug": "this robot has no hands", "go to mug": ""}


@pytest.mark.slow
def test_a_controller_that_is_late_is_waited_for_and_one_that_has_ended_is_begun_again(browser, ends):
    wholebody("start", "hubo2plus", "--scene", "hall")
    with page_of("robot", "--no-camera", walk=True) as address:
        walk = wait_for(lambda: process_of_begun())
        os.kill(walk, signal.SIGSTOP)
        page = in_control(browser, address)
        wait_for(lambda: "the walking controller starts" in page.text_content("#panel-controllers"))
        say(page, "MOVE WALKING FORWARD 1 STEPS")
        wait_for(lambda: "waits for the walking controller to start" in page.text_content("#commands"))
        os.kill(walk, signal.SIGCONT)
        page.wait_for_selector("#commands [data-stage=COMPLETED]", timeout=180_000)
        wait_for(lambda: page.is_hidden("#panel-controllers"))

        os.kill(walk, signal.SIGKILL)
        box = page.locator("#panel-controllers form", has_text="the walking controller has ended")
        wait_for(lambda: box.count() == 1)
        assert "killed by signal 9" in box.locator("pre").text_content()
        wait_for(lambda: "has ended" in page.get_by_label("walk forward").get_attribute("title"))
        say(page, "MOVE WALKING FORWARD 1 STEPS")
        wait_for(lambda: "has ended: start it again" in page.text_content("#commands"))
        page.click("#control")  # gives control back
        wait_for(lambda: page.evaluate("document.body.dataset.control") == "nobody")
        box.locator("button").click()
        wait_for(lambda: "CONTROL BEGIN comes first" in page.text_content("#panel-controllers .answer"))
        page.click("#control")
        page.wait_for_selector("body[data-control=mine]")
        box.locator("button").click()
        wait_for(lambda: "the walking controller starts" in page.text_content("#panel-controllers"))
        wait_for(lambda: page.is_hidden("#panel-controllers"), 120)
        assert process_of(WALK) not in (None, walk)


def process_of_begun():
    """The walking controller's process, from when it is in the registry on."""
    found = running_as(WALK)
    return found and found.process


@pytest.mark.slow
def test_a_robot_that_lies_on_the_ground_is_fallen_whatever_its_daemon_says(browser, ends):
    wholebody("start", "hubo2plus", "--scene", "hall")
    with page_of("robot", "--no-camera") as address, connect("trip") as robot:
        page = opened(browser, address)
        wait_for(lambda: page.text_content("#condition") == "running")
        green = page.evaluate("getComputedStyle(document.getElementById('condition')).backgroundColor")
        ankles = dict.fromkeys(("LAP", "RAP"), 0.0)
        for step in range(400):
            robot.wait()
            robot.move({name: -0.38 - 0.4 * min(1.0, step / 100) for name in ankles})
        wait_for(lambda: page.text_content("#condition") == "fallen", 60)
        assert page.evaluate("getComputedStyle(document.getElementById('condition')).backgroundColor") != green
        wait_for(lambda: "the robot has fallen: its body leans by more than 45°" in page.text_content("#warnings"))
        said = wholebody("status").stdout
        assert said.startswith("hubo2plus  fallen")
        assert "its body leans by more than 45°" in said
        assert json.loads(wholebody("read", "--once", "--json").stdout)["condition"] == "fallen"


@pytest.mark.slow
def test_on_a_slow_line_that_loses_much_one_takes_control_moves_the_head_and_stops(browser, ends):
    wholebody("start", "hubo2plus", "--scene", "hall")
    with page_of("robot", "--silence", "8") as address:
        port = int(re.search(r":(\d+)/", address)[1])
        with slowed(port) as line:
            page = browser.new_page(viewport={"width": 1000, "height": 900})
            page.goto(f"{address.replace(f':{port}/', f':{line.port}/')}&view=off", timeout=240_000)
            page.wait_for_selector("body[data-connection=connected]", timeout=60_000)
            page.click("#control")
            page.wait_for_selector("body[data-control=mine]", timeout=60_000)
            wait_for(lambda: page.evaluate("wholebody.poses > 5 && wholebody.pictures > 5"), 120)
            say(page, "MOVE HEAD LEFT 10 DEGREES")
            page.wait_for_selector("#commands [data-stage=COMPLETED]", timeout=60_000)
            assert page.evaluate("document.body.dataset.control") == "mine", "never lost on the way"
            assert re.fullmatch(r"connected, \d+\.\d s there and back", page.text_content("#connection"))
            page.click("#stop")
            wait_for(lambda: Watcher().look().stopped)
            wait_for(lambda: page.text_content("#condition") == "stopped")

            line.rate, line.waiting, line.carried = 1_000.0, 0, 0
            wait_for(lambda: line.carried > 40_000, 300)
            print(f"at most {line.waiting} bytes had to wait for the line")
            assert line.waiting < 10_000, "or what one sees would be older and older"
