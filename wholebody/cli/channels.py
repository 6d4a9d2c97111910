"""wholebody channels, wholebody bridge: look at the channels of this machine, or mirror them on another."""

from __future__ import annotations

import gc
import math
import shlex
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from wholebody.channels import Channel, Reader, directory
from wholebody.channels.bridge.bridge import Bridge
from wholebody.channels.bridge.mirror import MirrorStatus
from wholebody.channels.languages import c_library
from wholebody.channels.languages.c_header import c_header
from wholebody.cli import options
from wholebody.errors import ChannelError, ClockJumped
from wholebody.realtime import when_told

app = typer.Typer(no_args_is_help=True, help="List, watch and remove channels, or write their C header.")
console = Console()

Name = Annotated[str, typer.Argument(help="Name of the channel, such as hubo.state.")]


@app.command("list")
def list_channels() -> None:
    """List all channels: what they carry, how fresh it is, and who writes."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("channel", "bytes", "depth", "messages", "age", "writers", "memory"):
        table.add_column(title, justify="left" if title in ("channel", "writers") else "right")
    for name in directory.names():
        try:
            with Channel(name) as channel:
                table.add_row(*_row(channel))
        except ChannelError as error:
            table.add_row(name, "", "", "", "", f"[red]{type(error).__name__}[/] (see: wholebody channels show {name})")
    if table.row_count:
        console.print(table)
    else:
        console.print(f"no channels in {directory.folder()}")


def _row(channel: Channel) -> list[str]:
    processes = channel.writer_processes()
    return [
        channel.name,
        str(channel.dtype.itemsize),
        str(channel.depth),
        str(channel.newest),
        _age(channel),
        ", ".join(f"{process} {_program(process)}" for process in processes) or "[dim]none[/]",
        f"{channel.file_size / 1e3:.0f} kB",
    ]


def _age(channel: Channel) -> str:
    with channel.reader() as reader:
        if not reader.latest():
            return "–"
        try:
            age = reader.age
        except ClockJumped:
            return "[red]future[/]"
    if age < 1:
        return f"{age * 1e3:.1f} ms"
    return f"{age:.1f} s" if age < 100 else f"{age / 60:.0f} min"


def _program(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return "?"


@app.command()
def show(name: Name) -> None:
    """Show one channel: its layout, its newest message's age, its writers."""
    with Channel(name) as channel:
        console.print(f"[bold]{name}[/]  {channel.path}")
        console.print(f"{channel.newest} messages so far, the last {channel.depth} kept, newest {_age(channel)} old")
        console.print(f"layout {channel.layout.hash:016x}, {channel.file_size / 1e3:.0f} kB of shared memory")
        for process in channel.writer_processes():
            console.print(f"writer: process {process} ({_program(process)})")
        for line in channel.layout.lines():
            console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)


@app.command()
def echo(
    name: Name,
    count: Annotated[int, typer.Option("--count", "-n", help="Stop after so many messages; 0: never.")] = 0,
    every: Annotated[bool, typer.Option("--all", help="Every message in order, instead of the newest.")] = False,
    field: Annotated[str, typer.Option(help="Only this field, such as imu.orientation.")] = "",
) -> None:
    """Print messages as they come."""
    with Channel(name) as channel, channel.reader() as reader:
        _select(reader.message, field)
        if every:
            reader.latest()  # from now on; the oldest is being overwritten as we look
        for _ in _messages(reader, count, "next" if every else "latest"):
            missed = f"  [yellow]{reader.missed} missed[/]" if every and reader.missed else ""
            console.print(f"[bold]{reader.sequence}[/]  {reader.stamp:.6f} s{missed}")
            for line in _lines(_select(reader.message, field), "  "):
                console.print(line, markup=False, highlight=False, soft_wrap=True)


def _messages(reader: Reader, count: int, mode: Any) -> Iterator[int]:
    taken = 0
    try:
        while not count or taken < count:
            if reader.wait(0.5, mode=mode):
                taken += 1
                yield taken
    except KeyboardInterrupt:
        return


def _select(message: Any, field: str) -> Any:
    for part in filter(None, field.split(".")):
        if message.dtype.names is None or part not in message.dtype.names:
            known = ", ".join(message.dtype.names or ()) or "no fields"
            raise typer.BadParameter(f"no field '{part}' in '{field}'; there are: {known}")
        message = message[part]
    return message


def _lines(value: Any, indent: str, label: str = "") -> list[str]:
    """Lay a record out as indented lines, one per field."""
    names = value.dtype.names
    if names is None:
        return [f"{indent}{label}{_text(value)}"]
    if getattr(value, "shape", ()):
        rows = enumerate(value)
        return [line for index, row in rows for line in _lines(row, indent, f"{label}[{index}] ")]
    lines = [f"{indent}{label.rstrip()}"] if label else []
    for name in names:
        lines += _lines(value[name], indent + "  " if label else indent, f"{name}: ")
    return lines


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return np.array2string(np.asarray(value), precision=6, suppress_small=True, separator=" ", max_line_width=10_000)


@app.command()
def hz(
    name: Name,
    seconds: options.Seconds = 0.0,
) -> None:
    """Measure how often messages are put: mean rate and the spread of the intervals, every second.

    Until Ctrl-C, or for --seconds.
    """
    end = time.monotonic() + seconds if seconds > 0 else float("inf")
    with Channel(name) as channel, channel.reader() as reader:
        reader.latest()
        try:
            while time.monotonic() < end:
                console.print(_rate(reader, min(end, time.monotonic() + 1.0)))
        except KeyboardInterrupt:
            return


def _rate(reader: Reader, until: float) -> str:
    """Take every message until an instant and describe the intervals between their stamps."""
    first, missed_before = reader.sequence, reader.missed_total
    stamps = [reader.stamp_ns] if first else []
    while reader.wait(until=until, mode="next"):
        stamps.append(reader.stamp_ns)
    intervals = np.diff(stamps) * 1e-6
    if not len(intervals):
        return "no messages"
    rate = (reader.sequence - (first or reader.sequence - len(intervals))) / intervals.sum() * 1e3
    return (
        f"{rate:9.1f} Hz   every {intervals.mean():.3f} ms (min {intervals.min():.3f}, max {intervals.max():.3f}, "
        f"σ {intervals.std():.3f})   missed {reader.missed_total - missed_before}"
    )


@app.command()
def rm(
    names: Annotated[list[str], typer.Argument(help="Names of the channels.")],
    force: options.Force = False,
) -> None:
    """Remove channels; those that somebody writes to only with --force."""
    for name in names:
        directory.remove(name, force)
        console.print(f"removed {name}")


@app.command()
def header(
    name: Name,
    out: Annotated[Path | None, options.Out] = None,
    alias: Annotated[
        str, typer.Option("--as", metavar="SYMBOL", help="What symbols begin with, whatever the channel's name is.")
    ] = "",
) -> None:
    """Write the header of a channel, for controllers in C and C++; print it, if not told where to."""
    with Channel(name) as channel:
        text = c_header(name, channel.layout, alias)
    if out is None:
        print(text, end="")
    else:
        out.write_text(text)


@app.command()
def cflags(
    compiling: Annotated[bool, typer.Option("--compile", help="Only what compiles a source (-c).")] = False,
    linking: Annotated[bool, typer.Option("--link", help="Only what links a program.")] = False,
) -> None:
    """Print what gcc, g++ or clang needs to build a controller: g++ mine.cpp $(wholebody channels cflags).

    Behind the sources. Without options all that builds a program in one step. In several:

    \b
      g++ -c one.cpp $(wholebody channels cflags --compile)
      g++ -c two.cpp $(wholebody channels cflags --compile)
      g++ one.o two.o $(wholebody channels cflags --link)
    """
    library = c_library.build()
    both = compiling == linking
    print(shlex.join([*(library.compile_flags * (compiling or both)), *(library.link_flags * (linking or both))]))


@app.command("pkg-config")
def pkg_config() -> None:
    """Print the folder of wholebody.pc, which CMake and pkg-config look for.

    \b
      export PKG_CONFIG_PATH=$(wholebody channels pkg-config)
      g++ mine.cpp $(pkg-config --cflags --libs wholebody)
    """
    print(c_library.build().pkg_config)


REFRESH_SECONDS = 0.5
LINE_EVERY = 10  # refreshes between two lines, when nobody watches a table

Names = list[str] | None


def bridge(
    listen: Annotated[list[str] | None, options.Listen] = None,
    connect: Annotated[list[str] | None, options.Connect] = None,
    exports: Annotated[
        Names, typer.Option("--export", metavar="NAME", help="Send this channel to whoever imports it.")
    ] = None,
    imports: Annotated[
        Names, typer.Option("--import", metavar="NAME", help="Mirror this channel of another machine here.")
    ] = None,
    rate: Annotated[float, options.Rate] = 1000.0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but what goes wrong.")] = False,
    insecure: options.Insecure = False,
) -> None:
    """Mirror channels between machines, newest message first; one bridge on each machine. Ctrl-C ends it.

    Options may be given several times. On the robot, then on the operator's machine:

    \b
      wholebody bridge --listen 0.0.0.0:7447 --export hubo.state --import walk
      wholebody bridge --connect robot:7447 --import hubo.state --export walk

    Either may be started first, and stopped and started again at any time.

    Beyond this machine the link is encrypted, and each side shows that it knows the token, by the keys of both
    machines (wholebody keys); without keys nothing listens there, unless --insecure.
    """
    mirror = Bridge(listen or (), connect or (), exports or (), imports or (), rate, insecure)
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
