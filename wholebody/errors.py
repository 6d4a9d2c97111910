"""Every error of wholebody, in one tree; each says what is wrong and what to do.

WholebodyError
├── ChannelError
│   ├── IllegalName          (ValueError)         not a name a channel can have
│   ├── ChannelNotFound      (FileNotFoundError)  nobody has made that channel
│   ├── BadLayout            (TypeError)          a dtype that cannot cross between processes
│   ├── LayoutMismatch       (TypeError)          the channel holds messages of another layout
│   ├── SizeOutOfRange       (ValueError)         too large a message, too deep, too many writers asked for
│   ├── TooManyWriters                            every place for a writer is taken
│   ├── RegistrationBusy                          a stopped process holds up new writers
│   ├── ChannelInUse                              somebody writes to the channel to be removed
│   ├── SharedMemoryFull     (OSError)            no room for the channel
│   ├── NotPermitted         (PermissionError)    the channel belongs to somebody else
│   ├── ChannelGone                               its file was truncated, replaced or removed
│   ├── NotAChannel                               a foreign, truncated or damaged file under that name
│   ├── OtherVersion                              made by another version of wholebody
│   ├── StaleChannel                              made before the machine restarted
│   ├── ForkedHandle         (RuntimeError)       a writer used in the child of a fork
│   ├── ChannelClosed        (ValueError)         used after close()
│   ├── ReaderBusy           (RuntimeError)       one reader used by two threads
│   ├── Overrun                                   messages are overwritten faster than they can be copied
│   ├── SequenceExhausted                         2⁴⁸ messages
│   ├── ClockJumped                               a message from the future
│   └── ChannelFault         (OSError)            anything else the operating system refuses
├── BridgeError                                   machines that cannot be connected
├── NotSecured               (PermissionError)    listening where others reach it, without token or TLS
├── BadRecording             (ValueError)         a log that cannot be written, or a file that is none
├── BadMessage               (ValueError)         a record that cannot be built as asked
├── OldView              (RuntimeError)       a view of a message that another has taken the place of
├── BadRobot                 (ValueError)         a robot description that contradicts itself or physics
├── UnknownName              (KeyError)           no robot, link, joint, posture … of that name
├── BadState                 (ValueError)         a configuration or velocity that the model cannot be at
├── UnknownFrame             (IndexError)         an index that is no frame of the model
├── WrongRecord              (TypeError)          a record of another robot, or of another kind
├── BadReference             (ValueError)         a reference that no joint can follow
├── BadPeriod                (ValueError)         a period or rate that no loop can keep
├── BadDriver            (TypeError)          a driver that lacks methods, or does not take such options
├── HardwareError                                 a bus or board that does not do what it must
├── NoRobot                                       no daemon runs a robot of that name
├── RobotTaken                                    another daemon runs the robot of that name
├── RoleTaken                                     another process does that for the robot
├── CommandsTaken                                     another process takes people's commands to the robot
├── NoClosedForm             (ValueError)         a chain of joints that only iteration can invert
├── BadGoal                  (ValueError)         a goal that is no pose, point or direction
├── BadSimulation            (ValueError)         a simulation that cannot be set up as asked
│   └── BadPosture                                a posture outside the limits of the joints
├── SimulationDiverged       (ArithmeticError)    the physics became unstable
├── BadMotion                (ValueError)         waypoints, times or limits that make no motion
│   ├── BadMotionFile                             a key-frame or trajectory file that cannot be read
│   ├── BadTrajectory                             a trajectory of ROS that this robot cannot follow
│   ├── LimitsExceeded                            a motion beyond the limits of joints, or one that collides
│   ├── TipsOver                                  key frames in which the robot cannot rest on what bears
│   └── CannotImitate                             a captured motion that this robot has no limbs or reach for
├── BadEstimator             (ValueError)         a filter that cannot be set up as asked
│   └── MissingSensor                             a robot that lacks a sensor the estimator needs
├── BadFootsteps             (ValueError)         footsteps, limits or velocities that no legs can do
├── BadGait                  (ValueError)         a gait, or a robot without what walking needs
├── SensorLost               (RuntimeError)       a sensor that walking needs says nothing, or nonsense
├── OutOfReach               (ValueError)         a place that a hand cannot come to from where the robot stands
├── GroundMissing            (RuntimeError)       a limb finds no ground, or not where it should be
├── GoalNotDone              (RuntimeError)       a goal that was rejected, preempted, cancelled, or failed
├── BadParameter             (ValueError)         a value that a parameter cannot take
├── BadConfiguration         (ValueError)         a configuration file that says what cannot be; file, line, key, remedy
├── BadExpression            (ValueError)         an event's expression that is no comparison of parameters
├── BadBinding               (ValueError)         a parameter that cannot be bound as asked
├── NoServer                                      nobody serves requests under that name
│   └── NoController                              no controller of that name runs
├── BadStateMachine          (ValueError)         states that do not lead anywhere, or two of one name
├── BadTask                  (ValueError)         a task that cannot be what it says
├── BadConstraint            (ValueError)         a constraint that cannot hold
├── BadProblem               (ValueError)         tasks and constraints that make no problem together
├── Infeasible               (ArithmeticError)    limits that contradict each other; which, by how much, who lost
├── BadCommand               (ValueError)         a line that is no command of the Robot Command Protocol
├── Refused                  (PermissionError)    a command that this user may not give, or not now
├── ControlLost              (RuntimeError)       no command could be found for too long; the robot is stopped
├── UnknownBenchmark         (KeyError)           no benchmark of that name
├── MissingProgram       (FileNotFoundError)  a program of the system, such as a compiler, is not installed
└── MissingExtra             (ImportError)        an optional library is not installed

ChannelRenewed               (RuntimeWarning)     a channel that was pulled away is made anew
NetworkWarning               (RuntimeWarning)     other machines can reach what is meant for this one alone
RealtimeWarning              (RuntimeWarning)     real-time scheduling is not permitted; all still works
RobotWarning                 (UserWarning)        a robot description that could safely be repaired
UnknownJointWarning          (UserWarning)        a reference to a joint that this robot lacks
VelocityClamped              (UserWarning)        a velocity above what the robot can do; the fastest is taken
"""

from __future__ import annotations

import difflib
import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path


class WholebodyError(Exception):
    """The root of all our errors."""

    def __str__(self) -> str:
        """Return the message as written (KeyError would quote it)."""
        return str(self.args[0]) if self.args else ""


class ChannelError(WholebodyError):
    """Something is wrong with a channel."""


class IllegalName(ChannelError, ValueError):
    """Not a name a channel can have."""


class ChannelNotFound(ChannelError, FileNotFoundError):
    """Nobody has made that channel."""


class BadLayout(ChannelError, TypeError):
    """A dtype that cannot cross between processes."""


class LayoutMismatch(ChannelError, TypeError):
    """The channel holds messages of another layout; the text shows both, field by field."""


class SizeOutOfRange(ChannelError, ValueError):
    """Too large a message, too deep a ring, or too many writers asked for."""


class TooManyWriters(ChannelError):
    """Every place for a writer is taken."""


class RegistrationBusy(ChannelError):
    """A process stopped in the middle of a put or a registration holds up new writers."""


class ChannelInUse(ChannelError):
    """Somebody writes to the channel that is to be removed."""


class SharedMemoryFull(ChannelError, OSError):
    """There is no room for the channel."""


class NotPermitted(ChannelError, PermissionError):
    """The channel belongs to somebody else."""


class NotAChannel(ChannelError):
    """A foreign, truncated or damaged file lies under the channel's name."""


class ChannelGone(ChannelError):
    """The channel's file was truncated, replaced or removed."""


class OtherVersion(ChannelError):
    """The channel was made by another version of wholebody."""


class StaleChannel(ChannelError):
    """The channel was made before the machine restarted, so its times mean nothing."""


class ForkedHandle(ChannelError, RuntimeError):
    """A writer was used in the child of a fork."""


class ChannelClosed(ChannelError, ValueError):
    """A channel, writer or reader was used after close()."""


class ReaderBusy(ChannelError, RuntimeError):
    """One reader was used by two threads at once."""


class Overrun(ChannelError):
    """Messages are overwritten faster than this reader can copy them."""


class SequenceExhausted(ChannelError):
    """A channel carries 2⁴⁸ messages, and this one has."""


class ClockJumped(ChannelError):
    """A message comes from the future: its writer's CLOCK_MONOTONIC is not ours."""


class ChannelFault(ChannelError, OSError):
    """The operating system refused something for a reason of its own."""


class BadRobot(WholebodyError, ValueError):
    """A robot description that contradicts itself or physics; the text names the link, joint or value."""


class UnknownName(WholebodyError, KeyError):
    """There is no link, joint, posture … of that name."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        names = list(known)
        shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
        near = closest(name, names) or (f"; there are: {shown}" if names else "; there are none")
        super().__init__(f"no {what} '{name}'{near}")


class BridgeError(WholebodyError):
    """Machines that cannot be connected."""


class NotSecured(WholebodyError, PermissionError):
    """What would listen where others reach it, without a token or without TLS."""


class BadRecording(WholebodyError, ValueError):
    """A log that cannot be written, or a file that is none."""


class BadMessage(WholebodyError, ValueError):
    """A record that cannot be built as asked."""


class OldView(WholebodyError, RuntimeError):
    """A view of a message that another has taken the place of; looked for under WHOLEBODY_DEBUG only."""


class BadState(WholebodyError, ValueError):
    """A configuration or velocity that the model cannot be at."""


class UnknownFrame(WholebodyError, IndexError):
    """An index that is no frame of the model."""


class WrongRecord(WholebodyError, TypeError):
    """A record of another robot, or of another kind; the text shows both layouts where they differ."""


class BadReference(WholebodyError, ValueError):
    """A reference that no joint can follow, such as one with NaN in it; the text names the joint."""


class BadPeriod(WholebodyError, ValueError):
    """A period or rate that no loop can keep."""


class BadDriver(WholebodyError, TypeError):
    """A driver that lacks methods, or an option that is none or has another type; the text says what to give."""


class HardwareError(WholebodyError):
    """A bus or board that does not do what it must."""


class NoRobot(WholebodyError):
    """No daemon runs a robot of that name."""


class RobotTaken(WholebodyError):
    """Another daemon runs the robot of that name."""


class RoleTaken(WholebodyError):
    """Another process has that role for the robot of that name."""


class CommandsTaken(WholebodyError):
    """Another process takes people's commands to the robot of that name; the text says where."""


class NoClosedForm(WholebodyError, ValueError):
    """A chain of joints that only iteration can invert; the text says which axes do not fit."""


class BadGoal(WholebodyError, ValueError):
    """A goal that is no pose, point or direction, such as a matrix that is no rotation or has NaN in it."""


class BadSimulation(WholebodyError, ValueError):
    """A simulation that cannot be set up as asked; the text names the value and what it may be."""


class BadPosture(BadSimulation):
    """A posture outside the limits of the joints; the text names the joint."""


class SimulationDiverged(WholebodyError, ArithmeticError):
    """The physics became unstable; the text says when, where, and what to try."""


class BadMotion(WholebodyError, ValueError):
    """Waypoints, times or limits that make no motion; the text names the waypoint and the value."""


class BadMotionFile(BadMotion):
    """A key-frame or trajectory file that cannot be read; the text names file, row or frame, and joint."""


class BadTrajectory(BadMotion):
    """A trajectory of ROS that this robot cannot follow; `code` is the error code of FollowJointTrajectory."""

    def __init__(self, what: str, code: int) -> None:
        self.code = code
        super().__init__(what)


class LimitsExceeded(BadMotion):
    """A motion beyond the limits of joints, or one that collides; `violations` has every place, value and limit."""

    def __init__(self, what: str, violations: Sequence[object]) -> None:
        self.violations = tuple(violations)
        shown = "".join(f"\n  {each}" for each in self.violations[:8])
        more = f"\n  … and {len(self.violations) - 8} more" if len(self.violations) > 8 else ""
        super().__init__(f"{what} goes where the robot cannot:{shown}{more}")


class TipsOver(BadMotion):
    """Key frames in which the robot cannot rest on what is said to bear; `frames` has a line for each."""

    def __init__(self, what: str, frames: Sequence[str]) -> None:
        self.frames = tuple(frames)
        shown = "".join(f"\n  {each}" for each in self.frames)
        remedy = "move the centre of mass, name what bears, or say 'falls: true' where it is meant to tip over"
        super().__init__(f"{what} tips over:{shown}\n{remedy}")


class BadEstimator(WholebodyError, ValueError):
    """A filter that cannot be set up as asked, such as one with a negative deviation; the text names the value."""


class MissingSensor(BadEstimator):
    """A robot that lacks a sensor the estimator needs; the text says which, and where it should be."""


class BadFootsteps(WholebodyError, ValueError):
    """Footsteps, limits or velocities that no legs can do; the text names the step, the value and the limit."""


class BadGait(WholebodyError, ValueError):
    """A gait that is none, or a robot that lacks what walking needs; the text names what."""


class SensorLost(WholebodyError, RuntimeError):
    """A sensor that walking needs says nothing, or what is no number; the text names it."""


class OutOfReach(WholebodyError, ValueError):
    """A place that a hand cannot come to from where the robot stands; the text says by how much, or why."""


class GroundMissing(WholebodyError, RuntimeError):
    """A limb (its number, if it is one) that came down and bears nothing, or a trunk that leans off its plan."""

    def __init__(self, message: str, limb: int | None = None) -> None:
        self.limb = limb
        super().__init__(message)


class GoalNotDone(WholebodyError, RuntimeError):
    """A goal or request that did not come to its end; `stage` is what became of it, `reason` says why."""

    def __init__(self, stage: str, reason: str) -> None:
        self.stage, self.reason = stage, reason
        super().__init__(f"the goal was {stage}: {reason}" if stage != "failed" else f"the goal failed: {reason}")


class CannotImitate(BadMotion):
    """A captured motion that lacks body parts, or that this robot has no limbs or no reach for; the text says which."""


class BadParameter(WholebodyError, ValueError):
    """A value that a parameter cannot take: out of bounds, of another size, or no number."""


class BadConfiguration(WholebodyError, ValueError):
    """A configuration file that says what cannot be; `problems` has a line for each: file, line, key and remedy."""

    def __init__(self, what: str, problems: Sequence[str] = (), located: bool = False) -> None:
        self.problems = tuple(problems) or (what,)
        self.located = located  # whether the text says file and line already
        super().__init__("\n".join([what, *problems]) if problems else what)


class BadExpression(WholebodyError, ValueError):
    """An event's expression that is no comparison of parameters; the text shows the part that is refused."""


class BadBinding(WholebodyError, ValueError):
    """A parameter that cannot be bound as asked: an unknown transport, or two types on one topic."""


class NoServer(WholebodyError):
    """Nobody serves requests under that name."""


class NoController(NoServer):
    """No controller of that name runs."""


class BadStateMachine(WholebodyError, ValueError):
    """States that do not lead anywhere, or two of one name."""


class BadTask(WholebodyError, ValueError):
    """A task that cannot be what it says, such as one with a goal quaternion of length zero; the text names it."""


class BadConstraint(WholebodyError, ValueError):
    """A constraint that cannot hold, such as one with a co-actuation ratio of zero; the text names it."""


class BadProblem(WholebodyError, ValueError):
    """Tasks and constraints that make no problem together: two of one name, none at all, or a contradiction."""


class Infeasible(WholebodyError, ArithmeticError):
    """Limits that contradict each other: `violations` says which and by how much, `lost` names the tasks that lost."""

    def __init__(self, violations: Sequence[tuple[str, float, str]], lost: Sequence[str]) -> None:
        self.violations, self.lost = tuple(violations), tuple(lost)
        shown = ", ".join(f"{limit} by {excess:.4g} {unit}".rstrip() for limit, excess, unit in self.violations[:4])
        more = f" and {len(self.violations) - 4} more" if len(self.violations) > 4 else ""
        losers = f"; tasks that lost: {', '.join(self.lost)}" if self.lost else ""
        super().__init__(f"the limits contradict each other; at best there would be exceeded: {shown}{more}{losers}")


class BadCommand(WholebodyError, ValueError):
    """A line that is no command of the Robot Command Protocol."""


class Refused(WholebodyError, PermissionError):
    """A command that this user may not give, or not now."""


class ControlLost(WholebodyError, RuntimeError):
    """No command could be found for so long that the robot was stopped."""

    def __init__(self, seconds: float, reason: str) -> None:
        self.seconds, self.reason = seconds, reason
        super().__init__(f"no command could be found for {seconds} s, so the robot is stopped: {reason}")


class UnknownBenchmark(WholebodyError, KeyError):
    """There is no benchmark of that name."""


class MissingProgram(WholebodyError, FileNotFoundError):
    """A program of the system is not installed, or fails at what is asked of it; the text says what to install."""


class MissingExtra(WholebodyError, ImportError):
    """An optional library is not installed."""

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(f"this needs {library}, which is not installed: {install_command(extra)}")


def install_command(extra: str) -> str:
    """The shell command that installs what an extra needs for the Python that runs now.

    It names the libraries themselves, as the metadata of the installed wholebody lists them, so that the same command
    works from a checkout and from a wheel. Only a checkout that was never installed is named by its folder.
    """
    wanted = requirements(extra) or ["-e", f"{Path(__file__).parents[1]}[{extra}]"]
    installer = ["-m", "pip", "install"] if find_spec("pip") else ["-m", "uv", "pip", "install"]
    return shlex.join([sys.executable, *installer, *wanted])


def requirements(extra: str) -> list[str]:
    """The requirements of one extra of the installed wholebody, without the marker that names the extra."""
    from importlib import metadata  # slow to load, and only errors need it

    mark = re.compile(rf"""\s*(?:;|\band)\s*extra\s*==\s*['"]{re.escape(extra)}['"]""")
    try:
        listed = metadata.requires("wholebody") or []
    except metadata.PackageNotFoundError:
        return []
    return [mark.sub("", each) for each in listed if mark.search(each)]


class ChannelRenewed(RuntimeWarning):
    """A channel that was truncated, replaced, removed or damaged is made anew."""


class NetworkWarning(RuntimeWarning):
    """Other machines can reach what is meant for this one alone."""


class RealtimeWarning(RuntimeWarning):
    """Real-time scheduling is not permitted here; everything works, with more jitter."""


class RobotWarning(UserWarning):
    """A fault in a robot description that could safely be repaired."""


class UnknownJointWarning(UserWarning):
    """A reference to a joint that this robot lacks."""


class VelocityClamped(UserWarning):
    """A velocity above what the robot can do; the fastest in its direction is taken."""


def closest(name: str, known: Iterable[str]) -> str:
    """Return "; closest: 'x', 'y'" for an error message, or nothing if no known name is near."""
    near = difflib.get_close_matches(name, list(known), n=3)
    return "; closest: " + ", ".join(repr(one) for one in near) if near else ""
