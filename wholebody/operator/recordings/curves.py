"""Curves: what a path into a log leads to, with names and units, and a picture of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wholebody.channels.recording.playback import Recording
from wholebody.errors import BadRecording, MissingExtra, UnknownName
from wholebody.messages import labels
from wholebody.parameters.records import ABOUT, AboutPart
from wholebody.parameters.remote import told_in


@dataclass(frozen=True)
class Curves:
    """What a path leads to: its unit, a label for each column of values, and times (s from the log's beginning)."""

    name: str
    unit: str
    labels: tuple[str, ...]
    times: Any
    values: Any


def curve(recording: Recording, path: str) -> Curves:
    """What a path leads to: times in seconds from the log's first message of the channel, values, names and unit."""
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
    columns = range(values.shape[1]) if index is None else [index]
    names = column_names(recording.layouts[channel], fields, values.shape[1])
    unit = unit_of(fields, channel, recording)
    return Curves(path, unit, tuple(names[each] for each in columns), np.asarray(times), values[:, list(columns)])


UNITS = {
    "position": "rad", "reference": "rad", "velocity": "rad/s", "acceleration": "rad/s²", "effort": "N·m",
    "stiffness": "N·m/rad", "damping": "N·m·s/rad", "current": "A", "temperature": "°C", "force": "N",
    "torque": "N·m", "angular_velocity": "rad/s", "linear_acceleration": "m/s²", "linear_velocity": "m/s",
    "period": "s", "age": "s", "late": "s", "took": "s", "time": "s", "left": "s",
}  # fmt: skip
"""Of fields of our records (docs/conventions.md); joints that slide have m for rad."""
OF_TOPICS = {"round_trip": "s", "model_latency": "s", "compute_latency": "s", "servo_frequency": "Hz", "gravity": "N·m"}
AXES = {3: ("x", "y", "z"), 4: ("x", "y", "z", "w"), 6: ("fx", "fy", "fz", "tx", "ty", "tz")}


def column_names(layout: Any, fields: list[str], count: int) -> tuple[str, ...]:
    """What the numbers of a field are: joints, sensors and their axes, stages, or plain axes; their index otherwise."""
    kinds = {"imu": "imus", "force_torque": "force_torques", "took": "stages"}
    names = labels(layout, kinds.get(fields[0], "joints") if fields else "joints")
    if fields and fields[0] in ("imu", "force_torque") and names and count % len(names) == 0:
        axes = AXES.get(count // len(names), ("",))
        return tuple(f"{name} {axis}".strip() for name in names for axis in axes)
    if len(names) == count:
        return names
    return AXES.get(count) or tuple(str(index) for index in range(count))


def unit_of(fields: list[str], channel: str, recording: Recording) -> str:
    """The unit of a field: of a record of ours, of a topic of a controller, or of the parameter that is bound."""
    topic, field = channel.rpartition(".")[2], fields[-1] if fields else ""
    if fields == ["base", "position"]:
        return "m"
    if field == "values":
        return OF_TOPICS.get(topic) or _units_of_parameters(recording).get(channel, "")
    return UNITS.get(field, "")


def _units_of_parameters(recording: Recording) -> dict[str, str]:
    """The unit of each parameter that a controller in the log puts on a channel, by the channel."""
    found: dict[str, str] = {}
    for name in (each.removesuffix(ABOUT) for each in recording.layouts if each.endswith(ABOUT)):
        told = told_in(recording.table(f"{name}{ABOUT}", AboutPart)[1]) or {}
        units = {each["path"]: each["unit"] for each in told.get("parameters", ())}
        for line in told.get("bindings", ()):
            path, _, place = line.replace("←", "→").partition(" → ")  # tasks.hand.error → channel:robot.hand.error
            found[place.partition(":")[2]] = units.get(path, "")
    return found


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


MOST_IN_LEGEND = 12


def draw(curves: list[Curves], png: Path) -> None:
    """Draw one picture, a panel for each path."""
    try:
        from matplotlib import colormaps
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("matplotlib", "plot") from None
    figure = Figure(figsize=(10, 2.2 * len(curves) + 0.8), layout="constrained")
    colours = colormaps["tab20"]
    panels = figure.subplots(len(curves), 1, sharex=True, squeeze=False)
    for panel, each in zip(panels[:, 0], curves, strict=True):
        lines = panel.plot(each.times, each.values, linewidth=0.9, color="0.8")
        panel.set_title(each.name, fontsize=9, loc="left")
        panel.set_ylabel(each.unit)
        panel.grid(alpha=0.3)
        spread = np.ptp(each.values, axis=0)
        shown = sorted(np.argsort(-spread, kind="stable")[:MOST_IN_LEGEND].tolist())  # those that move most
        for place, index in enumerate(shown):
            lines[index].set(color=f"C{place}" if len(shown) <= 10 else colours(place), zorder=3)
        if len(each.labels) > 1:
            handles, names = [lines[i] for i in shown], [each.labels[i] for i in shown]
            panel.legend(handles, names, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    panels[-1, 0].set_xlabel("s")
    figure.savefig(png, dpi=110)
