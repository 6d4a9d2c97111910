"""wholebody process: one of the processes that other commands begin, by its role."""

from __future__ import annotations

from typing import Annotated

import typer

from wholebody.processes import main

CONTEXT = {"ignore_unknown_options": True, "help_option_names": []}
"""Options, also --help, are those of the role."""


def process(words: Annotated[list[str] | None, typer.Argument(metavar="ROLE --OPTION VALUE …")] = None) -> None:
    """Be one process of a robot, such as its walking controller; --help lists them, ROLE --help their options.

    \b
      wholebody process walk --name robot
      wholebody process walk --help
    """
    main.main(words or ["--help"])
