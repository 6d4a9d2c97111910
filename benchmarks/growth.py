"""How memory grows over a million cycles in lock step: of a daemon and a simulator that run as they do for weeks.

Both are processes as `wholebody start --fast` begins them. Meanwhile a controller answers every state, others come and
go, consoles ask, stop inputs speak, and events happen. Resident memory is read a hundred times; what it grows by is the
slope of a line through the second half. What is laid out once, such as the table of how long cycles took, is filled by
then.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from benchmarks.report import SHARE, Budget, Progress, Report, Section
from wholebody.drivers import connect
from wholebody.drivers.boards import BoardClient
from wholebody.drivers.stop_input import StopInput
from wholebody.messages import Verb
from wholebody.processes import lifecycle
from wholebody.processes.launch_plan import LaunchPlan
from wholebody.processes.registry import DAEMON, SIMULATOR

CYCLES, QUICK = 1_000_000, 20_000
LOOKS = 100
SHARE_OF_MEMORY = 0.01
"""of what a process has, by which it may grow in a million cycles."""
NAME = "growth"


def run(quick: bool, progress: Progress) -> Report:
    """Let the robot run, and look at its processes."""
    cycles = QUICK if quick else CYCLES
    with running() as processes, ExitStack() as stack:
        mover = stack.enter_context(connect("mover", NAME))
        stop = stack.enter_context(StopInput(NAME, "button", within=10.0))
        boards = stack.enter_context(BoardClient(NAME))
        mover.wait(30.0)
        first, begun, rows = mover.state.tick, time.monotonic(), []
        here = {joint: mover.position(joint) for joint in ("RSP", "LSP")}
        while (done := mover.state.tick - first) < cycles:
            sway = 0.02 * np.sin(0.01 * done)
            mover.move({joint: position + sway for joint, position in here.items()})
            if not mover.wait(30.0):
                raise SystemExit("the robot stands still")
            if done >= len(rows) * cycles / LOOKS:
                rows.append((done, *map(resident, processes.values())))
                progress(f"{done} of {cycles} cycles", done / cycles)
                visit(boards, stop, len(rows))
        seconds = time.monotonic() - begun
    return report(np.array(rows, float), tuple(processes), done, seconds)


def visit(boards: BoardClient, stop: StopInput, number: int) -> None:
    """A stop input speaks, a console asks, and a controller comes, takes a joint by a lease, and goes."""
    stop.beat()
    boards.request(Verb.STATUS, 0, timeout=30.0)
    boards.request(Verb.FILTER, 3, (1.0, 2.0 + number % 5), timeout=30.0)
    with connect(f"visitor-{number % 7}", NAME, period=0.05, lease=True) as visitor:
        visitor.wait(30.0)
        visitor.move({"REB": visitor.position("REB")})
    boards.request(Verb.STOP, timeout=30.0)
    boards.request(Verb.RESUME, timeout=30.0)


@contextmanager
def running() -> Iterator[dict[str, int]]:
    """A simulator and a daemon, in a folder for channels of their own; their processes."""
    plan = LaunchPlan(NAME, "hubo2plus", "simulator", physics=False, fast=True)
    before = os.environ.get("WHOLEBODY_CHANNELS")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, ExitStack() as stack:
        os.environ["WHOLEBODY_CHANNELS"] = folder
        log = Path(folder) / ".log" / "growth.log"
        try:
            children = [stack.enter_context(lifecycle.beside(role, log=log, plan=plan)) for role in (SIMULATOR, DAEMON)]
            for _ in lifecycle.until_first_state(plan, children, log, lambda text: print(text, file=sys.stderr)):
                pass
            yield {child.role.name: child.pid for child in children}
        finally:
            stack.close()
            if before is None:
                del os.environ["WHOLEBODY_CHANNELS"]
            else:
                os.environ["WHOLEBODY_CHANNELS"] = before


def resident(process: int) -> float:
    """The memory (MB) that a process has, shared and its own."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def report(rows: np.ndarray, names: tuple[str, ...], cycles: int, seconds: float) -> Report:
    """Slopes of the second half."""
    found, late = Report(), rows[len(rows) // 2 :]
    results: dict[str, float] = {"cycles": float(cycles), "cycles_per_second": round(cycles / seconds, 1)}
    for column, name in enumerate(names, 1):
        slope = float(np.polyfit(late[:, 0] / 1e6, late[:, column], 1)[0])
        memory = float(late[-1, column])
        results |= {
            f"{name}_MB_at_first": round(float(rows[0, column]), 2),
            f"{name}_MB_at_half": round(float(late[0, column]), 2),
            f"{name}_MB_at_last": round(memory, 2),
            f"{name}_MB_per_million_cycles": round(slope, 3),
        }
        if cycles >= CYCLES:  # in fewer it is still laid out
            found.budgets.append(Budget(f"{name}_growth", round(slope / memory, 5), SHARE_OF_MEMORY, SHARE))
    found.sections.append(Section("resident memory", dict(results)))
    return found
