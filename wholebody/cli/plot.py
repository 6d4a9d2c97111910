"""wholebody plot: draw what a log has."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from wholebody.channels.recording.playback import Recording
from wholebody.errors import BadRecording, MissingExtra, UnknownName


def plot(
    file: Annotated[Path, typer.Argument(help="A file of `wholebody log`.")],
    paths: Annotated[list[str] | None, typer.Argument(help="CHANNEL, CHANNEL.FIELD or CHANNEL.FIELD[INDEX].")] = None,
    png: Annotated[Path, typer.Option(help="The picture to write.")] = Path("plot.png"),
) -> None:
    """Draw fields of the messages in a log over time; without a path, list what there is.

    \b
      wholebody plot run.mcap dreamer.right_hand.error robot.reach.joint_state.position[3] --png run.png
    """
    console = Console(highlight=False, soft_wrap=True)
    recording = Recording(file)
    if not paths:
        for name, dtype in sorted(recording.layouts.items()):
            console.print(f"{name}: {recording.counts.get(name, 0)} messages; {', '.join(dtype.names or ('value',))}")
        return
    curves = [curve(recording, path) for path in paths]
    draw(curves, png)
    console.print(f"{png}: {sum(len(times) for _, times, _ in curves)} points in {len(curves)} curves")


def curve(recording: Recording, path: str) -> tuple[str, Any, Any]:
    """What a path leads to: its name, times in seconds from the log's first message of the channel, and values."""
    channel, fields, index = split(path, recording)
    stamps, records = recording.table(channel)
    if not len(records):
        raise BadRecording(f"{recording.file} has no message of '{channel}'")
    values: Any = records
    for name in fields:
        if values.dtype.names is None or name not in values.dtype.names:
            raise UnknownName(f"field of '{channel}'", name, values.dtype.names or ())
        values = values[name]
    if values.dtype.names is not None:
        raise UnknownName(f"field of '{channel}'", "", list(values.dtype.names))
    values = values.reshape(len(records), -1)
    if index is not None and index >= values.shape[1]:
        raise UnknownName(f"number of '{path}'", str(index), [str(each) for each in range(values.shape[1])])
    times = records["time"] if "time" in (records.dtype.names or ()) else stamps - stamps[0]
    return path, np.asarray(times), values if index is None else values[:, index : index + 1]


def split(path: str, recording: Recording) -> tuple[str, list[str], int | None]:
    """A path as channel, fields and index; without a field, the numbers of a bound parameter."""
    found = re.fullmatch(r"(.*?)(?:\[(\d+)\])?", path)
    assert found is not None
    words = found[1].split(".")
    for length in range(len(words), 0, -1):
        channel = ".".join(words[:length])
        if channel in recording.layouts:
            names = recording.layouts[channel].names or ()
            fields = words[length:] or (["values"] if "values" in names else [])
            return channel, fields, None if found[2] is None else int(found[2])
    raise UnknownName("channel in the recording", path, recording.layouts)


def draw(curves: list[tuple[str, Any, Any]], png: Path) -> None:
    """Draw one picture, a panel for each path."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("matplotlib", "plot") from None
    figure = Figure(figsize=(10, 2.2 * len(curves) + 0.8), layout="constrained")
    panels = figure.subplots(len(curves), 1, sharex=True, squeeze=False)
    for panel, (name, times, values) in zip(panels[:, 0], curves, strict=True):
        panel.plot(times, values, linewidth=0.9)
        panel.set_title(name, fontsize=9, loc="left")
        panel.grid(alpha=0.3)
    panels[-1, 0].set_xlabel("s")
    figure.savefig(png, dpi=110)
