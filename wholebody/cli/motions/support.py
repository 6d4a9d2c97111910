"""wholebody motion support: the support polygon and the centre of mass of a robot that runs, from above."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from wholebody.channels import Channel
from wholebody.estimation.support_plot import draw, text
from wholebody.estimation.support_view import SupportView, view_channel, view_of
from wholebody.motion.files import writable

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
    with Channel(view_channel(name)) as channel, channel.reader() as reader:
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
