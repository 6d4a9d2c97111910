"""wholebody motion capture, wholebody motion imitate: captured motions shown, and given to robots."""

from __future__ import annotations

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
from wholebody.errors import BadMotionFile, CannotImitate
from wholebody.model import Model
from wholebody.motion.capture.capture import Capture
from wholebody.motion.capture.gait import CapturedGait, bearing, draw_strip, supporting_limbs
from wholebody.motion.capture.imitation import Imitation
from wholebody.motion.capture.retarget import imitate as imitated_gait
from wholebody.motion.capture.retarget import imitate_clip
from wholebody.motion.files import writable
from wholebody.robots.robot import Placement
from wholebody.simulation import Simulation
from wholebody.simulation.film import side_by_side, write_png

MOMENTS = 8

File = Annotated[Path, typer.Argument(help="Motion capture (.bvh).")]
Unit = Annotated[float | None, typer.Option(min=1e-9, help="Metres in a unit of the file, if it is not told rightly.")]
Up = Annotated[str | None, typer.Option(help="The axis that points up: x, y, z, -x … if it is not told rightly.")]
Handed = Annotated[str | None, typer.Option(help="right or left, if it is not told rightly.")]
Part = Annotated[list[str] | None, typer.Option(help="A joint of the skeleton, as left_knee=Joint07; may be repeated.")]


def capture(
    file: File,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="PNG file: the skeleton as a strip.")] = None,
    unit: Unit = None,
    up: Up = None,
    handed: Handed = None,
    part: Part = None,
) -> None:
    """Say what is in a motion capture file: skeleton, axes and units, body parts, and a cycle of its gait.

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
    if output is not None:
        writable(output)
        limbs = supporting_limbs(captured)
        draw_strip(captured, output, MOMENTS, limbs, bearing(captured, limbs))
        print(f"written: {output}")


def imitate(
    file: File,
    robot: Annotated[str, typer.Option(help="A robot by name, or a URDF or MJCF file.")] = "atlas",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Key-frame file to write (.yaml).")] = None,
    strip: Annotated[Path | None, typer.Option(help="PNG file: the robot in the motion, without physics.")] = None,
    whole: Annotated[bool, typer.Option("--whole", help="The whole motion as it is, not one cycle of a gait.")] = False,
    com: Annotated[bool, typer.Option(help="Keep the centre of mass above the limbs that bear.")] = True,
    margin: Annotated[float, typer.Option(min=0.0, help="By so many metres.")] = 0.03,
    stride: Annotated[
        float | None, typer.Option(min=0.01, help="Metres of a cycle; the person's, if not told.")
    ] = None,
    slower: Annotated[float, typer.Option(min=0.1, help="How many times longer swings take than the person's.")] = 1.5,
    unit: Unit = None,
    up: Up = None,
    handed: Handed = None,
    part: Part = None,
) -> None:
    """Let a robot imitate a captured motion, and say what fits and what does not.

    wholebody motion imitate crawl.bvh --robot atlas -o crawl.yaml --strip crawl.png
    """
    captured, model = opened(file, unit, up, handed, part), Model(robots.load(robot))
    for path in (output, strip):
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
    if output is not None:
        imitation.key_frames().write(output)
        print(f"written: {output}")
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
