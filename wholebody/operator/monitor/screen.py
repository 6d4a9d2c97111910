"""Screen: the live table of `wholebody read`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from rich.console import Group
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.widget import Widget
from textual.widgets import DataTable, Footer, Static

from wholebody.errors import ChannelError, NoRobot
from wholebody.operator.monitor.status_view import JointView, Picture
from wholebody.operator.monitor.tables import (
    JOINT_COLUMNS,
    controller_table,
    event_table,
    headline,
    joint_cells,
    refusal_table,
    sensor_table,
    stage_table,
)
from wholebody.operator.monitor.watcher import Watcher

LOOKS_PER_SECOND = 10
REST_EVERY = 5
"""Looks between two drawings of all but the joints, which takes a while."""
WIDTHS = (5, 8, 8, 8, 7, 7, 5, 5, 20, 14, 13)
"""Of the joints' columns: fixed, because to find them anew takes longer than all the rest."""

ORDERS: dict[str, Callable[[JointView], Any]] = {
    "robot's order": lambda joint: 0,
    "faults first": lambda joint: (not joint.faults, joint.on),
    "largest error": lambda joint: -abs((joint.command or 0.0) - (joint.position or 0.0)),
    "fastest": lambda joint: -abs(joint.velocity or 0.0),
    "largest effort": lambda joint: -abs(joint.effort or 0.0),
    "hottest": lambda joint: -(joint.temperature or 0.0),
    "name": lambda joint: joint.name,
}


class Line(Widget):
    """One line of text that changes often: unlike a Static it does not lay the screen out anew each time."""

    text = Text()

    def show(self, text: Text) -> None:
        """Show another text."""
        self.text = text
        self.refresh()

    def render(self) -> Text:
        """The text."""
        return self.text


class Screen(App[None]):
    """Joints in a table, everything else beside it, or below it in a narrow terminal; looks ten times a second."""

    CSS = """
    #headline { height: 1; padding: 0 1; }
    #body { layout: horizontal; height: 1fr; }
    #joints { width: 3fr; height: 100%; }
    #rest { width: 2fr; height: 100%; padding: 0 1; }
    .-narrow #body { layout: vertical; }
    .-narrow #joints { width: 100%; height: 3fr; }
    .-narrow #rest { width: 100%; height: 2fr; border-top: solid $primary; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (170, "-wide")]  # noqa: RUF012  (App declares it so)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "quit"),
        Binding("s", "sort", "sort"),
        Binding("g", "group", "group"),
        Binding("f", "faults", "faults only"),
        Binding("space", "pause", "pause"),
    ]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, watcher: Watcher, group: str = "") -> None:
        super().__init__()
        self._watcher = watcher
        self._group = group
        self._order = next(iter(ORDERS))
        self._faults_only = self._paused = False
        self._looks = 0
        self._picture: Picture | None = None
        self._headline, self._others = Line(id="headline"), Static()
        self._table: DataTable[Text] = DataTable(id="joints", cursor_type="row", zebra_stripes=True)

    def compose(self) -> ComposeResult:
        """A line, the joints, the rest, and the keys."""
        yield self._headline
        with Container(id="body"):
            yield self._table
            with VerticalScroll(id="rest"):
                yield self._others
        yield Footer()

    def on_mount(self) -> None:
        """Begin to look."""
        for title, width in zip(JOINT_COLUMNS, WIDTHS, strict=True):
            self._table.add_column(title, width=width)
        self._look()
        self.set_interval(1 / LOOKS_PER_SECOND, self._look)

    def _look(self) -> None:
        if self._paused or not self._table.is_attached:
            return
        try:
            self._picture = self._watcher.look()
        except NoRobot as error:
            self._headline.show(Text(f"{error}; waiting", style="bold yellow"))
            return
        except ChannelError as error:  # being made or removed just now
            self._headline.show(Text(str(error), style="bold yellow"))
            return
        self._looks += 1
        self._show(self._picture, rest=self._looks % REST_EVERY == 1)

    def _show(self, picture: Picture, rest: bool = True) -> None:
        line = headline(picture)
        line.append(f"   {self._group or 'all joints'}, {self._order}", style="dim")
        line.append("   paused" if self._paused else "", style="bold yellow")
        self._headline.show(line)
        self._fill(self.shown(picture))
        if rest:
            self._others.update(others(picture))

    def shown(self, picture: Picture) -> list[JointView]:
        """The joints to be shown, in the order asked for."""
        joints = [joint for joint in picture.joints if self._group in ("", joint.group)]
        if self._faults_only:
            joints = [joint for joint in joints if joint.flags]
        return sorted(joints, key=ORDERS[self._order])

    def _fill(self, joints: list[JointView]) -> None:
        """Change the cells that changed; a table that is filled anew would lose where one has scrolled to."""
        table = self._table
        while table.row_count > len(joints):
            table.remove_row(table.coordinate_to_cell_key((table.row_count - 1, 0)).row_key)  # type: ignore[arg-type]
        for row, joint in enumerate(joints):
            cells = joint_cells(joint)
            if row >= table.row_count:
                table.add_row(*cells)
                continue
            for column, (old, new) in enumerate(zip(table.get_row_at(row), cells, strict=True)):
                if old != new:
                    table.update_cell_at((row, column), new)  # type: ignore[arg-type]

    def action_sort(self) -> None:
        """Sort by the next order."""
        self._order = _next(list(ORDERS), self._order)
        self._redraw()

    def action_group(self) -> None:
        """Show the next group of joints; after the last, all."""
        groups = [] if self._picture is None else [joint.group for joint in self._picture.joints if joint.group]
        self._group = _next(["", *dict.fromkeys(groups)], self._group)
        self._redraw()

    def action_faults(self) -> None:
        """Show only joints that something is wrong with, or all again."""
        self._faults_only = not self._faults_only
        self._redraw()

    def action_pause(self) -> None:
        """Hold the picture still, or go on."""
        self._paused = not self._paused
        self._redraw()

    def _redraw(self) -> None:
        if self._picture is not None:
            self._show(self._picture)


def others(picture: Picture) -> Group:
    """Sensors, controllers, refusals, events and stages, one below the other."""
    parts: list[Any] = []
    for joint, faults in picture.faults:
        parts.append(Text(f"{joint}: {faults}", style="bold red"))
    for kind in ("imu", "force_torque"):
        if any(sensor.kind == kind for sensor in picture.sensors):
            parts += [sensor_table(picture.sensors, kind), ""]
    parts += [controller_table(picture.controllers) if picture.controllers else "no controllers", ""]
    if any(picture.refusals.values()):
        parts += [refusal_table(picture.refusals), ""]
    if picture.events:
        parts += [event_table(picture.events), ""]
    if picture.stages:
        parts += [stage_table(picture.stages)]
    return Group(*parts)


def _next(choices: list[str], now: str) -> str:
    return choices[(choices.index(now) + 1) % len(choices)] if now in choices else choices[0]
