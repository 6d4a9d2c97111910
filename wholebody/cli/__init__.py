"""The commands: what a person types; the only place that chooses parts and wires them together."""

from __future__ import annotations

import importlib
import sys
from typing import Annotated

import typer

from wholebody import __version__
from wholebody.errors import WholebodyError

COMMANDS = (
    "demo",
    "start",
    "stop",
    "status",
    "run",
    "check",
    "params",
    "get",
    "set",
    "log",
    "replay",
    "plot",
    "console",
    "read",
    "filter",
    "robots",
    "drivers",
    "sim",
    "walk",
    "crawl",
    "motion",
    "teach",
    "channels",
    "bridge",
    "page",
    "rcp",
    "process",
    "bench",
)
"""Each is a module here with a function of its own name, or a Typer `app` of commands."""


def main() -> None:
    """Run the command line; an error of ours is one message, not a traceback."""
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
    """Build the command line, importing only the module of the command asked for; all of them for help."""
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

    for name in [name for name in COMMANDS if name in asked] or (() if asked == ["--version"] else COMMANDS):
        module = importlib.import_module(f"wholebody.cli.{name}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name, context_settings=getattr(module, "CONTEXT", None))(getattr(module, name))
    return app
