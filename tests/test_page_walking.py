"""The operator page beside a robot that walks: a real browser, page, daemon, walking controller and MuJoCo."""

import time

import pytest
from page_browser import SCREENSHOTS, chromium, in_browser, page_of  # noqa: F401
from walking_rig import NAME, Rig

from wholebody.behaviors.walking_orders import Bearing

pytestmark = [in_browser, pytest.mark.timeout(400)]  # a busy machine simulates slowly


def wait_for(condition, seconds=120.0):
    """Wait until something is so, without a browser or a machine in haste."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_click_makes_the_robot_walk_keys_drive_it_and_stop_or_a_cut_line_stops_it(browser):
    with Rig() as rig, page_of(NAME, "--no-camera") as address:
        page = browser.new_page(viewport={"width": 1200, "height": 800})
        page.goto(f"{address}&view=off")
        page.wait_for_selector("body[data-connection=connected]", timeout=60_000)
        page.click("#control")
        page.wait_for_selector("body[data-control=mine]")

        at = page.evaluate("wholebody.map.screen({x: 0.5, y: 0.1})")
        page.locator("#map").click(position={"x": at[0], "y": at[1]})
        page.wait_for_selector("#commands [data-stage=COMPLETED]", timeout=120_000)
        assert "GOTO" in page.text_content("#commands li:first-child")
        x, y, _ = rig.world.com_in_world
        assert x == pytest.approx(0.5, abs=0.15)
        assert y == pytest.approx(0.1, abs=0.15)

        page.locator("#view").focus()
        page.keyboard.down("KeyS")
        wait_for(lambda: rig.world.com_in_world[0] < x - 0.15)
        assert page.get_attribute("#commands li:first-child", "data-stage") == "STARTED"
        page.screenshot(path=SCREENSHOTS / "page-walking.png") if SCREENSHOTS else None
        page.keyboard.up("KeyS")
        page.wait_for_selector("#commands li:first-child[data-stage=COMPLETED]", timeout=60_000)

        for stops in (lambda: page.keyboard.press("Escape"), page.close):
            if page.evaluate("document.body.dataset.control") != "mine":
                page.click("#control")
                page.wait_for_selector("body[data-control=mine]")
            page.evaluate("wholebody.map.go(4, 0)")
            wait_for(lambda: rig.client.doing.bearing in (Bearing.LEFT, Bearing.RIGHT))
            time.sleep(0.3)
            stops()
            wait_for(lambda: rig.client.doing.standing)
            assert rig.world.com_in_world[0] < 3.0
        rested = rig.world.com_in_world[0]
        time.sleep(1.0)
        assert rig.world.com_in_world[0] == pytest.approx(rested, abs=0.1)  # it sways to between its feet
        assert rig.upright
