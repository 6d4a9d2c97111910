"""cut: a part of a flat array as an array of its own, in Python and, at no cost, inside kernels.

A slice with a reshape costs 18 ns inside a kernel, for the count of references that Numba keeps; with forty of them
that would be a tenth of all the time a snapshot takes.
"""

from __future__ import annotations

import ctypes
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from numba.core import cgutils, types
from numba.extending import intrinsic, overload
from numba.np import arrayobj

Number = TypeVar("Number", bound=np.generic)


def cut(array: npt.NDArray[Number], start: int, shape: tuple[int, ...]) -> npt.NDArray[Number]:
    """The numbers from `start` on in that shape, a view. Inside a kernel, a view must not outlive its array."""
    count = int(np.prod(shape))
    return array[start : start + count].reshape(shape)


# Not inline="always": Numba would then look for dead code in every kernel with a cut, and throw away what is written
# to an array that is a field of a tuple, as in `memory.h[i] = 1.0`.
@overload(cut, strict=False)
def _cut_in_kernel(array: Any, start: Any, shape: Any) -> Any:
    return lambda array, start, shape: _borrowed(array, start, shape)  # type: ignore[call-arg]


@intrinsic
def _borrowed(_context: Any, array: Any, start: Any, shape: Any) -> Any:
    """A view with the address of its first number, its shape, and no claim on the memory."""
    view_type = types.Array(array.dtype, len(shape), "C", readonly=not array.mutable)

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        source = arrayobj.make_array(array)(context, builder, arguments[0])  # type: ignore[no-untyped-call]
        view = arrayobj.make_array(view_type)(context, builder)  # type: ignore[no-untyped-call]
        sizes = cgutils.unpack_tuple(builder, arguments[2], len(shape))  # type: ignore[no-untyped-call]
        itemsize = context.get_constant(types.intp, context.get_abi_sizeof(context.get_value_type(array.dtype)))
        strides = [itemsize]
        for size in reversed(sizes[1:]):
            strides.insert(0, builder.mul(strides[0], size))
        first = builder.gep(source.data, [arguments[1]])
        arrayobj.populate_array(view, first, sizes, strides, itemsize, meminfo=None)  # type: ignore[no-untyped-call]
        return view._getvalue()

    return view_type(array, types.intp, shape), generate


def at_address(address: int, count: int) -> npt.NDArray[np.float64]:
    """The `count` numbers that lie at an address. Whoever calls it keeps their owner alive."""
    return np.ctypeslib.as_array((ctypes.c_double * count).from_address(address))


@overload(at_address, strict=False)
def _at_address_in_kernel(address: Any, count: Any) -> Any:
    return lambda address, count: _borrowed_at(address, count)  # type: ignore[call-arg]


@intrinsic
def _borrowed_at(_context: Any, address: Any, count: Any) -> Any:
    view_type = types.Array(types.float64, 1, "C")

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        first = builder.inttoptr(arguments[0], context.get_data_type(types.float64).as_pointer())
        view = arrayobj.make_array(view_type)(context, builder)  # type: ignore[no-untyped-call]
        size = context.get_constant(types.intp, 8)
        arrayobj.populate_array(view, first, [arguments[1]], [size], size, meminfo=None)  # type: ignore[no-untyped-call]
        return view._getvalue()

    return view_type(types.int64, types.intp), generate
