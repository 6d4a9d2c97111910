"""Clip: where the limbs of a robot go when it imitates a whole captured motion, frame by frame.

All that is horizontal is scaled by the legs, so that limbs that bear stay where they are; heights are scaled by each
limb, over the ground of the captured one. A limb that bears is at the mean of its places meanwhile, and the way
between two such places is bent to fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wholebody.motion.capture import Capture
from wholebody.motion.captured_gait import ROOTS, Flags
from wholebody.motion.trajectory import Array


@dataclass(frozen=True, eq=False)
class Clip:
    """Places of limbs over the ground (frames × limbs × 3), x along where the person faces; the trunk's way.

    neutral are the limbs' mean places under the trunk, from which a robot's own may differ; reach the mean way from
    hip or shoulder, in the person's metres.
    """

    places: Array
    trunk: Array
    neutral: Array
    reach: Array


def scaled_places(capture: Capture, parts: Sequence[str], flags: Flags, scales: Sequence[float], leg: float) -> Clip:
    """The clip of a captured motion."""
    ahead = np.sum(capture.turn("pelvis")[:, :2, 0], axis=0)  # where the pelvis faces, the more the more level it is
    angle = np.arctan2(ahead[1], ahead[0])
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    pelvis = capture.part("pelvis") @ turn.T
    places, reach = [], []
    for part, flag, scale in zip(parts, flags.T, scales, strict=True):
        side, kind = part.split("_")
        way = capture.part(part) @ turn.T - (*pelvis[0, :2], 0.0)
        ground = float(np.median(way[flag, 2])) if flag.any() else float(way[:, 2].min())
        way[:, 2] = np.maximum(scale * (way[:, 2] - ground), 0.0)
        way[:, :2] *= leg
        places.append(grounded(way, flag))
        root = capture.part(f"{side}_{ROOTS[kind]}") @ turn.T
        used = flag if flag.any() else np.ones(len(flag), bool)
        reach.append((capture.part(part) @ turn.T - root)[used].mean(axis=0))
    trunk = leg * (pelvis[:, :2] - pelvis[0, :2])
    stacked = np.stack(places, axis=1)
    neutral = np.zeros((len(parts), 3))
    for index, flag in enumerate(flags.T):
        used = flag if flag.any() else np.ones(len(flag), bool)
        neutral[index, :2] = (stacked[used, index, :2] - trunk[used]).mean(axis=0)
    return Clip(stacked, trunk, neutral, np.array(reach))


def grounded(way: Array, flag: Flags) -> Array:
    """A limb's way that stands still, at height 0, wherever the limb bears; what is between is shifted to fit."""
    edges = np.flatnonzero(np.diff(flag.astype(np.int8))) + 1
    parts = [part for part in np.split(np.arange(len(way)), edges) if flag[part[0]]]
    if not parts:
        return way
    knots, shifts = [], []
    for part in parts:
        place = np.array([*way[part, :2].mean(axis=0), 0.0])
        knots += [part[0], part[-1]] if len(part) > 1 else [part[0]]
        shifts += [place - way[part[0]], place - way[part[-1]]] if len(part) > 1 else [place - way[part[0]]]
    every = np.arange(len(way))
    moved = way + np.column_stack([np.interp(every, knots, axis) for axis in np.array(shifts).T])
    for part in parts:
        moved[part] = [*way[part, :2].mean(axis=0), 0.0]
    moved[:, 2] = np.maximum(moved[:, 2], 0.0)
    return np.asarray(moved)
