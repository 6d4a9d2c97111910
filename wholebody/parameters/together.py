"""Several values set at once: all of them, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from wholebody.errors import BadParameter, WholebodyError


def set_together(
    values: Mapping[str, Any],
    get: Callable[[str], Any],
    set: Callable[[str, Any], object],
    where: Callable[[str], str] = lambda path: path,
) -> None:
    """Set values by path, or, if one of them cannot be taken, none; the error says where the wrong one stands.

    Some fit only after others, such as a shorter step after a shorter double support: what is refused is tried again
    as long as others are taken meanwhile.
    """
    before: dict[str, Any] = {}
    waiting = list(values)
    while waiting:
        refused: dict[str, WholebodyError] = {}
        for path in waiting:
            try:
                old = get(path)
                set(path, values[path])
                before[path] = old
            except WholebodyError as error:
                refused[path] = error
        if len(refused) == len(waiting):
            for path, old in reversed(before.items()):
                set(path, old)
            wrong, why = next(iter(refused.items()))
            raise BadParameter(f"{where(wrong)}: {why}") from why
        waiting = list(refused)
