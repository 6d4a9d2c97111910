"""The torture of the channels: writers and readers are killed and stopped at random instants, thousands a minute.

Many processes, in C with delays injected inside put and in Python as users have it, write and read three channels;
each message shows by itself whether it is whole. The laws that must hold whatever is killed:

    torn        nobody ever reads a mix of two messages
    misordered  sequences have no holes, stamps never go back, every writer's messages come in its order, each once
    stalls      writers and readers that nobody touches go on, within every second
    slots       when all are dead, every place for a writer can be taken again, and all messages kept are whole
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads would not survive the forks

import programs
import typer
import workers
from rich.console import Console
from rich.live import Live
from rich.table import Table
from stage import RINGS, WRITERS, Ring, Seat, Stage

from wholebody.channels import Channel, Writer
from wholebody.errors import TooManyWriters

PAUSE = 0.006  # seconds between two strikes, on average
STALL = 1.0
REPORT = 2.0
EVIDENCE = 10  # lines


@dataclass
class Summary:
    """What happened, and which laws it broke."""

    seconds: float = 0.0
    put: int = 0
    read: int = 0
    missed: int = 0
    kills: int = 0
    stops: int = 0
    torn: int = 0
    misordered: int = 0
    stalls: int = 0
    broken: list[str] = field(default_factory=list)

    def table(self) -> Table:
        """For people."""
        table = Table("", "", show_header=False)
        for name, value in asdict(self).items():
            if name != "broken":
                table.add_row(name, f"{value:,.0f}")
        return table

    def line(self) -> str:
        """For a log."""
        return "  ".join(f"{name} {value:,.0f}" for name, value in asdict(self).items() if name != "broken")


class StallWatch:
    """Counts the seconds in which somebody who was not touched got nothing done.

    Time in which we ourselves got nothing done does not count: then the machine was busy elsewhere.
    """

    def __init__(self, stage: Stage) -> None:
        self.stage, self.stalls = stage, 0
        self.looked_at = time.monotonic()
        self.seen = {seat.row: stage.progress(seat) for seat in stage.survivors()}
        self.idle = dict.fromkeys(self.seen, 0.0)

    def look(self) -> None:
        """Call often."""
        now = time.monotonic()
        passed, self.looked_at = min(now - self.looked_at, 0.05), now
        for seat in self.stage.survivors():
            progress = self.stage.progress(seat)
            self.idle[seat.row] = 0.0 if progress > self.seen[seat.row] else self.idle[seat.row] + passed
            self.seen[seat.row] = progress
            if self.idle[seat.row] > STALL:
                self.stalls += 1
                self.idle[seat.row] = 0.0


def torture(stage: Stage, seconds: float) -> Iterator[Summary]:
    """Start everyone, strike for that long, kill everyone; a summary every two seconds and at the end."""
    for seat in stage.seats:
        stage.start(seat)
    mortals = [seat for seat in stage.seats if seat.mortal]
    begin = time.monotonic()
    time.sleep(0.5)
    watch = StallWatch(stage)
    reported = 0.0
    while (now := time.monotonic() - begin) < seconds:
        strike(stage, stage.rng.sample(mortals, stage.rng.randint(1, 8)))
        watch.look()
        if now - reported > REPORT:
            reported = now
            yield summary(stage, watch, now)
        time.sleep(stage.rng.expovariate(1 / PAUSE))
    stage.clear()
    end = summary(stage, watch, time.monotonic() - begin)
    end.broken = broken_laws(stage, end)
    yield end


def strike(stage: Stage, seats: list[Seat]) -> None:
    """Kill some, who are replaced, and stop others for a while."""
    stage.resume()
    stopped = [seat for seat in seats if not seat.resume_at and stage.rng.random() < 0.25]
    killed = [seat for seat in seats if seat not in stopped]
    for seat in stopped:
        stage.stop(seat, stage.rng.expovariate(1 / 0.1))
    stage.kill(killed)
    for seat in killed:
        stage.start(seat)


def summary(stage: Stage, watch: StallWatch, seconds: float) -> Summary:
    """Count."""
    counts = Summary(seconds, kills=stage.kills, stops=stage.stops, stalls=watch.stalls)
    for name in ("put", "read", "missed", "torn", "misordered"):
        setattr(counts, name, stage.count(name))
    return counts


def broken_laws(stage: Stage, end: Summary) -> list[str]:
    """Every law that does not hold, when all are dead."""
    broken = [f"{count} {name}" for name in ("torn", "misordered", "stalls") if (count := getattr(end, name))]
    broken += stage.crashed
    if faults := stage.count("faults"):
        broken.append(f"{faults} calls failed")
    with contextlib.ExitStack() as stack:
        channels = [stack.enter_context(Channel(ring.name)) for ring in RINGS]
        put = sum(channel.newest for channel in channels)
        if not end.put <= put <= end.put + end.kills:  # a life counts a message after it is put
            broken.append(f"{put} messages are on the channels, but {end.put} puts and {end.kills} kills were counted")
        for ring, channel in zip(RINGS, channels, strict=True):
            broken += broken_in_channel(ring, channel)
    return broken


def broken_in_channel(ring: Ring, channel: Channel) -> list[str]:
    """The messages kept are whole, and every place for a writer is free and works."""
    broken = []
    with channel.reader() as reader, contextlib.ExitStack() as stack:
        for sequence in range(max(1, channel.newest - ring.depth + 1), channel.newest + 1):
            if not reader.at(sequence) or not workers.is_whole(reader.message["words"]):
                broken.append(f"message {sequence} of '{ring.name}' is not whole")
        reader.latest()
        writers = list(register_all(channel, stack))
        if len(writers) != WRITERS:
            broken.append(f"'{ring.name}' has lost {WRITERS - len(writers)} of {WRITERS} places for writers")
        for count in range(1, 2 * ring.depth + 2):
            for life, writer in enumerate(writers):
                workers.fill(writer.message["words"], life, count)
                writer.put()
                if not (reader.next() and reader.missed == 0 and (reader.message == writer.message)):
                    broken.append(f"'{ring.name}' does not give back what was put after the torture")
    return broken


def register_all(channel: Channel, stack: contextlib.ExitStack) -> Iterator[Writer]:
    """Take every place for a writer."""
    with contextlib.suppress(TooManyWriters):
        while True:
            yield stack.enter_context(channel.writer())


@contextlib.contextmanager
def prepared(ring: Path, rng: random.Random) -> Iterator[Stage]:
    """Build the program and make the channels, in a folder of shared memory of their own."""
    folder = Path(tempfile.mkdtemp(prefix="wholebody-torture-", dir="/dev/shm"))
    os.environ["WHOLEBODY_CHANNELS"] = str(folder)
    try:
        stage = Stage(folder, programs.compile_program("torture", folder / ".program", ring), rng)
        for one in RINGS:
            Channel(one.name, workers.message_type(one.size), depth=one.depth, writers=WRITERS).close()
        try:
            yield stage
        finally:
            stage.clear()
    finally:
        shutil.rmtree(folder)


def show(summaries: Iterator[Summary], console: Console) -> Summary:
    """Show progress while it runs: a table that changes on a terminal, lines elsewhere."""
    last = Summary()
    live = Live(last.table(), console=console, auto_refresh=False, transient=True)
    with live if console.is_terminal else contextlib.nullcontext():
        for last in summaries:
            if console.is_terminal:
                live.update(last.table(), refresh=True)
            else:
                print(last.line(), flush=True)
    console.print(last.table())
    return last


def main(
    seconds: Annotated[float, typer.Option(min=1.0, help="How long to torture.")] = 300.0,
    seed: Annotated[int | None, typer.Option(help="Who is struck when; the machine's own timing stays random.")] = None,
    ring: Annotated[
        Path, typer.Option(help="Folder of the ring.c in the C processes.", show_default="the product's")
    ] = programs.CHANNELS,
    report: Annotated[Path | None, typer.Option(help="Write the summary to this file too, as JSON.")] = None,
) -> None:
    """Kill and stop writers and readers of channels at random instants; exit with 1 if a law is broken.

    Processes in C, with delays inside put, and in Python write and read three channels, of 2 messages of 64 B, 4 of
    1 KB and 64 of 8 KB. Every message shows by itself whether it is whole. Nobody may read a torn or misordered one,
    those who are not touched must go on within every second, and no place for a writer may be lost.
    """
    console = Console(soft_wrap=True)
    seed = random.SystemRandom().getrandbits(32) if seed is None else seed
    console.print(f"torturing the channels for {seconds:.0f} s, seed {seed}")
    with prepared(ring, random.Random(seed)) as stage:
        end = show(torture(stage, seconds), console)
        evidence = stage.evidence.read_text().splitlines() if stage.evidence.exists() else []
    if report:
        report.write_text(json.dumps(asdict(end)))
    for line in end.broken + (evidence[:EVIDENCE] if end.broken else []):
        console.print(line, highlight=False, markup=False)
    console.print("a law is broken" if end.broken else "all laws hold")
    sys.exit(bool(end.broken))


if __name__ == "__main__":
    typer.run(main)
