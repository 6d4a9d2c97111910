"""The package +wholebody for Octave and MATLAB: put into a folder and built there."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from wholebody.channels.languages.c_library import CHANNELS
from wholebody.errors import MissingProgram

SOURCES = Path(__file__).parent / "octave"
BUILT = "wholebody_channel.mex"


def default_folder() -> Path:
    """Where it goes unless told otherwise: to this user's data."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "wholebody" / "octave"


def copy(folder: Path) -> Path:
    """Put the package and the sources of its MEX function into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(SOURCES / "+wholebody", folder / "+wholebody", dirs_exist_ok=True)
    for source in (SOURCES / "wholebody_channel.c", CHANNELS / "ring.c", CHANNELS / "ring.h"):
        shutil.copy(source, folder)
    return folder


def build(folder: Path) -> None:
    """Build the MEX function for Octave; MissingProgram if mkoctfile is not there, or fails."""
    with tempfile.TemporaryDirectory(dir=folder) as made:
        sources = [str(folder / name) for name in ("wholebody_channel.c", "ring.c")]
        command = ["mkoctfile", "--mex", "-o", str(Path(made) / BUILT), *sources]
        try:
            run = subprocess.run(command, cwd=made, capture_output=True, text=True)
        except FileNotFoundError:
            raise MissingProgram("there is no mkoctfile: apt install octave liboctave-dev") from None
        if run.returncode:
            raise MissingProgram(f"mkoctfile fails: {run.stderr.strip()}")
        os.replace(Path(made) / BUILT, folder / BUILT)
