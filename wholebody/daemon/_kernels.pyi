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
def gate(
    positions: Array,
    values: Array,
    modes: Array,
    measured_position: Array,
    measured_velocity: Array,
    measured: Array,
    limits: Array,
    command: Array,
    command_modes: Array,
    taken: Array,
    memory: Array,
    refused: Array,
    period: float,
    /,
) -> Loop: ...
def all_have(words: Array, bits: int, /) -> Loop: ...
def none_have(words: Array, bits: int, /) -> Loop: ...
