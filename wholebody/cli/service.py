"""wholebody keys: what lets other machines in, encrypted, and nobody else."""

from __future__ import annotations

import subprocess
from typing import Annotated

import typer
from rich.console import Console

from wholebody import security

console = Console(highlight=False, soft_wrap=True)

keys = typer.Typer(help="The keys by which machines reach each other's robots.", invoke_without_command=True)


@keys.callback()
def show_keys(context: typer.Context) -> None:
    """Say which keys there are; the secret ones are not shown.

    What of ours listens beyond this machine (page, rcp, bridge, run --listen) needs all three: the certificate, its
    private key, and the token, a secret word. A machine that connects to it needs the certificate and the token.
    """
    if context.invoked_subcommand is not None:
        return
    found, folder = security.keys(), security.folder()
    console.print(f"{folder}", markup=False)
    rows = (
        ("robot.pem", found.certificate is not None, "the certificate: copy it to machines that connect"),
        ("robot.key", found.key is not None, "its private key: it stays here"),
        ("token", bool(found.token), "the secret word: copy it to machines that connect"),
    )
    for name, there, what in rows:
        console.print(f"  {name:<12}{'there' if there else 'none':<8}{what}", markup=False)
    if found.certificate is not None:
        shown = ["openssl", "x509", "-in", str(found.certificate), "-noout", "-enddate", "-ext", "subjectAltName"]
        told = subprocess.run(shown, capture_output=True, text=True, check=False)
        console.print("\n".join(f"  {line.strip()}" for line in told.stdout.splitlines()), markup=False)
    if not found.can_listen:
        console.print("to let others in: wholebody keys make")


@keys.command()
def make(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME…", help="Names and addresses by which others reach it.")
    ] = None,
) -> None:
    """Make the keys that there are not yet: a certificate by openssl, and a token.

    \b
      wholebody keys make robot.local 192.168.1.5
    """
    folder = security.make(names or ())
    console.print(f"{folder} has robot.pem, robot.key and token", markup=False)
    console.print("a machine that is to connect needs two of them, in the same folder there: robot.pem and token")
