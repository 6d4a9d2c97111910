"""How kernels are compiled: at the first call, kept on disk, and compiled anew when any kernel's source changes."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

_kernels: set[tuple[str, str]] = set()


def compiled(function: Kernel) -> Kernel:
    """Compile at the first call, keep the machine code on disk, release Python's lock while running.

    Numba takes a kernel from disk as long as its own file has the same date, and would go on running the old version
    of a kernel in another file that it calls. So its stamp of the source is replaced by one of the text of all kernels
    in the same folder and in this one.
    """
    kernel: Any = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz"})(function)
    file: Any = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        file._source_stamp = (_stamp(Path(__file__).parent), _stamp(Path(inspect.getfile(function)).parent))
    _kernels.add((function.__module__, function.__name__))
    return cast(Kernel, kernel)


def kernels_of(package: str) -> frozenset[str]:
    """The names of all kernels of a package that is imported."""
    return frozenset(name for module, name in _kernels if module.startswith(package))


@cache
def _stamp(folder: Path) -> str:
    """A hash of the files of a folder that have kernels in them."""
    texts = (path.read_bytes() for path in sorted(folder.glob("*.py")))
    return hashlib.sha256(
        b"".join(text for text in texts if b"import compiled" in text or b"numba" in text)
    ).hexdigest()
