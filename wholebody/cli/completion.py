"""wholebody completion: what bash needs to complete commands and their options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from wholebody import cli

HEAD = """\
# Completion of wholebody in bash. Written by: wholebody completion
_wholebody() {
    local words
    case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in
"""
TAIL = """\
    esac
    COMPREPLY=()
    [[ $COMP_CWORD == 1 ]] && words="COMMANDS"
    [[ -n $words ]] && mapfile -t COMPREPLY < <(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o bashdefault -o default -F _wholebody wholebody
"""


def completion() -> None:
    """Print what bash needs to complete commands and their options.

    \b
      wholebody completion > ~/.local/share/bash-completion/completions/wholebody
    """
    print(script(typer.main.get_command(cli.application([]))), end="")


def script(command: Any) -> str:
    """The script of a command line."""
    lines = [f"    {pattern}) words='{' '.join(words)}' ;;\n" for pattern, words in _cases(command)]
    return HEAD + "".join(lines) + TAIL.replace("COMMANDS", " ".join(_members(command)))


def _cases(command: Any) -> Iterator[tuple[str, list[str]]]:
    """For the first two words typed, more words before fewer: what may come next."""
    for name, member in _members(command).items():
        for inner, each in _members(member).items():
            yield f"'{name} {inner}'", _options(each)
        yield f"'{name} '*", [*_members(member), *_options(member)]


def _members(command: Any) -> dict[str, Any]:
    return dict(getattr(command, "commands", {}))


def _options(command: Any) -> list[str]:
    options = [each for each in command.params if each.param_type_name == "option" and not each.hidden]
    return [*(name for each in options for name in each.opts if name.startswith("--")), "--help"]
