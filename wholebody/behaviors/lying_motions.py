"""From the ground, or from standing, onto wrists and knees, and over: key-frame motions, as the robot lies or stands.

rising = KeyFrameMotions(robot, way_up(robot, state))
...
done = rising.cycle(state, reference)     # every period
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from wholebody.errors import BadState, SensorLost
from wholebody.locomotion.crawling.crawler import Crawler
from wholebody.messages import Mode, Reference, State
from wholebody.model.layout import Array
from wholebody.motion import files
from wholebody.motion.capture.gait_plan import minimum_jerk
from wholebody.motion.playback import posture_of
from wholebody.motion.trajectory import Trajectory
from wholebody.robots.robot import Robot

FLAT = math.cos(math.radians(30))
"""Of the angle between where its front points and straight up or down: nearer, the robot lies on back or belly."""

DOWN, ASIDE = 0.5, 0.3
"""How far its front points down, at least, and its left up or down, at most, when it is on wrists and knees."""

Lies = Literal["belly", "back", "side", "limbs", "not"]
WAYS: dict[Lies, tuple[str, ...]] = {"belly": ("get_up",), "back": ("turn_over_left", "get_up")}
"""Up, onto wrists and knees."""
ONTO_LIMBS: dict[Lies, tuple[str, ...]] = WAYS | {"limbs": (), "not": ("kneel_down",)}
"""Onto wrists and knees from anywhere: upright, it is taken to stand."""


def lies(orientation: npt.ArrayLike) -> Lies:
    """How a robot lies, from the orientation of its root (x y z w), as an IMU has it; not, if it is upright.

    On wrists and knees its front points forward and down.
    """
    forward, leftward, upward = Rotation.from_quat(np.asarray(orientation)).as_matrix()[2]  # how far its axes point up
    if abs(upward) > max(abs(forward), abs(leftward)):
        return "not"
    if abs(forward) < FLAT:
        return "limbs" if forward < -DOWN and abs(leftward) < ASIDE and upward > 0 else "side"
    return "back" if forward > 0 else "belly"


def way_up(robot: Robot, state: State) -> tuple[str, ...]:
    """The ready motions that bring a robot from how it lies onto wrists and knees."""
    return _way(robot, state, WAYS)


def way_onto_limbs(robot: Robot, state: State) -> tuple[str, ...]:
    """The ready motions that bring a robot that lies or stands onto wrists and knees; none, if it is there."""
    return _way(robot, state, ONTO_LIMBS)


def _way(robot: Robot, state: State, ways: dict[Lies, tuple[str, ...]]) -> tuple[str, ...]:
    orientation = np.asarray(state.imu[0].orientation)
    if not np.isfinite(orientation).all():
        raise SensorLost("the IMU reads what is no number; how the robot lies is not known")
    how = lies(orientation)
    if how not in ways:
        raise BadState(f"the robot lies on its {how}" if how == "side" else "the robot does not lie on the ground")
    for name in ways[how]:
        files.path_of(robot, name)  # all of them are there before anything moves
    return ways[how]


class KeyFrameMotions:
    """Plays ready motions one after the other, each from where the last command left the joints."""

    def __init__(self, robot: Robot, names: Sequence[str]) -> None:
        self._motions = [files.key_frames(robot, name) for name in names]
        self.names = tuple(names)
        self.playing = 0
        self._begin = math.nan
        self._trajectory: Trajectory | None = None

    @property
    def duration(self) -> float:
        """Seconds of all motions, with the ways to where they begin."""
        return float(sum(motion.times[-1] + motion.frames[0].duration for motion in self._motions))

    def cycle(self, state: State, reference: Reference) -> bool:
        """Fill the reference; True when the last motion is at its end, which is held."""
        time = state.time
        if not math.isfinite(time):
            raise SensorLost("the state has no time")
        if self._trajectory is None:
            self._trajectory, self._begin = self._motions[self.playing].trajectory(posture_of(state)), time
        now = min(time - self._begin, self._trajectory.duration)
        reference.position[:] = self._trajectory.at(now).position
        reference.mode[:], reference.mask[:] = Mode.POSITION, True
        if now < self._trajectory.duration:
            return False
        if self.playing == len(self._motions) - 1:
            return True
        self.playing += 1
        self._trajectory = None
        return False


class OntoLimbs:
    """Ready motions first, if it is not on wrists and knees; then joints glide to where the crawler begins.

    seconds    of the gliding; limbs bear meanwhile
    """

    def __init__(self, crawler: Crawler, state: State, seconds: float) -> None:
        if not 0.1 <= seconds <= 60.0:
            raise BadState(f"to get on wrists and knees in {seconds} s; give 0.1 to 60")
        self._crawler, self._seconds = crawler, seconds
        names = way_onto_limbs(crawler.model.robot, state)
        self._motions = KeyFrameMotions(crawler.model.robot, names) if names else None
        self._from: Array | None = None
        self._begin = math.nan

    def cycle(self, state: State, reference: Reference) -> bool:
        """Fill the reference; True when it is there, and the crawler may go on."""
        if self._motions is not None:
            if self._motions.cycle(state, reference):
                self._motions = None
            return False
        time = state.time
        if self._from is None:
            self._from, self._begin = np.array(posture_of(state)), time
        share = min(1.0, (time - self._begin) / self._seconds)
        reference.position[:] = self._from + minimum_jerk(share) * (self._crawler.command - self._from)
        reference.mode[:], reference.mask[:] = Mode.POSITION, True
        if share < 1.0:
            return False
        self._crawler.begin_anew(time)
        return True
