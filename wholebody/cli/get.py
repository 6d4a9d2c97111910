"""wholebody get: the value of a parameter of a running controller."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from wholebody.cli.params import ConnectOption, ControllerOption, NameOption, plain, reach
from wholebody.parameters.reflection import in_words


def get(
    path: Annotated[str, typer.Argument(help="Such as tasks.right_hand.goal; `wholebody params` lists them.")],
    controller: ControllerOption = "",
    name: NameOption = "",
    connect: ConnectOption = "",
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Say what a parameter is now."""
    value = reach(controller, name, connect, path).get(path)
    print(json.dumps(plain(value)) if as_json else in_words(value))
