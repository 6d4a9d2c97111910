"""Yardsticks: fixed work that budgets are ratios to, timed in turns with what is measured.

matrix_product   a product of two 24 × 24 matrices in plain C: arithmetic in the first cache
round_trip       a byte through two pipes from one thread to another and back: two wake-ups
copy_1024        1 KB copied by a method in C that is called from Python

The C is in yardsticks.c; gcc builds it at its first use, into the user's cache, by the text of the file.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np

from benchmarks.old_tree import cache_folder
from benchmarks.report import Timing, timed

SOURCE = Path(__file__).with_suffix(".c")
FLAGS = ("-std=gnu11", "-O2", "-shared", "-fPIC", "-pthread", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
PRODUCTS = 20
Answer = TypeVar("Answer")


class NoCompiler(RuntimeError):
    """There is no gcc."""


@cache
def library() -> ctypes.CDLL:
    """The C, built if need be."""
    name = hashlib.sha256(SOURCE.read_bytes() + " ".join(FLAGS).encode()).hexdigest()[:12]
    path = cache_folder() / "yardsticks" / f"{name}.so"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{os.getpid()}-{path.name}")
        try:
            subprocess.run(["gcc", *FLAGS, "-o", str(unfinished), str(SOURCE)], check=True)
        except FileNotFoundError:
            raise NoCompiler("the yardsticks of benchmarks need gcc: install it (apt install gcc)") from None
        unfinished.rename(path)
    found = ctypes.CDLL(str(path))
    found.time_products.restype = found.time_round_trips.restype = ctypes.c_int64
    return found


@cache
def _matrices() -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    return tuple(np.ascontiguousarray(rng.normal(size=(24, 24))) for _ in range(3))


def matrix_product() -> float:
    """Microseconds of CPU of one, mean over a batch of 20."""
    pointers = [ctypes.c_void_p(each.ctypes.data) for each in _matrices()]
    return float(library().time_products(*pointers, PRODUCTS)) * 1e-3 / PRODUCTS


def round_trip(count: int = 50) -> float:
    """Microseconds of one, mean over a batch."""
    took = library().time_round_trips(count)
    if took < 0:
        raise OSError("no pipe could be made for a round trip")
    return float(took) * 1e-3 / count


def copy_1024() -> float:
    """Microseconds of one, mean over a batch of 1000."""
    return timed(memoryview(bytearray(1024)).tobytes, 1000)


class Beside:
    """Samples of something, and of a yardstick in turns with it: one after every so many samples.

    with the yardstick's own batch time in mind: `every` is chosen so that it does not slow the run down.
    """

    def __init__(self, yardstick: Callable[[], float] = matrix_product, every: int = 10) -> None:
        self.yardstick, self.every, self.count = yardstick, every, 0
        self.samples: list[float] = [yardstick() for _ in range(5)][1:]

    def take(self) -> None:
        """Count one sample of what is measured; time the yardstick if it is its turn."""
        self.count += 1
        if self.count % self.every == 0:
            self.samples.append(self.yardstick())

    def call(self, call: Callable[[], Answer]) -> tuple[Answer, float]:
        """Time a call, in µs, and count it."""
        start = time.perf_counter_ns()
        answer = call()
        took = (time.perf_counter_ns() - start) * 1e-3
        self.take()
        return answer, took

    @property
    def timing(self) -> Timing:
        """Of the yardstick."""
        return Timing.of(self.samples)
