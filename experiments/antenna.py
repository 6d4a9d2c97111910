"""The antenna task, done by operators: how often it is fetched, and stands where it belongs.

    python -m experiments.antenna [SEEDS [FIRST [BUSY]]]  by buttons of the page and by RCP, beside four busy processes
    python -m experiments.antenna slow [SEEDS [FIRST]]    by the page at 100 kbit/s, a second there and back, 5 % lost

Hubo2+ in MuJoCo with noise, resolution, bias and delay in all sensors, another draw for each seed; daemon, walking and
arm controllers, camera and page are processes of their own, the page is in Chromium. Simulated time waits for daemon
and controller, so that a busy machine makes it slower and decides nothing else. What counts is what is true there:
the antenna stands upright on the goal's stand, no hand holds anything, the robot stands. The operator decides as
examples/antenna_operator.py does, and tries again what was refused.
"""

from __future__ import annotations

import contextlib
import importlib.util
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.page_clients import CHROMIUM_FLAGS
from benchmarks.page_server import MAIN
from benchmarks.processes import Helper, private_channels
from experiments.slow_line import slowed
from wholebody import robots
from wholebody.behaviors.walking_goals import WalkingClient
from wholebody.operator.rcp.client import Client
from wholebody.operator.recordings.world import WalkedWorld
from wholebody.processes import lifecycle, registry
from wholebody.processes.launch_plan import LaunchPlan
from wholebody.simulation import SensorModel, join
from wholebody.simulation.scenes import footprints

EXAMPLE = Path(__file__).parents[1] / "examples" / "antenna_operator.py"
NAME, ROBOT, SCENE = "fetcher", "hubo2plus", "antenna"
GOAL = next(each for each in footprints(SCENE) if each.name == "goal_stand")
BUSY = 4
LONG = 900.0
"""s of real time until an operator gives up waiting."""


class Hall(WalkedWorld):
    """The world with the antenna; it waits for its controllers as long as it takes."""

    patience = 3.0

    def wrong(self) -> str:
        """What is not as it was to be; empty if the antenna was fetched."""
        pose = self.object_poses[self.objects.index("antenna")]
        on_it = np.hypot(pose[0] - GOAL.x, pose[1] - GOAL.y) < GOAL.length / 2 and pose[2] > 0.8
        found = {
            "the robot does not stand": self.base_to_world[2, 2] < 0.95,
            "the antenna is not on the stand": not on_it,
            "the antenna does not stand": 1 - 2 * (pose[3] ** 2 + pose[4] ** 2) < 0.99,
            f"a hand still holds {self.held}": bool(self.held),
        }
        return "; ".join(what for what, so in found.items() if so)


@contextlib.contextmanager
def hall(seed: int, real_time: float | None) -> Iterator[Hall]:
    """A robot in the hall, with all its processes."""
    running, plan = True, LaunchPlan.make(NAME, ROBOT, scene=SCENE)
    world = Hall(robots.load(ROBOT), NAME, [], sensors=SensorModel.realistic(), seed=seed, scene=SCENE)
    thread = threading.Thread(target=join, args=(world, NAME, real_time, lambda: running))
    with contextlib.ExitStack() as stack:
        stack.callback(world.close)
        stack.enter_context(lifecycle.beside(registry.DAEMON, plan=plan))
        thread.start()
        try:
            for role in (registry.WALK, registry.ARMS):
                stack.enter_context(lifecycle.beside(role, name=NAME, robot=ROBOT))
            stack.enter_context(lifecycle.beside(registry.CAMERA, name=NAME, robot=ROBOT, scene=SCENE))
            WalkingClient(NAME, timeout=120.0).close()
            yield world
        finally:
            running = False
            thread.join()


@contextlib.contextmanager
def served(*command: str) -> Iterator[str]:
    """A server of ours; the first line that it says."""
    words = [*MAIN, *command, "--port", "0", "--no-walk", "--no-camera", "--name", NAME]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline()
        finally:
            server.terminate()


def operators() -> Any:
    """The class of operators of the example."""
    found = importlib.util.spec_from_file_location("antenna_operator", EXAMPLE)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module.Operator


def by_rcp(world: Hall) -> str:
    """Fetch it by lines of text; how it ended, in words."""
    with served("rcp") as said, Client(port=_port(said)) as client:
        operator = operators()(client, quiet=True)
        end = operator.play()
        return "" if end == "done" else f"{end}: {operator.reason}"


def by_page(world: Hall) -> str:
    """Fetch it by buttons of the page."""
    with served("page", "--no-open") as said:
        return _in_browser(_address(said))


def by_page_far_away(world: Hall) -> str:
    """The same over a slow line, as one starts the page for it."""
    with served("page", "--no-open", "--silence", "8") as said, slowed(_port(said)) as line:
        return _in_browser(_address(said).replace(f":{_port(said)}/", f":{line.port}/"))


def _port(said: str) -> int:
    found = re.search(r":(\d+)", said)
    assert found is not None, said
    return int(found[1])


def _address(said: str) -> str:
    found = re.search(r"https?://\S+", said)
    assert found is not None, said
    return found[0]


def _in_browser(address: str) -> str:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=[*CHROMIUM_FLAGS])
        try:
            page = browser.new_page(viewport={"width": 1366, "height": 768})
            page.set_default_timeout(1000 * LONG)  # a busy machine decides nothing
            page.goto(f"{address}&view=off")
            page.wait_for_selector("body[data-connection=connected]")
            page.click("#control")
            page.wait_for_selector("body[data-control=mine]")
            operator = page_operator(page)
            end = operator.mission.run(lambda events, timeout: operator.event)
            return "" if end == "done" else f"{end}: {operator.reason}"
        finally:
            browser.close()


def page_operator(page: Any) -> Any:
    """The example's operator, who has a page instead of a line of text, and presses what there is a button for."""
    buttons = {
        "GRAB OBJECT(antenna)": "[aria-label='grasp antenna']",
        "GOTO OBJECT(goal_stand)": "[aria-label='go to goal_stand']",
        "DROP OBJECT(antenna)": "[aria-label='put down antenna']",
    }

    class PageOperator(operators()):  # type: ignore[misc]
        def order(self, line: str, choose: Callable[[list[str]], str] | None = None) -> None:
            """Press or type, decide what is asked, and see how it ends."""
            self.commands += 1
            before = page.locator("#commands li b").count() and page.text_content("#commands li b")
            if line in buttons:
                page.click(buttons[line])
            else:
                page.fill("#typed", line)
                page.press("#typed", "Enter")
            entry = page.locator("#commands li").first
            until = time.monotonic() + LONG
            self.event, self.reason = "refused", "nothing came of it"
            while time.monotonic() < until:
                time.sleep(0.1)
                if (page.text_content("#said") or "").startswith(("KO", "Not now")):
                    self.reason = page.text_content("#said")
                    return
                if choose is not None and page.locator("#choices button").count():
                    chosen = choose(page.locator("#choices button").all_text_contents())
                    page.click(f"#choices >> text={chosen}")
                    page.wait_for_selector("#decision", state="hidden")
                    self.decisions += 1
                new = page.locator("#commands li b").count() and entry.locator("b").text_content() != before
                if new and entry.get_attribute("data-stage") not in ("QUEUED", "STARTED"):
                    self.reason = entry.text_content()
                    self.event = "done" if entry.get_attribute("data-stage") == "COMPLETED" else "refused"
                    return

        def seen(self) -> list[tuple[str, float]]:
            """As it is drawn in three dimensions: how thick each object is."""
            js = "[...wholebody.objects.shown].map(([name, group]) => [name, group.children[0].scale.x])"
            return [(name, float(radius)) for name, radius in page.evaluate(js)]

    return PageOperator(None, quiet=True)


def spin(control: Connection) -> None:
    """Take all of a core that there is."""
    while not control.poll():
        for _ in range(100_000):
            pass


def trial(operate: Callable[[Hall], str], seed: int, busy: int = 0, real_time: float | None = 2.0) -> tuple[str, float]:
    """What went wrong, empty if nothing; and the robot's time."""
    with private_channels(), contextlib.ExitStack() as stack:
        for _ in range(busy):
            stack.enter_context(Helper(spin))
        with hall(seed, real_time) as world:
            try:
                said = operate(world)
            except Exception as error:
                said = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            return "; ".join(each for each in (said, world.wrong()) if each), world.time


def main(*arguments: str) -> None:
    """Print each trial and the table."""
    slow = arguments[:1] == ("slow",)
    numbers = [int(each) for each in arguments if each.isdecimal()]
    seeds, first, busy = numbers + [10, 0, BUSY][len(numbers) :]
    if slow:
        arms = {"page, 100 kbit/s, 1 s, 5 % lost": (by_page_far_away, 0, 1.0)}
    else:
        arms = {f"page, {busy} busy": (by_page, busy, 2.0), f"RCP, {busy} busy": (by_rcp, busy, 2.0)}
    fetched = dict.fromkeys(arms, 0)
    for seed in range(first, first + seeds):
        for name, (operate, beside, real_time) in arms.items():
            began = time.monotonic()
            wrong, robots_time = trial(operate, seed, beside, real_time)
            fetched[name] += not wrong
            took = f"{robots_time:.0f} s of the robot's time, {time.monotonic() - began:.0f} s of ours"
            print(f"{name}, seed {seed}: {wrong or 'fetched'}; {took}", flush=True)
    for name, count in fetched.items():
        print(f"| {name} | {count} of {seeds} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
