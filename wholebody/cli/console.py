"""wholebody console: tell the robot what to do, joint by joint."""

from __future__ import annotations

import contextlib
import os
import readline
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from wholebody.cli import options
from wholebody.errors import WholebodyError
from wholebody.operator.console.commands import COMMANDS, execute, find
from wholebody.operator.console.session import EVERY, Session
from wholebody.parameters.verbs import Verb
from wholebody.processes.launch_plan import FILTERS

HISTORY_LINES = 1000


def console(
    name: options.Name = "",
    command: Annotated[
        str, typer.Option("--command", "-c", help="Do this and leave; several commands with ; between them.")
    ] = "",
) -> None:
    """Home, move, reset and stop the robot, joint by joint; `help` lists the commands.

    \b
      wholebody console -c "goto RSP 0.1; status RSP"

    With -c, or commands on the standard input, the first one that fails ends it, with exit code 1.
    """
    session = Session(name)
    try:
        if command:
            run_lines(session, command.split(";"))
        elif sys.stdin.isatty():
            converse(session)
        else:
            run_lines(session, [part for line in sys.stdin for part in line.split(";")])
    finally:
        session.close()


def run_lines(session: Session, lines: list[str]) -> None:
    """Do one line after the other, until the end, `quit` or an error."""
    for line in lines:
        if not session.ended:
            execute(session, line)


def converse(session: Session) -> None:
    """Read lines from a person, with completion and history; an error is shown, and the next line read."""
    prepare_editing(session)
    session.say(f"{len(session.joints)} joints; `help` lists the commands, Tab completes, Ctrl-D leaves")
    while not session.ended:
        try:
            line = input(f"{session.name}> ")
        except EOFError:
            print()
            break
        except KeyboardInterrupt:
            print()
            continue
        try:
            for part in line.split(";"):
                execute(session, part)
        except WholebodyError as error:
            session.output.print(f"{error}", style="red", markup=False, soft_wrap=True)
        except KeyboardInterrupt:
            session.say("broken off")
    with contextlib.suppress(OSError):
        readline.write_history_file(history_file())


def prepare_editing(session: Session) -> None:
    """Let Tab complete commands and joints, and bring back the lines of last time."""

    def complete(_: str, number: int) -> str | None:
        typed = readline.get_line_buffer()[: readline.get_endidx()]
        found = completions(typed, session.joints, session.goals.verbs)
        return found[number] if number < len(found) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" ;\t\n")
    readline.parse_and_bind("tab: complete")
    readline.set_history_length(HISTORY_LINES)
    with contextlib.suppress(OSError):
        history_file().parent.mkdir(parents=True, exist_ok=True)
        readline.read_history_file(history_file())


def completions(line: str, joints: tuple[str, ...], verbs: Mapping[str, Verb] = {}) -> list[str]:
    """What the last word of a line may become: a command, a verb, a joint, a mode; each with a space behind it."""
    words = line.rpartition(";")[2].lstrip().split(" ")
    typed = words[-1].lower()
    known: list[str] = []
    if len(words) == 1:
        known = [*(command.name for command in COMMANDS), *verbs]
    elif words[0].lower() in verbs:
        return [f"{each.path}=" for each in verbs[words[0].lower()].arguments if each.path.startswith(typed)]
    else:
        with contextlib.suppress(WholebodyError):
            usage = find(words[0]).usage
            known = [*joints, EVERY] if " J" in usage or "[J" in usage else []
            if find(words[0]).name == "help":
                known = [*(command.name for command in COMMANDS), *verbs]
            if find(words[0]).name == "lease" and len(words) == 2:
                known = ["end"]
            if find(words[0]).name == "mode" and len(words) == 3:
                known = list(FILTERS)
    return [f"{word} " for word in known if word.lower().startswith(typed)]


def history_file() -> Path:
    """Where the lines of last time are kept."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "wholebody" / "console_history"
