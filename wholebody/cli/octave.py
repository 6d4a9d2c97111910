"""wholebody octave: channels, services and parameters for Octave and MATLAB."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wholebody.channels.languages import octave_package

app = typer.Typer(no_args_is_help=True, help="Install the package that reads and moves robots from Octave and MATLAB.")


@app.callback()
def octave() -> None:
    """Install the package that reads and moves robots from Octave and MATLAB."""


@app.command()
def install(
    to: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where to; without, to this user's data.")] = None,
    matlab: Annotated[bool, typer.Option("--matlab", help="Build nothing; MATLAB does, by its own compiler.")] = False,
) -> None:
    """Build the MEX function for Octave, and put it with the package +wholebody into a folder.

    \b
      wholebody octave install
      octave --eval "addpath ~/.local/share/wholebody/octave; robot = wholebody.connect (); robot.latest ()"

    Again after each new version of wholebody.
    """
    folder = octave_package.copy((to or octave_package.default_folder()).absolute())
    print(f"the package +wholebody is in {folder}")
    if matlab:
        print("in MATLAB:")
        print(f"  cd '{folder}'; mex wholebody_channel.c ring.c; addpath '{folder}'")
        return
    octave_package.build(folder)
    print("in Octave:")
    print(f"  addpath '{folder}'; help wholebody.connect")
