"""How the key frames of a motion rest on the ground, as a table: static stability margin, and what bears."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from wholebody.motion.keyframes import KeyFrames
from wholebody.motion.resting import FrameRest, check_rests, rests


def show_rests(motion: KeyFrames) -> None:
    """Print the table, if the motion says what bears; TipsOver if a frame cannot rest and is not meant to fall."""
    found = rests(motion)
    if not any(each.rest for each in found):
        return
    table = Table("frame", "at", "margin", "bears", box=None, pad_edge=False)
    for each, time in zip(found, motion.times, strict=True):
        table.add_row(each.title, f"{time:.2f} s", _margin(each), _bears(each))
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
