"""Where the old tree is that the new one is measured against, and how a process of either is started."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

TREE = Path(__file__).resolve().parents[1]
CHILD = Path(__file__).resolve().parent / "both_trees" / "child.py"


@dataclass(frozen=True)
class Tree:
    """A source tree, and the Python that has what it needs."""

    path: Path
    python: Path

    def command(self, *arguments: str) -> list[str]:
        """What runs the child of both trees."""
        return [str(self.python), str(CHILD), *arguments]

    def environment(self) -> dict[str, str]:
        """In which this tree is the one that is imported."""
        rest = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        return rest | {"PYTHONPATH": str(self.path), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

    def run(self, *arguments: str) -> None:
        """Run the child to its end; its progress goes to our stderr."""
        done = subprocess.run(
            self.command(*arguments), cwd=self.path, env=self.environment(), stdout=sys.stderr, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{self.path.name}: {' '.join(arguments)} ended with {done.returncode}")


def new_tree() -> Tree:
    """This one."""
    return Tree(TREE, Path(sys.executable))


def old_tree() -> Tree:
    """The tree of WHOLEBODY_OLD_TREE and WHOLEBODY_OLD_PYTHON, else the one that tools/old_tree makes."""
    given = os.environ.get("WHOLEBODY_OLD_TREE")
    if given:
        return Tree(Path(given), Path(os.environ.get("WHOLEBODY_OLD_PYTHON") or sys.executable))
    said = subprocess.run([str(TREE / "tools" / "old_tree")], stdout=subprocess.PIPE, text=True, check=True).stdout
    path, python = said.split("\n")[:2]
    return Tree(Path(path), Path(python))


def cache_folder() -> Path:
    """Of this project, in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wholebody"
