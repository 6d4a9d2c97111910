"""How a loop keeps its period and ends: real-time scheduling where permitted, sleeping until an instant, signals."""

from __future__ import annotations

import ctypes
import errno
import gc
import os
import signal
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

from wholebody.errors import RealtimeWarning

_libc = ctypes.CDLL(None, use_errno=True)

_MCL_CURRENT, _MCL_FUTURE, _MCL_ONFAULT = 1, 2, 4  # on fault: what is never touched takes no memory
_PR_SET_TIMERSLACK = 29
_TIMER_ABSTIME = 1


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


def until_told() -> Callable[[], bool]:
    """What says whether a loop goes on: until SIGTERM or SIGINT, which from now on end nothing else."""
    told: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        told.append(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    return lambda: not told
