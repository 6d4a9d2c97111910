"""The switchboard as a process: python -m wholebody.processes.switchboard ENDPOINT; `wholebody run` begins it."""

from __future__ import annotations

import sys

from wholebody.parameters.far import Switchboard
from wholebody.processes.main import as_process


def main(endpoint: str) -> None:
    """Answer other machines until whoever began it closes the pipe, or dies."""
    with Switchboard(endpoint):
        print("ready", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    as_process("switchboard", main)
