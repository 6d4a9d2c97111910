"""What remains of a walk: a report with a plot."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from wholebody.operator.recordings.world import WalkedWorld
from wholebody.robots.robot import Robot


def write_report(out: Path, robot: Robot, world: WalkedWorld, stabilizer: str, seconds: float) -> None:
    """A page of text, and a plot if there is something to draw with."""
    lines = [f"# {robot.title or robot.name} walks", "", world.summary(seconds), "", f"Stabilizer: {stabilizer}.", ""]
    lines += ["| time/s | done |", "|---|---|", *(f"| {when:.2f} | {what} |" for when, what in world.script.done), ""]
    lines += ["| push at/s | x/N | y/N |", "|---|---|---|"]
    lines += [f"| {when:.2f} | {x:z.0f} | {y:z.0f} |" for when, x, y in world.pushed]
    if world.rows and find_spec("matplotlib"):
        draw(out / "walk.png", np.array(world.rows), world)
        lines += ["", "![the walk](walk.png)"]
    if world.film is not None:
        lines += ["", "![some moments](moments.png)", "", "[film](walk.mp4)"]
    (out / "report.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def draw(path: Path, rows: Any, world: WalkedWorld) -> None:
    """Centre of mass, tilt and what the feet bear, over time."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(3, 1, figsize=(9, 8), sharex=True)
    for column, name in ((1, "x"), (2, "y"), (3, "z")):
        axes[0].plot(rows[:, 0], rows[:, column], label=f"centre of mass, {name}")
    axes[1].plot(rows[:, 0], np.degrees(rows[:, 4]), label="tilt of the pelvis")
    axes[2].plot(rows[:, 0], rows[:, 6], label="left foot")
    axes[2].plot(rows[:, 0], rows[:, 7], label="right foot")
    for axis, unit in zip(axes, ("m", "°", "N"), strict=True):
        axis.set_ylabel(unit)
        axis.grid(alpha=0.3)
        for when, *_ in world.pushed:
            axis.axvline(when, color="tab:red", alpha=0.4)
        axis.legend(loc="upper left", fontsize="small")
    axes[2].set_xlabel("simulated time/s; red: pushed")
    figure.tight_layout()
    figure.savefig(path, dpi=80)
    plt.close(figure)
