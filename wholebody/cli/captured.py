"""wholebody motion capture, imitate, gait, support; wholebody teach: motions of persons, planned ones, taught ones."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from scipy.spatial.transform import Rotation

from wholebody import robots
from wholebody.channels import Channel, Reader
from wholebody.cli import options
from wholebody.drivers import Names
from wholebody.errors import BadMotion, BadMotionFile, CannotImitate, ClockJumped
from wholebody.estimation.support_view import SupportMessage, SupportView, draw, text, view_channel, view_of
from wholebody.locomotion.crawling.crawler import crawl_frames
from wholebody.locomotion.walking.footsteps import Velocity
from wholebody.messages import State
from wholebody.model import Model
from wholebody.motion import Limits, Teacher
from wholebody.motion.capture.capture import Capture
from wholebody.motion.capture.gait import CapturedGait, bearing, draw_strip, supporting_limbs
from wholebody.motion.capture.imitation import Imitation
from wholebody.motion.capture.retarget import imitate as imitated_gait
from wholebody.motion.capture.retarget import imitate_clip
from wholebody.motion.files import writable
from wholebody.motion.keyframes import KeyFrames
from wholebody.motion.static_poses import FrameRest, check_rests, rests
from wholebody.robots.robot import Placement
from wholebody.simulation import Simulation
from wholebody.simulation.film import side_by_side, write_png

MOMENTS = 8

File = Annotated[Path, typer.Argument(help="Motion capture (.bvh).")]


def capture(
    file: File,
    out: Annotated[Path | None, options.Out] = None,
    unit: options.Unit = None,
    up: options.Up = None,
    handed: options.Handed = None,
    part: options.Part = None,
) -> None:
    """Say what is in a motion capture file: skeleton, axes and units, body parts, and a cycle of its gait.

    --out is a picture (.png) of the skeleton as a strip.

    wholebody motion capture crawl.bvh -o crawl.png
    """
    captured = opened(file, unit, up, handed, part)
    console = Console(highlight=False)
    joints = sum(not node.is_end for node in captured.skeleton.nodes)
    console.print(
        f"[bold]{file}[/]: {len(captured.positions)} frames of {joints} joints, {captured.duration:.2f} s at "
        f"{1 / captured.frame_time:.0f} Hz; {captured.axes.text}"
    )
    table = Table("part", "joint", "height", box=None, pad_edge=False)
    for name, node in captured.parts.items():
        heights = captured.part(name)[:, 2]
        table.add_row(name, captured.skeleton.names[node], f"{heights.min():.2f} … {heights.max():.2f} m")
    console.print(table)
    try:
        gait = CapturedGait.of(captured)
        order = ", ".join(gait.limbs[swing.limb] for swing in gait.swings)
        first, last = gait.frames
        console.print(
            f"gait: {gait.stride:.2f} m in {gait.period:.2f} s (frames {first} to {last}); swings: {order}",
            soft_wrap=True,
        )
    except CannotImitate as error:
        console.print(f"gait: none; {error}", soft_wrap=True)
    if out is not None:
        writable(out)
        limbs = supporting_limbs(captured)
        draw_strip(captured, out, MOMENTS, limbs, bearing(captured, limbs))
        print(f"written: {out}")


def imitate(
    file: File,
    robot: options.Robot = "atlas",
    out: Annotated[Path | None, options.Out] = None,
    strip: Annotated[Path | None, typer.Option(help="PNG file: the robot in the motion, without physics.")] = None,
    whole: Annotated[bool, typer.Option("--whole", help="The whole motion as it is, not one cycle of a gait.")] = False,
    com: Annotated[bool, typer.Option(help="Keep the centre of mass above the limbs that bear.")] = True,
    margin: Annotated[float, typer.Option(min=0.0, help="By so many metres.")] = 0.03,
    stride: Annotated[
        float | None, typer.Option(min=0.01, help="Metres of a cycle; the person's, if not told.")
    ] = None,
    slower: Annotated[float, typer.Option(min=0.1, help="How many times longer swings take than the person's.")] = 1.5,
    unit: options.Unit = None,
    up: options.Up = None,
    handed: options.Handed = None,
    part: options.Part = None,
) -> None:
    """Let a robot imitate a captured motion, and say what fits and what does not; --out is a key-frame file (.yaml).

    wholebody motion imitate crawl.bvh --robot atlas -o crawl.yaml --strip crawl.png
    """
    captured, model = opened(file, unit, up, handed, part), Model(robots.load(robot))
    for path in (out, strip):
        if path is not None:
            writable(path)
    with progress_shown() as shown:
        if whole:
            imitation = imitate_clip(captured, model, progress=shown)
        else:
            imitation = imitated_gait(
                CapturedGait.of(captured), model, margin=margin, stride=stride, slower=slower, with_com=com,
                progress=shown,
            )  # fmt: skip
    print(fitting(imitation))
    if out is not None:
        imitation.key_frames().write(out)
        print(f"written: {out}")
    if strip is not None:
        write_png(strip, pictures(imitation))
        print(f"written: {strip}")


def fitting(imitation: Imitation) -> str:
    """What is planned, and what of it fits the robot and what does not, in lines to read."""
    robot = imitation.model.robot
    what = f"a cycle of {imitation.stride:.2f} m" if imitation.stride else "a motion"
    return f"{robot.title or robot.name}: {what} in {imitation.duration:.2f} s\n{imitation.quality.table()}"


@contextmanager
def progress_shown() -> Iterator[Callable[[float], None]]:
    """Tell it the share that is imitated, 0 to 1: in a terminal a bar shows it, which pulses until it is known."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("imitating", total=None)
        yield lambda share: bar.update(task, total=1.0, completed=share)


def pictures(imitation: Imitation, moments: int = MOMENTS) -> np.ndarray:
    """The robot at even times of a motion, side by side."""
    shown = []
    with Simulation(imitation.model.robot, physics=False) as simulation:
        for row in np.linspace(0, len(imitation.q) - 1, moments).astype(int):
            simulation.reset(imitation.q[row, 7:], base=base_at(imitation, row))
            shown.append(simulation.image(width=240, height=240))
    return side_by_side(shown)


def base_at(imitation: Imitation, row: int) -> Placement:
    """Where the base is."""
    base = np.eye(4)
    base[:3, 3], base[:3, :3] = imitation.q[row, :3], Rotation.from_quat(imitation.q[row, 3:7]).as_matrix()
    return Placement.of(base)


def opened(file: Path, unit: float | None, up: str | None, handed: str | None, part: list[str] | None) -> Capture:
    """The capture, with the parts that were told."""
    parts = {}
    for each in part or ():
        name, equals, joint = each.partition("=")
        if not equals:
            raise BadMotionFile(f"--part {each}: write it as left_knee=Joint07")
        parts[name.strip()] = joint.strip()
    return Capture.read(file, parts=parts, unit=unit, up=up, handed=handed)


def gait(
    output: Annotated[Path, typer.Argument(help="Key-frame file to write.")],
    robot: options.Robot = "atlas",
    forward: Annotated[float, typer.Option(help="m/s; negative: backward.")] = 0.0,
    turn_rate: Annotated[float, typer.Option(help="degrees/s; to the left if positive.")] = 0.0,
    cycles: Annotated[float, options.PartCycles] = 2.0,
) -> None:
    """Write a crawl on wrists and knees as key frames, from rest to rest, with what bears in each phase.

    The robot needs arms, legs and a posture 'crawl'; a cycle has four steps.

    wholebody motion gait forward.yaml --forward 0.1
    """
    writable(output)
    with Console(stderr=True).status("planning"):
        frames = crawl_frames(robots.load(robot), Velocity(forward, 0.0, math.radians(turn_rate)), cycles)
    margins = [each.rest.margin for each in check_rests(frames) if each.rest is not None]
    frames.write(output)
    duration = frames.trajectory().duration
    print(
        f"written: {output}: {len(frames.frames)} frames, {duration:.1f} s, "
        f"static stability margin {1000 * min(margins):.0f} mm at least"
    )


def show_rests(motion: KeyFrames) -> None:
    """Print the table, if the motion says what bears; TipsOver if a frame cannot rest and is not meant to fall."""
    found = rests(motion)
    if not any(each.rest for each in found):
        return
    table = Table("frame", "at", "margin", "bears", box=None, pad_edge=False)
    for each, instant in zip(found, motion.times, strict=True):
        table.add_row(each.title, f"{instant:.2f} s", _margin(each), _bears(each))
    Console(highlight=False, soft_wrap=True).print(table)
    check_rests(motion)


def _margin(each: FrameRest) -> str:
    if each.rest is None:
        return "–"
    shown = f"{1000 * each.rest.margin:.0f} mm"
    return f"[red]{shown}[/] tips over" if each.tips else f"{shown}, falls" if each.frame.falls else shown


def _bears(each: FrameRest) -> str:
    if each.rest is None:
        return "nothing said"
    above = [contact for contact in each.frame.contacts if contact not in each.rest.touching]
    return ", ".join(each.rest.touching) + (f" (above the ground: {', '.join(above)})" if above else "")


TRAIL = 400
"""Views of which the picture shows the way of the centre of mass."""


def support(
    name: Annotated[str, typer.Argument(help="The name of the robot, as in wholebody crawl.")] = "atlas",
    seconds: options.Seconds = 0.0,
    out: Annotated[Path | None, options.Out] = None,
    every: Annotated[float, typer.Option(min=0.05, help="Seconds between two texts.")] = 0.5,
) -> None:
    """Look from above at limbs, what bears and the centre of mass, live, as text; and as a picture (.png) at the end.

    For --seconds, or until the newest view is there.

    wholebody motion support atlas --seconds 10 -o com.png
    """
    if out is not None:
        writable(out)
    views: list[SupportView] = []
    with Channel(view_channel(name), kind=SupportMessage) as channel, channel.reader() as reader:
        end, shown = time.monotonic() + seconds, -every
        while time.monotonic() < end or not views:
            if not reader.wait(timeout=0.2):
                continue
            views = [*views[-TRAIL:], view_of(reader.message)]
            if time.monotonic() - shown >= every:
                shown = time.monotonic()
                print(text(views[-1]), flush=True)
    if out is not None:
        draw(views, out)
        print(f"written: {out}")


FRESH = 1.0
"""Seconds: an older state says nothing of where the robot is now."""

PATIENCE = 2.0
"""Seconds to wait for a fresh state."""

console = Console(highlight=False)


def teach(
    robot: options.Which,
    out: Annotated[Path, options.Out],
    channel: Annotated[str, typer.Option(help="Where its state comes from; robot.state if not told.")] = "",
    velocity: Annotated[float, typer.Option(min=0.01, max=1.0, help="Share of the velocity limits to use.")] = 0.2,
    force: options.Force = False,
) -> None:
    """Take poses by hand: Enter takes one, a word names it, d drops the last, q (or Ctrl-D) ends.

    --out is a key-frame file (.yaml); one that exists needs --force. It is written anew with every pose, so nothing is
    lost however it ends. From a script, write lines:

    printf 'ready\\nreach\\nq\\n' | wholebody teach hubo2plus -o reach.yaml
    """
    machine = robots.load(robot)
    name = channel or Names().state
    if out.exists() and not force:
        raise BadMotionFile(f"{out} exists already: choose another name, or write over it with --force")
    if not out.parent.is_dir():
        raise BadMotionFile(f"{out} cannot be written: there is no folder {out.parent}")
    teacher = Teacher(machine, speed=velocity)
    with Channel(name) as there:
        teacher.check(there.dtype)
    with Channel(name, kind=State) as state, state.reader() as reader:
        console.print(f"{machine.title or machine.name}, from channel {name}")
        console.print("Enter takes a pose, a word takes and names one, d drops the last, q ends.")
        try:
            listen(teacher, reader, name, out)
        except KeyboardInterrupt:
            console.print("\ninterrupted")
    show(teacher, out)


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
