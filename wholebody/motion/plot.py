"""plot: positions and velocities of a motion beside their limits, as a PNG picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wholebody.errors import BadMotion, MissingExtra, UnknownName
from wholebody.motion.joint_table import JointTable
from wholebody.motion.limits import Limits
from wholebody.motion.trajectory import Array, Sample, Trajectory

LINE, LIMIT, BEYOND = "#1f5fa8", "#c0392b", "#f6d5d0"
ACROSS = 2  # joints beside each other, each with position and velocity


def plot(
    motion: Trajectory | JointTable,
    limits: Limits,
    path: str | Path,
    *,
    joints: Sequence[str] | None = None,
    title: str = "",
) -> None:
    """Draw position and velocity of each joint over time, with its limits in red where they are near.

    joints: which; by default all that move.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", "plot") from error
    names = motion.names if isinstance(motion, JointTable) else limits.names
    now = _sampled(motion)
    if now.position.shape[1] != len(names):
        raise BadMotion(f"the motion has {now.position.shape[1]} numbers, and there are limits of {len(names)} joints")
    shown = _chosen(names, now.position, joints)
    rows = -(-len(shown) // ACROSS)
    figure = Figure(figsize=(6.2 * ACROSS, 0.7 + 1.55 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    grid: Any = figure.subplots(rows, 2 * ACROSS, sharex=True, squeeze=False)
    for axes in grid.flat[2 * len(shown) :]:
        axes.set_visible(False)
    for place, name in enumerate(shown):
        row, column = place % rows, 2 * (place // rows)
        here, bound = names.index(name), _bound(limits, name)
        _draw(grid[row, column], now.time, now.position[:, here], limits.lower[bound], limits.upper[bound])
        fastest = limits.velocity[bound]
        _draw(grid[row, column + 1], now.time, now.velocity[:, here], -fastest, fastest)
        grid[row, column].set_ylabel(name, fontweight="bold")
        if row == 0:
            grid[row, column].set_title("position [rad or m]", fontsize=9)
            grid[row, column + 1].set_title("velocity [1/s]", fontsize=9)
        if place == len(shown) - 1 or row == rows - 1:
            for axes in grid[row, column : column + 2]:
                axes.tick_params(labelbottom=True)
                axes.set_xlabel("time [s]", fontsize=8)
    if title:
        figure.suptitle(title)
    figure.savefig(path, dpi=110)


def _draw(axes: Any, time: Array, values: Array, lower: float, upper: float) -> None:
    """One curve, its limits as dashed lines where they are not far outside of it, and what is beyond them shaded."""
    low, high = float(values.min()), float(values.max())
    span = max(high - low, 1e-3)
    near = [limit for limit in (lower, upper) if np.isfinite(limit) and low - 1.5 * span < limit < high + 1.5 * span]
    axes.plot(time, values, color=LINE, linewidth=1.4)
    low, high = min([low, *near]) - 0.12 * span, max([high, *near]) + 0.12 * span
    for limit in near:
        axes.axhline(limit, color=LIMIT, linewidth=1.0, linestyle="--")
        axes.axhspan(*((limit, high) if limit == upper else (low, limit)), color=BEYOND, linewidth=0)
    axes.set_ylim(low, high)
    axes.margins(x=0)
    axes.grid(alpha=0.3)
    axes.tick_params(labelsize=7)


def _sampled(motion: Trajectory | JointTable) -> Sample:
    if not isinstance(motion, JointTable):
        return motion.sample(np.linspace(0.0, motion.duration, 600))
    if len(motion.positions) > 1:
        return motion.trajectory().sample(motion.times)
    still = np.zeros_like(motion.positions)
    return Sample(motion.times, motion.positions, still, still)


def _chosen(names: Sequence[str], positions: Array, joints: Sequence[str] | None) -> list[str]:
    if joints is None:
        moving = np.ptp(positions, axis=0) > 1e-6
        return [name for name, moves in zip(names, moving, strict=True) if moves] or list(names[:1])
    for name in joints:
        if name not in names:
            raise UnknownName("joint", name, names)
    return list(joints)


def _bound(limits: Limits, name: str) -> int:
    if name not in limits.names:
        raise UnknownName("limits of joint", name, limits.names)
    return limits.names.index(name)
