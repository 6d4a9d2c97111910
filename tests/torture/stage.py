"""The stage of the torture: who plays, on which channels, and how they are started, stopped and killed."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import workers

PR_SET_PDEATHSIG = 1
NICE = 5  # as in torture.c: the one who strikes must get a turn among so many


@dataclass(frozen=True)
class Ring:
    """One of the tortured channels; shallow ones are lapped all the time."""

    name: str
    size: int
    depth: int


RINGS = (Ring("small", 64, 2), Ring("medium", 1024, 4), Ring("large", 8192, 64))
WRITERS = 8


@dataclass
class Seat:
    """A place for a process; when it is killed, another one takes it."""

    language: Literal["C", "Python"]
    role: str
    channels: tuple[str, ...]
    mortal: bool
    row: int = 0
    process: int = 0
    resume_at: float = 0.0  # when it is stopped


MORTAL_ROLES = ("writer", "writer", "crowd", "latest", "wait")


def cast() -> list[Seat]:
    """Everyone who plays. Those who are not mortal show that nobody else's death holds them up."""
    seats = []
    for ring in RINGS:
        seats += [Seat("C", "writer", (ring.name,), mortal=False), Seat("C", "next", (ring.name,), mortal=False)]
        seats += [Seat("C", role, (ring.name,), mortal=True) for role in MORTAL_ROLES]
        seats += [Seat("Python", role, (ring.name,), mortal=True) for role in workers.ROLES]
    seats += [Seat("Python", role, ("medium",), mortal=False) for role in workers.ROLES]
    everywhere = tuple(ring.name for ring in RINGS)
    seats += [Seat("C", role, everywhere, mortal=True) for role in ("wait", "next")]
    seats += [Seat("C", "at", (ring.name,), mortal=True) for ring in RINGS]
    for row, seat in enumerate(seats):
        seat.row = row
    return seats


class Stage:
    """The processes of a run, and the file of counters that survives them."""

    def __init__(self, folder: Path, program: Path, rng: random.Random) -> None:
        self.folder, self.program, self.rng = folder, program, rng
        self.seats = cast()
        self.tallies = np.memmap(folder / ".tallies", np.uint64, "w+", shape=(len(self.seats), len(workers.TALLIES)))
        self.evidence = folder / ".evidence"
        self.kills = self.stops = 0
        self.crashed: list[str] = []

    def count(self, what: str) -> int:
        """The sum of one counter over all processes, dead and alive."""
        return int(self.tallies[:, workers.TALLIES.index(what)].sum())

    def start(self, seat: Seat) -> None:
        """Let a new process take the seat."""
        seed = self.rng.getrandbits(63)
        seat.resume_at = 0.0
        seat.process = self._spawn(seat, seed) if seat.language == "C" else self._fork(seat, seed)

    def _spawn(self, seat: Seat, seed: int) -> int:
        paths = [str(self.folder / name) for name in seat.channels]
        command = [str(self.program), seat.role, str(self.folder / ".tallies"), str(seat.row), str(seed), *paths]
        evidence = (os.POSIX_SPAWN_OPEN, 2, str(self.evidence), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return os.posix_spawn(command[0], command, os.environ, file_actions=[evidence])

    def _fork(self, seat: Seat, seed: int) -> int:
        """Copy this process, which has numpy loaded already: a new Python takes too long to be killed often."""
        process = os.fork()
        if process == 0:
            try:
                os.nice(NICE)
                ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                os.dup2(os.open(self.evidence, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 2)
                workers.play(seat.role, seat.channels[0], self.tallies[seat.row], seed)
            finally:
                os._exit(1)
        return process

    def kill(self, seats: list[Seat]) -> None:
        """Kill these processes wherever they are, and see that they died of that."""
        for seat in seats:
            os.kill(seat.process, signal.SIGKILL)
        for seat in seats:
            _, status = os.waitpid(seat.process, 0)
            seat.process = 0
            self.kills += 1
            if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGKILL:
                self.crashed.append(f"{seat.language} {seat.role} ended by itself with status {status:#x}")

    def stop(self, seat: Seat, seconds: float) -> None:
        """Stop the process wherever it is, for a while."""
        os.kill(seat.process, signal.SIGSTOP)
        self.stops += 1
        seat.resume_at = time.monotonic() + seconds

    def resume(self) -> None:
        """Let those go on whose time has come."""
        now = time.monotonic()
        for seat in self.seats:
            if seat.resume_at and seat.resume_at <= now:
                os.kill(seat.process, signal.SIGCONT)
                seat.resume_at = 0.0

    def survivors(self) -> Iterator[Seat]:
        """Those who are never touched."""
        return (seat for seat in self.seats if not seat.mortal)

    def progress(self, seat: Seat) -> int:
        """What the seat has put and read."""
        return int(self.tallies[seat.row, :2].sum())

    def clear(self) -> None:
        """Kill everyone."""
        self.kill([seat for seat in self.seats if seat.process])
