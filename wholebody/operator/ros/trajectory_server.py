"""TrajectoryServer: moves joints along trajectories, one at a time, and says how that goes: topic and action of ROS.

A trajectory is checked whole when it comes; a new one takes over from where the one before it is, also in the middle.
Its time goes on with the daemon's, but never faster than one period a state: a bridge that is late makes a motion
longer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from wholebody.drivers.connection import Connection
from wholebody.errors import BadTrajectory
from wholebody.messages import Mode
from wholebody.motion.limits import Limits
from wholebody.motion.trajectory import Array, Sample
from wholebody.operator.ros.trajectory import OLD_STAMP, JointMotion, joint_motion
from wholebody.ros.interfaces import FollowJointTrajectoryGoal, JointTolerance
from wholebody.ros.standard import JointTrajectory

SUCCESSFUL, INVALID_GOAL = 0, -1
PATH_TOLERANCE_VIOLATED, GOAL_TOLERANCE_VIOLATED = -4, -5
HOLDS = 0.05
"""rad or m: a joint that is nearer than that to its command goes on from there, not from where it hangs."""
OLDEST = 60.0
"""s. A stamp further back, or further ahead, is of another clock."""


class Ended(IntEnum):
    """How a motion ended."""

    DONE = 0
    ABORTED = 1
    CANCELLED = 2
    PREEMPTED = 3


@dataclass
class Run:
    """A motion under way."""

    motion: JointMotion
    path: Array  # tolerances; infinite where there are none
    goal: Array
    time_tolerance: float  # s; infinite if it may take as long as it likes
    begins: float  # by the robot's time
    end: Callable[[Ended, int, str], None]
    time: float = 0.0
    now: float = field(default=math.nan)
    sample: Sample | None = None


class TrajectoryServer:
    """Of a robot that runs, as its controller; `step` is called at each state.

    limits  of all joints, as the daemon keeps them now
    """

    def __init__(self, robot: Connection, limits: Callable[[], Limits]) -> None:
        self._robot, self._limits = robot, limits
        self.run: Run | None = None

    def begin(self, goal: FollowJointTrajectoryGoal, late: float | None, end: Callable[[Ended, int, str], None]) -> Run:
        """Begin a goal, or raise BadTrajectory; `late` is how long ago (s) it was to begin, None: it begins now.

        The one before it ends as aborted, and is gone on from.
        """
        trajectory, state = goal.trajectory, self._robot.state
        if late is not None and abs(late) > OLDEST:
            raise BadTrajectory(
                f"its stamp is {late:g} s old; stamp it 0 to begin now, or see which clock is used", OLD_STAMP
            )
        if goal.multi_dof_trajectory.points:
            raise BadTrajectory("joints of several degrees of freedom are none of this robot's", INVALID_GOAL)
        start = self._start(tuple(trajectory.joint_names))
        motion = joint_motion(
            trajectory, self._robot.joints, start, self._limits(), self._robot.period, max(late or 0.0, 0.0)
        )
        path, ends = (_tolerances(each, motion.joints) for each in (goal.path_tolerance, goal.goal_tolerance))
        leeway = goal.goal_time_tolerance.seconds
        before, begins = self.run, state.time + max(-(late or 0.0), 0.0)
        self.run = Run(motion, path, ends, leeway if leeway > 0 else math.inf, begins, end)
        if before is not None:
            before.end(Ended.PREEMPTED, INVALID_GOAL, "another trajectory came after it")
        return self.run

    def step(self) -> None:
        """Command what is due now, and see how it goes."""
        run, state = self.run, self._robot.state
        if run is None or state.time < run.begins:
            return
        if math.isfinite(run.now):
            run.time += min(max(state.time - run.now, 0.0), self._robot.period)
        run.now = state.time
        run.sample = sample = run.motion.at(run.time)
        self._put(run.motion, sample.position)
        off = np.abs(sample.position - state.position[run.motion.index])
        if run.time < run.motion.duration:
            self._keep_path(run, off)
        elif not (off > run.goal).any():
            self._end(Ended.DONE, SUCCESSFUL, "")
        elif state.time > run.begins + run.motion.duration + run.time_tolerance:
            text = _beyond("goal", run.motion, off, run.goal, run.time)
            self._end(Ended.ABORTED, GOAL_TOLERANCE_VIOLATED, text)

    def stop(self, how: Ended = Ended.CANCELLED, text: str = "cancelled") -> None:
        """Hold the joints where they are told to be."""
        if self.run is not None:
            self._end(how, SUCCESSFUL, text)

    def _keep_path(self, run: Run, off: Array) -> None:
        if (off > run.path).any():
            text = _beyond("path", run.motion, off, run.path, run.time)
            self._end(Ended.ABORTED, PATH_TOLERANCE_VIOLATED, text)

    def _end(self, how: Ended, code: int, text: str) -> None:
        run, self.run = self.run, None
        if run is not None:
            run.end(how, code, text)

    def _put(self, motion: JointMotion, position: Array) -> None:
        reference = self._robot.reference
        reference.mask[:] = False
        reference.mask[motion.index], reference.position[motion.index] = True, position
        reference.mode[motion.index] = Mode.POSITION
        self._robot.put()

    def _start(self, joints: tuple[str, ...]) -> dict[str, tuple[float, float]]:
        """Where joints go on from, and how fast: the motion under way, their command, or where they hang."""
        state, index = self._robot.state, self._robot.index
        known = [joint for joint in joints if joint in index]
        found = {}
        for joint in known:
            measured, told = float(state.position[index[joint]]), float(state.reference[index[joint]])
            found[joint] = (told if abs(measured - told) < HOLDS else measured, 0.0)
        if self.run is not None and self.run.sample is not None:
            moving, sample = self.run.motion.joints, self.run.sample
            pairs = zip(sample.position.tolist(), sample.velocity.tolist(), strict=True)
            found |= {joint: pair for joint, pair in zip(moving, pairs, strict=True) if joint in found}
        return found


def follow(trajectory: JointTrajectory) -> FollowJointTrajectoryGoal:
    """A trajectory without tolerances as a goal."""
    return FollowJointTrajectoryGoal(trajectory)


def _tolerances(given: list[JointTolerance], joints: tuple[str, ...]) -> Array:
    """Of each joint; only those above zero count, as in ros2_control."""
    told = {each.name: each.position for each in given}
    for name in told:
        if name not in joints:
            raise BadTrajectory(f"a tolerance is of joint '{name}', which the trajectory does not move", INVALID_GOAL)
    return np.array([told[joint] if told.get(joint, 0.0) > 0 else math.inf for joint in joints])


def _beyond(what: str, motion: JointMotion, off: Array, tolerance: Array, time: float) -> str:
    worst = int(np.argmax(off - tolerance))
    return (
        f"{time:.3f} s: joint {motion.joints[worst]} is {off[worst]:.4g} off, its {what} tolerance is "
        f"{tolerance[worst]:.4g}"
    )
