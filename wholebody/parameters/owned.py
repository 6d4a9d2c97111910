"""Channels that belong to a controller: those that one of another configuration left behind are made anew."""

from __future__ import annotations

import numpy.typing as npt

from wholebody.channels import Channel, directory
from wholebody.errors import LayoutMismatch, StaleChannel


def own_channel(name: str, dtype: npt.DTypeLike, depth: int = 64, writers: int = 16) -> Channel:
    """Open a channel; if it holds messages of another layout, and nobody writes there any more, begin it afresh."""
    try:
        return Channel(name, dtype, depth, writers)
    except StaleChannel:
        directory.remove(name)
    except LayoutMismatch:
        with Channel(name) as there:
            if there.writer_processes():
                raise
        directory.remove(name)
    return Channel(name, dtype, depth, writers)
