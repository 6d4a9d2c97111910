"""Support polygon, centre of mass and limbs from above: as a PNG, or as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wholebody.errors import MissingExtra
from wholebody.estimation.support_view import SupportView
from wholebody.model.layout import Array

WIDTH, HEIGHT = 61, 25
"""Characters of the text; a character is about twice as high as wide."""
EDGE, BEARS, FLIES, COM = ".", "O", "x", "+"


def draw(views: Sequence[SupportView], path: str | Path) -> None:
    """The last view into a PNG file, forward up and left to the left; where the centre of mass came from is a line."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", "plot") from error
    view = views[-1]
    figure = Figure(figsize=(6, 6.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes: Any = figure.subplots()
    inside = view.margin >= 0
    if len(view.corners) > 2:
        axes.fill(*_shown(view.corners), color="tab:green" if inside else "tab:red", alpha=0.25, label="support")
    for name, place, bears in zip(view.names, _shown(view.limbs).T, view.bearing, strict=True):
        axes.plot(*place, "o", color="black", fillstyle="full" if bears else "none", markersize=10)
        axes.annotate(name, place, xytext=(6, 6), textcoords="offset points")
    axes.plot(*_shown(np.array([each.com for each in views])), color="tab:blue", linewidth=1, label="way of the CoM")
    axes.plot(*_shown(view.com[None]), "+", color="tab:blue", markersize=14, markeredgewidth=3, label="CoM")
    axes.set(aspect="equal", xlabel="to the right, m", ylabel="forward, m")
    axes.set_title(f"{view.time:.2f} s, margin {1000 * view.margin:.0f} mm")
    figure.legend(loc="outside lower center", ncols=3)
    figure.savefig(str(path), dpi=100)


def text(view: SupportView, width: int = WIDTH, height: int = HEIGHT) -> str:
    """The view in characters, forward up: O a limb that bears, x one that does not, + the centre of mass."""
    points = np.vstack([view.corners, view.limbs, view.com[None]])
    middle = (points.max(axis=0) + points.min(axis=0)) / 2
    size = np.maximum(np.ptp(points, axis=0), 0.1)
    scale = min((height - 1) / size[0], (width - 1) / 2 / size[1])  # rows per m
    canvas = [[" "] * width for _ in range(height)]

    def mark(point: Array, what: str) -> None:
        row = round((height - 1) / 2 - scale * float(point[0] - middle[0]))
        column = round((width - 1) / 2 - 2 * scale * float(point[1] - middle[1]))
        canvas[min(max(row, 0), height - 1)][min(max(column, 0), width - 1)] = what

    for a, b in zip(view.corners, np.roll(view.corners, -1, axis=0), strict=True):
        for share in np.linspace(0, 1, 2 * width):
            mark(a + share * (b - a), EDGE)
    for place, bears in zip(view.limbs, view.bearing, strict=True):
        mark(place, BEARS if bears else FLIES)
    mark(view.com, COM)
    standing = ", ".join(name for name, on in zip(view.names, view.bearing, strict=True) if on) or "nothing"
    lines = ["".join(row).rstrip() for row in canvas]
    return "\n".join([*lines, f"{view.time:8.2f} s  margin {1000 * view.margin:5.0f} mm  bears: {standing}"])


def _shown(points: Array) -> Array:
    """Columns to draw: to the right, and up the page."""
    return np.array([-points[:, 1], points[:, 0]])
