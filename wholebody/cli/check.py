"""wholebody check: say what is wrong with a configuration or a key-frame motion, without running it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from wholebody.errors import BadConfiguration


def check(
    file: Annotated[
        str, typer.Argument(help="A YAML file, or a ready configuration or motion by name; none: list them.")
    ] = "",
    schema: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Write the JSON schema of configurations, for editors, and end.")
    ] = None,
) -> None:
    """Read a configuration, load its robot, make everything it names, and say what it is; or what is wrong, and where.

    Of key frames, such as atlas/roll_left, show the static stability margin of each. Exit code 1 if something is wrong.
    """
    console = Console(highlight=False, soft_wrap=True)
    if schema is not None:
        from wholebody.configuration.schema import json_schema

        schema.write_text(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        console.print(f"{schema}: first line of a configuration: # yaml-language-server: $schema={schema}")
        return
    from wholebody.cli import motion as motions
    from wholebody.configuration.reading import find, read, ready
    from wholebody.motion import files

    if not file:
        for name in ready():
            first = find(name).read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
            console.print(f"[bold]{name}[/]  {first}")
        console.print(f"motions: {', '.join(files.everything())}")
        return
    motion = files.find(file)
    if motion is not None:
        motions.check(motion)
        return
    begun = time.perf_counter()
    from wholebody.configuration.building import build

    try:
        built = build(read(file))
    except BadConfiguration as error:
        for line in error.problems if len(error.problems) > 1 else [str(error)]:
            console.print(line, markup=False)
        raise typer.Exit(1) from None
    settings, problem = built.settings, built.compound.problem
    console.print(f"[bold]{file}[/] is well ({time.perf_counter() - begun:.2f} s)")
    console.print(f"{settings.name}: {settings.robot}, {settings.controller.type}, {settings.servo_frequency:g} Hz")
    for level in problem.levels:
        priority = built.compound.priority(level[0].name)
        console.print(f"  priority {priority}: {', '.join(f'{each.name} ({each.state})' for each in level)}")
    held = ", ".join(f"{each.name} ({each.state})" for each in problem.constraints)
    console.print(f"  constraints: {held or 'none'}")
    for binding in built.bindings:
        console.print(f"  {binding}", markup=False)
    for name, expression in built.events.items():
        console.print(f"  event {name}: {expression}", markup=False)
