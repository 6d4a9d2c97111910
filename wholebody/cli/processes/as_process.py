"""How a module of ours is a process: python -m wholebody.cli.MODULE WORD …"""

from __future__ import annotations

import sys
from collections.abc import Callable

from wholebody.errors import WholebodyError


def as_process(name: str, main: Callable[..., None]) -> None:
    """Run it with the words of the command line; an error of ours becomes a line, and status 1."""
    try:
        main(*sys.argv[1:])
    except WholebodyError as error:
        print(f"{name}: {error}", file=sys.stderr, flush=True)
        sys.exit(1)
