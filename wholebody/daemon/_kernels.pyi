"""Types of the C extension; kernels.c is the code."""

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]
Loop = Callable[[], bool]

def merge(
    rows: Array,
    stamps: Array,
    seen: Array,
    leased_to: Array,
    wanted: Array,
    modes: Array,
    owners: Array,
    heard: Array,
    refused: Array,
    values_at: int,
    mode_at: int,
    mask_at: int,
    allowed: int,
    /,
) -> Loop: ...
def limit(
    wanted: Array, lower: Array, upper: Array, last: Array, step: Array, out: Array, refused: Array, /
) -> Loop: ...
def all_have(words: Array, bits: int, /) -> Loop: ...
