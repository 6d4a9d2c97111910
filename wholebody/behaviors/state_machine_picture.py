"""A state machine as a picture, drawn anew at every change."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from wholebody.behaviors.state_machine import Change, State, StateMachine, Watch
from wholebody.errors import MissingExtra

RADIUS = 1.0
CLEAR = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
CURRENT, OTHER = "#ffcf66", "#e8eef4"


def picture(file: str | Path) -> Watch:
    """Draw the machine into a PNG file at every change, its current state marked; readers never see half a picture."""
    path = Path(file)

    def watch(machine: StateMachine, change: Change) -> None:
        unfinished = path.with_name(f".{path.name}.new")
        draw(machine, unfinished)
        os.replace(unfinished, path)

    return watch


def draw(machine: StateMachine, file: str | Path) -> None:
    """Draw a machine, and beside it the machines inside its states."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("matplotlib", "plot") from None
    machines = _all(machine)
    figure = Figure(figsize=(5.5 * len(machines), 5.5), layout="constrained")
    panels = figure.subplots(1, len(machines), squeeze=False)
    for panel, each in zip(panels[0], machines, strict=True):
        _draw_one(panel, each)
    figure.savefig(file, dpi=90, format="png")


def _all(machine: StateMachine) -> list[StateMachine]:
    inside = [state.inside for state in machine.states.values() if state.inside is not None]
    return [machine, *(each for one in inside for each in _all(one))]


def _draw_one(panel: Any, machine: StateMachine) -> None:
    count = len(machine.states)
    turns = {name: math.pi / 2 - 2 * math.pi * index / count for index, name in enumerate(machine.states)}
    places = {name: (RADIUS * math.cos(turn), RADIUS * math.sin(turn)) for name, turn in turns.items()}
    for state in machine.states.values():
        for target, label in _labels(state).items():
            _arrow(panel, places[state.name], places[target], label)
    for name, (x, y) in places.items():
        colour = CURRENT if machine.current is machine.states[name] else OTHER
        box = {"boxstyle": "round,pad=0.5", "facecolor": colour, "edgecolor": "#445"}
        panel.text(x, y, name, ha="center", va="center", fontsize=9, bbox=box, zorder=3)
    panel.set_title(machine.name, fontsize=10)
    panel.set_xlim(-1.5, 1.5)
    panel.set_ylim(-1.4, 1.4)
    panel.set_axis_off()


def _labels(state: State) -> dict[str, str]:
    """What leads from a state to each that follows it."""
    found: dict[str, list[str]] = {}
    for event, target in state.on.items():
        found.setdefault(target, []).append(event)
    if state.late is not None:
        found.setdefault(state.late, []).append(f"{state.timeout:g} s")
    return {target: "\n".join(reasons) for target, reasons in found.items()}


def _arrow(panel: Any, begin: tuple[float, float], end: tuple[float, float], label: str) -> None:
    style = {"arrowstyle": "-|>", "color": "#667", "connectionstyle": "arc3,rad=0.18", "shrinkA": 22, "shrinkB": 22}
    panel.annotate("", xy=end, xytext=begin, arrowprops=style)
    x, y = (begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2
    aside = 0.09 * (end[1] - begin[1]), -0.09 * (end[0] - begin[0])
    panel.text(x + aside[0], y + aside[1], label, fontsize=7, ha="center", va="center", color="#335", bbox=CLEAR)
