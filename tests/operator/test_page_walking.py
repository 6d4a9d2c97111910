"""The operator page beside a robot that walks: a real browser, page, daemon, walking controller and MuJoCo."""

import re
import time

import numpy as np
import pytest
from cut_line import passed_on
from page_browser import SCREENSHOTS, chromium, in_browser, page_of  # noqa: F401
from walking_rig import NAME, Feet, Rig

from wholebody import robots
from wholebody.behaviors.walking_goals import CONTROLLER, GOALS, Bearing, Stop
from wholebody.channels import Channel
from wholebody.drivers import Names
from wholebody.locomotion.walking.gait import gait_of
from wholebody.model import Model
from wholebody.operator.page.server import SILENCE
from wholebody.operator.rcp.client import Client
from wholebody.services import Stage
from wholebody.services.records import read_report

STEP_TIME = gait_of(Model(robots.load("hubo2plus"))).step_time

pytestmark = [pytest.mark.slow, in_browser]


def wait_for(condition, seconds=120.0):
    """Wait until something is so, without a browser or a machine in haste."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def taken_at(stops):
    """When the walking controller took the stop that comes of something, s of the robot's time."""
    with (
        Channel(f"{Names(NAME).service(CONTROLLER)}.requests") as requests,
        Channel(f"{Names(NAME).service(CONTROLLER)}.replies") as replies,
        requests.reader() as request,
        replies.reader() as reply,
    ):
        request.latest()
        reply.latest()
        stops()
        stop = next(each["number"] for each in coming(request) if GOALS[each["kind"]] is Stop)
        taken = (read_report(each) for each in coming(reply) if each["number"] == stop)
        return next(each.time for each in taken if each.stage is Stage.ACCEPTED)


def coming(reader):
    """What comes on a channel, one after the other, until nothing does for a while."""
    while reader.wait(10.0, mode="next"):
        yield reader.message
    raise AssertionError("nobody has told it to stop")


def comes_and_when(page):
    """Whether the page tells how far a command has come, and when it ends; at the same moment, for it goes on."""
    far, left = page.evaluate(
        "['progress', '.left'].map((each) => document.querySelector(`#commands ${each}`))"
        ".map((each) => each?.position ?? each?.textContent ?? '')"
    )
    return far != "" and 0.2 < far < 1.0 and re.fullmatch(r"\d+ s", left)


def test_a_click_makes_the_robot_walk_keys_drive_it_and_stop_or_a_cut_line_stops_it(browser, port):
    with Rig(real_time=1.0) as rig, page_of(NAME, "--no-camera", "--rcp", port.partition(":")[2]) as address:
        page = browser.new_page(viewport={"width": 1200, "height": 800})
        page.goto(f"{address}&view=off")
        page.wait_for_selector("body[data-connection=connected]", timeout=60_000)
        page.click("#control")
        page.wait_for_selector("body[data-control=mine]")

        at = page.evaluate("wholebody.map.screen({x: 0.5, y: 0.1})")
        page.locator("#map").click(position={"x": at[0], "y": at[1]})
        wait_for(lambda: comes_and_when(page))
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

        late, feet = [], Feet(rig.world)
        rig.world.spoil = feet
        with Client(port=int(port.partition(":")[2])) as bob:
            bob.connect("observer")
            for stops in (lambda: page.keyboard.press("Escape"), lambda: bob.send("STOP"), page.close):
                if page.evaluate("document.body.dataset.control") != "mine":
                    page.click("#control")
                    page.wait_for_selector("body[data-control=mine]")
                page.evaluate("wholebody.map.go(4, 0)")
                wait_for(lambda: rig.client.doing.bearing in (Bearing.LEFT, Bearing.RIGHT))
                said = rig.world.time
                accepted = taken_at(stops)
                late.append(accepted - said)
                rests = accepted + STEP_TIME + 0.5
                wait_for(lambda until=rests + 2.0: rig.world.time > until)
                feet.assert_rest(rests)
                assert rig.client.doing.standing
        assert min(late) < 0.2, "it plans anew, which changes what it commands"
        assert max(late) < 2.0, "a machine may be busy, and that is all"
        a_cut_line_stops_the_walk(browser, rig, address, feet)
        assert rig.upright


def test_a_key_moves_the_body_within_a_second_and_makes_it_walk_at_0_3_m_s(browser):
    with Rig(real_time=1.0) as rig, page_of(NAME, "--no-camera") as address:
        page = browser.new_page(viewport={"width": 1200, "height": 800})
        page.goto(f"{address}&view=off")
        page.wait_for_selector("body[data-connection=connected]", timeout=60_000)
        page.click("#control")
        page.wait_for_selector("body[data-control=mine]")
        rig.client.wait(rig.client.stand())
        page.wait_for_selector("#legs >> text=stands", timeout=60_000)
        page.locator("#view").focus()
        rows = []
        rig.world.spoil = lambda state: rows.append((rig.world.time, *rig.world.com_in_world[:2]))
        wait_for(lambda: rows)
        pressed = rig.world.time
        page.keyboard.down("KeyW")
        for second in range(8):  # each takes as long as the machine needs for it
            wait_for(lambda second=second: rig.world.time > pressed + second + 1)
        page.keyboard.up("KeyW")
        page.wait_for_selector("#commands li:first-child[data-stage=COMPLETED]", timeout=60_000)
        time_, x, y = np.array(rows).T
        far = np.hypot(x - x[0], y - y[0])
        moves = time_[np.argmax(far > 0.01)] - pressed
        speed = (np.interp(pressed + 8.0, time_, far) - np.interp(pressed + 3.0, time_, far)) / 5.0
        print(f"the body moves {moves:.2f} s of the robot's time after the key, and goes at {speed:.3f} m/s")
        assert 0.0 < moves < 1.0
        assert speed > 0.3
        assert rig.upright


def a_cut_line_stops_the_walk(browser, rig, address, feet):
    """Packets just do not come any more, and nobody says good-bye."""
    port = int(re.search(r":(\d+)/", address)[1])
    with passed_on(port) as (proxy, cut):
        page = browser.new_page(viewport={"width": 1200, "height": 800})
        page.goto(f"{address.replace(f':{port}/', f':{proxy}/')}&view=off")
        page.wait_for_selector("body[data-connection=connected]", timeout=60_000)
        page.click("#control")
        page.wait_for_selector("body[data-control=mine]")
        page.evaluate("wholebody.map.go(4, 0)")
        wait_for(lambda: rig.client.doing.bearing in (Bearing.LEFT, Bearing.RIGHT))
        said = rig.world.time
        accepted = taken_at(cut)
        print(f"the walk is stopped {accepted - said:.2f} s after the line was cut")
        assert 0.5 < accepted - said < SILENCE + 1.0, "a server that is busy spares a silence for a while"
        rests = accepted + STEP_TIME + 0.5
        wait_for(lambda: rig.world.time > rests + 2.0)
        feet.assert_rest(rests)
        assert rig.client.doing.standing
        wait_for(lambda: page.evaluate("document.body.dataset.connection") != "connected", 20)
