"""A robot's picture as tables for the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from wholebody.errors import WholebodyError
from wholebody.operator.monitor.status_view import (
    ControllerView,
    EventView,
    JointView,
    Picture,
    SensorView,
    StageView,
    seconds,
)
from wholebody.parameters.remote import Remote, running

NOTHING = "–"
"""What stands for a number that is not measured."""

JOINT_COLUMNS = ("joint", "command", "ref.", "encoder", "rad/s", "N·m", "A", "°C", "flags", "moved by", "filter")
_LEFT = ("joint", "flags", "moved by", "filter", "sensor", "controller", "joints", "stage", "refused", "event", "what")


def number(value: float | None, digits: int = 4) -> str:
    """A number, or a dash where there is none."""
    return NOTHING if value is None else f"{round(value, digits) + 0.0:.{digits}f}"  # + 0.0: never −0


def wide_console() -> Console:
    """A console that cuts nothing off where there is no terminal to fit."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=200)


def joint_cells(joint: JointView) -> list[Text]:
    """One row of the joints' table."""
    moved_by = f"{joint.controller} (lease)" if joint.leased else joint.controller or NOTHING
    cells = [
        joint.name,
        number(joint.command),
        number(joint.reference),
        number(joint.position),
        number(joint.velocity, 3),
        number(joint.effort, 2),
        number(joint.current, 2),
        number(joint.temperature, 1),
    ]
    return [
        *(Text(cell, justify="right" if i else "left") for i, cell in enumerate(cells)),
        Text(joint.flags, style="bold red" if joint.faults else "yellow"),
        Text(moved_by, style="" if joint.controller else "dim"),
        Text(joint.filter, style="dim" if joint.filter in ("", "pass") else ""),
    ]


def joint_table(joints: Iterable[JointView]) -> Table:
    """Every joint: rad, rad/s, N·m, A, °C."""
    table = _table(JOINT_COLUMNS, between=1)
    for joint in joints:
        table.add_row(*joint_cells(joint))
    return table


def sensor_table(sensors: Sequence[SensorView], kind: str) -> Table:
    """The sensors of a kind, one in each row."""
    shown = [sensor for sensor in sensors if sensor.kind == kind]
    table = _table(("sensor", *(shown[0].axes if shown else ())))
    for sensor in shown:
        table.add_row(sensor.name, *(number(value, 3 if kind == "imu" else 2) for value in sensor.axes.values()))
    return table


def controller_table(controllers: Iterable[ControllerView]) -> Table:
    """Who puts references, how often, and which joints follow."""
    table = _table(("controller", "Hz", "declared", "last", "joints"))
    for each in controllers:
        declared = f"{1 / each.period:.0f} Hz" if each.period else NOTHING
        late = each.age is None or each.age > 1.0
        rate = NOTHING if late else f"{each.rate:.0f}"
        ago = "never" if each.age is None else f"{seconds(each.age)} ago"
        last = (
            Text(f"{ago}: {each.silent}", style="bold red") if each.silent else Text(ago, style="dim" if late else "")
        )
        table.add_row(each.name, rate, declared, last, names(each.joints))
    return table


def owner_table(picture: Picture) -> Table:
    """Who moves which joint, and by what right; joints that nobody moves are left out."""
    table = _table(("joint", "moved by", "lease", "filter"))
    for joint in picture.joints:
        if joint.controller:
            table.add_row(joint.name, joint.controller, "yes" if joint.leased else "", joint.filter)
    return table


def refusal_table(refusals: dict[str, int]) -> Table:
    """What was refused, and how often; kinds of which there was nothing are left out."""
    table = _table(("refused", "times"))
    for kind, count in refusals.items():
        if count:
            table.add_row(kind, str(count))
    return table


def stage_table(stages: Iterable[StageView]) -> Table:
    """How long the stages of the cycle take, in milliseconds (Hubo-Ach §3.3)."""
    table = _table(("stage", "mean ms", "deviation", "p99", "worst"))
    for each in stages:
        style = "bold" if each.name == "work" else ""
        values = (each.mean, each.deviation, each.p99, each.worst)
        table.add_row(each.name, *(f"{1000 * value:.4f}" for value in values), style=style)
    return table


def event_table(events: Iterable[EventView]) -> Table:
    """What happened lately."""
    table = _table(("event", "when", "what"))
    for each in events:
        table.add_row(each.name, f"{seconds(each.age)} ago", each.text)
    return table


def headline(picture: Picture) -> Text:
    """The robot, and how it is, in a line."""
    style = {"running": "bold green", "stopped": "bold red", "fallen": "bold red"}.get(picture.condition, "bold yellow")
    line = Text.assemble((picture.robot or picture.name, "bold"), "  ", (picture.condition, style))
    line.append(f"  t = {picture.time:.1f} s  {picture.rate:.0f} Hz")
    if picture.speed and abs(picture.speed - 1) > 0.02:
        line.append(f"  × {picture.speed:.2f} real time")
    line.append(f"  {picture.missed} missed", style="" if picture.missed == 0 else "yellow")
    return line


def names(joints: Sequence[str], shown: int = 8) -> str:
    """Some names, and how many more."""
    if not joints:
        return NOTHING
    more = f" +{len(joints) - shown}" if len(joints) > shown else ""
    return " ".join(joints[:shown]) + more


def _table(titles: Sequence[str], between: int = 2) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, between, 0, 0))
    for title in titles:
        table.add_column(title, justify="left" if title in _LEFT else "right", no_wrap=True)
    return table


@dataclass(frozen=True)
class WholeBodyView:
    """How a controller's loop is doing; None where it could not be asked."""

    name: str
    robot: str
    answers: bool
    tasks: int = 0
    enabled: int = 0
    cycles: int | None = None
    frequency: float | None = None  # Hz
    compute: float | None = None  # s
    missed: int | None = None
    faults: int | None = None


def whole_body_views(robot: str) -> list[WholeBodyView]:
    """Ask every controller of tasks that runs on a robot."""
    views = [_view(robot, name) for on, name in running() if on == robot]
    return [each for each in views if each.tasks or not each.answers]


def _view(robot: str, name: str) -> WholeBodyView:
    try:
        remote = Remote(name, robot)
        values = remote.values(timeout=0.5)
    except WholebodyError:
        return WholeBodyView(name, robot, answers=False)

    def number(path: str) -> float | None:
        value = values.get(f"servo.{path}")
        return float(value) if isinstance(value, float) and math.isfinite(value) else None

    tasks = remote.description.tasks
    return WholeBodyView(
        name,
        robot,
        True,
        len(tasks),
        sum(values[f"tasks.{task}.state"] == "enabled" for task in tasks),
        _whole(number("cycles")),
        number("frequency"),
        number("compute_latency"),
        _whole(number("missed")),
        _whole(number("faults")),
    )


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def whole_body_table(views: list[WholeBodyView]) -> Table:
    """Them as a table."""
    table = Table(box=None, pad_edge=False, title="whole-body controllers", title_justify="left")
    for column in ("name", "tasks", "cycles", "Hz", "a cycle takes", "missed", "faults"):
        table.add_column(column)
    for each in views:
        if not each.answers:
            table.add_row(each.name, "does not answer")
            continue
        takes = "" if each.compute is None else f"{1e6 * each.compute:.0f} µs"
        rate = "" if each.frequency is None else f"{each.frequency:.0f}"
        table.add_row(
            each.name,
            f"{each.enabled} of {each.tasks}",
            str(each.cycles),
            rate,
            takes,
            str(each.missed),
            str(each.faults),
        )
    return table
