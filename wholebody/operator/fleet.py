"""Fleet: the robots of several machines in one table and on one page, and one word that stops them all."""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from wholebody.channels import directory
from wholebody.drivers import Names
from wholebody.drivers.stop_input import stop_once
from wholebody.errors import WholebodyError
from wholebody.operator.monitor.watcher import Watcher
from wholebody.processes.far_robots import LOOK_EVERY, FarRobots

HERE = "this machine"


@dataclass(frozen=True)
class Member:
    """A robot of the fleet, as far as is known of it now."""

    name: str
    where: str
    condition: str  # running, stopped, silent for …, lost for …
    rate: float  # states a second that arrive here
    missed: int  # cycles that its daemon missed
    dropped: int  # states that were lost on their way here
    controllers: tuple[str, ...]

    @property
    def well(self) -> bool:
        """Whether it runs, and is heard."""
        return self.condition == "running"


class Fleet:
    """The robots of this machine and of others, each mirrored by a thread of its own: a lost one holds up nobody.

    with Fleet(["robot1.lab", "robot2.lab"]) as fleet:
        fleet.members()
        fleet.stop_all()
    """

    def __init__(self, hosts: list[str]) -> None:
        taken: dict[str, FarRobots] = {}
        self._machines = [FarRobots(each, taken) for each in hosts]
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._follow, args=(each,), daemon=True) for each in self._machines]
        self._watchers: dict[str, Watcher] = {}
        self._known: dict[str, tuple[FarRobots | None, float]] = {}  # by name: where, and when it was heard of last
        for thread in self._threads:
            thread.start()

    def members(self) -> list[Member]:
        """All robots that run, and those that did until they were lost."""
        now = time.monotonic()
        for far in self._machines:
            self._known.update({name: (far, now) for name in far.robots if far.reachable})
        for name in set(directory.ThisMachine().written(".tick")):
            if self._known.get(name, (None, 0.0))[1] != now:
                self._known[name] = (None, now)
        return [self._member(name, far, now - heard) for name, (far, heard) in sorted(self._known.items())]

    @property
    def silent(self) -> list[str]:
        """The machines that do not answer."""
        return [each.where for each in self._machines if not each.reachable]

    @property
    def refused(self) -> list[str]:
        """The robots that are left out, and why."""
        return [f"{each.where}: {why}" for each in self._machines for why in each.refused.values()]

    def stop_all(self) -> dict[str, bool]:
        """Stop every robot at once, those that were lost, too; which of them have been reached."""
        found = {each.name: self._known[each.name][0] for each in self.members()}
        with ThreadPoolExecutor(max(1, len(found))) as pool:
            reached = pool.map(lambda each: _stop(*each), found.items())
            return dict(zip(found, reached, strict=True))

    def until_heard(self, timeout: float = 5.0) -> None:
        """Wait until every machine has answered, or for so long."""
        until = time.monotonic() + timeout
        while time.monotonic() < until and not all(each.complete for each in self._machines):
            time.sleep(0.05)
        while time.monotonic() < until and any(each.condition.startswith("lost") for each in self.members()):
            time.sleep(0.05)

    def close(self) -> None:
        """Mirror nobody any more."""
        self._ended.set()
        for thread in self._threads:
            thread.join()
        for each in self._machines:
            each.close()

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _follow(self, far: FarRobots) -> None:
        while not self._ended.is_set():
            far.look()
            self._ended.wait(LOOK_EVERY)

    def _member(self, name: str, far: FarRobots | None, lost: float) -> Member:
        where = HERE if far is None else far.where
        nothing = Member(name, where, f"lost for {lost:.0f} s", 0.0, 0, 0, ())
        if lost > 0.0:
            return nothing
        try:
            picture = self._watchers.setdefault(name, Watcher(name)).look()
        except WholebodyError:
            return nothing
        if picture.process is None:
            return nothing
        states = [] if far is None else [each for each in far.status() if each.name == Names(name).state]
        return Member(
            name,
            where,
            picture.condition,
            round(picture.rate, 1) if math.isfinite(picture.rate) else 0.0,
            picture.missed,
            sum(each.dropped for each in states),
            tuple(each.name for each in picture.controllers),
        )


def _stop(name: str, far: FarRobots | None) -> bool:
    """Stop one robot; whether it was reached."""
    if far is not None:
        return far.stop(name)
    if not directory.writers(Names(name).tick):
        return False
    stop_once(name, "fleet", "stop all")
    return True


PAGE = Path(__file__).with_suffix(".html")


@contextlib.contextmanager
def page(fleet: Fleet, port: int) -> Any:
    """Serve the page of a fleet on loopback; the port that it is on (of 0: a free one)."""
    from aiohttp import web

    async def index(_: web.Request) -> web.Response:
        return web.Response(text=PAGE.read_text(encoding="utf-8"), content_type="text/html")

    async def robots(_: web.Request) -> web.Response:
        members = await asyncio.to_thread(fleet.members)
        told = {"members": [asdict(each) for each in members], "silent": fleet.silent, "refused": fleet.refused}
        return web.json_response(told)

    async def stop(request: web.Request) -> web.Response:
        if request.headers.get("X-Wholebody") != "stop":  # which no page of anybody else can send
            raise web.HTTPForbidden
        return web.json_response(await asyncio.to_thread(fleet.stop_all))

    application = web.Application()
    application.add_routes([web.get("/", index), web.get("/robots", robots), web.post("/stop", stop)])
    loop, runner = asyncio.new_event_loop(), web.AppRunner(application)
    loop.run_until_complete(runner.setup())
    site = web.TCPSite(runner, "127.0.0.1", port)
    loop.run_until_complete(site.start())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield runner.addresses[0][1]
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
