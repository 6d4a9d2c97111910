"""Signals, and the lives of processes: what tells a loop that it is over."""

import os
import signal
import subprocess
import sys
import time

import pytest

from wholebody.realtime import Ended, has_ended, when_told


def test_what_is_to_be_done_at_a_signal_is_done_and_afterwards_all_is_as_before():
    before, told = signal.getsignal(signal.SIGTERM), []
    with when_told(lambda: told.append(1)):
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
    assert told == [1, 1]
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_wait_can_be_left():
    def leave():
        raise Ended

    begun = time.monotonic()
    killer = f"import os, time; time.sleep(0.5); os.kill({os.getpid()}, {signal.SIGTERM:d})"
    with when_told(leave), subprocess.Popen([sys.executable, "-c", killer]), pytest.raises(Ended):
        time.sleep(30)
    assert time.monotonic() < begun + 25


def test_a_process_that_nobody_has_asked_after_has_ended_all_the_same():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert not has_ended(process.pid)
        assert not has_ended(process.pid, 0.05)
        process.stdin.close()
        assert has_ended(process.pid, 20.0), "though it is still in the table of processes"
        assert process.wait() == 1
    assert has_ended(process.pid)
