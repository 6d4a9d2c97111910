"""wholebody demo: controllers that are killed and nobody notices, then a humanoid that walks and is pushed."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from wholebody.channels import Reader, directory, wait_any
from wholebody.cli import options
from wholebody.errors import ChannelInUse, ChannelNotFound
from wholebody.processes import demo as processes
from wholebody.processes import lifecycle
from wholebody.processes.registry import DEMO

KILLED = "nod"

_INTRODUCTION = f"""
[bold]wholebody[/]: a robot and two controllers that meet only in channels
  robot   loopback, {processes.ROBOT_HZ:g} Hz; takes the newest reference of each controller
  wave    swings the arms at its own odd rate
  nod     swings the head; killed (kill -9) and restarted every {{kill_every:g}} s
Meanwhile, in another terminal: [cyan]wholebody channels list[/]
"""


@dataclass
class Watch:
    """What we saw of one process by the channel it writes to."""

    name: str
    hertz: float
    reader: Reader
    is_whole: Callable[[Any], bool]
    process: lifecycle.Child
    lives: int = 1
    messages: int = 0
    missed: int = 0
    torn: int = 0
    misordered: int = 0
    gap: float = 0.0
    recent: list[float] = field(default_factory=list)
    last: tuple[int, float] = (0, 0.0)

    def take(self) -> None:
        """Take and check every message there is."""
        while self.reader.next():
            sequence, stamp = self.reader.sequence, self.reader.stamp
            self.messages += 1
            self.missed += self.reader.missed
            self.torn += not self.is_whole(self.reader.message)
            if self.last[0]:
                self.misordered += sequence <= self.last[0] or stamp < self.last[1]
                self.gap = max(self.gap, stamp - self.last[1])
            self.last = sequence, stamp
            self.recent.append(stamp)
        horizon = time.monotonic() - 1.0
        self.recent = [stamp for stamp in self.recent if stamp > horizon]

    @property
    def rate(self) -> float:
        """Messages per second, over the last second."""
        span = self.recent[-1] - self.recent[0] if len(self.recent) > 1 else 0.0
        return (len(self.recent) - 1) / span if span else 0.0


def demo(
    seconds: options.Seconds = 4.0,
    kill_every: Annotated[float, typer.Option(min=0.2, help="Seconds between two kill -9.")] = 1.0,
    walk: options.Walk = True,
    name: options.Name = "demo",
    out: Annotated[Path, options.Out] = Path("out/demo"),
) -> None:
    """See it work: controllers of which one is killed every second, then a humanoid that walks and is pushed.

    Controllers are killed for --seconds. Another --name lets two run beside each other.
    """
    console = Console()
    _refuse_a_second_demo(name)
    with ExitStack() as stack:
        watches = _start(stack, name)
        console.print(_INTRODUCTION.format(kill_every=kill_every))
        _wait_until_all_talk(watches)
        with Live(console=console, refresh_per_second=8, transient=True) as live:
            _run(watches, seconds, kill_every, show=lambda left: _show(live, watches, left))
        console.print(_table(watches, 0.0))
    _summarise(console, watches, seconds)
    if walk:
        _walk(console, name, out)


def _walk(console: Console, name: str, out: Path) -> None:
    """Have Hubo2+ stand up, walk, turn, be pushed and stop, in real time."""
    from wholebody.cli.walk import walk

    console.print(
        "\n[bold]Now a humanoid[/]: simulator, daemon, controller and film are processes that meet in channels.\n"
    )
    walk("hubo2plus", name=f"{name}_walk", out=out)


def _refuse_a_second_demo(name: str) -> None:
    if any(directory.writers(each) for each in directory.names() if each.startswith(f"{name}.")):
        raise ChannelInUse("another demo runs on this machine; wait until it ends, or give this one a name (--name)")
    lifecycle.remove_channels(name)


def _start(stack: ExitStack, name: str) -> list[Watch]:
    """Start the processes, and end them and remove their channels when the stack closes."""
    watches: list[Watch] = []

    def stop() -> None:
        for watch in watches:
            _kill(watch)
        lifecycle.remove_channels(name, force=True)

    stack.callback(stop)
    channel = processes.state_channel(name)
    watches.append(
        Watch("robot", processes.ROBOT_HZ, channel.reader(), processes.state_is_whole, _spawn(name, "robot"))
    )
    for member, controller in processes.CONTROLLERS.items():
        reader = processes.reference_channel(name, member).reader()
        watches.append(Watch(member, controller.hertz, reader, _check_of(member), _spawn(name, member)))
    return watches


def _check_of(name: str) -> Callable[[Any], bool]:
    return lambda message: processes.reference_is_whole(name, message)


def _spawn(name: str, member: str) -> lifecycle.Child:
    return lifecycle.spawn(DEMO, name=name, member=member)


def _kill(watch: Watch) -> None:
    watch.process.process.kill()
    watch.process.process.wait()


def _wait_until_all_talk(watches: list[Watch]) -> None:
    for watch in watches:
        if not watch.reader.wait(20.0):
            raise ChannelNotFound(f"process '{watch.name}' of the demo did not start")
    for watch in watches:
        watch.reader.latest()


def _run(watches: list[Watch], seconds: float, kill_every: float, show: Callable[[float], None]) -> None:
    now = time.monotonic()
    end, next_kill, next_show = now + seconds, now + kill_every, now
    while (now := time.monotonic()) < end:
        wait_any([watch.reader for watch in watches], timeout=0.05)
        for watch in watches:
            watch.take()
        if now >= next_kill:
            next_kill += kill_every
            _kill_and_restart(next(watch for watch in watches if watch.name == KILLED))
        if now >= next_show:
            next_show = now + 0.1
            show(end - now)


def _kill_and_restart(watch: Watch) -> None:
    _kill(watch)
    watch.process, watch.lives = _spawn(watch.process.name, watch.name), watch.lives + 1


def _show(live: Live, watches: list[Watch], left: float) -> None:
    if live.console.is_terminal:
        live.update(_table(watches, left))
    elif left % 2 < 0.1:  # a log file wants few lines
        live.console.print(f"{left:.0f} s left, {sum(watch.messages for watch in watches)} messages")


def _table(watches: list[Watch], left: float) -> Table:
    table = Table(header_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    columns = ("process", "rate", "wanted", "age", "longest gap", "messages", "missed", "torn", "lives")
    for heading in columns:
        table.add_column(heading, justify="left" if heading == "process" else "right", no_wrap=True)
    for watch in watches:
        torn = watch.torn + watch.misordered
        table.add_row(
            f"[bold]{watch.name}[/]",
            f"{watch.rate:.1f} Hz",
            f"{watch.hertz:g} Hz",
            f"{watch.reader.age * 1e3:.1f} ms",
            f"{watch.gap * 1e3:.1f} ms",
            str(watch.messages),
            str(watch.missed),
            f"[{'red' if torn else 'green'}]{torn}[/]",
            f"[yellow]{watch.lives}[/]" if watch.lives > 1 else "1",
        )
    if left > 0:
        table.caption = f"{left:.0f} s left"
        table.caption_justify = "left"
    return table


def _summarise(console: Console, watches: list[Watch], seconds: float) -> None:
    robot = watches[0]
    kills = sum(watch.lives - 1 for watch in watches)
    torn = sum(watch.torn + watch.misordered for watch in watches)
    console.print(
        f"\n{kills} kills in {seconds:g} s; the robot put {robot.messages / seconds:.1f} states a second, longest gap "
        f"{robot.gap * 1e3:.1f} ms.\nTorn or misordered messages: [bold]{torn}[/]."
    )
    if torn:
        raise typer.Exit(1)
