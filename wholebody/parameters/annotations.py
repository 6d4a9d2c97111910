"""The annotation is the parameter: unit, bounds and size stand on the field, and everything else reads them there.

stiffness: Annotated[float, Unit("1/s²"), Bounds(0, 1000)] = 100.0
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Unit:
    """In what a parameter is measured; a field with a unit is a parameter. A pure number has the unit "1"."""

    symbol: str


@dataclass(frozen=True)
class Bounds:
    """The least and the greatest value a parameter may take, both included."""

    lower: float = -math.inf
    upper: float = math.inf


@dataclass(frozen=True)
class Size:
    """How many numbers a parameter has, if it is a vector."""

    count: int


@dataclass(frozen=True)
class OneForEachRow:
    """The parameter has a number for each row of its task; one number given stands for all of them."""


@dataclass(frozen=True)
class Meaning:
    """What a parameter is for, in a few words; unless a class says it in its docstring, as `name  meaning`."""

    text: str
