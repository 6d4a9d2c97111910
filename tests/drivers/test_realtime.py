"""Keeping time."""

import math
import os
import subprocess
import sys
import time

import pytest

from wholebody.realtime import sleep_until


def run(source):
    return subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=30)


def test_sleep_until_never_returns_early_and_tells_how_late_it_is():
    for _ in range(20):
        instant = time.monotonic() + 0.003
        late = sleep_until(instant)
        assert 0 <= late <= time.monotonic() - instant


def test_an_instant_that_has_passed_is_not_waited_for():
    assert sleep_until(time.monotonic() - 10) >= 10
    assert sleep_until(-1.0) > 0


def test_an_instant_that_is_no_number_is_refused():
    with pytest.raises((ValueError, OverflowError)):
        sleep_until(math.nan)
    with pytest.raises((ValueError, OverflowError)):
        sleep_until(math.inf)


def test_ctrl_c_interrupts_the_sleep():
    source = """
import signal, time
from wholebody.realtime import sleep_until
signal.setitimer(signal.ITIMER_REAL, 0.1)
signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
sleep_until(time.monotonic() + 60)
"""
    assert "KeyboardInterrupt" in run(source).stderr


def test_realtime_schedules_first_in_first_out_and_locks_memory_where_permitted():
    source = """
import gc, os, warnings
from wholebody.realtime import realtime
warnings.simplefilter("ignore")
granted = realtime(7)
assert gc.get_freeze_count() > 0
assert (os.sched_getscheduler(0) == os.SCHED_FIFO) == granted.scheduled
assert not granted.scheduled or os.sched_getparam(0).sched_priority == 7
locked = next(line for line in open("/proc/self/status") if line.startswith("VmLck"))
assert (int(locked.split()[1]) > 0) == granted.memory_locked
assert open("/proc/self/timerslack_ns").read().strip() in ("0", "1")
print(granted.scheduled, granted.memory_locked)
"""
    result = run(source)
    assert result.returncode == 0, result.stderr


def test_without_the_right_realtime_warns_with_the_remedy_and_goes_on():
    drop = "os.setgroups([]); os.setgid(65534); os.setuid(65534)" if os.geteuid() == 0 else ""
    source = f"""
import os, resource, warnings
from wholebody.realtime import realtime
resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))
{drop}
print(realtime())
"""
    result = run(source)
    assert result.stdout == "Realtime(scheduled=False, memory_locked=False)\n"
    assert "RealtimeWarning: real-time scheduling (rtprio) and locked memory (memlock) not permitted" in result.stderr
    assert "limits.conf" in result.stderr


@pytest.mark.parametrize("priority", [0, 100])
def test_a_priority_that_does_not_exist_is_refused(priority):
    source = f"from wholebody.realtime import realtime; realtime({priority})"
    assert f"a real-time priority is 1 to 99, not {priority}" in run(source).stderr
