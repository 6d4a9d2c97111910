"""The options that several commands have: one spelling, one unit and one meaning each, declared here alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Command = TypeVar("Command", bound=Callable[..., None])


def context(**settings: Any) -> Callable[[Command], Command]:
    """Give a command settings of its context, such as ignore_unknown_options."""

    def give(command: Command) -> Command:
        vars(command)["context_settings"] = settings
        return command

    return give
