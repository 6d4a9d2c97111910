"""What a person wants to know of the whole-body controllers that run on a robot."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rich.table import Table

from wholebody.errors import WholebodyError
from wholebody.parameters.remote import Remote, running


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

    tasks = remote.description["tasks"]
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
