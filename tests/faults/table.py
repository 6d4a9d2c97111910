"""Inject every fault of the catalogue and write docs/faults.md: `make faults`. Exit code 1 if one ended otherwise."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TypeVar

os.environ.setdefault("MUJOCO_GL", "egl")

from catalog import FAULTS
from fault import Fault, Outcome, undergo
from kills import strike

from wholebody.cli.bench import machine

PAGE = Path(__file__).resolve().parents[2] / "docs" / "faults.md"
ABOUT = """\
# Faults

<!-- Written by tests/faults/table.py; `make faults` injects all of them and writes it anew. -->

What goes wrong, what one reads then, what the robot does, and how soon it is safe: in the robot's own seconds, since
simulated time waits for daemon and controller (lock step), however busy the machine is. Processes are real ones. *Step*
is the largest step of any reference from then on, as a share of the joint's limit (velocity limit × period).

A fault is one declaration in [`tests/faults/catalog.py`](../tests/faults/catalog.py): what, in which scene, which words
must be read where, and the safe state. `.venv/bin/pytest tests/faults` holds all of them to it, and to the law of
steps; an excerpt runs in `make test`.
"""

ABOUT_KILLS = """\
## Killed a thousand times

`tests/faults/kills.py` kills controllers that move joints, also as wildly as they can, and daemons under them (kill
-9) at random instants, and measures each step of each reference and each joint of Dreamer, which follows exactly.
"""
KILLS = (1000, 100)
"""Controllers, daemons."""
T = TypeVar("T")


def main() -> int:
    """Undergo all, and write the page."""
    rows, failed = [], 0
    for number, fault in enumerate(FAULTS):
        outcome = None if fault.needs() else _apart(lambda fault=fault: undergo(fault))
        wrong = [f"SKIPPED: {fault.needs()}"] if outcome is None else outcome.wrong
        failed += bool(outcome and wrong)
        rows.append(_row(fault, outcome))
        print(f"{number + 1:3} of {len(FAULTS)}  {fault.id}: {'; '.join(wrong) or 'as declared'}", flush=True)
    head = (
        "| fault | the robot | where: what one reads | what it does | safe after | step |\n|---|---|---|---|---|---|\n"
    )
    kills = _apart(lambda: strike(*KILLS))
    print(kills, flush=True)
    failed += kills.steps.above > 0
    seen = machine()
    where = f"On {seen['cpu']}, {seen['cores']} cores, {seen['kernel']}, {date.today()}."
    killed = f"{ABOUT_KILLS}\n{str(kills).capitalize()}.\n"
    PAGE.write_text(f"{ABOUT}\n{where}\n\n{head}{''.join(rows)}\n{killed}")
    return int(bool(failed))


def _apart(run: Callable[[], T]) -> T:
    """What a run returns, in shared memory of its own."""
    folder = tempfile.mkdtemp(prefix="wholebody-faults-", dir="/dev/shm")
    os.environ["WHOLEBODY_CHANNELS"] = folder
    try:
        return run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _row(fault: Fault, outcome: Outcome | None) -> str:
    """One fault as a row."""
    if outcome is None:
        return _cells(fault.name, fault.scene.about, f"not tried here: {fault.needs()}", "", "", "")
    read = (
        "<br>".join(f"{where}: “{_plain(line)}”" for where, line in outcome.read.items())
        or "nothing is wrong to read of"
    )
    after = "never" if outcome.after is None else f"{outcome.after:.2f} s"
    does = fault.does.words if not outcome.wrong else f"**{'; '.join(outcome.wrong)}**"
    return _cells(fault.name, fault.scene.about, read, does, after, f"{outcome.step:.2f}")


def _cells(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def _plain(line: str) -> str:
    """Without numbers of processes, which are others each time, and without columns."""
    line = re.sub(r"(process |kill -CONT |kill -9 )\d+", r"\1N", re.sub(r"\s{2,}", "  ", line))
    return line.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    sys.exit(main())
