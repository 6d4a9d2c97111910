"""MarkerArrays: the markers of a robot's tasks as visualization_msgs: goals, where things are, and what is between."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from wholebody.control.introspection.markers import DIRECTION, FRAME, POINT, Marker, MarkerMessage
from wholebody.operator.robot.page_view import GONE, MARKERS_ENDING, Subscriptions
from wholebody.operator.ros.standard_messages import ODOMETRY_FRAME
from wholebody.ros import standard
from wholebody.ros.standard import ColorRGBA, Duration, Header, MarkerArray, Point, Pose, Quaternion, Time, Vector3
from wholebody.rotations import matrix_of_quaternion

ARROW, SPHERE, LINES, WORDS = 0, 2, 5, 9
GOAL, ACTUAL, OFF = ColorRGBA(1.0, 0.55, 0.1, 0.9), ColorRGBA(0.2, 0.5, 1.0, 0.9), ColorRGBA(0.6, 0.6, 0.6, 0.5)
AXES = (ColorRGBA(0.9, 0.2, 0.2), ColorRGBA(0.2, 0.8, 0.2), ColorRGBA(0.2, 0.4, 1.0))
BALL, AXIS, LINE, TEXT = 0.04, 0.1, 0.006, 0.04
"""m"""
LASTS = 1.0
"""s for which a marker is shown when no other comes."""


class MarkerArrays:
    """Of all controllers of the robot of a name; `frame` makes a frame's name one of this robot."""

    def __init__(self, name: str, frame: Callable[[str], str]) -> None:
        self._subscriptions, self.frame = Subscriptions(name, MARKERS_ENDING, MarkerMessage), frame(ODOMETRY_FRAME)

    def newest(self, stamp: Time) -> MarkerArray | None:
        """All that are shown now; None if there are none."""
        found = [each for controller, message in self.messages() for each in self._drawn(controller, message, stamp)]
        return MarkerArray(found) if found else None

    def messages(self) -> Iterator[tuple[str, MarkerMessage]]:
        """What controllers said of their tasks lately, by controller."""
        for controller, each in self._subscriptions.all().items():
            message = each.take()
            if message is not None and each.age < GONE:
                yield controller, message

    def _drawn(self, controller: str, message: MarkerMessage, stamp: Time) -> Iterator[standard.Marker]:
        header = Header(stamp, self.frame)
        for marker in message.markers:
            for number, (kind, more) in enumerate(_parts(marker)):
                yield standard.Marker(
                    header, f"{controller}/{marker.task}", number, kind, lifetime=Duration.of(LASTS), **more
                )


def _parts(marker: Marker) -> Iterator[tuple[int, dict[str, Any]]]:
    """What is drawn of a task's marker: kinds, and what belongs to each."""
    goal, actual = (GOAL, ACTUAL) if marker.enabled else (OFF, OFF)
    here, there = Point(*marker.position.tolist()), Point(*marker.goal_position.tolist())
    ball, line = Vector3(BALL, BALL, BALL), Vector3(LINE, 0.0, 0.0)
    if marker.shows & POINT:
        yield SPHERE, {"pose": Pose(there), "scale": ball, "color": goal}
        yield SPHERE, {"pose": Pose(here), "scale": ball, "color": actual}
        yield LINES, {"points": [here, there], "scale": line, "color": goal}
    if marker.shows & DIRECTION:
        for direction, colour in ((marker.goal_direction, goal), (marker.direction, actual)):
            tip = Point(*(marker.position + 2 * AXIS * direction).tolist())
            yield ARROW, {"points": [here, tip], "scale": Vector3(LINE, 2 * LINE, 0.0), "color": colour}
    if marker.shows & FRAME:
        for at, turn in ((marker.goal_position, marker.goal_orientation), (marker.position, marker.orientation)):
            yield LINES, {**_axes(at, turn), "scale": line, "color": goal}
    above = Point(there.x, there.y, there.z + BALL)
    yield WORDS, {"pose": Pose(above, Quaternion()), "scale": Vector3(z=TEXT), "color": goal, "text": marker.task}


def _axes(at: Any, quaternion: Any) -> dict[str, Any]:
    """Three lines from a place, each in its colour."""
    begin, rotation = Point(*at.tolist()), matrix_of_quaternion(quaternion)
    ends = [Point(*(at + AXIS * rotation[:, axis]).tolist()) for axis in range(3)]
    return {
        "points": [each for end in ends for each in (begin, end)],
        "colors": [colour for colour in AXES for _ in range(2)],
    }
