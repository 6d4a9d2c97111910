"""KeyFrames: postures to go through one after the other, their durations and contacts; in YAML files.

    robot: hubo2plus
    spline: monotone                         # or quartic (if nothing is said), quintic, via_cubic
    frames:
      - name: stand
        posture: home                        # a posture of the robot
        contacts: [left_sole, right_sole]
      - name: lift
        duration: 1.5                        # seconds from the frame before
        posture: {RHP: -0.6, RKN: 1.2}       # joints not named stay as they were
        contacts: [left_sole]
        stop: true                           # stand still here
        falls: true                          # from here on it tips over, as it is meant to
        up: z                                # the axis of its root that points up, or -x …, where that is not clear

In the first frame, joints not named are at zero, or at the limit nearest to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

from wholebody.errors import BadMotion, BadMotionFile, LimitsExceeded, closest
from wholebody.files import yaml_of
from wholebody.motion.limits import CollisionChecker, Limits, Violation, collisions
from wholebody.motion.splines import Spline, monotone, quartic, quintic, via_cubic
from wholebody.motion.trajectory import Array, PiecewisePolynomial, joined, steps
from wholebody.robots.robot import Robot

SPLINES: Mapping[str, Spline] = {
    "quartic": quartic,
    "monotone": monotone,
    "quintic": quintic,
    "via_cubic": via_cubic,
}
FARTHEST = 1e6
"""rad or m, beyond which a position is none; whole numbers in YAML may be larger than any float."""
KEYS = ("name", "posture", "duration", "contacts", "stop", "falls", "up")
FLAGS = ("stop", "falls")
AXES = ("x", "y", "z", "-x", "-y", "-z")


@dataclass(frozen=True, eq=False)
class KeyFrame:
    """A posture to go through: positions of all joints, and seconds from the frame before (or from the start).

    contacts are the surfaces or links that bear from this frame on, until the next. falls says that on these contacts
    the robot is meant to tip over, and need not be able to rest. up is the axis of its root that points up, about, if
    the contacts leave that open: a robot can lie on belly and back.
    """

    position: Array
    duration: float
    name: str = ""
    contacts: tuple[str, ...] = ()
    stop: bool = False
    falls: bool = False
    up: str = ""


@dataclass(frozen=True, eq=False)
class KeyFrames:
    """Key frames of a robot, checked when they are made.

    spline is the interpolation between frames: "quartic", of fourth order, is smoothest, and swings beyond the
    frames where a short duration follows a long one; "monotone" never goes beyond them.
    """

    robot: Robot
    frames: tuple[KeyFrame, ...]
    source: str = "the motion"
    spline: str = "quartic"

    def __post_init__(self) -> None:
        """Check every frame."""
        object.__setattr__(self, "frames", tuple(self.frames))
        if not self.frames:
            raise BadMotionFile(f"{self.source} has no frames")
        if self.spline not in SPLINES:
            raise BadMotionFile(f"{self.source}: there is no spline '{self.spline}'; there are: {', '.join(SPLINES)}")
        for number, frame in enumerate(self.frames):
            where = f"{self.source}, {self.title(number)}"
            if np.shape(frame.position) != (len(self.robot.joint_names),):
                raise BadMotionFile(f"{where}: {len(self.robot.joint_names)} joints, not {np.shape(frame.position)}")
            for joint, value in zip(self.robot.joint_names, frame.position, strict=True):
                if not np.isfinite(value):
                    raise BadMotionFile(f"{where}: joint {joint} is {value}")
            if not np.isfinite(frame.duration) or frame.duration < 0 or (number and frame.duration == 0):
                raise BadMotionFile(f"{where} comes {frame.duration} s after the one before; times increase")
            if frame.up and frame.up not in AXES:
                raise BadMotionFile(f"{where}: up is one of {', '.join(AXES)}, not '{frame.up}'")
            known = [surface.name for surface in self.robot.surfaces] + [link.name for link in self.robot.links]
            for contact in frame.contacts:
                if contact not in known:
                    near = closest(contact, known)
                    raise BadMotionFile(f"{where}: '{contact}' is no surface or link of {self.robot.name}{near}")

    def title(self, number: int) -> str:
        """How a frame is called in messages: its number, from 1, and its name."""
        name = self.frames[number].name
        return f"frame {number + 1}" + (f" '{name}'" if name else "")

    # --- from and to files -------------------------------------------------------------------------

    @classmethod
    def read(cls, path: str | Path, robot: Robot) -> KeyFrames:
        """Read a key-frame file for a robot."""
        content = top_level(path)
        if not isinstance(content.get("frames"), Sequence):
            raise BadMotionFile(f"{path} is no key-frame file: it has no list of 'frames'")
        _only(path, content, ("robot", "spline", "frames"))
        if content.get("robot", robot.name) != robot.name:
            raise BadMotionFile(f"{path} is made for {content['robot']}, and this robot is {robot.name}")
        frames: list[KeyFrame] = []
        for number, given in enumerate(content["frames"], 1):
            frames.append(_frame(f"{path}, frame {number}", given, robot, frames[-1].position if frames else None))
        return cls(robot, tuple(frames), str(path), str(content.get("spline", "quartic")))

    def write(self, path: str | Path) -> None:
        """Write a key-frame file; of each posture, the joints that differ from the frame before."""
        frames, before = [], np.full(len(self.robot.joint_names), np.nan)
        for frame in self.frames:
            moved = np.flatnonzero(frame.position != before)
            entry: dict[str, Any] = {"name": frame.name} if frame.name else {}
            entry |= {"duration": float(frame.duration)}
            entry |= {"posture": {self.robot.joint_names[i]: float(frame.position[i]) for i in moved}}
            entry |= {"contacts": list(frame.contacts)} if frame.contacts else {}
            entry |= {flag: True for flag in FLAGS if getattr(frame, flag)}
            frames.append(entry | ({"up": frame.up} if frame.up else {}))
            before = frame.position
        content = {"robot": self.robot.name, "spline": self.spline, "frames": frames}
        text = yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=110, allow_unicode=True)
        Path(path).write_text(text, encoding="utf-8")

    # --- as a motion -------------------------------------------------------------------------------

    def trajectory(self, start: npt.ArrayLike | None = None) -> PiecewisePolynomial:
        """The smooth motion through all frames, from rest to rest.

        start: where the robot is, at rest; it gets to the first frame in that frame's duration. Without it, the motion
        begins at the first frame.
        """
        positions, times, stops = self._waypoints(start)
        if len(times) < 2:
            raise BadMotion(f"{self.source} is one frame, which is a posture and no motion; tell where it starts")
        cuts = [0, *(i for i in range(1, len(times) - 1) if stops[i]), len(times) - 1]
        spline = SPLINES[self.spline]
        return joined([spline(positions[a : b + 1], times[a : b + 1] - times[a]) for a, b in pairwise(cuts)])

    @property
    def times(self) -> Array:
        """When each frame is reached, from the first."""
        return np.concatenate([[0.0], np.cumsum([frame.duration for frame in self.frames[1:]])])

    def _waypoints(self, start: npt.ArrayLike | None) -> tuple[Array, Array, list[bool]]:
        positions = np.array([frame.position for frame in self.frames])
        stops = [frame.stop for frame in self.frames]
        if start is None:
            return positions, self.times, stops
        first = self.frames[0].duration
        if first <= 0:
            raise BadMotion(f"{self.source}: to start elsewhere, its first frame needs a duration above 0")
        here = np.asarray(start, np.float64)
        if here.shape != positions[0].shape or not np.isfinite(here).all():
            raise BadMotion(f"the start is {len(positions[0])} finite numbers, one for each joint")
        return np.vstack([here, positions]), np.concatenate([[0.0], first + self.times]), [False, *stops]

    # --- checks ------------------------------------------------------------------------------------

    def violations(
        self, limits: Limits | None = None, checker: CollisionChecker | None = None, period: float = 0.01
    ) -> list[Violation]:
        """Where frames, and the motion between them, exceed limits (by default the robot's own) or collide."""
        bounds = limits or Limits.of(self.robot)
        positions = np.array([frame.position for frame in self.frames])
        found: list[Violation] = []
        for number, frame in enumerate(self.frames):
            found += bounds.violations("position", frame.position[None], lambda _, number=number: self.title(number))  # type: ignore[misc]
        found += collisions(checker, positions, self.title) if checker else ()
        if found or len(self.frames) < 2:
            return found  # what is between them is then wrong too
        trajectory = self.trajectory()
        now = trajectory.sample(np.minimum(steps(trajectory.duration, period), trajectory.duration))

        def where(row: int) -> str:
            after = int(np.clip(np.searchsorted(self.times, now.time[row], side="right"), 1, len(self.frames) - 1))
            return f"{now.time[row]:.3f} s, between {self.title(after - 1)} and {self.title(after)}"

        found += bounds.exceeded(now, where)
        return found + list(collisions(checker, now.position, where) if checker else ())

    def check(
        self, limits: Limits | None = None, checker: CollisionChecker | None = None, period: float = 0.01
    ) -> None:
        """LimitsExceeded, with every violation, if the motion is none for the robot."""
        found = self.violations(limits, checker, period)
        if found:
            raise LimitsExceeded(self.source, found)


def top_level(path: str | Path) -> Mapping[str, Any]:
    """What a YAML file says; nothing, if it is no mapping."""
    content = yaml_of(path, BadMotionFile)
    return content if isinstance(content, Mapping) else {}


def _frame(where: str, given: Any, robot: Robot, before: Array | None) -> KeyFrame:
    if not isinstance(given, Mapping):
        raise BadMotionFile(f"{where} is '{given}', not a mapping of {', '.join(KEYS)}")
    where += f" '{given['name']}'" if "name" in given else ""
    _only(where, given, KEYS)
    if "posture" not in given:
        raise BadMotionFile(f"{where} has no posture: joints and their positions, or the name of one of {robot.name}'s")
    duration = given.get("duration", 0.0)
    if not isinstance(duration, int | float) or isinstance(duration, bool):
        raise BadMotionFile(f"{where}: the duration '{duration}' is no number of seconds")
    if before is not None and "duration" not in given:
        raise BadMotionFile(f"{where} has no duration: seconds from the frame before")
    contacts = given.get("contacts") or ()
    if not isinstance(contacts, list | tuple) or not all(isinstance(each, str) for each in contacts):
        raise BadMotionFile(f"{where}: contacts are a list of surfaces, not '{contacts}'")
    flags = {flag: given.get(flag, False) for flag in FLAGS}
    for flag, value in flags.items():
        if not isinstance(value, bool):
            raise BadMotionFile(f"{where}: {flag} is true or false, not '{value}'")
    position = _posture(where, given["posture"], robot, before)
    name, up = str(given.get("name", "")), str(given.get("up", ""))
    return KeyFrame(position, float(duration), name, tuple(contacts), **flags, up=up)


def _posture(where: str, given: Any, robot: Robot, before: Array | None) -> Array:
    if isinstance(given, str):
        if given not in robot.postures:
            near = closest(given, robot.postures) or f"; there are: {', '.join(robot.postures)}"
            raise BadMotionFile(f"{where}: {robot.name} has no posture '{given}'{near}")
        return robot.posture(given)
    if not isinstance(given, Mapping):
        raise BadMotionFile(f"{where}: a posture is joints and their positions, or a name, not '{given}'")
    if before is None:
        position = np.array([float(np.clip(0.0, joint.lower, joint.upper)) for joint in robot.moving])
    else:
        position = before.copy()
    for joint, value in given.items():
        if joint not in robot.index:
            near = closest(str(joint), robot.joint_names)
            raise BadMotionFile(f"{where}: {robot.name} has no moving joint '{joint}'{near}")
        if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < FARTHEST:
            raise BadMotionFile(f"{where}: joint {joint} is '{value}', which is no number to go to")
        position[robot.index[joint]] = value
    return position


def _only(where: str | Path, given: Mapping[Any, Any], known: Sequence[str]) -> None:
    for key in given:
        if key not in known:
            near = closest(str(key), known) or f"; there are: {', '.join(known)}"
            raise BadMotionFile(f"{where} has the entry '{key}', which means nothing here{near}")
