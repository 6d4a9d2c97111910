"""Map: what stands where, seen from above; how far one can go before something is in the way."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wholebody.errors import BadConfiguration, closest
from wholebody.parameters.documents import Document, read_document

NEARER = 0.02
"""m that who stands too near to something may come nearer on a way past it."""
SIDES = ("ahead", "left", "behind", "right")
"""Of somebody, each a quarter turn to the left of the one before."""


@dataclass(frozen=True)
class Block:
    """Something that fills a rectangle of the ground: its middle, m, its sides, m, and its turn, rad."""

    name: str
    x: float
    y: float
    length: float
    width: float
    yaw: float = 0.0

    def entry(self, x: float, y: float, heading: float, margin: float = 0.0) -> float:
        """How far one can go from a place in a direction until one is in it, or within a margin; infinite if never.

        In the block's own axes a line x + t d enters the slab |x| ≤ h at the least t that fits; the block is where
        the slabs of both axes overlap. Zero or less: one stands there already.
        """
        cosine, sine = math.cos(self.yaw), math.sin(self.yaw)
        dx, dy = x - self.x, y - self.y
        begin = cosine * dx + sine * dy, cosine * dy - sine * dx
        along = math.cos(heading - self.yaw), math.sin(heading - self.yaw)
        enter, leave = -math.inf, math.inf
        for at, step, half in zip(begin, along, (self.length / 2 + margin, self.width / 2 + margin), strict=True):
            if abs(step) < 1e-12:
                if abs(at) > half:
                    return math.inf
                continue
            first, last = sorted(((-half - at) / step, (half - at) / step))
            enter, leave = max(enter, first), min(leave, last)
        return enter if enter <= leave and leave >= 0.0 else math.inf

    def clearance(self, x: float, y: float) -> float:
        """The margin that just reaches a place; negative within it."""
        cosine, sine = math.cos(self.yaw), math.sin(self.yaw)
        dx, dy = x - self.x, y - self.y
        return max(abs(cosine * dx + sine * dy) - self.length / 2, abs(cosine * dy - sine * dx) - self.width / 2)

    def contains(self, x: float, y: float, margin: float = 0.0) -> bool:
        """Whether a place is in it, or within a margin."""
        return self.clearance(x, y) <= margin


@dataclass(frozen=True)
class Way:
    """A straight way: how far one can go, and what ends it; nothing if it leads to its goal."""

    distance: float
    block: Block | None = None
    occupied: bool = False  # whether the goal itself is where the block is


class Map:
    """Walls, and objects that have names to go to."""

    def __init__(self, walls: Iterable[Block] = (), objects: Iterable[Block] = ()) -> None:
        self.walls = tuple(walls)
        self.objects = {each.name: each for each in objects}

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All that one can run into."""
        return (*self.walls, *self.objects.values())

    def ahead(self, x: float, y: float, heading: float) -> float:
        """How far it is to the next object straight ahead, m; infinite if there is none."""
        return min((max(0.0, each.entry(x, y, heading)) for each in self.blocks), default=math.inf)

    def around(self, x: float, y: float, yaw: float) -> dict[str, float]:
        """The same to all four sides of who stands there and faces so."""
        return {side: self.ahead(x, y, yaw + quarter * math.pi / 2) for quarter, side in enumerate(SIDES)}

    def way(self, x: float, y: float, goal_x: float, goal_y: float, margin: float) -> Way:
        """How far towards a goal one can go and stay a margin away from everything.

        Who stands within the margin of something already can go anywhere but nearer to it.
        """
        distance, heading = math.hypot(goal_x - x, goal_y - y), math.atan2(goal_y - y, goal_x - x)
        best = Way(distance)
        for each in self.blocks:
            far = each.entry(x, y, heading, margin)
            if each.contains(x, y, margin):
                straight = math.isfinite(each.entry(x, y, heading))
                far = 0.0 if straight else each.entry(x, y, heading, each.clearance(x, y) - NEARER)
            if far < best.distance:
                best = Way(far, each, each.contains(goal_x, goal_y, margin))
        return best

    def drawing(self) -> dict[str, Any]:
        """All of it, to be drawn."""
        return {
            "walls": [asdict(each) for each in self.walls],
            "objects": [asdict(each) for each in self.objects.values()],
        }


KINDS = ("walls", "objects")
NUMBERS = ("x", "y", "length", "width")


def read_map(file: str | Path) -> Map:
    """The map of a file; BadConfiguration says file, line and what is wrong."""
    document = read_document(file)
    if not isinstance(document.data, dict) or not set(document.data) <= set(KINDS):
        raise BadConfiguration(f"{file}: a map has the lists {' and '.join(KINDS)}, and nothing else")
    walls, objects = ([_block(document, kind, n) for n in range(_count(document, kind))] for kind in KINDS)
    return Map(walls, objects)


def _count(document: Document, kind: str) -> int:
    blocks = document.data.get(kind) or []
    if not isinstance(blocks, list):
        raise BadConfiguration(f"{document.where((kind,))}: {kind} is a list of blocks")
    return len(blocks)


def _block(document: Document, kind: str, number: int) -> Block:
    given: Any = document.data[kind][number]
    where = document.where((kind, number))
    if not isinstance(given, dict):
        raise BadConfiguration(f"{where}: a block has a name, {', '.join(NUMBERS)}, and perhaps a yaw")
    for key in given:
        if key not in ("name", *NUMBERS, "yaw"):
            raise BadConfiguration(f"{where}: a block has no '{key}'{closest(str(key), ('name', *NUMBERS, 'yaw'))}")
    values = {key: given.get(key, 0.0 if key == "yaw" else math.nan) for key in (*NUMBERS, "yaw")}
    for key, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise BadConfiguration(f"{where}: {key} is a number, in m or rad, not {value!r}")
    if values["length"] <= 0 or values["width"] <= 0:
        raise BadConfiguration(f"{where}: length and width are more than 0 m")
    return Block(str(given.get("name", f"{kind[:-1]}_{number + 1}")), **{key: float(v) for key, v in values.items()})
