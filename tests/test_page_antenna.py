"""A person on the page has the antenna fetched: clicks, and buttons where the robot asks."""

import pytest
from page_browser import SCREENSHOTS, chromium, in_browser, page_of  # noqa: F401
from robot_processes import wait_for
from walking_rig import NAME, Rig

pytestmark = [in_browser, pytest.mark.timeout(900)]  # a busy machine simulates slowly
LONG = 400_000  # ms


def done(page, line):
    """Wait until a command has come to its end; how."""
    entry = page.locator("#commands li", has_text=line).first
    wait_for(lambda: entry.count() and entry.get_attribute("data-stage") not in ("QUEUED", "STARTED"), LONG / 1000)
    return entry.get_attribute("data-stage")


def test_a_person_finds_the_antenna_on_the_video_says_what_it_is_and_has_it_grasped(browser):
    with Rig(scene="antenna", seed=2) as rig:
        rig.begin("camera_process", rig.robot.name, "antenna")
        rig.begin("arms_process", rig.robot.name)
        with page_of(NAME, "--no-camera") as address:
            page = browser.new_page(viewport={"width": 1200, "height": 800})
            page.goto(address if SCREENSHOTS else f"{address}&view=off")
            page.wait_for_selector("body[data-connection=connected]", timeout=60_000)
            page.click("#control")
            page.wait_for_selector("body[data-control=mine]")
            page.evaluate("wholebody.drive.say('MOVE TURNING LEFT 40 DEGREES')")
            assert done(page, "TURNING LEFT 40") == "COMPLETED"
            wait_for(lambda: "candidate_2" in page.text_content("#seen"), 60)

            page.evaluate("wholebody.drive.say('GOTO OBJECT(antenna)')")
            page.click("#choices >> text=candidate_2", timeout=60_000)
            assert done(page, "GOTO OBJECT(antenna)") == "COMPLETED"
            wait_for(lambda: "accurate enough to grasp" in page.text_content("#seen"))
            assert "antenna" in page.text_content("#seen"), "it has the name that people gave it"

            page.evaluate("wholebody.drive.say('GRAB OBJECT(antenna)')")
            page.wait_for_selector("#choices >> text=right_arm", timeout=60_000)
            wait_for(lambda: "manipulability" in page.text_content("#remarks"))
            page.screenshot(path=SCREENSHOTS / "page.png") if SCREENSHOTS else None
            page.click("#choices >> text=right_arm")
            assert done(page, "GRAB OBJECT(antenna)") == "COMPLETED"
            assert rig.world.held == {"right": "antenna"}
            assert rig.upright
