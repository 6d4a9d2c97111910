"""Films and filmstrips of a run: pictures at even intervals of simulated time, into an MP4 or a PNG file."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from wholebody.errors import BadSimulation, MissingExtra
from wholebody.simulation.cameras import TRACKING
from wholebody.simulation.pictures import Image, side_by_side, write_png
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
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
