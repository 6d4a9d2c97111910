"""A map in a file: YAML with `walls` and `objects`, each a list of blocks.

walls:
  - {name: north, x: 0, y: 3, length: 6, width: 0.1}
objects:
  - {name: antenna, x: 2, y: 1, length: 0.1, width: 0.1}
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from wholebody.collaboration.map import Block, Map
from wholebody.errors import BadConfiguration, closest
from wholebody.parameters.documents import Document, read_document

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
