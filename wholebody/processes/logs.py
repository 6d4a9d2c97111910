"""Logs of bounded size: what a robot's processes say for weeks takes a few megabytes, the newest of it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import threading
import time
from pathlib import Path

MOST_BYTES = 4 << 20
"""of a log, before it is put aside"""
KEPT = 3
"""Logs that are put aside: NAME.log.1, the newest, to NAME.log.3."""
LOOK_EVERY = 10.0
"""s"""


def rotate(log: Path, most: int = 0) -> None:
    """Put aside what a log of more than `most` bytes says, and begin it anew.

    The processes that write it go on in the same file, because they append; a line that is written in the very moment
    may be lost. Of several that find it too large, one does this.
    """
    with contextlib.suppress(OSError), log.open("rb+") as file:  # gone, or not ours: then it is somebody else's to do
        fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_size <= most:
            return
        for number in range(KEPT, 1, -1):
            with contextlib.suppress(FileNotFoundError):
                os.replace(f"{log}.{number - 1}", f"{log}.{number}")
        with open(f"{log}.1", "wb") as aside:
            shutil.copyfileobj(file, aside)
        os.ftruncate(file.fileno(), 0)


def keep_small(log: Path, most: int = MOST_BYTES, every: float = LOOK_EVERY) -> None:
    """Have a log put aside whenever it is too large, as long as this process lives."""

    def look() -> None:
        while True:
            time.sleep(every)
            with contextlib.suppress(FileNotFoundError):
                if log.stat().st_size > most:
                    rotate(log, most)

    threading.Thread(target=look, name=f"size of {log}", daemon=True).start()
