"""How a loop keeps its period and ends: real-time scheduling where permitted, sleeping until an instant, signals.

All that catches a signal, or asks whether a process lives, is here.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gc
import os
import select
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from wholebody.errors import RealtimeWarning

_libc = ctypes.CDLL(None, use_errno=True)

_MCL_CURRENT, _MCL_FUTURE, _MCL_ONFAULT = 1, 2, 4  # on fault: what is never touched takes no memory
_PR_SET_TIMERSLACK = 29
_TIMER_ABSTIME = 1

TOLD_TO_END = (signal.SIGTERM, signal.SIGINT)


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


_libc.clock_nanosleep.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.POINTER(_Timespec), ctypes.c_void_p)
_libc.prctl.argtypes = (ctypes.c_int, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong)


@dataclass(frozen=True)
class Realtime:
    """What this process was granted."""

    scheduled: bool
    memory_locked: bool


def realtime(priority: int = 50) -> Realtime:
    """Make this process a real-time one: SCHED_FIFO, memory locked, exact timers, no garbage collection pauses.

    Call it once, after everything is imported and allocated, before the loop. What is not permitted becomes one
    RealtimeWarning with the remedy; the loop then runs all the same, with more jitter.
    """
    lowest, highest = os.sched_get_priority_min(os.SCHED_FIFO), os.sched_get_priority_max(os.SCHED_FIFO)
    if not lowest <= priority <= highest:
        raise ValueError(f"a real-time priority is {lowest} to {highest}, not {priority}")
    gc.collect()
    gc.freeze()
    _libc.prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)
    scheduled = _schedule(priority)
    memory_locked = _libc.mlockall(_MCL_CURRENT | _MCL_FUTURE | _MCL_ONFAULT) == 0
    refused = [
        text
        for text, granted in (("scheduling (rtprio)", scheduled), ("locked memory (memlock)", memory_locked))
        if not granted
    ]
    if refused:
        warnings.warn(
            f"real-time {' and '.join(refused)} not permitted, so expect more jitter; allow it in "
            f"/etc/security/limits.conf (@realtime - rtprio {highest}, @realtime - memlock unlimited) and log in "
            "again, or run as root",
            RealtimeWarning,
            stacklevel=2,
        )
    return Realtime(scheduled, memory_locked)


def sleep_until(instant: float) -> float:
    """Sleep until time.monotonic() reaches `instant`; return how late it is then, in seconds.

    Absolute, so a loop that adds its period to the instant never drifts, and a jump of the wall clock is not felt.
    """
    nanoseconds = max(0, round(instant * 1e9))
    until = _Timespec(*divmod(nanoseconds, 1_000_000_000))
    while (status := _libc.clock_nanosleep(time.CLOCK_MONOTONIC, _TIMER_ABSTIME, until, None)) == errno.EINTR:
        pass  # Python runs its signal handlers between two calls
    if status:
        raise ValueError(f"cannot sleep until {instant!r}: {os.strerror(status)}")
    return time.monotonic() - instant


def _schedule(priority: int) -> bool:
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except PermissionError:
        return False
    return True


class Ended(BaseException):
    """Leaves a wait for something that may never come, because this process was told to end."""


@contextlib.contextmanager
def when_told(do: Callable[[], None]) -> Iterator[None]:
    """Have SIGTERM and SIGINT call `do` while the block runs; what it raises leaves whatever is waited for."""
    before = {number: signal.signal(number, lambda *_: do()) for number in TOLD_TO_END}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def until_told() -> Callable[[], bool]:
    """What says whether a loop goes on: until SIGTERM or SIGINT, which from now on end nothing else."""
    told: list[int] = []
    for number in TOLD_TO_END:
        signal.signal(number, lambda number, _: told.append(number))
    return lambda: not told


def sleep_until_told() -> None:
    """Sleep until SIGTERM or SIGINT."""

    def end() -> None:
        raise Ended

    with contextlib.suppress(Ended), when_told(end):
        while True:
            time.sleep(3600.0)


def cancel_when_told() -> None:
    """Let SIGTERM cancel the running asyncio task, as Ctrl-C does, rather than break it off anywhere."""
    import asyncio

    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


def end_with(process: int) -> None:
    """Have this process told to end (SIGTERM) as soon as another one has ended, however it did."""
    try:
        life = os.pidfd_open(process)
    except ProcessLookupError:
        os.kill(os.getpid(), signal.SIGTERM)
        return

    def watch() -> None:
        select.select([life], [], [])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name=f"life of process {process}", daemon=True).start()


def has_ended(process: int, within: float | None = 0.0) -> bool:
    """Whether a process has ended, or does so within some seconds (None: ever); also if nobody has asked after it."""
    try:
        life = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([life], [], [], within)[0])
    finally:
        os.close(life)
