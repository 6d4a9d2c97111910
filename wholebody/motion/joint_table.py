"""JointTable: trajectory files, one row per period and a column per joint, read, written, checked and resampled.

    # robot: hubo2plus
    # period 0.005
    LHY LHR LHP
    0.0 0.01 -0.3
    0.0 0.02 -0.31

Columns are parted by spaces, tabs or commas. What follows a # is a comment, but for the robot's name, if it is given,
and the period, in seconds. Instead of that there may be a first column `time`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from wholebody.errors import BadMotion, BadMotionFile, LimitsExceeded, UnknownName, closest
from wholebody.files import text_of
from wholebody.motion.limits import CollisionChecker, Limits, Violation, collisions
from wholebody.motion.splines import FREE, cubic
from wholebody.motion.trajectory import Array, PiecewisePolynomial, Sample, Trajectory, steps
from wholebody.robots.robot import Robot

PERIOD = re.compile(r"#\s*period\s*[:=]?\s*(\S+)", re.IGNORECASE)
ROBOT = re.compile(r"^#\s*robot\s*[:=]\s*(\S+)\s*$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, eq=False)
class JointTable:
    """Joint positions, one row for each period; before the first row and after the last the joints stand still."""

    names: tuple[str, ...]
    period: float
    positions: Array
    source: str = "the trajectory"
    robot: str = ""

    def __post_init__(self) -> None:
        """Check names, period and numbers."""
        positions = np.array(self.positions, np.float64)
        if positions.ndim != 2 or positions.shape[1] != len(self.names) or not len(positions):
            raise BadMotion(
                f"{self.source}: {len(self.names)} joints need rows of as many numbers, "
                f"not an array of shape {positions.shape}"
            )
        twice = sorted({name for name in self.names if self.names.count(name) > 1})
        if twice:
            raise BadMotionFile(f"{self.source}: joint {twice[0]} has two columns")
        if not (np.isfinite(self.period) and self.period > 0):
            raise BadMotionFile(f"{self.source}: a period is a positive number of seconds, not {self.period}")
        for row, column in np.argwhere(~np.isfinite(positions))[:1]:
            raise BadMotionFile(f"{self.source}, row {row + 1}, joint {self.names[column]}: {positions[row, column]}")
        positions.flags.writeable = False
        object.__setattr__(self, "positions", positions)

    # --- from and to files -------------------------------------------------------------------------

    @classmethod
    def read(
        cls, path: str | Path, robot: Robot | None = None, *, period: float | None = None, names: Sequence[str] = ()
    ) -> JointTable:
        """Read a trajectory file; with a robot, columns must be joints of it.

        period  if the file does not say it
        names   of the columns, if the file has no header
        """
        lines = list(_lines(path))
        header = list(names)
        if not header:
            if not lines or all(map(_is_number, lines[0][1])):
                raise BadMotionFile(f"{path} has no header: its first line names the joints, or tell `names`")
            header = lines.pop(0)[1]
        rows = np.array([_numbers(path, row, line, words, header) for row, (line, words) in enumerate(lines, 1)])
        if not len(rows):
            raise BadMotionFile(f"{path} has a header and no rows")
        said = _period_said(path)
        if header[0].lower() in ("time", "t"):
            said, header, rows = _period_of(path, rows[:, 0], period or said), header[1:], rows[:, 1:]
        found = period or said
        if found is None:
            raise BadMotionFile(f"{path} does not say its period: begin it with '# period 0.005', or tell `period`")
        if robot is not None:
            if robot_said(path) not in ("", robot.name):
                raise BadMotionFile(f"{path} is made for {robot_said(path)}, and this robot is {robot.name}")
            for name in header:
                if name not in robot.index:
                    near = closest(name, robot.joint_names)
                    raise BadMotionFile(f"{path}: the column '{name}' is no moving joint of {robot.name}{near}")
        return cls(tuple(header), found, rows, str(path), robot.name if robot is not None else robot_said(path))

    def write(self, path: str | Path) -> None:
        """Write a trajectory file, which reads back as exactly the same numbers."""
        lines = [f"# robot: {self.robot}"] if self.robot else []
        lines += [f"# period {self.period!r}", " ".join(self.names)]
        lines += [" ".join(repr(value) for value in row) for row in self.positions.tolist()]
        Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")

    @classmethod
    def of(cls, trajectory: Trajectory, names: Iterable[str], period: float, robot: str = "") -> JointTable:
        """A trajectory, looked at once in every period."""
        positions = trajectory.sample(steps(trajectory.duration, period)).position
        return cls(tuple(names), period, positions, robot=robot)

    # --- as a motion -------------------------------------------------------------------------------

    @property
    def times(self) -> Array:
        """The time of each row, from 0."""
        return np.arange(len(self.positions), dtype=np.float64) * self.period

    @property
    def duration(self) -> float:
        """Seconds from the first row to the last."""
        return (len(self.positions) - 1) * self.period

    def trajectory(self) -> PiecewisePolynomial:
        """The cubic spline through all rows."""
        if len(self.positions) < 2:
            raise BadMotion(f"{self.source} has one row only, which is a posture and no motion")
        return cubic(self.positions, self.times, FREE, FREE)

    def resampled(self, period: float) -> JointTable:
        """The same motion with another period; the last row stays the last posture."""
        at = steps(self.duration, period)
        return replace(self, period=period, positions=self.trajectory().sample(np.minimum(at, self.duration)).position)

    def arranged(self, robot: Robot, rest: str | None = None) -> JointTable:
        """The columns in the order of the robot's joints; joints without a column are as in the posture `rest`."""
        for name in self.names:
            if name not in robot.index:
                raise UnknownName(f"moving joint of {robot.name}", name, robot.joint_names)
        missing = [name for name in robot.joint_names if name not in self.names]
        if missing and rest is None:
            shown = ", ".join(missing[:8]) + (", …" if len(missing) > 8 else "")
            raise BadMotionFile(f"{self.source} has no column for {shown}: name a posture for them, as rest='home'")
        positions = np.tile(robot.posture(rest) if rest else np.zeros(len(robot.joint_names)), (len(self.positions), 1))
        positions[:, [robot.index[name] for name in self.names]] = self.positions
        return replace(self, names=robot.joint_names, positions=positions, robot=robot.name)

    # --- checks ------------------------------------------------------------------------------------

    def violations(self, limits: Limits, checker: CollisionChecker | None = None) -> list[Violation]:
        """Where limits are exceeded (of each joint and quantity the worst row), and every row that collides.

        The velocity of a row is the difference to the row before over the period, its acceleration the change of that:
        what a robot does whose boards go straight from row to row.
        """
        limits = _in_order(limits, self.names, self.source)
        padded = np.vstack([self.positions[:1], self.positions, self.positions[-1:]])
        velocity = np.diff(padded, axis=0) / self.period  # of the row, and at last of standing still
        acceleration = np.diff(velocity, axis=0, prepend=np.zeros((1, len(self.names)))) / self.period
        found = list(limits.exceeded(Sample(self.times, self.positions, velocity, acceleration), self._row))
        return found + list(collisions(checker, self.positions, self._row) if checker else ())

    def check(self, limits: Limits, checker: CollisionChecker | None = None) -> None:
        """LimitsExceeded, with every violation, if the motion is none for the robot."""
        found = self.violations(limits, checker)
        if found:
            raise LimitsExceeded(self.source, found)

    def _row(self, row: int) -> str:
        return f"row {min(row + 1, len(self.positions))}"


def _in_order(limits: Limits, names: tuple[str, ...], source: str) -> Limits:
    if names == limits.names:
        return limits
    for name in names:
        if name not in limits.names:
            raise BadMotionFile(f"{source}: no limits are known of the column '{name}'{closest(name, limits.names)}")
    order = [limits.names.index(name) for name in names]
    chosen = {what: getattr(limits, what)[order] for what in ("lower", "upper", "velocity", "acceleration", "jerk")}
    return Limits(names, **chosen)


def _lines(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Line number and words of every line that has any."""
    for number, line in enumerate(text_of(path, BadMotionFile).splitlines(), 1):
        words = line.partition("#")[0].replace(",", " ").split()
        if words:
            yield number, words


def robot_said(path: str | Path) -> str:
    """The robot a trajectory file is for; nothing if it does not say."""
    said = ROBOT.search(text_of(path, BadMotionFile))
    return said[1] if said else ""


def _period_said(path: str | Path) -> float | None:
    said = PERIOD.search(text_of(path, BadMotionFile))
    if said is None:
        return None
    if not _is_number(said[1]):
        raise BadMotionFile(f"{path} says '{said[0]}', and '{said[1]}' is no number of seconds")
    return float(said[1])


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _numbers(path: str | Path, row: int, line: int, words: list[str], header: list[str]) -> list[float]:
    if len(words) != len(header):
        raise BadMotionFile(f"{path}, row {row} (line {line}) has {len(words)} numbers, for {len(header)} columns")
    for name, word in zip(header, words, strict=True):
        if not _is_number(word) or not np.isfinite(float(word)):
            raise BadMotionFile(f"{path}, row {row} (line {line}), joint {name}: '{word}' is no number to go to")
    return [float(word) for word in words]


def _period_of(path: str | Path, times: Array, said: float | None) -> float:
    """The period from a column of times."""
    if len(times) < 2:
        if said is None:
            raise BadMotionFile(f"{path} has one row only: tell its period")
        return said
    apart = np.diff(times)
    for row in np.flatnonzero(apart <= 0)[:1]:
        raise BadMotionFile(
            f"{path}, row {row + 2}: time {times[row + 1]:g} comes after {times[row]:g}; times increase"
        )
    period = float((times[-1] - times[0]) / len(apart))
    for row in np.flatnonzero(np.abs(apart - period) > 0.01 * period)[:1]:
        raise BadMotionFile(
            f"{path}, row {row + 2} comes {apart[row]:g} s after the one before, and the period is {period:g} s; "
            "rows stand in equal distances of time (uneven times belong in a key-frame file)"
        )
    return said if said is not None and abs(said - period) <= 0.01 * period else round(period, 9)
