"""Films and filmstrips of a run: pictures at even intervals of simulated time, into an MP4 or a PNG file."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadSimulation, MissingExtra
from wholebody.robots.robot import Robot
from wholebody.simulation.cameras import PORTRAIT, TRACKING
from wholebody.simulation.simulation import Simulation

FRAMES_PER_SECOND = 30
MOMENTS = 6


class Recording:
    """Call look() after every advance(); the file is written on leaving the `with` block, whatever happened."""

    def __init__(
        self,
        path: str | Path,
        seconds: float,
        camera: str = TRACKING,
        size: tuple[int, int] | None = None,
        rate: float = FRAMES_PER_SECOND,
    ) -> None:
        """Into a film at a rate, or into a filmstrip of MOMENTS; seconds is how long the run takes."""
        self._path = Path(path)
        self._camera = camera
        self._next = 0.0
        self._film: Any = None
        self._pictures: list[Image] = []
        folder = self._path.parent
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            raise BadSimulation(f"nothing can be written into {folder}; name a folder that exists and is yours")
        if self._path.suffix == ".mp4":
            self._interval, self._size = 1 / rate, size or (640, 480)
            self._film = _open_film(self._path, rate, self._size)
        elif self._path.suffix == ".png":
            self._interval, self._size = seconds / (MOMENTS - 1), size or (240, 300)
        else:
            raise BadSimulation(f"'{self._path.name}' is neither a film (.mp4) nor a filmstrip (.png)")

    def look(self, simulation: Simulation) -> None:
        """Take a picture if it is time for one."""
        if simulation.time < self._next - simulation.period / 2:
            return
        self._next += self._interval
        self.add(simulation)

    def add(self, simulation: Simulation) -> None:
        """Take a picture."""
        picture = simulation.image(self._camera, *self._size)
        if self._film is not None:
            self._film.send(np.ascontiguousarray(picture))
        else:
            self._pictures.append(picture)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Write the file."""
        if self._film is not None:
            self._film.close()
        elif self._pictures:
            write_png(self._path, side_by_side(self._pictures))


def _open_film(path: Path, rate: float, size: tuple[int, int]) -> Any:
    """Start ffmpeg; what is returned takes pictures by send(), the first of which is None."""
    try:
        import imageio_ffmpeg
    except ImportError as error:
        raise MissingExtra("imageio-ffmpeg", "film") from error
    film = imageio_ffmpeg.write_frames(str(path), size, fps=rate, codec="libx264", quality=7, macro_block_size=16)
    film.send(None)
    return film


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
