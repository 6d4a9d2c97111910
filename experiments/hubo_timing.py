"""Hubo-Ach, 3.3 and 3.4: how long each stage of the daemon's cycle takes, and its share of a core, whoever does what.

    python -m experiments.hubo_timing [seconds]

prints both tables beside the document's figures (an Atom D525 at 1.6 GHz, on a real Hubo2+), and writes
`results/hubo_timing.png`. Ours is a daemon in a process of its own at 200 Hz on a loopback robot of 38 joints, so what
the CAN bus takes is not in it (experiments/hubo_can_budget.py). Stages that the document counts otherwise share a line.
"""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.daemon import daemon, on_cpu, speaking
from benchmarks.processes import Helper, private_channels
from wholebody import messages
from wholebody.channels import Channel
from wholebody.daemon.timing import Spread
from wholebody.drivers import Names, connect

RESULTS = Path(__file__).parent / "results"
# ms, mean and deviation, of Fig. 3.5–3.14 where the text gives them.
DOCUMENT = {
    "reference": "0.0010 ± 0.0028",
    "filter": "0.0080 ± 0.0030",
    "answer": "0.011 ± 0.0033",
    "publish": "0.092 ± 0.091 (state) and 0.0014 ± 0.0035 (trigger)",
    "work": "0.113 without CAN",
}


def read_only(control) -> None:
    """Read the state 1000 times a second."""
    with connect("reading") as robot:
        control.send("ready")
        while not control.poll():
            robot.wait(0.0)
            time.sleep(0.001)


@contextmanager
def reading():
    """Somebody who only reads the sensors."""
    with Helper(read_only) as helper:
        helper.answer()
        yield


STATES = {
    "idle": lambda: nullcontext(),
    "open-loop control": lambda: speaking(200.0),
    "reading the sensors": reading,
    "closed-loop control, 3 × 1 kHz": lambda: speaking(1000.0, 3),
}


def samples(seconds: float) -> np.ndarray:
    """Stage by stage, the cycles of some seconds."""
    rows = []
    with Channel(Names().timing).reader() as reader:
        reader.latest()
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(0.1)
            while reader.next():
                rows.append(reader.message["took"].copy())
    return np.array(rows)


def measure(seconds: float) -> tuple[tuple[str, ...], np.ndarray, dict[str, float]]:
    """The stages under closed-loop control, and the share of a core in all four states."""
    shares, took = {}, np.zeros((0, 0))
    with private_channels(), daemon() as process:
        stages = messages.labels(Channel(Names().timing).dtype, "stages")
        for state, somebody in STATES.items():
            with somebody():
                print(f"  {state}, {seconds:g} s", file=sys.stderr)
                before, begin = on_cpu(process), time.monotonic()
                took = samples(seconds)
                shares[state] = 100 * (on_cpu(process) - before) / (time.monotonic() - begin)
    return stages, took, shares


def show(stages: tuple[str, ...], took: np.ndarray, shares: dict[str, float]) -> None:
    """Print both tables."""
    table = Table("stage", "mean", "deviation", "p99", "worst", "document [ms]", title="§3.3: a cycle, in ms")
    rows = [Spread.of(stage, took[:, column]) for column, stage in enumerate(stages)]
    for row in [*rows, Spread.of("work", took.sum(1))]:
        numbers = [f"{1000 * value:.4f}" for value in (row.mean, row.deviation, row.p99, row.worst)]
        table.add_row(row.name, *numbers, DOCUMENT.get(row.name, ""))
    cpu = Table("state", "% of a core", "document", title="§3.4: the daemon's share of a core")
    for state, share in shares.items():
        cpu.add_row(state, f"{share:.2f}", "7.6 on average, all within 0.3" if state == "idle" else "")
    for each in (table, cpu):
        Console().print(each)


def plot(stages: tuple[str, ...], took: np.ndarray, shares: dict[str, float], path: Path) -> None:
    """Draw Fig. 3.5–3.14 in one, and Fig. 3.15."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(2, 1, figsize=(10, 8), layout="constrained")
    for column, stage in enumerate(stages):
        above.plot(1e6 * took[:, column], ".", markersize=2, label=stage)
    above.axhline(113, color="black", linestyle=":", label="document: all of it")
    above.set(yscale="log", xlabel="cycle", ylabel="µs", title="Fig. 3.5–3.14: the stages of a cycle")
    above.legend(ncols=4, markerscale=4)
    below.barh(list(shares)[::-1], list(shares.values())[::-1])
    below.axvline(7.6, color="black", linestyle=":", label="document")
    below.set(xlabel="% of a core", title="Fig. 3.15: share of a core")
    below.legend()
    for axes in (above, below):
        axes.grid(alpha=0.3)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path)


def main() -> None:
    """Measure, print, draw."""
    stages, took, shares = measure(float(sys.argv[1]) if len(sys.argv) > 1 else 10.0)
    show(stages, took, shares)
    plot(stages, took, shares, RESULTS / "hubo_timing.png")


if __name__ == "__main__":
    main()
