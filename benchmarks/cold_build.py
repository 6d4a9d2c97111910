"""How long a newcomer waits, and how much CPU that takes, beside what the old tree's kernels took to compile: minutes.

`set_up` and `demo` are the two halves of `make demo` in a fresh clone with empty caches: what it installs, packages
fetched and C built included, and the demo itself; `from_first_command` is the time from the first command until the
film is written. `build` is the CPU of building all extensions of this tree from nothing, in a folder of its own.
`old_warm_up` is that of `wholebody warmup` in the old tree (tools/old_tree) with an empty cache of kernels. All with
their children, once.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time

from benchmarks.old_tree import new_tree, old_tree
from benchmarks.report import Progress, Report, Section

LIMIT, DEMO_LIMIT = 0.09, 0.25
BUILD = "import setuptools; setuptools.setup()"


def run(quick: bool, progress: Progress) -> Report:
    """Build, then compile; the second takes minutes, quick or not."""
    del quick
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        progress("building all C", 0.0)
        new, old = new_tree(), old_tree()
        made = [sys.executable, "-W", "ignore", "-c", BUILD, "-q", "build_ext"]
        build = cpu_of([*made, "--build-temp", f"{folder}/temp", "--build-lib", f"{folder}/lib"], str(new.path), {})
        progress("make demo in a fresh clone", 0.05)
        set_up, demo, waited = first_demo(str(new.path), folder)
        progress("the old tree compiles its kernels", 0.3)
        empty = {"NUMBA_CACHE_DIR": f"{folder}/kernels", "PYTHONPATH": str(old.path)}
        warm_up = cpu_of([str(old.python), "-m", "wholebody.cli", "warmup"], str(old.path), empty)
    seconds = {"build": build, "set_up": set_up, "demo": demo, "old_warm_up": warm_up}
    report.sections.append(Section("seconds of CPU", {name: round(each, 2) for name, each in seconds.items()}))
    report.sections.append(Section("seconds", {"from_first_command": round(waited, 1)}))
    report.limit_quotient("build", "old_warm_up", LIMIT)
    report.limit_quotient("demo", "old_warm_up", DEMO_LIMIT)
    return report


def first_demo(tree: str, folder: str) -> tuple[float, float, float]:
    """`make demo` as a newcomer has it: CPU of its set-up and of the demo itself, and the time of both, s."""
    clone, begun = f"{folder}/clone", time.monotonic()
    empty = {"XDG_CACHE_HOME": f"{folder}/cache", "PIP_CACHE_DIR": f"{folder}/cache/pip"}
    subprocess.run(["git", "clone", "--quiet", tree, clone], check=True)
    set_up = cpu_of(["make", ".venv/.demo"], clone, empty)
    return set_up, cpu_of(["make", "demo"], clone, empty), time.monotonic() - begun


def cpu_of(command: list[str], folder: str, environment: dict[str, str]) -> float:
    """Seconds of CPU of a command with all its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=os.environ | environment, stdout=sys.stderr, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
