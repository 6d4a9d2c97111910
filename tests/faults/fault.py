"""Fault: a thing that goes wrong, what must be read of it, and what the robot must do; undergo() sees whether so."""

from __future__ import annotations

import itertools
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LOOKED_AT = 4.0
"""s of the robot's time after a fault, in which it must come to a safe state and stay in it."""
PATIENCE, LONGEST_WAIT = 60.0, 600.0
"""s in which words must come once nothing is under way, however busy the machine is, and at most."""
UPRIGHT, LYING, AT_REST = math.radians(10.0), math.radians(45.0), 0.03
"""rad, rad, m/s of the centre of mass."""


@dataclass(frozen=True)
class Safe:
    """A safe state: what the robot does then, and whether it does in a period, given that before it."""

    words: str
    so: Callable[[Any, Any], bool]


def _same(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one.command, other.command))


HOLDS = Safe(
    "every joint holds what it was told last, and the robot rests", lambda was, now: _same(was, now) and _rests(now)
)
STANDS = Safe("it comes to a stand, and balances", lambda was, now: _rests(now))
LIES = Safe("it falls, says so, and moves no joint any more", lambda was, now: _same(was, now) and now.tilt > LYING)
STILL = Safe("no time goes by for it: the world has ended", lambda was, now: True)


def _rests(now: Any) -> bool:
    return now.tilt < UPRIGHT and now.speed < AT_REST


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong.

    name    as a person would say it
    scene   a class of which each object is a robot that does something: standing, walking …
    inject  makes it go wrong, in that scene
    says    what must be read, by where: patterns, of which each must be found
    does    the safe state that the robot must come to
    within  how soon, s of the robot's time
    needs   what of this machine it needs: why not, in words, or nothing
    """

    name: str
    scene: type
    inject: Callable[[Any], object]
    says: Mapping[str, str]
    does: Safe
    within: float
    needs: Callable[[], str] = lambda: ""

    @property
    def id(self) -> str:
        """What tests call it."""
        return f"{self.name} while it {self.scene.about}"


@dataclass
class Outcome:
    """What became of a fault."""

    fault: Fault
    read: dict[str, str] = field(default_factory=dict)  # by where: the line in which the pattern was found
    after: float | None = None  # s until the robot was safe, and stayed so
    step: float = 0.0  # the largest of all references, as a share of what the joint may go in a period

    @property
    def wrong(self) -> list[str]:
        """Every way in which it was not as declared."""
        complaints = [
            f"nothing in '{where}' like: {each}" for where, each in self.fault.says.items() if where not in self.read
        ]
        if self.after is None or self.after > self.fault.within:
            complaints.append(f"not so within {self.fault.within} s, but after {self.after}: {self.fault.does.words}")
        if self.step > 1.0 + 1e-9:
            complaints.append(f"a step of a reference was {self.step:.3f} of its limit")
        return complaints


def undergo(fault: Fault) -> Outcome:
    """Let it happen, and see."""
    outcome = Outcome(fault)
    with fault.scene() as scene:
        scene.strike(fault.inject)
        for where, pattern in fault.says.items():
            line = _found(scene, where, pattern)
            if line:
                outcome.read[where] = line
        periods = scene.periods(max(LOOKED_AT, fault.within + 1.0))
        outcome.after = _safe_after(periods, fault.does, scene.begun)
        outcome.step = _largest_step(periods, scene.limits)
    return outcome


def _found(scene: Any, where: str, pattern: str) -> str:
    """The line in which a pattern is found, once it is; nothing if it is not, and who would say it has had time to."""
    begun = over = time.monotonic()
    while not (line := _line(scene.said(where), pattern)):
        now = time.monotonic()
        over = now if scene.busy else over
        if now > over + PATIENCE or now > begun + LONGEST_WAIT:
            return ""
        time.sleep(0.05)
    return line


def _line(text: str, pattern: str) -> str:
    return next((line.strip() for line in text.splitlines() if re.search(pattern, line)), "")


def _safe_after(periods: Sequence[Any], safe: Safe, begun: float) -> float | None:
    """Seconds from the fault to the first period from which on it is safe to the end."""
    first: float | None = 0.0
    for was, now in itertools.pairwise(periods):
        if not safe.so(was, now):
            first = None
        elif first is None:
            first = now.time - begun
    return first


def _largest_step(periods: Sequence[Any], limits: Any) -> float:
    """Of all references of all joints from one period to the next, as a share of the limit."""
    if len(periods) < 2:
        return 0.0
    return float((np.abs(np.diff([each.command for each in periods], axis=0)) / limits).max())
