"""How fast and how alike the kernels are, beside the old tree (commit 3258f36): ratios of CPU, and differences.

Two processes, one of each tree, are held on one core and told in turns to run a batch of the same work; `NAME_new` and
`NAME_old` are microseconds of CPU of the thread that a call took. `import` is the CPU of `import wholebody.control`,
`memory` what a walking controller's process needs at most, in MB, again in turns. `differs_GROUP` is the greatest
relative difference on inputs that the old tree recorded, as a share of what is permitted (1e-9); of `qp`, by how much
levels reach less and limits are broken (1e-6). `python -m benchmarks.kernels_agreement` tells more.
tools/old_tree makes the old tree, once, which takes minutes;
WHOLEBODY_OLD_TREE and WHOLEBODY_OLD_PYTHON name another. What building takes is told by `wholebody bench cold_build`.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack
from typing import Self

import numpy as np

from benchmarks.kernels_agreement import GROUPS, differences, recorded_by_old_tree
from benchmarks.old_tree import Tree, new_tree, old_tree
from benchmarks.report import Progress, Report, Section, Timing, part

LIMITS = {
    "snapshot_hubo2plus": 1.05,
    "snapshot_valkyrie": 1.05,
    "wbosc_dreamer": 0.8,
    "wbosc_valkyrie_15_tasks": 0.8,
    "qp_hubo2plus": 0.8,
    "qp_valkyrie": 0.8,
    "ik_closed_form_leg": 1.0,
    "ik_closed_form_arm": 1.0,
    "ik_iterative": 1.0,
    "estimator": 1.0,
    "walking": 0.95,
    "crawling": 1.0,
}
"""Of medians, new over old."""
IMPORT_LIMIT, MEMORY_LIMIT = 0.5, 0.6


def run(quick: bool, progress: Progress) -> Report:
    """Measure for about two minutes; quick, half of one."""
    report = Report()
    progress("the old tree is made ready", 0.0)
    trees = {"new": new_tree(), "old": old_tree()}
    report.sections.append(timed(trees, tuple(LIMITS), 8 if quick else 40, part(progress, 0.05, 0.7)))
    for name, limit in LIMITS.items():
        report.limit_ratio(f"{name}_new", f"{name}_old", limit)
    progress("imports and memory", 0.7)
    report.sections.append(set_up(trees, 3 if quick else 7))
    report.limit_ratio("import_new", "import_old", IMPORT_LIMIT)
    report.limit_quotient("memory_new", "memory_old", MEMORY_LIMIT)
    report.sections.append(agreement(part(progress, 0.8, 1.0)))
    for group in GROUPS:
        report.limit_difference(f"differs_{group}", 1.0)
    return report


def agreement(progress: Progress) -> Section:
    """The greatest difference of each group."""
    found: dict[str, Timing | float] = {}
    for number, group in enumerate(GROUPS):
        progress(f"the same results: {group}", number / len(GROUPS))
        found[f"differs_{group}"] = max((each.value / each.limit for each in differences((group,))), default=np.inf)
    return Section("differences from the old tree, same inputs", found)


def set_up(trees: dict[str, Tree], rounds: int) -> Section:
    """CPU of an import and memory of a walk, in turns."""
    imports: dict[str, list[float]] = {name: [] for name in trees}
    memory: dict[str, list[float]] = {name: [] for name in trees}
    walk = recorded_by_old_tree("walking")
    for turn in range(rounds):
        for name, tree in trees.items():
            imports[name].append(1e6 * float(_said(tree, "import", "wholebody.control")))
            if turn < 2:
                memory[name].append(float(_said(tree, "memory", str(walk))))
    found: dict[str, Timing | float] = {f"import_{name}": Timing.of(each) for name, each in imports.items()}
    return Section(
        "set-up: CPU of an import, memory of a walk in MB",
        found | {f"memory_{name}": round(float(np.median(each)), 1) for name, each in memory.items()},
    )


def _said(tree: Tree, *order: str) -> str:
    command = tree.command(*order)
    done = subprocess.run(
        command, cwd=tree.path, env=tree.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}")
    return done.stdout


def timed(trees: dict[str, Tree], works: tuple[str, ...], rounds: int, progress: Progress) -> Section:
    """Some work, batch by batch in turns on one core."""
    core = max(os.sched_getaffinity(0))
    results: dict[str, Timing | float] = {}
    with ExitStack() as stack:
        workers = {name: stack.enter_context(Worker(tree, core)) for name, tree in trees.items()}
        for number, work in enumerate(works):
            progress(work.replace("_", " "), number / len(works))
            for worker in workers.values():
                worker.ask(f"prepare {work}")
            samples: dict[str, list[float]] = {name: [] for name in workers}
            for _ in range(rounds):
                for name, worker in workers.items():
                    samples[name].append(float(worker.ask("batch")))
            results |= {f"{work}_{name}": Timing.of(each) for name, each in samples.items()}
    return Section("CPU of a call, old and new in turns on one core", results)


class Worker:
    """A process of one tree that does as told."""

    def __init__(self, tree: Tree, core: int) -> None:
        self.tree = tree
        self.process = subprocess.Popen(
            tree.command("serve", str(core)),
            cwd=tree.path,
            env=tree.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def ask(self, order: str) -> str:
        """Send an order, and wait for the answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{order}\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process of {self.tree.path.name} ended with {self.process.wait()}")
        return line.strip()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
