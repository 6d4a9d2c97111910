"""wholebody log: record channels into an MCAP file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live

from wholebody.channels.recording.recorder import Recorder
from wholebody.realtime import until_told

SHOW_EVERY = 0.5


def log(
    file: Annotated[Path, typer.Argument(help="The file to write, such as run.mcap.")],
    channels: Annotated[
        list[str] | None,
        typer.Option(help="A channel, or a pattern such as 'robot.*'; may be given again. All, if not."),
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.0, help="How long; until Ctrl-C, if left out.")] = 0.0,
) -> None:
    """Record every message of channels, from a process of its own: nobody who writes them notices.

    Foxglove and the tools of rosbag2 open the file. If the disk is full it says so, and the file stays readable.
    """
    console, goes_on = Console(stderr=True, highlight=False, soft_wrap=True), until_told()
    begun = shown = time.monotonic()
    with Recorder(file, channels or ["*"]) as recorder, Live(console=console, auto_refresh=False) as live:
        while goes_on() and not recorder.full and not (seconds and time.monotonic() - begun > seconds):
            recorder.record()
            if time.monotonic() - shown > SHOW_EVERY:
                shown = time.monotonic()
                live.update(in_words(recorder, shown - begun), refresh=True)
    console.print(f"{file}: {in_words(recorder, time.monotonic() - begun)}")
    if recorder.full:
        console.print(f"warning: the disk is full, so the log ends here; {file} has everything up to now")
        raise typer.Exit(1)


def in_words(recorder: Recorder, seconds: float) -> str:
    """How it is getting on."""
    size = recorder.file.stat().st_size / 1e6
    lost = f", {recorder.lost} lost" if recorder.lost else ""
    return f"{recorder.count} messages of {len(recorder.counts)} channels in {seconds:.0f} s, {size:.1f} MB{lost}"
