"""Pictures of a captured motion: the skeleton at even times, from the side, as a strip."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from wholebody.motion.capture import Capture
from wholebody.motion.captured_gait import Flags

LEFT, RIGHT, MIDDLE, BEARS = "tab:blue", "tab:red", "0.35", "black"


def draw_strip(
    capture: Capture, path: str | Path, moments: int = 8, limbs: tuple[str, ...] = (), bearing: Flags | None = None
) -> None:
    """Draw a skeleton at so many moments into a PNG file; limbs that bear have a black dot.

    It is seen from its right: up is up, and to the right is where the pelvis faces, mostly.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    ahead = np.sum(capture.turn("pelvis")[:, :2, 0], axis=0)
    ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-9)
    frames = np.unique(np.linspace(0, len(capture.positions) - 1, moments).astype(int))
    figure = Figure(figsize=(2.2 * len(frames), 2.8), layout="constrained")
    FigureCanvasAgg(figure)
    grid: Any = figure.subplots(1, len(frames), squeeze=False, sharey=True)
    tall = max(1.2, float(capture.positions[frames, :, 2].max()) + 0.1)
    for axes, frame in zip(grid[0], frames, strict=True):
        places = capture.positions[frame]
        flat = np.column_stack([places[:, :2] @ ahead, places[:, 2]])
        for index, node in enumerate(capture.skeleton.nodes):
            if node.parent >= 0:
                axes.plot(*flat[[node.parent, index]].T, color=_colour(node.name), linewidth=2)
        for limb, bears in zip(limbs, bearing[frame] if bearing is not None else (), strict=False):
            if bears:
                axes.plot(*flat[capture.parts[limb]], "o", color=BEARS, markersize=5)
        middle = flat[capture.parts["pelvis"], 0]
        axes.set(xlim=(middle - 0.9, middle + 0.9), ylim=(-0.15, tall), aspect="equal")
        axes.set_title(f"{frame * capture.frame_time:.2f} s", fontsize=9)
        axes.axhline(0.0, color="0.7", linewidth=1)
        axes.tick_params(labelsize=7)
    figure.savefig(path, dpi=100)


def _colour(name: str) -> str:
    """Left and right apart."""
    small = name.lower()
    if small.startswith(("left", "l_")) or small.endswith((".l", "_l")) or name.startswith("L"):
        return LEFT
    if small.startswith(("right", "r_")) or small.endswith((".r", "_r")) or name.startswith("R"):
        return RIGHT
    return MIDDLE
