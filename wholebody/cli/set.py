"""wholebody set: change a parameter of a running controller."""

from __future__ import annotations

from typing import Annotated

import typer

from wholebody.cli.params import ConnectOption, ControllerOption, NameOption, reach
from wholebody.errors import BadParameter
from wholebody.parameters.reflection import in_words

CONTEXT = {"ignore_unknown_options": True}
"""A number below zero is no option."""


def set(
    path: Annotated[str, typer.Argument(help="Such as tasks.right_hand.goal; `wholebody params` lists them.")],
    values: Annotated[list[str], typer.Argument(help="A number, a number for each row, or the name of a state.")],
    controller: ControllerOption = "",
    name: NameOption = "",
    connect: ConnectOption = "",
) -> None:
    """Change a parameter, checked against its bounds; say what it is then.

    \b
      wholebody set tasks.right_hand.goal 0.4 -0.2 1.0
      wholebody set tasks.right_hand.state disabled
      wholebody set tasks.posture.priority 3
      wholebody set gait.step_time 0.7 --controller walk
      wholebody set filter.RSP.mode smooth
    """
    remote = reach(controller, name, connect, path)
    about = remote.about(path)
    if about.kind == "state" and len(values) == 1:
        print(in_words(remote.set(path, values[0])))
        return
    try:
        numbers = [float(each) for each in values]
    except ValueError:
        raise BadParameter(f"{path} must be numbers, not {' '.join(values)!r}") from None
    print(in_words(remote.set(path, numbers if len(numbers) > 1 else numbers[0])))
