"""wholebody motion gait: a planned crawl as a key-frame file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from wholebody import robots
from wholebody.locomotion.crawling.gait_frames import crawl_frames
from wholebody.locomotion.footsteps import Velocity
from wholebody.motion.files import writable
from wholebody.motion.resting import check_rests


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
