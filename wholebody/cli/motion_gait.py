"""wholebody motion gait: a planned crawl as a key-frame file."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from wholebody import robots
from wholebody.channels import Channel
from wholebody.estimation.support_view import SupportMessage, SupportView, draw, text, view_channel, view_of
from wholebody.locomotion.crawling.gait_frames import crawl_frames
from wholebody.locomotion.walking.footsteps import Velocity
from wholebody.motion.files import writable
from wholebody.motion.keyframes import KeyFrames
from wholebody.motion.static_poses import FrameRest, check_rests, rests


def gait(
    output: Annotated[Path, typer.Argument(help="Key-frame file to write.")],
    robot: Annotated[str, typer.Option(help="Which robot; it needs arms, legs and a posture 'crawl'.")] = "atlas",
    forward: Annotated[float, typer.Option(help="m/s; negative: backward.")] = 0.0,
    turn: Annotated[float, typer.Option(help="degrees/s; to the left if positive.")] = 0.0,
    cycles: Annotated[float, typer.Option(min=0.25, help="How many cycles, of four steps each.")] = 2.0,
) -> None:
    """Write a crawl on wrists and knees as key frames, from rest to rest, with what bears in each phase.

    wholebody motion gait forward.yaml --forward 0.1
    """
    writable(output)
    with Console(stderr=True).status("planning"):
        frames = crawl_frames(robots.load(robot), Velocity(forward, 0.0, math.radians(turn)), cycles)
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
    seconds: Annotated[float, typer.Option(min=0.0, help="How long to look; 0: until the newest view is there.")] = 0.0,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="PNG file to draw at the end.")] = None,
    every: Annotated[float, typer.Option(min=0.05, help="Seconds between two texts.")] = 0.5,
) -> None:
    """Look from above at limbs, what bears and the centre of mass, live, as text; and as a picture at the end.

    wholebody motion support atlas --seconds 10 -o com.png
    """
    if output is not None:
        writable(output)
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
    if output is not None:
        draw(views, output)
        print(f"written: {output}")
