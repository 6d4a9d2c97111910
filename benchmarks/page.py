"""What the operator page and the command protocol cost and keep, beside a robot that runs.

`poses` and `pictures` are what one WebSocket client is sent in a second, `server_cpu` and `camera_cpu` the shares of a
core that the page's process takes meanwhile, and the one that draws the simulated camera, steadies and packs its
pictures and finds objects in them; neither is a control process. `query` is one of many pipelined `QUERY POSITION` over
TCP. `key_to_reference` is the time from a key that turns the head, in Chromium, to the reference on the head's channel,
`key_to_stop` that from Escape to the daemon's stop channel, `key_to_walk` that from a key that walks to the order on
the channel of the legs, which walk with physics, all with the 3D view on; `key_to_motion` is the robot's own time, by
the stamps of its states, from that key until its body has moved by a centimetre. `late` is how late the daemon's
cycles begin, `servo_late` the time from a state to the answer of a whole-body servo, both at 1 kHz; without anybody
and with one Chromium and four WebSocket clients, in turns; a ratio is that of the medians of the turns' p99.
`daemon_cpu` is the daemon's share of a core in the same turns. `browser_frame` is the time of two frames in that
Chromium, the yardstick of keys. `antenna_…` is what an operator needs for the antenna task: commands, decisions, and
minutes of the robot's time from its start.
"""

from __future__ import annotations

import socket
import time
from typing import Any

import numpy as np

from benchmarks.antenna import antenna_task
from benchmarks.daemon import ROBOT, on_cpu
from benchmarks.page_clients import browser, lookers
from benchmarks.page_lateness import lateness
from benchmarks.page_server import camera_process, page, started
from benchmarks.processes import private_channels
from benchmarks.report import RATIO, SHARE, Budget, Progress, Report, Section, Timing
from benchmarks.yardsticks import matrix_product, round_trip
from wholebody import messages
from wholebody.behaviors.walking_goals import CONTROLLER, GOALS, KeepVelocity, WalkingClient
from wholebody.channels import Channel
from wholebody.channels.owned import own_channel
from wholebody.drivers import Names
from wholebody.messages import State
from wholebody.operator.page.viewer import Kind
from wholebody.operator.rcp.command_server import Rules
from wholebody.processes import lifecycle
from wholebody.processes.registry import WALK

SCENE = ("--no-physics", "--scene", "antenna")
"""A hall with objects that the camera's process finds."""
MOVED = 0.01
"""m by which a body has moved that one sees move."""
PIPELINED = 500
"""Queries that are under way at the same time."""


def run(quick: bool, progress: Progress) -> Report:
    """Measure for about seven minutes; quick, two."""
    report, seconds = Report(), 4.0 if quick else 15.0
    with private_channels(), started(ROBOT, *SCENE), page() as (server, address, rcp):
        progress("poses and pictures to one page", 0.1)
        report.sections.append(Section("to one page", to_one_page(server, address, seconds)))
        progress("pipelined queries", 0.3)
        query = queries(rcp, address.partition("#token=")[2], 10 if quick else 40)
        report.sections.append(Section("command protocol", {"query": query}))
        products, trips = (Timing.of([call() for _ in range(50)]) for call in (matrix_product, round_trip))
        report.sections.append(Section("yardsticks", {"matrix_product": products, "round_trip": trips}))
        progress("keys in a browser", 0.4)
        with browser(address) as opened:
            keys = {} if opened is None else keys_in(opened, 10 if quick else 30)
    if keys:
        with private_channels(), started(ROBOT), page() as (_, address, _), browser(address) as opened:
            keys |= walking_keys(opened, 5 if quick else 20, progress)
        report.sections.append(Section("from key to channel", keys))
    else:
        report.notes.append("no Chromium or no Playwright here: keys were not measured")
    progress("how late daemon and servo are", 0.7)
    with private_channels():
        report.sections.append(Section("lateness of daemon and servo", lateness(3 if quick else 5, seconds / 2)))
    if quick:
        report.notes.append("the antenna task takes two minutes: left out of the quick run")
    else:
        progress("an antenna is fetched", 0.85)
        with private_channels():
            report.sections.append(Section("the antenna task", dict(antenna_task())))
    _limit(report)
    return report


def _limit(report: Report) -> None:
    numbers = {name: value for name, value in report.results.items() if not isinstance(value, Timing)}
    for name, wanted, missing in (("poses", 30, 0.017), ("pictures", 10, 0.05)):
        short = max(0.0, 1 - numbers[name] / wanted)
        report.budgets.append(Budget(f"{name} missing of {wanted} a second", round(short, 3), missing, SHARE))
    both = numbers["server_cpu"] + numbers["camera_cpu"]
    products = both * 1e6 / report.timing("matrix_product").median  # a second
    report.budgets.append(Budget("server_cpu + camera_cpu / matrix_product", round(products), 70_000, RATIO))
    report.limit_ratio("query", "round_trip", 30.0)
    if "key_to_reference" in report.results:
        report.limit_ratio("key_to_reference", "browser_frame", 3.0)
        report.limit_ratio("key_to_walk", "browser_frame", 3.0)
        report.limit_ratio("key_to_stop", "browser_frame", 12.0)
        seconds = report.timing("key_to_motion").median / 1e6
        report.budgets.append(Budget("key_to_motion / a second of the robot's time", round(seconds, 3), 1.0, RATIO))
    report.budgets.append(Budget("daemon late with people / without", numbers["late_ratio"], 1.5, RATIO))
    report.budgets.append(Budget("servo late with people / without", numbers["servo_late_ratio"], 1.5, RATIO))


def to_one_page(server: int, address: str, seconds: float) -> dict[str, Timing | float]:
    """What one client is sent, and what that costs."""
    camera = camera_process()
    with lookers(address, 1) as (looker,):
        until = time.monotonic() + 30.0
        while not _seen(looker).get(Kind.PICTURE, 0) and time.monotonic() < until:
            time.sleep(0.2)
        before, begin, began = _seen(looker), (on_cpu(server), on_cpu(camera)), time.monotonic()
        time.sleep(seconds)
        after, passed = _seen(looker), time.monotonic() - began
        used = on_cpu(server) - begin[0], on_cpu(camera) - begin[1]
    rates = {kind: (after.get(kind, 0) - before.get(kind, 0)) / passed for kind in Kind}
    return {
        "poses": round(rates[Kind.POSES], 1),
        "pictures": round(rates[Kind.PICTURE], 1),
        "server_cpu": round(used[0] / passed, 3),
        "camera_cpu": round(used[1] / passed, 3),
    }


def queries(port: int, token: str, batches: int) -> Timing:
    """Microseconds a query, means over batches that are sent in one piece, as often as one operator may."""
    samples = []
    with socket.create_connection(("127.0.0.1", port)) as raw, raw.makefile("rb") as lines:
        raw.sendall(f"CONNECT operator operator {token}\n".encode())
        assert lines.readline().startswith(b"OK")
        for _ in range(batches):
            began = time.perf_counter()
            raw.sendall(b"QUERY POSITION\n" * PIPELINED)
            for _ in range(PIPELINED):
                answer = lines.readline()
                assert answer.startswith(b"OK POSITION"), answer
            samples.append((time.perf_counter() - began) / PIPELINED * 1e6)
            time.sleep(PIPELINED / Rules.lines_per_second)
    return Timing.of(samples)


def keys_in(opened: Any, presses: int) -> dict[str, Timing | float]:
    """Microseconds from keys to what they put on channels; the browser's own part is in it."""
    opened.locator("#view").focus()
    looks, stops, frames = [], [], []
    for _ in range(presses):
        began = time.monotonic()
        opened.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        frames.append((time.monotonic() - began) * 1e6)
    opened.keyboard.press("KeyJ")
    opened.wait_for_selector("#commands li:first-child[data-stage=COMPLETED]", timeout=30_000)
    with Channel(Names().reference("head")) as channel, channel.reader() as reader:
        for number in range(presses):
            reader.latest()
            before = reader.message["position"].copy()
            began = time.monotonic()
            opened.keyboard.press("KeyL" if number % 2 else "KeyJ")
            while np.array_equal(reader.message["position"], before):
                assert reader.wait(5.0, mode="next")
            looks.append((reader.stamp - began) * 1e6)
            opened.wait_for_selector("#commands li:first-child[data-stage=COMPLETED]", timeout=30_000)
    with own_channel(Names().stop, messages.event()) as channel, channel.reader() as reader:
        for _ in range(presses):
            reader.latest()
            began = time.monotonic()
            opened.keyboard.press("Escape")
            assert reader.wait(5.0)
            stops.append((reader.stamp - began) * 1e6)
            time.sleep(0.1)
    found = {"key_to_reference": looks, "key_to_stop": stops, "browser_frame": frames}
    return {name: Timing.of(samples) for name, samples in found.items()}


def walking_keys(opened: Any, presses: int, progress: Progress) -> dict[str, Timing | float]:
    """Microseconds from a key to the velocity that the legs are told, and to motion; they stand before the next."""
    walks, moves = [], []
    with (
        lifecycle.beside(WALK, name=Names().robot, robot=ROBOT),
        WalkingClient(Names().robot, timeout=90.0) as legs,
        Channel(f"{Names().service(CONTROLLER)}.requests") as channel,
        channel.reader() as reader,
        Channel(Names().state, kind=State) as states,
        states.reader() as state,
    ):
        progress("it stands up", 0.5)
        legs.wait(legs.stand())
        opened.wait_for_selector("#legs >> text=stands", timeout=30_000)
        opened.locator("#view").focus()
        for number in range(presses):
            progress(f"walking key {number + 1} of {presses}", 0.5 + 0.2 * number / presses)
            key = "KeyS" if number % 2 else "KeyW"
            reader.latest()
            state.latest()
            rests = state.message.copy()
            began = time.monotonic()
            opened.keyboard.down(key)
            assert reader.wait(5.0, mode="next")
            assert reader.message["kind"] == GOALS.index(KeepVelocity)
            walks.append((reader.stamp - began) * 1e6)
            while np.linalg.norm(state.message.base.position - rests.base.position) < MOVED:
                assert state.wait(5.0)
            moves.append((state.message.time - rests.time) * 1e6)
            legs.wait_until(lambda doing: not doing.standing, timeout=10.0)
            opened.keyboard.up(key)
            legs.wait_until(lambda doing: doing.standing, timeout=30.0)
    return {"key_to_walk": Timing.of(walks), "key_to_motion": Timing.of(moves)}


def _seen(looker: Any) -> dict[int, int]:
    looker.tell("count")
    counted: dict[int, int] = looker.answer()
    return counted
