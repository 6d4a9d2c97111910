"""How much CPU it takes to build all C, beside what the old tree's kernels took to compile: minutes.

`build` is the CPU of building all extensions of this tree from nothing, in its own folder. `old_warm_up` is that of
`wholebody warmup` in the old tree (tools/old_tree) with an empty cache of kernels. Both with all children, once.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile

from benchmarks.old_tree import new_tree, old_tree
from benchmarks.report import Progress, Report, Section

LIMIT = 0.09
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
        progress("the old tree compiles its kernels", 0.1)
        empty = {"NUMBA_CACHE_DIR": f"{folder}/kernels", "PYTHONPATH": str(old.path)}
        warm_up = cpu_of([str(old.python), "-m", "wholebody.cli", "warmup"], str(old.path), empty)
    report.sections.append(Section("seconds of CPU", {"build": round(build, 2), "old_warm_up": round(warm_up, 1)}))
    report.limit_quotient("build", "old_warm_up", LIMIT)
    return report


def cpu_of(command: list[str], folder: str, environment: dict[str, str]) -> float:
    """Seconds of CPU of a command with all its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=os.environ | environment, stdout=sys.stderr, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
