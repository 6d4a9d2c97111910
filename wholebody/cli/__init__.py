"""The commands: what a person types; the only place that chooses parts and wires them together.

A command is a function, or a Typer application of several, found by the entry points `wholebody.commands` or in a file:

    [project.entry-points."wholebody.commands"]
    juggle = "my_package.juggling:juggle"
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from wholebody import __version__, plugins
from wholebody.errors import BadConfiguration, WholebodyError

KIND = "commands"
PANELS = {
    "Robots": ("demo", "start", "stop", "stop-button", "service", "status", "read", "console", "robots"),
    "Devices": ("drivers", "device"),
    "Controllers": ("run", "check", "params", "get", "set", "filter", "walk", "crawl", "sim"),
    "Motions": ("motion", "teach"),
    "Operators": ("page", "rcp", "fleet", "ros", "foxglove"),
    "Channels and logs": ("channels", "bridge", "remote", "keys", "octave", "log", "replay", "plot", "clean"),
    "Development": ("update", "completion", "process", "bench", "experiment"),
}
"""How help puts commands in order; others, also of other people, come last."""


def main() -> None:
    """Run the command line; an error of ours is one message, not a traceback, and so is a warning."""
    said: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if (text := f"wholebody: {message}") not in said:
            print(text, file=sys.stderr)
        said.add(text)

    warnings.showwarning = show
    try:
        application(sys.argv[1:2])()
    except WholebodyError as error:
        print(f"wholebody: {error}", file=sys.stderr)
        sys.exit(1)


def version() -> str:
    """Which wholebody this is, and which variant of the kernels this processor runs, in one line."""
    from wholebody import _kernels

    return f"wholebody {__version__}, kernels: {_kernels.model_variant()}"


def say_version(asked: bool) -> None:
    """Print the version and end, if that is asked."""
    if asked:
        print(version())
        raise typer.Exit


def application(asked: list[str]) -> typer.Typer:
    """Build the command line, importing only the module of the command asked for; all of them for help.

    The first word may be path/to/file.py, with the function of the file's name, or path/to/file.py:function.
    """
    app = typer.Typer(
        name="wholebody",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback(help="Control humanoid robots: simulated, miniature or full size.")
    def wholebody(
        version: Annotated[
            bool,
            typer.Option("--version", callback=say_version, is_eager=True, help="Print version and kernel variant."),
        ] = False,
    ) -> None: ...

    if asked and (asked[0] in plugins.names(KIND) or plugins.is_in_file(asked[0])):
        _add(app, asked[0], plugins.load(KIND, asked[0], Path(asked[0]).stem))
    elif asked != ["--version"]:
        for name in names():
            try:
                _add(app, name, plugins.load(KIND, name))
            except BadConfiguration as error:  # somebody's command that is broken must not hide the others
                print(f"wholebody: {error}", file=sys.stderr)
    return app


def names() -> tuple[str, ...]:
    """The commands in the order of help."""
    known = plugins.names(KIND)
    ours = [name for panel in PANELS.values() for name in panel if name in known]
    if not ours:
        raise BadConfiguration(
            "this wholebody was installed before it had its commands: install it again (pip install -e ., or make)"
        )
    return (*ours, *(name for name in known if name not in ours))


def _add(app: typer.Typer, name: str, command: Any) -> None:
    """Add a function or an application under a name."""
    panel = next((title for title, members in PANELS.items() if name in members), "Commands of others")
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name, rich_help_panel=panel)
    else:
        settings = getattr(command, "context_settings", None)
        app.command(name, context_settings=settings, rich_help_panel=panel)(command)
