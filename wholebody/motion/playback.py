"""play: move a robot through a motion, from wherever it is, behind any RobotInterface.

with Simulation(robot) as simulation:
    state, reference = simulation.new_state(), simulation.new_reference()
    play(trajectory, simulation, simulation, state, reference, Limits.of(robot))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wholebody import messages
from wholebody.drivers import Clock, RobotInterface
from wholebody.errors import BadMotion, BadState, LimitsExceeded, WrongRecord
from wholebody.messages import Dtype, Reference, State
from wholebody.motion.keyframes import KeyFrame, KeyFrames
from wholebody.motion.limits import CollisionChecker, Limits, collisions
from wholebody.motion.profile import OnlineProfile
from wholebody.motion.trajectory import Array, Trajectory, steps
from wholebody.robots.robot import Robot

SAG = 0.05
"""rad or m: nearer to its reference than that, a joint holds it, and goes on from there, not from where it hangs."""

CHECKED_EVERY = 0.02
"""Seconds from one posture to the next of those that are checked for collisions."""


@dataclass(frozen=True, eq=False)
class Plan:
    """The references of a motion, a row for each period: first the approach to where it begins, then the motion."""

    rows: Array
    period: float
    approach: int  # how many rows the approach has

    @property
    def duration(self) -> float:
        """Seconds from beginning to end."""
        return len(self.rows) * self.period


@dataclass(frozen=True)
class Played:
    """How a motion went: how long its approach and itself took, and how far joints stayed behind."""

    approach: float  # s
    motion: float  # s
    worst_error: float  # rad or m, during the motion
    worst_joint: str
    final_error: float  # rad or m, after holding


def plan(
    trajectory: Trajectory,
    here: Array,
    limits: Limits,
    period: float,
    *,
    speed: float = 0.2,
    acceleration: float = 2.0,
    checker: CollisionChecker | None = None,
) -> Plan:
    """All references from a posture to the end of a motion; LimitsExceeded if one of them is none for the robot.

    speed, acceleration: at most, in the approach: a share of the velocity limits, and rad/s² or m/s².
    """
    if not 0 < speed <= 1:
        raise BadMotion(f"speed is a share of the velocity limits, above 0 and up to 1, not {speed}")
    if trajectory.at(0.0).position.shape != here.shape:
        raise BadMotion(f"the motion has {len(trajectory.at(0.0).position)} joints, and the robot {len(here)}")
    for name, value in zip(limits.names, here, strict=True):
        if not np.isfinite(value):
            raise BadState(f"joint {name} says it is at {value}: where the robot is has to be known before it moves")
    motion = trajectory.sample(np.minimum(steps(trajectory.duration, period), trajectory.duration))
    found = list(limits.exceeded(motion, lambda row: f"{motion.time[row]:.3f} s"))
    if found:
        raise LimitsExceeded("the motion", found)
    approach = _approach(here, motion.position[0], limits, speed, acceleration, period)
    if checker is not None:
        every = max(1, round(CHECKED_EVERY / period))
        on_the_way = "{:.3f} s on the way to where the motion begins; bring the robot nearer to there first"
        found += collisions(checker, approach[::every], lambda row: on_the_way.format(row * every * period))
        found += collisions(checker, motion.position[::every], lambda row: f"{motion.time[row * every]:.3f} s")
    if found:
        raise LimitsExceeded("the motion", found)
    return Plan(np.vstack([approach, motion.position]), period, len(approach))


def _approach(here: Array, there: Array, limits: Limits, speed: float, acceleration: float, period: float) -> Array:
    """References from one posture to another, from rest to rest: all joints in step, so that feet stay flat."""
    far = np.abs(there - here)
    moves = far > 0
    if not moves.any():
        return np.empty((0, len(here)))
    fastest = np.where(np.isfinite(limits.velocity), speed * limits.velocity, speed)
    steepest = np.minimum(limits.acceleration, acceleration)
    share = OnlineProfile((fastest[moves] / far[moves]).min(), (steepest[moves] / far[moves]).min(), period)
    shares = [0.0]
    while shares[-1] < 1.0:
        shares.append(float(share.step([1.0])[0]))
    return here + np.array(shares[:-1])[:, None] * (there - here)


def posture_of(state: State) -> Array:
    """Where to go on from: the commanded position of a joint, if it is about there, or else where it says it is."""
    measured, commanded = np.array(state.position), np.array(state.reference)
    return np.where(np.abs(measured - commanded) < SAG, commanded, measured)


def play(
    trajectory: Trajectory,
    robot: RobotInterface,
    clock: Clock,
    state: State,
    reference: Reference,
    limits: Limits,
    *,
    speed: float = 0.2,
    acceleration: float = 2.0,
    checker: CollisionChecker | None = None,
    hold: float = 0.5,
) -> Played:
    """Go to where a motion begins, go through it, and hold its end; all of it is checked before anything moves.

    state and reference are records of the robot, such as a channel's messages; limits are of all its joints. A beat
    that comes late makes the motion longer, never faster. Whatever is raised meanwhile, the robot is stopped first.
    """
    for record in (state, reference):
        if messages.labels(record.dtype) != limits.names:
            raise WrongRecord(f"the limits are of {', '.join(limits.names[:6])} …, and the record is of other joints")
    reference.time = clock.tick()
    robot.read(state)
    whole = plan(
        trajectory, posture_of(state), limits, clock.period, speed=speed, acceleration=acceleration, checker=checker
    )
    reference.mode[:], reference.mask[:] = messages.Mode.POSITION, True
    reference.velocity[:], reference.effort[:] = 0.0, 0.0
    errors = np.zeros((len(whole.rows) + max(1, round(hold / clock.period)), len(limits.names)))
    try:
        for index in range(len(errors)):
            reference.position[:] = whole.rows[min(index, len(whole.rows) - 1)]
            robot.write(reference)
            reference.time = clock.tick()
            robot.read(state)
            np.subtract(state.position, reference.position, out=errors[index])
    except BaseException:
        robot.stop()
        raise
    np.abs(errors, out=errors)
    moving = errors[whole.approach : len(whole.rows)]
    row, joint = np.unravel_index(int(moving.argmax()), moving.shape)
    approach, motion = whole.approach * clock.period, (len(whole.rows) - whole.approach) * clock.period
    return Played(approach, motion, float(moving[row, joint]), limits.names[joint], float(errors[-1].max()))


class Teacher:
    """Takes a key frame from a state message when asked.

        with Channel("hubo.state", kind=State) as channel, channel.reader() as reader:
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
        state: State,
        name: str = "",
        *,
        duration: float | None = None,
        contacts: Sequence[str] = (),
        stop: bool = False,
    ) -> KeyFrame:
        """Keep the measured positions of a state message as the next frame."""
        self.check(state.dtype)
        position = np.array(state.position, np.float64).reshape(-1)
        seconds = self._duration(position) if duration is None else float(duration)
        frame = KeyFrame(position, seconds, name or f"pose {len(self.frames) + 1}", tuple(contacts), stop)
        KeyFrames(self.robot, (*self.frames, frame), "what is taught")  # checks it
        self.frames.append(frame)
        return frame

    def check(self, layout: Dtype) -> None:
        """WrongRecord if messages of this layout are no states of the robot."""
        joints = messages.labels(layout)
        if joints != self.robot.joint_names or "position" not in (layout.names or ()):
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

    def write(self, path: str | Path) -> None:
        """Write a key-frame file."""
        self.key_frames().write(path)

    def _duration(self, position: np.ndarray[Any, Any]) -> float:
        """Twice the distance over the velocity limit: a motion from rest to rest is up to twice as fast as its mean."""
        if not self.frames:
            return self.shortest
        fastest = self.speed * np.array([joint.velocity for joint in self.robot.moving])
        needed = float((2 * np.abs(position - self.frames[-1].position) / fastest).max())
        return max(self.shortest, round(needed, 3)) if np.isfinite(needed) else self.shortest
