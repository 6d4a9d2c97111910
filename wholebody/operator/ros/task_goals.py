"""TaskGoals: goals of tasks that are places, as topics of PoseStamped: goals/CONTROLLER/TASK."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import numpy as np

from wholebody.control.introspection.markers import Marker
from wholebody.errors import WholebodyError
from wholebody.operator.ros.action import Link
from wholebody.operator.ros.markers import MarkerArrays
from wholebody.operator.ros.parameters import RosParameters
from wholebody.ros.standard import PoseStamped
from wholebody.rotations import matrix_of_quaternion

LOOK_EVERY = 0.5
"""s"""


class TaskGoals:
    """Of all controllers that put markers of tasks on a channel: a place told in the frame of the markers is a goal.

    complain  told by topic what was not done
    """

    def __init__(
        self, link: Link, parameters: RosParameters, markers: MarkerArrays, complain: Callable[[str, str], None]
    ) -> None:
        self._link, self._parameters, self._markers, self._complain = link, parameters, markers, complain
        self._known: dict[str, tuple[str, Marker]] = {}
        self._setting: list[tuple[str, Future[Any]]] = []
        self._looked = 0.0

    def step(self) -> None:
        """Find tasks that are new, and hear what became of goals."""
        for topic, future in [each for each in self._setting if each[1].done()]:
            self._setting.remove((topic, future))
            if (error := future.exception()) is not None:
                self._complain(topic, str(error))
        if time.monotonic() < self._looked + LOOK_EVERY:
            return
        self._looked = time.monotonic()
        for controller, message in self._markers.messages():
            for marker in message.markers:
                if marker.parameter:
                    self._find(f"goals/{controller}/{marker.task}", controller, marker)

    def _find(self, topic: str, controller: str, marker: Marker) -> None:
        new = topic not in self._known
        self._known[topic] = controller, marker.copy()
        if new:
            self._link.subscription(topic, PoseStamped, lambda pose: self._take(topic, pose))

    def _take(self, topic: str, pose: PoseStamped) -> None:
        """Set the goal that a place stands for: seen from the frame that the task measures in."""
        controller, marker = self._known[topic]
        frame, place = pose.header.frame_id, pose.pose.position
        position = np.array([place.x, place.y, place.z])
        if frame not in ("", self._markers.frame):
            self._complain(
                topic, f"a goal in '{frame}' is left out; give it in '{self._markers.frame}', as markers are"
            )
            return
        if not np.isfinite(position).all():
            self._complain(topic, f"a goal at {position.tolist()} is left out; give finite numbers")
            return
        seen = matrix_of_quaternion(marker.reference_orientation).T @ (position - marker.reference_position)
        try:
            future = self._parameters.set(f"{controller}.{marker.parameter}", seen.tolist())
        except WholebodyError as error:
            self._complain(topic, str(error))
        else:
            self._setting.append((topic, future))
