"""wholebody bridge: mirror channels between machines."""

from __future__ import annotations

import gc
import math
import sys
import threading
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from wholebody.channels.bridge.bridge import Bridge
from wholebody.channels.bridge.mirror import MirrorStatus
from wholebody.realtime import when_told

REFRESH_SECONDS = 0.5
LINE_EVERY = 10  # refreshes between two lines, when nobody watches a table

Endpoints = list[str] | None
Names = list[str] | None


def bridge(
    listen: Annotated[
        Endpoints, typer.Option(metavar="ENDPOINT", help="Wait for other bridges here, such as 0.0.0.0:7447.")
    ] = None,
    connect: Annotated[
        Endpoints, typer.Option(metavar="ENDPOINT", help="Connect to the bridge there, such as 192.168.1.5:7447.")
    ] = None,
    exports: Annotated[
        Names, typer.Option("--export", metavar="NAME", help="Send this channel to whoever imports it.")
    ] = None,
    imports: Annotated[
        Names, typer.Option("--import", metavar="NAME", help="Mirror this channel of another machine here.")
    ] = None,
    rate: Annotated[float, typer.Option(metavar="HZ", help="Send each channel at most so often.")] = 1000.0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but what goes wrong.")] = False,
) -> None:
    """Mirror channels between machines, newest message first; one bridge on each machine. Ctrl-C ends it.

    Options may be given several times. On the robot, then on the desk:

    \b
      wholebody bridge --listen 0.0.0.0:7447 --export hubo.state --import walk
      wholebody bridge --connect robot:7447 --import hubo.state --export walk

    Either may be started first, and stopped and started again at any time.

    The link is neither encrypted nor authenticated. Use it on a network you
    trust, or through a tunnel: ssh -L 7447:localhost:7447 robot, then
    --connect localhost:7447.
    """
    mirror = Bridge(listen or (), connect or (), exports or (), imports or (), rate)
    ended = threading.Event()
    sys.setswitchinterval(0.0005)  # drawing the table must not hold the messages up
    with when_told(ended.set), mirror:
        gc.freeze()
        if sys.stdout.isatty() and not quiet:
            _show_table(mirror, ended)
        else:
            _write_lines(mirror, ended, quiet)


def _show_table(mirror: Bridge, ended: threading.Event) -> None:
    news = _News()
    with Live(_table(mirror.status()), console=Console(), auto_refresh=False) as live:
        while not ended.wait(REFRESH_SECONDS):
            status = mirror.status()
            for text in news.refusals(status):
                live.console.print(text, markup=False, highlight=False, soft_wrap=True)
            live.update(_table(status), refresh=True)


def _write_lines(mirror: Bridge, ended: threading.Event, quiet: bool) -> None:
    news, turn = _News(), 0
    while not ended.wait(REFRESH_SECONDS if turn else 0):
        status = mirror.status()
        for text in news.refusals(status):
            print(text, file=sys.stderr, flush=True)
        if not quiet and (news.changed(status) or turn % LINE_EVERY == 0):
            print("; ".join(_line(one) for one in status), flush=True)
        turn += 1


class _News:
    """What has not been said yet."""

    def __init__(self) -> None:
        self._details: dict[str, str] = {}
        self._states: list[str] = []

    def refusals(self, status: list[MirrorStatus]) -> list[str]:
        """What was refused since the last look, in full."""
        new = [one for one in status if one.detail and one.detail != self._details.get(one.name)]
        self._details = {one.name: one.detail for one in status}
        return [f"wholebody bridge: cannot {one.direction} '{one.name}': {one.detail}" for one in new]

    def changed(self, status: list[MirrorStatus]) -> bool:
        """Whether any state is another than at the last look."""
        before, self._states = self._states, [one.state for one in status]
        return before != self._states


def _table(status: list[MirrorStatus]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("channel", "direction", "state", "rate Hz", "age ms", "dropped"):
        table.add_column(title, justify="left" if title in ("channel", "direction", "state") else "right")
    for one in status:
        colour = "red" if one.detail else "green" if one.state.startswith("mirroring") else "yellow"
        direction = "→ export" if one.direction == "export" else "← import"
        state = f"[{colour}]{one.state}[/]"
        table.add_row(one.name, direction, state, f"{one.rate:.0f}", _milliseconds(one.age), str(one.dropped))
    return table


def _line(one: MirrorStatus) -> str:
    numbers = f"{one.rate:.0f} Hz, {_milliseconds(one.age)} ms old, {one.dropped} dropped"
    return f"{one.name} {one.direction} {one.state}, {numbers}"


def _milliseconds(age: float) -> str:
    return "–" if math.isinf(age) else f"{age * 1e3:.1f}"
