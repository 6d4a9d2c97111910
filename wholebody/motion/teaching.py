"""Teacher: take postures from a robot that is moved by hand, and make a motion through them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wholebody import messages
from wholebody.errors import BadMotion, WrongRecord
from wholebody.motion.keyframes import KeyFrame, KeyFrames
from wholebody.motion.polynomial import PiecewisePolynomial
from wholebody.robots.robot import Robot


class Teacher:
    """Takes a key frame from a state message whenever it is told to.

        with Channel("hubo.state") as channel, channel.reader() as reader:
            teacher = Teacher(robot)
            reader.latest()
            teacher.take(reader.message, name="reach")
        teacher.key_frames().write("reach.yaml")

    A frame comes as long after the one before as it takes at a share of the joints' velocity limits, at least
    `shortest` seconds, unless its duration is given.
    """

    def __init__(self, robot: Robot, *, speed: float = 0.2, shortest: float = 0.5) -> None:
        if not 0 < speed <= 1:
            raise BadMotion(f"speed is a share of the velocity limits, above 0 and up to 1, not {speed}")
        if not (np.isfinite(shortest) and shortest > 0):
            raise BadMotion(f"the shortest duration is a positive number of seconds, not {shortest}")
        self.robot, self.speed, self.shortest = robot, float(speed), float(shortest)
        self.frames: list[KeyFrame] = []

    def take(
        self,
        state: Any,
        name: str = "",
        *,
        duration: float | None = None,
        contacts: Sequence[str] = (),
        stop: bool = False,
    ) -> KeyFrame:
        """Keep the measured positions of a state message as the next frame."""
        self.check(state)
        position = np.array(state["position"], np.float64).reshape(-1)
        seconds = self._duration(position) if duration is None else float(duration)
        frame = KeyFrame(position, seconds, name or f"pose {len(self.frames) + 1}", tuple(contacts), stop)
        KeyFrames(self.robot, (*self.frames, frame), "what is taught")  # checks it
        self.frames.append(frame)
        return frame

    def check(self, state: Any) -> None:
        """WrongRecord if this is no state of the robot."""
        joints = messages.labels(state.dtype)
        if joints != self.robot.joint_names or "position" not in (state.dtype.names or ()):
            raise WrongRecord(
                f"this is no state of {self.robot.name}: its joints are {', '.join(joints[:6]) or 'not named'} …, "
                f"not {', '.join(self.robot.joint_names[:6])} …"
            )

    def drop(self) -> None:
        """Forget the last frame."""
        if not self.frames:
            raise BadMotion("there is no frame to forget")
        self.frames.pop()

    def key_frames(self) -> KeyFrames:
        """All frames so far."""
        if not self.frames:
            raise BadMotion("nothing was taught: take a state first")
        return KeyFrames(self.robot, tuple(self.frames), "what was taught")

    def trajectory(self) -> PiecewisePolynomial:
        """The smooth motion through all frames so far."""
        return self.key_frames().trajectory()

    def write(self, path: str | Path) -> None:
        """Write a key-frame file."""
        self.key_frames().write(path)

    def _duration(self, position: np.ndarray[Any, Any]) -> float:
        """Twice the way over the velocity allowed: a motion from rest to rest is up to twice as fast as its mean."""
        if not self.frames:
            return self.shortest
        fastest = self.speed * np.array([joint.velocity for joint in self.robot.moving])
        needed = float((2 * np.abs(position - self.frames[-1].position) / fastest).max())
        return max(self.shortest, round(needed, 3)) if np.isfinite(needed) else self.shortest
