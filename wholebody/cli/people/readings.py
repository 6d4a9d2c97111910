"""Readings: what QUERY SENSOR answers, text by label."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wholebody.cli.looks.picture import sensor_views
from wholebody.cli.people.whereabouts import Sighting
from wholebody.collaboration.map import Map
from wholebody.hardware import Record
from wholebody.messages import labels
from wholebody.perception.seen_channel import Sighted


def of_state(state: Record) -> dict[str, str]:
    """The robot's time, IMUs, force-torque sensors and joints."""
    readings = {
        f"{sensor.name}.{axis}": f"{value:.4g}"
        for sensor in sensor_views(state)
        for axis, value in sensor.axes.items()
        if value is not None
    }
    joints = zip(labels(state.dtype), state["position"], strict=True)
    readings |= {f"joint.{name}": f"{position:.4f}" for name, position in joints}
    return readings | {"time": f"{float(state['time']):.3f}"}


def of_place(sighting: Sighting, map: Map) -> dict[str, str]:
    """Where the robot faces, how fast it goes, and how far it is to what is ahead, to the left, behind and right."""
    around = map.around(*sighting.place)
    return {
        "heading": f"{sighting.place.yaw:.3f}",
        "speed": f"{sighting.speed:.3f}",
        **{side: f"{far:.2f}" if math.isfinite(far) else "free" for side, far in around.items()},
    }


def of_things(things: Sequence[Sighted]) -> dict[str, str]:
    """Each thing that was seen as four numbers, m: x, y, the standard deviation of its place, and its radius."""
    return {
        f"seen.{each.name}": f"{each.position[0]:.3f} {each.position[1]:.3f} {each.deviation:.4f} {each.radius:.3f}"
        for each in things
    }
