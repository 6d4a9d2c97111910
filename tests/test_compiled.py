"""How kernels are compiled: nothing written is lost, and nothing old is run."""

from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np

import wholebody
from wholebody.model import compiled
from wholebody.model.cut import at_address, cut

PACKAGE = Path(wholebody.__file__).parent


class Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray


@numba.njit
def _pair(flat):
    return Pair(cut(flat, 0, (2,)), cut(flat, 2, (2,)))


@numba.njit
def _write_to_a_field(flat):
    pair = _pair(flat)
    for i in range(2):
        pair.second[i] = 1.0 + i
    return cut(flat, 0, (2, 2)).sum()


def test_what_a_kernel_with_a_cut_writes_to_a_field_of_a_tuple_is_kept():
    flat = np.zeros(4)
    assert _write_to_a_field(flat) == 3.0
    assert np.array_equal(flat, [0, 0, 1, 2])


@numba.njit
def _double(address, count):
    numbers = at_address(address, count)
    for i in range(count):
        numbers[i] *= 2


def test_numbers_at_an_address_are_read_and_written_where_they_lie():
    numbers = np.arange(3.0)
    _double(numbers.ctypes.data, 3)
    assert np.array_equal(numbers, [0, 2, 4])
    assert np.array_equal(at_address(numbers.ctypes.data, 3), numbers)


def test_a_kernel_is_compiled_anew_when_what_it_imports_changes():
    rows = compiled._imported((PACKAGE / "control" / "rows.py").read_bytes())
    assert PACKAGE / "tasks" / "kinds.py" in rows  # constants
    assert PACKAGE / "tasks" / "evaluate.py" in rows  # kernels
    assert PACKAGE / "model" / "kernels.py" not in rows
    kernels = [PACKAGE / "control" / name for name in ("kernels.py", "rows.py", "chain.py")]
    assert len({compiled._stamp(each) for each in kernels}) == 3
