"""A person on the page has the antenna fetched: clicks, and buttons where the robot asks."""

import pytest
from page_browser import SCREENSHOTS, chromium, in_browser, page_of  # noqa: F401
from robot_processes import wait_for
from test_antenna import assert_stands_on_the_goal
from walking_rig import NAME, Rig

from wholebody.processes.registry import ARMS, CAMERA

pytestmark = [pytest.mark.slow, in_browser]
LONG = 400_000  # ms


def assert_completed(page, line):
    """Wait until a command has come to its end, which is a good one."""
    entry = page.locator("#commands li", has_text=line).first
    wait_for(lambda: entry.count() and entry.get_attribute("data-stage") not in ("QUEUED", "STARTED"), LONG / 1000)
    assert entry.get_attribute("data-stage") == "COMPLETED", entry.text_content()


def types(page, line):
    """As a person does."""
    page.fill("#typed", line)
    page.press("#typed", "Enter")


def test_a_person_finds_the_antenna_on_the_video_and_has_it_grasped_used_carried_and_put_down(browser):
    with Rig(scene="antenna", seed=2, real_time=2.0) as rig:
        rig.begin(CAMERA, scene="antenna")
        rig.begin(ARMS)
        with page_of(NAME, "--no-camera", "--silence", "10") as address:
            page = browser.new_page(viewport={"width": 1200, "height": 800})
            page.goto(address if SCREENSHOTS else f"{address}&view=off")
            page.wait_for_selector("body[data-connection=connected]", timeout=60_000)
            page.click("#control")
            page.wait_for_selector("body[data-control=mine]")
            types(page, "MOVE TURNING LEFT 40 DEGREES")
            assert_completed(page, "TURNING LEFT 40")
            wait_for(lambda: "candidate_2" in page.text_content("#seen"), 60)

            types(page, "GOTO OBJECT(antenna)")
            page.click("#choices >> text=candidate_2", timeout=60_000)
            assert_completed(page, "GOTO OBJECT(antenna)")
            wait_for(lambda: "accurate enough to grasp" in page.text_content("#seen"))
            assert "antenna" in page.text_content("#seen"), "it has the name that people gave it"

            page.click("[aria-label='grasp antenna']")
            page.wait_for_selector("#choices >> text=right_arm", timeout=60_000)
            wait_for(lambda: "room to move" in page.text_content("#remarks"))
            page.screenshot(path=SCREENSHOTS / "page.png") if SCREENSHOTS else None
            page.click("#choices >> text=right_arm")
            assert_completed(page, "GRAB OBJECT(antenna)")
            assert rig.world.held == {"right": "antenna"}
            wait_for(lambda: page.is_enabled("[aria-label='put down antenna']"), 10)

            heights = []
            antenna = rig.world.objects.index("antenna")
            rig.world.spoil = lambda state: heights.append(rig.world.object_poses[antenna, 2])
            page.click("[aria-label='use antenna']")
            wait_for(lambda: "of 3: holds it up" in page.text_content("#commands .what"), 30)
            assert_completed(page, "USE OBJECT(antenna)")
            assert max(heights) > heights[0] + 0.1, "it is held up"
            assert heights[-1] == pytest.approx(heights[0], abs=0.03), "and taken down again"
            assert rig.world.held == {"right": "antenna"}

            page.click("[aria-label='go to goal_stand']")
            assert_completed(page, "GOTO OBJECT(goal_stand)")
            assert rig.world.held == {"right": "antenna"}
            page.click("[aria-label='put down antenna']")
            assert_completed(page, "DROP OBJECT(antenna)")
            assert rig.world.held == {}
            assert_stands_on_the_goal(rig)
            wait_for(lambda: page.locator("[aria-label='put down antenna']").count() == 0, 10)
            assert rig.upright
