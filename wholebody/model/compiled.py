"""How kernels are compiled: at the first call, kept on disk, and compiled anew when any kernel's source changes."""

from __future__ import annotations

import ast
import hashlib
import inspect
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

OURS = Path(__file__).parent.parent

_kernels: set[tuple[str, str]] = set()


def compiled(function: Kernel) -> Kernel:
    """Compile at the first call, keep the machine code on disk, release Python's lock while running.

    Numba takes a kernel from disk as long as its own file has the same date, and would go on running the old version
    of a kernel in another file that it calls. So its stamp of the source is replaced by one of the text of its file and
    of all files with kernels or constants that it imports, directly or by way of others.
    """
    return _compiled(function)


def _compiled(function: Kernel, **options: Any) -> Kernel:
    fast = {"contract", "nsz"}
    kernel: Any = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=fast, **options)(function)
    file: Any = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        file._source_stamp = (_stamp(Path(__file__)), _stamp(Path(inspect.getfile(function))))
    _kernels.add((function.__module__, function.__name__))
    return cast(Kernel, kernel)


def inlined(function: Kernel) -> Kernel:
    """Compile as a part of each kernel that calls it, where to hand over many arrays would cost more than the work."""
    return _compiled(function, forceinline=True)


def kernels_of(package: str) -> frozenset[str]:
    """The names of all kernels of a package that is imported."""
    return frozenset(name for module, name in _kernels if module.startswith(package))


@cache
def _stamp(file: Path) -> str:
    """A hash of a file with kernels and of what it imports from us: of kernels with all that they import in turn.

    A file that is not ours may import its neighbours by any name, so all of them count.
    """
    text = file.read_bytes()
    neighbours = () if file.is_relative_to(OURS) else sorted(file.parent.glob("*.py"))
    parts = [hashlib.sha256(each).hexdigest() for each in (text, *(path.read_bytes() for path in neighbours))]
    for other in sorted(_imported(text)):
        below = other.read_bytes()
        with_kernels = re.search(rb"^from wholebody\.model\.compiled import|numba", below, re.MULTILINE)
        parts.append(_stamp(other) if with_kernels else hashlib.sha256(below).hexdigest())
    return hashlib.sha256("".join(parts).encode()).hexdigest()


def _imported(text: bytes) -> set[Path]:
    """The modules of ours that a module imports; packages and errors have nothing in them that a kernel uses."""
    found: set[Path] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("wholebody."):
            module = OURS.joinpath(*str(node.module).split(".")[1:])
            found |= {module.with_suffix(".py"), *((module / each.name).with_suffix(".py") for each in node.names)}
    return {path for path in found if path.is_file()} - {OURS / "errors.py", Path(__file__)}
