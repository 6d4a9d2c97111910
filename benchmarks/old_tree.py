"""Where the old tree is that the new one is measured against, and how a process of either is started."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
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


def old_daemon_tree() -> Tree:
    """As much of the old tree as its daemon needs: made in seconds, and run by this Python."""
    if os.environ.get("WHOLEBODY_OLD_TREE"):
        return old_tree()
    script = (TREE / "tools" / "old_tree").read_text()
    commit = next(line.partition("=")[2] for line in script.splitlines() if line.startswith("commit="))
    folder = cache_folder() / f"old_daemon_{commit}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
            tree = Path(unfinished) / "tree"
            tree.mkdir()
            packed = subprocess.run(
                ["git", "archive", commit, "wholebody"], cwd=TREE, stdout=subprocess.PIPE, check=True
            )
            subprocess.run(["tar", "-x", "-C", tree], input=packed.stdout, check=True)
            source = tree / "wholebody" / "daemon" / "kernels.c"
            flags = ["-std=c11", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-DPy_LIMITED_API=0x030B0000"]
            include = f"-I{sysconfig.get_path('include')}"
            subprocess.run(["gcc", *flags, include, source, "-o", source.with_name("_kernels.abi3.so")], check=True)
            tree.rename(folder)
    return Tree(folder, Path(sys.executable))


def cache_folder() -> Path:
    """Of this project, in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wholebody"
