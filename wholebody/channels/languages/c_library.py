"""The library of channels for C and C++: built once for this user; the flags that compile and link with it."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from wholebody import __version__
from wholebody.channels import directory
from wholebody.errors import MissingProgram

CHANNELS = Path(directory.__file__).parent
INCLUDE = Path(__file__).parent / "include"
SOURCE = CHANNELS / "ring.c"
FLAGS = ("-std=c11", "-O2", "-fPIC", "-pthread")
"""With which the library is compiled; position-independent, so that it can be part of plug-ins."""


@dataclass(frozen=True)
class Library:
    """A built library: what compiles a program's sources, and what links the program."""

    folder: Path

    @property
    def compile_flags(self) -> list[str]:
        """Where the headers are."""
        return [f"-I{CHANNELS}", f"-I{INCLUDE}"]

    @property
    def link_flags(self) -> list[str]:
        """The archive, which is no C source, so that compilers of C and of C++ take it."""
        return [f"-L{self.folder}", "-lwholebody", "-pthread"]

    @property
    def pkg_config(self) -> Path:
        """The folder of wholebody.pc, for PKG_CONFIG_PATH."""
        return self.folder


def build() -> Library:
    """Build the library, unless this version of it is there; MissingProgram without a compiler of C."""
    folder = _cache() / _version()
    if not (folder / "wholebody.pc").exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            _compile(Path(made))
            (Path(made) / "wholebody.pc").write_text(_pkg_config(Library(folder)))
            _move(Path(made), folder)
    return Library(folder)


def _version() -> str:
    """The library's sources and flags in 16 digits: another version of them is built beside this one."""
    digest = hashlib.sha256(repr((FLAGS, str(CHANNELS), _compiler())).encode())
    for file in (SOURCE, CHANNELS / "ring.h", Path(__file__)):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wholebody" / "c"


def _compiler() -> list[str]:
    return shlex.split(os.environ.get("CC", "")) or ["gcc" if shutil.which("gcc") else "cc"]


def _compile(folder: Path) -> None:
    made = folder / "ring.o"
    for command in (
        [*_compiler(), *FLAGS, "-c", str(SOURCE), "-o", str(made)],
        ["ar", "rcs", str(folder / "libwholebody.a"), str(made)],
    ):
        try:
            run = subprocess.run(command, capture_output=True, text=True)
        except OSError as error:
            raise MissingProgram(f"there is no compiler '{command[0]}': apt install gcc, or set CC") from error
        if run.returncode:
            raise MissingProgram(f"{shlex.join(command)} fails: {run.stderr.strip()}")
    made.unlink()


def _move(made: Path, folder: Path) -> None:
    """Give the files their place; another process may have done so meanwhile."""
    folder.mkdir(exist_ok=True)
    for name in ("libwholebody.a", "wholebody.pc"):
        os.replace(made / name, folder / name)


def _pkg_config(library: Library) -> str:
    def flags(words: list[str]) -> str:
        return " ".join(word.replace(" ", "\\ ") for word in words)

    return (
        "Name: wholebody\n"
        "Description: Channels in shared memory between robots and their controllers\n"
        f"Version: {__version__}\n"
        f"Cflags: {flags(library.compile_flags)}\n"
        f"Libs: {flags(library.link_flags)}\n"
    )
