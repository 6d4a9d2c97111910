"""Pictures: a robot in a posture, several pictures side by side, and files of them."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadSimulation
from wholebody.robots.robot import Robot
from wholebody.simulation.cameras import PORTRAIT
from wholebody.simulation.simulation import Simulation

Image = npt.NDArray[np.uint8]
"""Height × width × 3: red, green, blue."""


def portrait(robot: Robot, postures: Sequence[str] = ("home", "stand"), width: int = 320, height: int = 400) -> Image:
    """The robot in postures it has, side by side; each picture is that wide and high."""
    known: list[str | None] = [posture for posture in postures if posture in robot.postures]
    with Simulation(robot, physics=False) as simulation:
        simulation.view = PORTRAIT
        pictures = []
        for posture in known or [None]:
            simulation.reset(posture)
            pictures.append(simulation.image(width=width, height=height))
    return side_by_side(pictures)


def side_by_side(pictures: Sequence[Image], columns: int | None = None) -> Image:
    """Put pictures of one size into rows of so many columns; all in one row by default."""
    if not pictures:
        raise BadSimulation("there is no picture to show")
    columns = columns or len(pictures)
    blank = np.full_like(pictures[0], 255)
    rows = [list(pictures[start : start + columns]) for start in range(0, len(pictures), columns)]
    rows[-1] += [blank] * (columns - len(rows[-1]))
    return np.vstack([np.hstack(row) for row in rows])


def write_png(path: str | Path, image: Image) -> None:
    """Write a PNG file; colours are kept to 6 bits each, which nobody sees and makes the file smaller."""
    height, width, _ = image.shape
    coarse = (image & 0xFC) | (image >> 6)
    # Each line is stored as its difference from the one above (filter 2), which compresses well.
    lines = np.empty((height, 1 + 3 * width), np.uint8)
    flat = coarse.reshape(height, 3 * width)
    lines[:, 0], lines[0, 1:], lines[1:, 1:] = 2, flat[0], flat[1:] - flat[:-1]
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    chunks = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    ]
    Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))
