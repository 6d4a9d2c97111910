"""The switchboard as a process: python -m wholebody.cli.switchboard_process ENDPOINT; `wholebody run` begins it."""

from __future__ import annotations

import sys

from wholebody.errors import WholebodyError
from wholebody.parameters.far import Switchboard


def main(endpoint: str) -> None:
    """Answer other machines until whoever began it closes the pipe, or dies."""
    with Switchboard(endpoint):
        print("ready", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except WholebodyError as error:
        print(f"switchboard: {error}", file=sys.stderr, flush=True)
        sys.exit(1)
