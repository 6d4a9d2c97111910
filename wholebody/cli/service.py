"""wholebody service, keys: what a robot needs to run for weeks, and to be reached by other machines."""

from __future__ import annotations

import subprocess
from typing import Annotated

import typer
from rich.console import Console

from wholebody import security
from wholebody.channels import access
from wholebody.cli import options
from wholebody.cli.start import planned
from wholebody.drivers.names import default_name
from wholebody.errors import BadParameter
from wholebody.processes import systemd
from wholebody.processes.systemd import Unit

console = Console(highlight=False, soft_wrap=True)

service = typer.Typer(no_args_is_help=True, help="Have systemd run a robot for weeks: nothing starts unless asked.")

Words = Annotated[
    list[str] | None,
    typer.Argument(metavar="ROBOT [OPTION …]", help="What `wholebody start` is told.", show_default=False),
]
_any = {"ignore_unknown_options": True}


@service.command(context_settings=_any)
def show(words: Words = None, system: options.System = False, as_user: options.Owner = "") -> None:
    """Print the unit of a robot.

    \b
      wholebody service show hubo2plus --driver full:buses=can0,can1
    """
    print(unit_of(words or [], system, as_user).text())


@service.command(context_settings=_any)
def install(
    words: Words = None, system: options.System = False, as_user: options.Owner = "", dry_run: options.DryRun = False
) -> None:
    """Write the unit of a robot. It is not started: what does that is printed.

    \b
      wholebody service install hubo2plus --driver full:buses=can0,can1
      sudo wholebody service install --system --owner anne hubo2plus --driver full:buses=can0,can1 --group robots
    """
    unit = unit_of(words or [], system, as_user)
    if dry_run:
        console.print(f"would write {unit.path}:\n", markup=False)
        print(unit.text())
    else:
        systemd.install(unit)
        console.print(f"{unit.path} is written; nothing is started", markup=False)
    for command, what in unit.commands():
        console.print(f"  {command:<58} {what}", markup=False)


@service.command()
def remove(name: options.Name = "", system: options.System = False, dry_run: options.DryRun = False) -> None:
    """Remove the unit of a robot that does not run."""
    unit = Unit(name or default_name(), system)
    if dry_run:
        console.print(f"would remove {unit.path}", markup=False)
        return
    systemd.remove(unit)
    console.print(f"{unit.path} is removed", markup=False)


@service.command()
def status(name: options.Name = "") -> None:
    """Say which units of a robot there are, and how systemd says they are. Exit code 1 if there is none."""
    found = [unit for unit in (Unit(name or default_name(), system) for system in (False, True)) if unit.path.is_file()]
    for unit in found:
        console.print(f"{unit.path}: {systemd.state(unit)}", markup=False)
    if not found:
        console.print(f"no unit of '{name or default_name()}'; write one: wholebody service install ROBOT …")
        raise typer.Exit(1)


@service.command()
def udev(
    write: Annotated[bool, typer.Option("--write", help=f"Write them to {systemd.RULES}, as root.")] = False,
    members: Annotated[str, typer.Option(metavar="GROUP", help="Whose members may use the devices.")] = "dialout",
) -> None:
    """Print rules of udev: CAN interfaces come up at 1 Mbit/s, and a group may use serial lines and gamepads.

    \b
      wholebody service udev | sudo tee /etc/udev/rules.d/70-wholebody.rules
      sudo udevadm control --reload
    """
    access.group_number(members)
    rules = systemd.udev_rules(members)
    if write:
        systemd.write(systemd.RULES, rules)
        console.print(f"{systemd.RULES} is written; then: udevadm control --reload, and plug devices in anew")
    else:
        print(rules, end="")


def unit_of(words: list[str], system: bool, as_user: str) -> Unit:
    """The unit that starts what `wholebody start` would start with these words; they are checked as it checks them."""
    plan, group, readable = planned(words)
    if as_user and not system:
        raise BadParameter("--owner USER goes with --system; a unit of --user runs as you")
    return Unit(plan.name, system, plan, group, readable, as_user)


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
