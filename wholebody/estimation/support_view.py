"""SupportView: limbs, what bears, the support polygon and the centre of mass, from above; as a record on a channel.

    robot.support     every look: one SupportView

All is seen from a point of the robot's root, x forward and y to the left along the ground, in metres: so it needs no
place in the world, and a robot can draw it from its IMU and encoders.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wholebody.channels.owned import Opened
from wholebody.errors import BadState, MissingExtra
from wholebody.messages import Booleans, Floats, Record, Texts
from wholebody.model.layout import Array
from wholebody.model.model import Model
from wholebody.model.support import Contacts

MOST_CORNERS, MOST_LIMBS, NAME_SIZE = 32, 8, 24


@dataclass(frozen=True, eq=False)
class SupportView:
    """One look: limbs (k × 2) and which bear, corners of the support polygon (counter-clockwise), centre of mass."""

    time: float
    names: tuple[str, ...]
    limbs: Array
    bearing: tuple[bool, ...]
    corners: Array
    com: Array
    margin: float


class SupportWatch:
    """Makes views of a robot whose limbs end in surfaces, or in links."""

    def __init__(self, model: Model, limbs: Sequence[str]) -> None:
        if not 0 < len(limbs) <= MOST_LIMBS:
            raise BadState(f"{len(limbs)} limbs to watch; give 1 to {MOST_LIMBS}")
        self._model, self._limbs = model, tuple(limbs)
        self._frames = [model.frame(limb) for limb in limbs]
        self._contacts: dict[tuple[bool, ...], Contacts] = {}

    def look(self, q: Array, yaw: float, bearing: Iterable[bool], time: float) -> SupportView:
        """A view in a configuration whose root is turned as it is; yaw is its heading in the same axes, rad."""
        bears = tuple(bool(each) for each in bearing)
        if bears not in self._contacts:
            names = [name for name, on in zip(self._limbs, bears, strict=True) if on]
            self._contacts[bears] = Contacts(self._model, names)
        at, polygon = self._model.at(q), self._contacts[bears].polygon(self._model.at(q))
        c, s = math.cos(yaw), math.sin(yaw)
        turn, origin = np.array([[c, -s], [s, c]]), np.asarray(q[:2])
        places = np.array([at.position(frame)[:2] for frame in self._frames])
        return SupportView(
            time, self._limbs, (places - origin) @ turn, bears, (polygon.corners - origin) @ turn,
            (at.com_in_world[:2] - origin) @ turn, polygon.margin(at.com_in_world),
        )  # fmt: skip


class SupportMessage(Record):
    """A view as a message: the first `count` corners, the first `limb_count` limbs."""

    time: float
    margin: float
    com: Floats
    count: int
    limb_count: int
    corners: Floats
    limbs: Floats
    bearing: Booleans
    names: Texts


def view_dtype() -> np.dtype[SupportMessage]:
    """The record of a view."""
    return SupportMessage.of(np.dtype(
        [
            ("time", "f8"), ("margin", "f8"), ("com", "f8", (2,)), ("count", "i4"), ("limb_count", "i4"),
            ("corners", "f8", (MOST_CORNERS, 2)), ("limbs", "f8", (MOST_LIMBS, 2)), ("bearing", "?", (MOST_LIMBS,)),
            ("names", f"S{NAME_SIZE}", (MOST_LIMBS,)),
        ],
        align=True,
    ))  # fmt: skip


def view_channel(name: str) -> str:
    """The channel of the robot of a name."""
    return f"{name}.support"


class SupportPublisher(Opened):
    """Puts views on a robot's channel."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._views = self._writer(view_channel(name), view_dtype())

    def put(self, view: SupportView) -> None:
        """One look; a polygon of very many corners is thinned out."""
        message = self._views.message
        corners = view.corners[:: math.ceil(max(len(view.corners), 1) / MOST_CORNERS)]
        message.time, message.margin, message.com[:] = view.time, view.margin, view.com
        message.count, message.limb_count = len(corners), len(view.names)
        message.corners[: len(corners)] = corners
        message.limbs[: len(view.names)], message.bearing[: len(view.names)] = view.limbs, view.bearing
        message.names[: len(view.names)] = [name.encode()[:NAME_SIZE] for name in view.names]
        self._views.put()


def view_of(message: SupportMessage) -> SupportView:
    """The view in a record, as a copy."""
    corners, limbs = message.count, message.limb_count
    return SupportView(
        message.time,
        tuple(bytes(name).decode() for name in message.names[:limbs]),
        np.array(message.limbs[:limbs]),
        tuple(bool(each) for each in message.bearing[:limbs]),
        np.array(message.corners[:corners]),
        np.array(message.com),
        message.margin,
    )


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
