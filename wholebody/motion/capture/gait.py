"""CapturedGait: one cycle of a captured gait: which limb bears when, how each swings, how far the body gets.

A limb bears while its speed is below a tenth of its greatest and it is near its own ground. The cycle is cut where
every limb swings exactly once, one after the other, and all go the same way by the most even steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter1d, median_filter

from wholebody.errors import CannotImitate
from wholebody.motion.capture.capture import Capture
from wholebody.motion.trajectory import Array

Flags = npt.NDArray[np.bool_]

CRAWLING = ("left_wrist", "right_wrist", "left_knee", "right_knee")
WALKING = ("left_ankle", "right_ankle")
ROOTS = {"wrist": "shoulder", "knee": "hip", "ankle": "hip"}
"""The body part that a limb hangs from."""

SLOW = 0.1  # of its greatest speed
LOW = 0.10  # of a leg's length over its ground
GAIT = 0.35  # of a leg's length: all limbs are lower while the gait goes on
SMOOTHING = 0.03  # s, of speeds
SHORTEST = 0.10  # s, of a stance or a swing
LEAST = 0.3  # of the longest step: shorter ones are corrections and no swings
SAMPLES = 41  # of a swing


@dataclass(frozen=True, eq=False)
class Swing:
    """A limb's way through the air, from lift to touchdown (frames).

    step is how far it gets, in world. along (from 0 to 1 of the step) and height (metres over its ground) are at even
    times from lift to touchdown.
    """

    limb: int
    lift: int
    touchdown: int
    step: Array
    along: Array
    height: Array

    @property
    def middle(self) -> float:
        """The frame half-way."""
        return (self.lift + self.touchdown) / 2


@dataclass(frozen=True, eq=False)
class CapturedGait:
    """One cycle of a gait.

    limbs     body parts that bear, by whose places all arrays are ordered
    bearing   frames × limbs: which bears when, of the whole capture
    swings    one of each limb, in the order of their middles
    period    seconds of a cycle
    stride    metres that the body gets in a cycle
    heading   angle about z of the direction of motion, rad
    reach     limbs × 3: the limb from its root (hip or shoulder) while it bears, on average over the cycle
              and both sides; x along the direction of motion, y to the left
    """

    capture: Capture
    limbs: tuple[str, ...]
    bearing: Flags
    swings: tuple[Swing, ...]
    period: float
    stride: float
    heading: float
    reach: Array

    @classmethod
    def of(cls, capture: Capture, limbs: Sequence[str] | None = None) -> CapturedGait:
        """Cut the best cycle; CannotImitate if no cycle is found. limbs: by default those of crawling or walking."""
        chosen = tuple(limbs) if limbs is not None else supporting_limbs(capture)
        flags = bearing(capture, chosen)
        swings = list(_swings(capture, chosen, flags))
        cycle = _best_cycle(swings, len(chosen))
        if cycle is None:
            seen = ", ".join(chosen[swing.limb] for swing in swings) or "none"
            raise CannotImitate(
                f"{capture.source} shows no cycle in which {', '.join(chosen)} each swing once, in one direction; "
                f"swings seen: {seen}"
            )
        x, y = np.mean([swing.step[:2] for swing in cycle], axis=0)
        heading, period = float(np.arctan2(y, x)), _period(cycle, swings) * capture.frame_time
        reach = _reach(capture, chosen, flags, cycle, heading)
        return cls(capture, chosen, flags, cycle, period, float(np.linalg.norm((x, y))), heading, reach)

    @property
    def durations(self) -> Array:
        """Seconds of each swing."""
        return np.array([swing.touchdown - swing.lift for swing in self.swings]) * self.capture.frame_time

    @property
    def pauses(self) -> Array:
        """Seconds before each swing in which all limbs bear."""
        downs = [self.swings[-1].touchdown - self.period / self.capture.frame_time]
        downs += [swing.touchdown for swing in self.swings[:-1]]
        lifts = [swing.lift for swing in self.swings]
        return np.maximum(np.array(lifts) - downs, 0.0) * self.capture.frame_time

    @property
    def frames(self) -> tuple[int, int]:
        """The first frame of the cycle and the one after its last."""
        first = self.swings[0].lift
        return first, min(first + round(self.period / self.capture.frame_time), len(self.bearing))

    @cached_property
    def trunk(self) -> Array:
        """The way of the pelvis in the frames of the cycle, along and across in strides, made to get one stride far."""
        first, last = self.frames
        way = self.capture.part("pelvis")[first:last, :2] @ facing(self.heading)[:2, :2].T / self.stride
        way -= way[0]
        return np.asarray(way + np.linspace(0.0, 1.0, len(way))[:, None] * (np.array([1.0, 0.0]) - way[-1]))


def supporting_limbs(capture: Capture) -> tuple[str, ...]:
    """Wrists and knees if they are on the ground for a while together, else the ankles."""
    crawls = _near_ground(capture, CRAWLING).sum() * capture.frame_time > 1.0
    return CRAWLING if crawls else WALKING


def bearing(capture: Capture, limbs: Sequence[str]) -> Flags:
    """Frames × limbs: whether a limb bears; what lasts too short is no change."""
    window = 2 * round(SHORTEST / capture.frame_time / 2) + 1
    columns = []
    for limb in limbs:
        speed, height = _speed(capture, limb), _height(capture, limb)
        still = (speed < SLOW * speed.max()) & (height < LOW * _leg(capture))
        columns.append(median_filter(still.astype(np.int8), window, mode="nearest").astype(bool))
    return np.stack(columns, axis=1)


def _leg(capture: Capture) -> float:
    return capture.length("left_hip", "left_knee", "left_ankle")


def _speed(capture: Capture, limb: str) -> Array:
    """Horizontal speed, m/s, smoothed."""
    smooth = gaussian_filter1d(capture.part(limb)[:, :2], SMOOTHING / capture.frame_time, axis=0)
    if len(smooth) < 2:
        raise CannotImitate(f"{capture.source} has {len(smooth)} frame; a motion has more")
    return np.asarray(np.linalg.norm(np.gradient(smooth, capture.frame_time, axis=0), axis=1))


def _height(capture: Capture, limb: str) -> Array:
    """Over the limb's own ground: where it is lowest, but for a hundredth of the frames."""
    z = capture.part(limb)[:, 2]
    return np.asarray(z - np.quantile(z, 0.01))


def _near_ground(capture: Capture, limbs: Sequence[str]) -> Flags:
    low = [_height(capture, limb) < GAIT * _leg(capture) for limb in limbs]
    trunk = np.abs(capture.part("left_shoulder")[:, 2] - capture.part("left_hip")[:, 2])
    prone = trunk < 0.7 * capture.length("left_hip", "left_shoulder")
    return np.asarray(np.logical_and.reduce([*low, prone] if "left_wrist" in limbs else low))


def _swings(capture: Capture, limbs: Sequence[str], flags: Flags) -> Iterator[Swing]:
    """All swings that begin and end on the ground while the gait goes on, in the order of their middles."""
    near = _near_ground(capture, limbs)
    found = []
    for index, limb in enumerate(limbs):
        place = gaussian_filter1d(capture.part(limb), SMOOTHING / capture.frame_time, axis=0)
        changes = np.flatnonzero(np.diff(flags[:, index].astype(np.int8)))
        for lift, touchdown in pairwise(changes):
            if flags[lift, index] and near[lift : touchdown + 1].all():
                found.append(_swing(index, int(lift), int(touchdown) + 1, place))
    longest = max((np.linalg.norm(swing.step[:2]) for swing in found), default=0.0)
    kept = [swing for swing in found if np.linalg.norm(swing.step[:2]) > LEAST * longest]
    yield from sorted(kept, key=lambda swing: swing.middle)


def _swing(limb: int, lift: int, touchdown: int, place: Array) -> Swing:
    way = place[lift : touchdown + 1]
    step = way[-1] - way[0]
    square = max(float(step[:2] @ step[:2]), 1e-12)
    along = (way[:, :2] - way[0, :2]) @ step[:2] / square
    share = np.linspace(0.0, 1.0, len(way))
    height = np.maximum(way[:, 2] - way[0, 2] - share * step[2], 0.0)
    even = np.linspace(0.0, 1.0, SAMPLES)
    ends = np.minimum(1.0, 5 * np.minimum(even, 1 - even))  # smoothed, but down at both ends
    smooth = gaussian_filter1d(np.interp(even, share, height), 2.0) * ends
    return Swing(limb, lift, touchdown, step, np.interp(even, share, along), smooth)


def _best_cycle(swings: Sequence[Swing], count: int) -> tuple[Swing, ...] | None:
    """As many swings in a row as there are limbs, of different limbs, whose steps differ least from their mean."""
    best, least = None, 0.8
    for first in range(len(swings) - count + 1):
        cycle = tuple(swings[first : first + count])
        if len({swing.limb for swing in cycle}) < count:
            continue
        steps = np.array([swing.step[:2] for swing in cycle])
        mean = steps.mean(axis=0)
        uneven = float(np.linalg.norm(steps - mean, axis=1).max() / max(np.linalg.norm(mean), 1e-9))
        if uneven < least:
            best, least = cycle, uneven
    return best


def _period(cycle: Sequence[Swing], swings: Sequence[Swing]) -> float:
    """Frames of a cycle: until its first limb lifts again, or until its last limb is down and the usual pause is over.

    The former only if that limb is the next to swing after the cycle.
    """
    later = [swing for swing in swings if swing.middle > cycle[-1].middle]
    if later and later[0].limb == cycle[0].limb:
        return float(later[0].lift - cycle[0].lift)
    pauses = [max(after.lift - before.touchdown, 0) for before, after in pairwise(cycle)]
    return float(max(swing.touchdown for swing in cycle) - cycle[0].lift + np.mean(pauses))


def _reach(capture: Capture, limbs: Sequence[str], flags: Flags, cycle: Sequence[Swing], heading: float) -> Array:
    first, last = cycle[0].lift, max(swing.touchdown for swing in cycle)
    turn, reach = facing(heading), []
    for index, limb in enumerate(limbs):
        side, part = limb.split("_")
        away = capture.part(limb) - capture.part(f"{side}_{ROOTS[part]}")
        bears = flags[first:last, index]
        reach.append(turn @ away[first:last][bears if bears.any() else slice(None)].mean(axis=0))
    mirrored = [limbs.index(_other_side(limb)) for limb in limbs]
    return np.asarray((np.array(reach) + np.array(reach)[mirrored] * (1.0, -1.0, 1.0)) / 2)


def facing(heading: float) -> Array:
    """The rotation from the world into axes whose x points along a heading, z up."""
    c, s = np.cos(heading), np.sin(heading)
    return np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])


def _other_side(limb: str) -> str:
    side, part = limb.split("_")
    return f"{'right' if side == 'left' else 'left'}_{part}"


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
