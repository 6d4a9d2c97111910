"""The thread that computes snapshots beside a loop: what it hands over, that nobody waits, and how it ends."""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from wholebody import robots
from wholebody.errors import BadProblem, BadState
from wholebody.model import Model
from wholebody.model.updater import ModelUpdater

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NEVER = 3600.0


@pytest.fixture(scope="module")
def model():
    return Model(robots.load("dreamer"))


def taken(updater, seconds=20.0):
    """What it hands over, as soon as it does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done = updater.take()
        if done is not None:
            return done
        time.sleep(1e-4)
    raise AssertionError("nothing was ready in time")


def native_threads():
    return len(os.listdir("/proc/self/task"))


def test_what_it_hands_over_is_bit_by_bit_what_the_loop_would_compute(model):
    with ModelUpdater(model, 1e-4) as updater:
        for cycle in range(20):
            q, v = model.random(cycle), np.random.default_rng(cycle).normal(size=model.nv)
            assert updater.ask(q, v, cycle, 0.1 * cycle)
            done = taken(updater)
            assert (done.read, done.measured) == (cycle, 0.1 * cycle)
            assert np.array_equal(done.snapshot.storage, model.at(q, v).storage)
            frame = len(model.frames) - 1
            assert np.array_equal(done.snapshot.jacobian(frame), model.at(q, v).jacobian(frame))


def test_one_is_asked_for_at_a_time_and_what_was_given_may_change_at_once(model):
    q, v = model.posture("stand"), np.zeros(model.nv)
    updater = ModelUpdater(model, NEVER)
    assert updater.take() is None
    with updater:
        assert updater.ask(q, v, 1)
        q += 0.3
        assert not updater.ask(q, v, 2), "it has not done the first"
        assert updater.take() is None
    with ModelUpdater(model, 1e-4) as quick:
        before = q.copy()
        quick.ask(q, v, 3)
        q[:] = 0.0
        assert np.array_equal(taken(quick).snapshot.q, before)


def test_a_snapshot_that_is_kept_stays_as_it_is_while_others_come(model):
    q, v = model.posture("stand"), np.zeros(model.nv)
    with ModelUpdater(model, 1e-5) as updater:
        kept = []
        for cycle in range(30):
            updater.ask(q + 0.001 * cycle, v, cycle)
            done = taken(updater)
            if cycle % 5 == 0:
                kept.append((done.snapshot, done.snapshot.storage.copy()))
        for snapshot, before in kept:
            assert np.array_equal(snapshot.storage, before)


def test_a_state_that_is_none_is_refused_as_the_model_does_and_the_next_is_computed(model):
    q, v = model.posture("stand"), np.zeros(model.nv)
    bad = q.copy()
    bad[2] = np.nan
    with ModelUpdater(model, 1e-4) as updater:
        updater.ask(bad, v)
        with pytest.raises(BadState, match=r"q\[2\]"):
            taken(updater)
        updater.ask(q, v)
        assert np.array_equal(taken(updater).snapshot.q, q)
    with pytest.raises(BadProblem, match="above 0 s"):
        ModelUpdater(model, 0.0)


def test_its_thread_runs_inside_the_with_block_only_also_if_something_is_raised_or_it_is_dropped(model):
    before, of_python = native_threads(), threading.active_count()
    updater = ModelUpdater(model, NEVER)
    with contextlib.suppress(ZeroDivisionError), updater:
        assert native_threads() == before + 1
        assert threading.active_count() == of_python, "it is no thread of Python"
        updater.ask(model.posture("stand"), np.zeros(model.nv))
        raise ZeroDivisionError
    assert native_threads() == before
    with updater, updater:
        assert native_threads() == before + 1, "one thread, however often it is begun"
    dropped = ModelUpdater(model, 1e-5)
    dropped.__enter__()
    dropped.ask(model.posture("stand"), np.zeros(model.nv))
    del dropped
    gc.collect()
    assert native_threads() == before


def test_signals_go_to_the_threads_of_python(model):
    before = set(os.listdir("/proc/self/task"))
    with ModelUpdater(model, NEVER):
        [task] = set(os.listdir("/proc/self/task")) - before
        lines = dict(line.split(":\t", 1) for line in Path(f"/proc/self/task/{task}/status").read_text().splitlines())
        assert int(lines["SigBlk"], 16) & (1 << (signal.SIGINT - 1))


FORK = """
import os, sys
import numpy as np
from wholebody import robots
from wholebody.model import Model
from wholebody.model.updater import ModelUpdater

model = Model(robots.load("dreamer"))
q, v = model.posture("stand"), np.zeros(model.nv)
with ModelUpdater(model, 3600.0) as updater:
    updater.ask(q, v)
    child = os.fork()
    if child == 0:
        for _ in range(100):
            assert updater.take() is None
            assert not updater.ask(q, v)
        updater.__exit__(None, None, None)   # nothing to join here
        with updater:
            assert updater.ask(q, v), "it begins anew"
        del updater
        os._exit(7)
    _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status) - 7)
"""


def test_a_forked_process_has_no_thread_is_not_held_up_by_that_and_can_begin_anew():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORK], cwd=ROOT, timeout=50, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def test_hundreds_of_snapshots_from_beside_show_no_race_to_the_thread_sanitizer(model, tmp_path):
    sources = [
        ROOT / f"wholebody/model/{each}.c" for each in ("bodies", "dynamics", "frames", "layout", "updater", "wide")
    ]
    program = tmp_path / "updater_races"
    flags = ["-std=c11", "-O1", "-g", "-fsanitize=thread", "-pthread", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run(
        ["gcc", *flags, "-I", str(ROOT), "-o", program, HERE / "updater_races.c", *sources, "-lm"], check=True
    )
    tree = tmp_path / "tree"
    sizes = np.array([model.integers.size, model.numbers.size], np.int64)
    tree.write_bytes(sizes.tobytes() + model.integers.tobytes() + model.numbers.tobytes())
    without = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}  # no other sanitizer's library
    done = subprocess.run(
        ["setarch", "-R", program, tree, "300"], env=without, capture_output=True, text=True, timeout=50, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stdout == "300 taken, 0 wrong\n"
