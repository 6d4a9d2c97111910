"""wholebody clean, update: remove what ended robots left behind; bring this installation up to date."""

from __future__ import annotations

import subprocess
from pathlib import Path

from wholebody.channels import directory
from wholebody.cli.bench import SOURCE_TREE
from wholebody.errors import HardwareError, MissingProgram, RobotTaken
from wholebody.processes import lifecycle


def clean() -> None:
    """Remove the channels and logs of robots that have ended; nothing that anybody writes.

    After a machine was switched off there is nothing to clean: channels are in memory.
    """
    removed = lifecycle.clean()
    for robot, names in removed.items():
        print(f"removed {len(names)} channels of '{robot}', which nobody writes any more")
    if not removed:
        print(f"there is nothing to clean in {directory.folder()}")


def update() -> None:
    """Fetch the newest version of the sources that this wholebody runs from, and build it. No robot may run meanwhile.

    It stops where the sources have changes of your own that do not fit. A wheel is updated by installing a newer one.
    """
    robots = directory.ThisMachine().written(".tick")
    if robots:
        raise RobotTaken(f"'{robots[0]}' runs, in the version of now; stop it first: wholebody stop --name {robots[0]}")
    before = _said(SOURCE_TREE, "git", "rev-parse", "--short", "HEAD")
    _said(SOURCE_TREE, "git", "pull", "--ff-only", "--quiet")
    after = _said(SOURCE_TREE, "git", "rev-parse", "--short", "HEAD")
    if after == before:
        print(f"{SOURCE_TREE} is the newest already ({after})")
        return
    print(f"{SOURCE_TREE}: {before} is now {after}; building it")
    _said(SOURCE_TREE, "make", "--silent", "page")
    print("done; what runs elsewhere in the version before has to be started again")


def _said(folder: Path, *command: str) -> str:
    """What a command says in a folder; HardwareError with what it says is wrong."""
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise MissingProgram(f"there is no '{command[0]}': apt install git make") from error
    if run.returncode:
        raise HardwareError(f"{' '.join(command)} fails in {folder}: {(run.stderr or run.stdout).strip()}")
    return run.stdout.strip()
