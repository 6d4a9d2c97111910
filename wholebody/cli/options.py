"""The options that several commands have: one spelling, one unit and one meaning each, declared here alone.

What is special to a command, such as what it does where an option is left out, is said in the help of the command.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from wholebody.processes import HELP

Command = TypeVar("Command", bound=Callable[..., None])

# Which robot, which process.
Which = Annotated[str, typer.Argument(help=HELP["robot"])]
Robot = Annotated[str, typer.Option(help=HELP["robot"])]
Name = Annotated[str, typer.Option(help=HELP["name"])]
Driver = Annotated[
    str,
    typer.Option(
        metavar="NAME[:OPTION=VALUE,…]",
        help="What moves the robot: see `wholebody drivers`; a tier of it (virtual, mini, full); FILE.py:Class.",
    ),
]
Behavior = Annotated[
    list[str] | None, typer.Option(metavar="FILE.py:Class", help=f"{HELP['behavior']} May be repeated.")
]
Controller = Annotated[str, typer.Option(help=HELP["controller"])]
Walk = Annotated[bool, typer.Option(help="Begin a walking controller too.")]
Camera = Annotated[bool, typer.Option(help="Use the camera of a simulated robot.")]

# Simulations and loops.
Scene = Annotated[str, typer.Option(help=HELP["scene"])]
Engine = Annotated[str, typer.Option(help="Whose physics: mujoco, or dart if it is installed.")]
SelfCollision = Annotated[str, typer.Option(help=HELP["self_collision"])]
Physics = typer.Option(help="Whether physics moves the joints; without it they go where they are told.")
Once = Annotated[bool, typer.Option("--once", help="Print how it is now, and end.")]
Fast = Annotated[bool, typer.Option("--fast", help="As fast as the machine can, not in real time.")]
Seed = Annotated[int, typer.Option(min=0, help=HELP["seed"])]
Noise = Annotated[bool, typer.Option(help="Sensors with noise, resolution and delay.")]
Rate = typer.Option(metavar="HZ", min=1e-3, max=1e5, help="How often a second.")
Transforms = Annotated[
    float, typer.Option("--transforms", metavar="HZ", min=1.0, max=1000.0, help="Transforms a second, at most.")
]
VelocityTimeout = Annotated[
    float,
    typer.Option("--timeout", metavar="S", min=0.1, max=10.0, help="Seconds after which a velocity counts no more."),
]
Period = typer.Option(min=1e-6, max=1.0, help="Period in s: of a loop, or of the rows of a file that does not say it.")
Seconds = Annotated[float, typer.Option(min=0.0, help="How long, s.")]
Posture = typer.Option(help="A posture of the robot, by name; 'stand' if it has it.")
Collisions = Annotated[bool, typer.Option(help="Look for self-collision too, and refuse it.")]
Acceleration = Annotated[float, typer.Option(min=1e-6, help="Limit of all joints, rad/s² (m/s²); none if not told.")]

# What a robot is told to do.
Orders = Annotated[
    list[str] | None,
    typer.Option(
        "--order", metavar="WORD [NUMBER]", help="What to do instead: 'walk 2', 'go 1 turn=30deg' …; may be repeated."
    ),
]
Cycles = typer.Option(min=1, help="How many cycles of the gait.")
PartCycles = typer.Option(min=0.25, help="How many cycles of the gait.")
Distance = typer.Option(help="How far forward, m.")
Turn = Annotated[float, typer.Option(help="How far to turn, degrees; to the left if positive.")]

# What comes of it.
Out = typer.Option("--out", "-o", help="Where to write what comes of it: a file, or a folder for several.")
Film = Annotated[bool, typer.Option(help="Whether to film it.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Write over, or remove, what others may need.")]
Channels = Annotated[
    list[str] | None,
    typer.Option(help="A channel, or a pattern such as 'robot.*'; may be repeated. All, if not given."),
]

# Networks.
Host = Annotated[str, typer.Option(help="The address to listen on; others than this machine's let others in.")]
Port = Annotated[int, typer.Option(help="The port to listen on; 0 for any that is free.")]
Listen = typer.Option(metavar="HOST:PORT", help="Answer other machines here, such as 0.0.0.0:7447.")
Connect = typer.Option(metavar="HOST:PORT", help="Where another machine listens (--listen), such as 192.168.1.5:7447.")
Insecure = Annotated[bool, typer.Option("--insecure", help=HELP["insecure"])]
Users = Annotated[
    Path | None, typer.Option(metavar="FILE", help="YAML with users, their roles and the hashes of their secrets.")
]
Map = Annotated[
    Path | None, typer.Option(metavar="FILE", help="YAML with walls and objects; a simulated robot knows its scene.")
]
Certificate = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Encrypt, with this certificate; else that of `wholebody keys`.")
]
Key = Annotated[Path | None, typer.Option(metavar="FILE", help="The certificate's key, if it is not in it.")]

# Services of systemd.
System = Annotated[
    bool, typer.Option("--system/--user", help="For the machine, as root, or for this user while logged in.")
]
Owner = Annotated[str, typer.Option("--owner", metavar="USER", help="Whose the robot is, with --system; not root's.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would be written and done, and do nothing.")]

# Files.
Rest = Annotated[str, typer.Option(help="Posture of joints without a column; 'stand' if the robot has it.")]
Repair = Annotated[bool, typer.Option("--repair", help="Replace inertias that no body can have.")]
Unit = Annotated[float | None, typer.Option(min=1e-9, help="Metres in a unit of the file, if it is not told rightly.")]
Up = Annotated[str | None, typer.Option(help="The axis that points up: x, y, z, -x … if it is not told rightly.")]
Handed = Annotated[str | None, typer.Option(help="right or left, if it is not told rightly.")]
Part = Annotated[list[str] | None, typer.Option(help="A joint of the skeleton, as left_knee=Joint07; may be repeated.")]


def context(**settings: Any) -> Callable[[Command], Command]:
    """Give a command settings of its context, such as ignore_unknown_options."""

    def give(command: Command) -> Command:
        vars(command)["context_settings"] = settings
        return command

    return give
