"""Limits: how far, fast and suddenly joints may move, and what goes beyond."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from wholebody.errors import BadMotion, WholebodyError
from wholebody.motion.trajectory import Array, Sample
from wholebody.robots.robot import Robot


class CollisionChecker(Protocol):
    """Anything that finds what collides in a posture."""

    def check(self, q: Array) -> object:
        """What collides at joint positions q: nothing (None, False, an empty list) if all is well."""
        ...


@dataclass(frozen=True)
class Violation:
    """One place of a motion where a joint goes beyond a limit, or where something collides."""

    where: str
    joint: str
    quantity: str
    value: float
    limit: float
    text: str = ""

    def __str__(self) -> str:
        """The place, the joint, the value and the limit, in a line."""
        if self.text:
            return f"{self.where}: {self.text}"
        return f"{self.where}: joint {self.joint} has {self.quantity} {self.value:.5g}, its limit is {self.limit:.5g}"


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits of some joints, one number for each: rad or m, and their rates; infinite where there is none."""

    names: tuple[str, ...]
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    jerk: Array

    @classmethod
    def of(
        cls, robot: Robot, *, acceleration: npt.ArrayLike = np.inf, jerk: npt.ArrayLike = np.inf, speed: float = 1.0
    ) -> Limits:
        """The limits of a robot's moving joints; robots do not say their accelerations, so give them here.

        speed: the share of the velocity limits that may be used.
        """
        joints = robot.moving
        return cls.make(
            robot.joint_names,
            lower=[joint.lower for joint in joints],
            upper=[joint.upper for joint in joints],
            velocity=[speed * joint.velocity for joint in joints],
            acceleration=acceleration,
            jerk=jerk,
        )

    @classmethod
    def make(
        cls,
        names: Sequence[str] | int,
        *,
        lower: npt.ArrayLike = -np.inf,
        upper: npt.ArrayLike = np.inf,
        velocity: npt.ArrayLike = np.inf,
        acceleration: npt.ArrayLike = np.inf,
        jerk: npt.ArrayLike = np.inf,
    ) -> Limits:
        """Limits given one by one, each a number for all joints or one for each; names, or how many joints."""
        known = tuple(str(i) for i in range(names)) if isinstance(names, int) else tuple(names)
        given = {"lower": lower, "upper": upper, "velocity": velocity, "acceleration": acceleration, "jerk": jerk}
        arrays = {what: _for_each(known, values, what) for what, values in given.items()}
        for name, low, high in zip(known, arrays["lower"], arrays["upper"], strict=True):
            if not low <= high:
                raise BadMotion(f"joint {name} has the limits {low:g} to {high:g}, and nothing is between them")
        return cls(known, **arrays)

    def violations(self, quantity: str, values: Array, where: Callable[[int], str]) -> Iterator[Violation]:
        """What goes beyond the limits in rows of positions, velocities or accelerations: each joint's worst row."""
        upper = {"position": self.upper, "velocity": self.velocity, "acceleration": self.acceleration}[quantity]
        lower = self.lower if quantity == "position" else -upper
        slack = 1e-9 * np.where(np.isfinite(upper), 1 + np.abs(upper), 0.0)
        beyond = np.maximum(values - upper, lower - values) - slack
        for joint in np.flatnonzero(beyond.max(axis=0, initial=-np.inf) > 0):
            row = int(beyond[:, joint].argmax())
            value = float(values[row, joint])
            limit = float(upper[joint] if value > upper[joint] else lower[joint])
            yield Violation(where(row), self.names[joint], quantity, value, limit)

    def exceeded(self, motion: Sample, where: Callable[[int], str]) -> Iterator[Violation]:
        """What goes beyond the limits in rows of a motion."""
        for quantity in ("position", "velocity", "acceleration"):
            yield from self.violations(quantity, getattr(motion, quantity), where)


def collisions(checker: CollisionChecker, positions: Array, where: Callable[[int], str]) -> Iterator[Violation]:
    """What collides in rows of joint positions; a checker's own error counts as a collision."""
    for row, q in enumerate(positions):
        try:
            found = checker.check(q)
        except WholebodyError as error:
            found = error
        if found:
            yield Violation(where(row), "", "collision", np.nan, np.nan, f"collides: {_said(found)}")


def _said(found: object) -> str:
    """What collides, in a few words: the first pairs of names, or whatever it was."""
    if not isinstance(found, list | tuple):
        return str(found)
    pairs = [f"{each[0]} with {each[1]}" if isinstance(each, tuple) else str(each) for each in found]
    return ", ".join(pairs[:2]) + (f", and {len(pairs) - 2} more" if len(pairs) > 2 else "")


def _for_each(names: tuple[str, ...], given: npt.ArrayLike, what: str) -> Array:
    values = np.asarray(given, np.float64)
    if values.shape not in ((), (len(names),)):
        raise BadMotion(f"{what} limits: one number, or {len(names)}, not an array of shape {values.shape}")
    values = np.broadcast_to(values, len(names)).copy()
    for name, value in zip(names, values, strict=True):
        if np.isnan(value) or (what not in ("lower", "upper") and not value > 0):
            raise BadMotion(f"joint {name}: {value:g} is no {what} limit")
    values.flags.writeable = False
    return values
