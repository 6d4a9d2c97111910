"""STOP on the page works whatever becomes of the rest of it, and what is wrong stays to be read."""

import pytest
from page_browser import chromium, in_browser, launched, page_of  # noqa: F401
from robot_processes import end_all, wait_for, wholebody

from wholebody.operator.monitor.watcher import Watcher

pytestmark = in_browser
NO_GRAPHICS = ("--no-sandbox", "--disable-gpu", "--disable-3d-apis")
HELD = "the daemon holds every joint; RESUME lets it go on"


@pytest.fixture
def address():
    """A robot that moves without physics, and the address of its page, with the token."""
    wholebody("start", "hubo2plus", "--no-physics", "--scene", "hall")
    with page_of("robot", "--no-camera") as address:
        yield address
    end_all()


def opened(page, address):
    page.goto(address)
    page.wait_for_selector("body[data-connection=connected]", timeout=30_000)
    return page


def in_control(page, address):
    page = opened(page, f"{address}&view=off")
    page.click("#control")
    page.wait_for_selector("body[data-control=mine]")
    return page


def assert_stops(page):
    watcher = Watcher()
    assert not watcher.look().stopped
    page.click("#stop")
    wait_for(lambda: watcher.look().stopped)


@pytest.mark.slow
def test_without_webgl_stop_works_and_the_page_says_what_is_missing(address):
    with launched(*NO_GRAPHICS) as browser:
        page = opened(browser.new_page(), address)
        assert_stops(page)
        wait_for(lambda: "no WebGL" in page.text_content("#undrawn"))
        wait_for(lambda: page.evaluate("wholebody.poses") > 5)
        wait_for(lambda: page.text_content("#condition") == "stopped")


def test_a_view_that_is_off_asks_for_no_graphics_and_stop_works_before_the_page_knows_the_robot(address, browser):
    page = opened(browser.new_page(), f"{address}&view=off")
    wait_for(lambda: page.evaluate("window.wholebody?.view.renderer") is None and page.text_content("#undrawn"))
    late = browser.new_page()
    late.route("**/robot.json", lambda route: route.abort())
    assert_stops(opened(late, address))


@pytest.mark.slow
def test_keys_with_alt_are_the_browsers_and_drive_nothing(address, browser):
    page = in_control(browser.new_page(), address)
    page.locator("#view").focus()
    wait_for(lambda: page.evaluate("wholebody.drive.enabled"))

    def held(key):
        """How many keys drive while one is down."""
        page.keyboard.down(key)
        page.wait_for_timeout(200)
        driving = page.evaluate("wholebody.drive.held.size")
        page.keyboard.up(key)
        return driving

    page.keyboard.down("Alt")
    assert held("KeyS") == held("KeyJ") == 0
    page.keyboard.up("Alt")
    assert held("KeyS") == 1, "the control arm"
    page.keyboard.press("KeyL")

    def ordered():
        return page.text_content("#commands") + page.text_content("#queue")

    wait_for(lambda: "MOVE HEAD RIGHT" in ordered())
    assert "MOVE HEAD LEFT" not in ordered(), "orders come in turn: this one would be here by now"


@pytest.mark.slow
def test_a_warning_stays_with_its_time_until_it_is_over_or_dismissed(address, browser):
    page = in_control(browser.new_page(), address)
    warning = page.locator("#warnings li", has_text=HELD)
    page.keyboard.press("Escape")
    wait_for(lambda: warning.count() == 1)
    page.fill("#typed", "QUERY POSITION")
    page.press("#typed", "Enter")
    wait_for(lambda: "OK POSITION" in page.text_content("#said"))
    assert warning.count() == 1, "an answer does not put it away"
    assert warning.locator("time").text_content().count(":") == 2
    page.click("#resume", timeout=60_000)
    wait_for(lambda: warning.count() == 0)

    page.keyboard.press("Escape")
    wait_for(lambda: warning.count() == 1)
    warning.locator("button").click()
    assert warning.count() == 0
    page.wait_for_timeout(1000)
    assert warning.count() == 0, "it is still wrong, and somebody knows"
