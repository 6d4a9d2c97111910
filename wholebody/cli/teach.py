"""wholebody teach: take poses from a robot that is moved by hand, and write them as key frames."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from wholebody import robots
from wholebody.channels import Channel, Reader
from wholebody.drivers import Names
from wholebody.errors import BadMotion, BadMotionFile, ClockJumped
from wholebody.messages import State
from wholebody.motion import Limits, Teacher

FRESH = 1.0
"""Seconds: an older state says nothing of where the robot is now."""

PATIENCE = 2.0
"""Seconds to wait for a fresh state."""

console = Console(highlight=False)


def teach(
    robot: Annotated[str, typer.Argument(help="A robot by name (see `wholebody robots`), or a URDF or MJCF file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Key-frame file (.yaml) to write.")],
    channel: Annotated[str, typer.Option(help="Where its state comes from; robot.state if not told.")] = "",
    speed: Annotated[float, typer.Option(min=0.01, max=1.0, help="Share of the velocity limits to use.")] = 0.2,
    force: Annotated[bool, typer.Option("--force", "-f", help="Write over a file that exists.")] = False,
) -> None:
    """Take poses by hand: Enter takes one, a word names it, d drops the last, q (or Ctrl-D) ends.

    The file is written anew with every pose, so nothing is lost however it ends. From a script, write lines:

    printf 'ready\\nreach\\nq\\n' | wholebody teach hubo2plus -o reach.yaml
    """
    machine = robots.load(robot)
    name = channel or Names().state
    if output.exists() and not force:
        raise BadMotionFile(f"{output} exists already: choose another name, or write over it with --force")
    if not output.parent.is_dir():
        raise BadMotionFile(f"{output} cannot be written: there is no folder {output.parent}")
    teacher = Teacher(machine, speed=speed)
    with Channel(name) as there:
        teacher.check(there.dtype)
    with Channel(name, kind=State) as state, state.reader() as reader:
        console.print(f"{machine.title or machine.name}, from channel {name}")
        console.print("Enter takes a pose, a word takes and names one, d drops the last, q ends.")
        try:
            listen(teacher, reader, name, output)
        except KeyboardInterrupt:
            console.print("\ninterrupted")
    show(teacher, output)


def listen(teacher: Teacher, reader: Reader[State], channel: str, output: Path) -> None:
    """Do what each line says, until q or the end of the input."""
    limits = Limits.of(teacher.robot)
    while True:
        line = sys.stdin.readline()
        word = line.strip()
        if not line or word == "q":
            return
        if word == "d":
            drop(teacher, output)
        elif not fresh(reader):
            console.print(
                f"[yellow]no pose taken: nothing has come on {channel} for {PATIENCE:g} s.[/] Is the robot's process "
                "running? (wholebody channels list) What was taken is kept; try again."
            )
        else:
            take(teacher, reader, word, limits, output)


def fresh(reader: Reader) -> bool:
    """Whether the newest state is one of now, or comes soon."""
    try:
        if reader.latest() and reader.age < FRESH:
            return True
        return bool(reader.wait(PATIENCE)) and reader.age < FRESH
    except ClockJumped:
        return False


def take(teacher: Teacher, reader: Reader[State], name: str, limits: Limits, output: Path) -> None:
    """Take the pose of the newest state, and say what of it is beyond limits."""
    try:
        frame = teacher.take(reader.message, name)
    except BadMotion as error:
        console.print(f"[yellow]no pose taken: {error}[/]")
        return
    save(teacher, output)
    console.print(f"[green]{frame.name}[/] taken, after {frame.duration:g} s")
    for each in limits.violations("position", frame.position[None], lambda _: frame.name):
        console.print(f"[yellow]{each}[/]")


def drop(teacher: Teacher, output: Path) -> None:
    """Forget the last pose, if there is one."""
    try:
        name = teacher.frames[-1].name if teacher.frames else ""
        teacher.drop()
    except BadMotion as error:
        console.print(f"[yellow]{error}[/]")
        return
    console.print(f"{name} dropped")
    save(teacher, output)


def save(teacher: Teacher, output: Path) -> None:
    """Write what is taught so far; whoever looks sees the old file or the new one, never half of it."""
    if not teacher.frames:
        output.unlink(missing_ok=True)
        return
    half = output.with_name(f".{output.name}.{os.getpid()}")
    try:
        teacher.write(half)
        half.replace(output)
    except OSError as error:
        raise BadMotionFile(f"{output} cannot be written: {error}") from None


def show(teacher: Teacher, output: Path) -> None:
    """Print all poses, and what to do next."""
    if not teacher.frames:
        console.print("no poses were taken, and nothing is written")
        return
    table = Table("pose", "name", "after", "joints that moved most", box=None, pad_edge=False)
    before = teacher.frames[0].position
    for number, frame in enumerate(teacher.frames, 1):
        way = frame.position - before
        most = [joint for joint in np.argsort(-np.abs(way), kind="stable")[:3] if abs(way[joint]) > 1e-3]
        moved = ", ".join(f"{teacher.robot.joint_names[joint]} {way[joint]:+.2f}" for joint in most)
        table.add_row(str(number), frame.name, f"{frame.duration:g} s", moved or "–")
        before = frame.position
    console.print(table)
    console.print(f"written: {output}; look at it with: wholebody motion check {output}")
