"""What it costs that memory may be pulled away: put and latest of several ring.c, in C, in turns in one process.

zeros    this tree: a handler of SIGBUS lays zeros over the mapping, calls look at their end
v0.1.0   as it was: a channel that is truncated kills
twice    the same once more: what differs by chance
jumps    v0.1.0 with a sigsetjmp in each call, to which a handler would jump
sealed   v0.1.0 on sealed memfds, as a broker would hand out

`latest` is asked by 100 readers once each after a batch of puts; then one of them asks again and again, when there is
nothing new.
"""

from __future__ import annotations

import ctypes
import itertools
import subprocess
import tempfile
from pathlib import Path

from benchmarks.old_tree import TREE
from benchmarks.report import Progress, Report, Section, Timing, no_garbage_collection, part

OLD = "3258f36:wholebody/channels"
"""v0.1.0, as in tools/old_tree."""
FLAGS = ("-std=c11", "-O2", "-shared", "-fPIC", "-pthread")
SIZES = (64, 1024)
PUTS, READERS = 1000, 100

_CREATE = "int file = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0660);"
_SEALED = 'int file = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);'
_LINK = "if (linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) < 0) {"
_SEAL = "fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);\n    if (0) {"
_INCLUDE = "#include <time.h>\n"
_GUARD = """#include <setjmp.h>
static __thread sigjmp_buf back;
static __thread volatile int inside;
#define GUARDED(kind, call) { if (sigsetjmp(back, 0)) { inside = 0; return WB_CORRUPT; } \\
    inside = 1; kind result = call; inside = 0; return result; }
"""
_PUT, _PUT_ARGUMENTS = "int64_t wb_put_stamped(", "wb_writer *writer, const void *payload, int64_t stamp)"
_AFTER_PUT = "int64_t wb_put(wb_writer"
_LATEST, _LATEST_ARGUMENTS = "int wb_latest(", "wb_reader *reader, void *payload)"
_AFTER_LATEST = "int wb_next(wb_reader"
SEALED = ((_CREATE, _SEALED), (_LINK, _SEAL))
JUMPS = (
    (_INCLUDE, _INCLUDE + _GUARD),
    (_PUT, "static int64_t bare_put("),
    (_AFTER_PUT, f"{_PUT}{_PUT_ARGUMENTS}\nGUARDED(int64_t, bare_put(writer, payload, stamp))\n{_AFTER_PUT}"),
    (_LATEST, "static int bare_latest("),
    (_AFTER_LATEST, f"{_LATEST}{_LATEST_ARGUMENTS}\nGUARDED(int, bare_latest(reader, payload))\n{_AFTER_LATEST}"),
)
CANDIDATES: dict[str, tuple[tuple[str, str], ...] | None] = {
    "zeros": None,  # of this tree; the others are v0.1.0 with these changes
    "v0.1.0": (),
    "twice": (),
    "jumps": JUMPS,
    "sealed": SEALED,
}
CALLS = ("put", "latest", "nothing_new")


class _Layout(ctypes.Structure):
    """wb_layout."""

    _fields_ = (
        ("payload_size", ctypes.c_uint64),
        ("hash", ctypes.c_uint64),
        ("text", ctypes.c_char_p),
        ("text_size", ctypes.c_uint32),
    )


class Candidate:
    """A ring.c: one channel of it, a writer, and readers."""

    def __init__(self, library: Path, path: Path, size: int) -> None:
        self._library = loaded = ctypes.CDLL(str(library))
        self.put, self.latest = loaded.wb_put, loaded.wb_latest
        ring, self.writer, self.readers = ctypes.c_void_p(), ctypes.c_void_p(), (ctypes.c_void_p * READERS)()
        layout = _Layout(size, 1, b"{}", 2)
        status = loaded.wb_open(ctypes.byref(ring), str(path).encode(), ctypes.byref(layout), 128, 16)
        status = status or loaded.wb_writer_open(ctypes.byref(self.writer), ring)
        for number in range(READERS):
            place = ctypes.byref(self.readers, number * ctypes.sizeof(ctypes.c_void_p))
            status = status or loaded.wb_reader_open(place, ring)
        if status:
            raise RuntimeError(f"{library.name} cannot open {path}: {status}")
        self.first = (ctypes.c_void_p * PUTS)(*itertools.repeat(self.readers[0], PUTS))
        self.payload = ctypes.create_string_buffer(size)


def run(quick: bool, progress: Progress) -> Report:
    """Time all candidates in turns: about 10 s."""
    report = Report()
    with tempfile.TemporaryDirectory(prefix="wholebody-bench-", dir="/dev/shm") as folder:
        libraries = {name: build(name, Path(folder)) for name in CANDIDATES}
        loops = _compile(Path(__file__).with_suffix(".c"), Path(folder) / "loops.so")
        for number, size in enumerate(SIZES):
            paths = {name: Path(folder) / f"{name}.{size}" for name in libraries}
            candidates = {name: Candidate(library, paths[name], size) for name, library in libraries.items()}
            share = part(progress, number / len(SIZES), (number + 1) / len(SIZES))
            timings = measure(ctypes.CDLL(str(loops)), candidates, size, 200 if quick else 2000, share)
            report.sections.append(Section(f"calls with {size} B, in C", timings))
            report.limit_ratio(f"put_{size} zeros", f"put_{size} v0.1.0", 1.1)
    return report


def build(name: str, folder: Path) -> Path:
    """Compile a candidate."""
    changes, own = CANDIDATES[name], folder / f"source of {name}"
    own.mkdir()
    for file in ("ring.c", "ring.h"):
        text = (TREE / "wholebody/channels" / file).read_text() if changes is None else _of_old(file)
        for before, after in changes or () if file == "ring.c" else ():
            if text.count(before) != 1:
                raise LookupError(f"v0.1.0's ring.c does not say this once: {before}")
            text = text.replace(before, after)
        (own / file).write_text(text)
    return _compile(own / "ring.c", folder / f"{name}.so")


def _of_old(file: str) -> str:
    command = ["git", "-C", str(TREE), "show", f"{OLD}/{file}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _compile(source: Path, output: Path) -> Path:
    subprocess.run(["gcc", *FLAGS, str(source), "-o", str(output)], check=True)
    return output


def measure(
    loops: ctypes.CDLL, candidates: dict[str, Candidate], size: int, rounds: int, progress: Progress
) -> dict[str, Timing | float]:
    """Microseconds of each call of each candidate."""
    loops.time_puts.restype = loops.time_looks.restype = ctypes.c_double
    samples: dict[str, list[float]] = {f"{call}_{size} {name}": [] for call in CALLS for name in candidates}
    order = list(candidates)
    with no_garbage_collection():
        for turn in range(rounds):
            progress(f"put and latest of {size} B", turn / rounds)
            order = order[1:] + order[:1]
            for name in order:
                each = candidates[name]
                times = (
                    loops.time_puts(each.put, each.writer, each.payload, PUTS),
                    loops.time_looks(each.latest, each.readers, each.payload, READERS),
                    loops.time_looks(each.latest, each.first, each.payload, PUTS),
                )
                for call, nanoseconds in zip(CALLS, times, strict=True):
                    samples[f"{call}_{size} {name}"].append(nanoseconds * 1e-3)
    return {name: Timing.of(each) for name, each in samples.items()}
