"""What bindings, events, services and logs cost a servo loop, and how fast a configuration loads.

bindings_and_events    of one cycle: what ten input bindings, ten output bindings and five events add on Dreamer with
                       ten tasks, timed call by call (apply and emit, less those of a loop with nothing bound), on a
                       robot of numbers: physics is another process. Goals come at 100 Hz into a loop of 1 kHz;
                       with `…_all_new`, ten new ones come in every cycle.
get                    from another process, of a loop that beats at 1 kHz in real time; `period_…` is what the loop's
                       period was meanwhile, and without anybody asking.
log_…, compute_…       state and command of that loop at 1 kHz, recorded by another process; and what a cycle of the
                       loop takes meanwhile, compared with moments in which the recorder is stopped.
configuration_20_tasks reading, checking and building it, with everything imported and compiled; `yaml_20_tasks`, its
                       yardstick, is reading the same file with PyYAML alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import yaml

from benchmarks.report import Progress, Report, Section, Timing, no_garbage_collection
from benchmarks.yardsticks import Beside
from wholebody.channels import Channel
from wholebody.configuration.building import Built, build
from wholebody.configuration.reading import read
from wholebody.configuration.wiring import Wired, wired
from wholebody.drivers import Loopback
from wholebody.errors import install_command
from wholebody.parameters.bindings import Sending
from wholebody.parameters.remote import Remote, running

Results = dict[str, Timing | float]
FRAMES = ("right_palm", "left_palm")
MAIN = [sys.executable, "-m", "wholebody.cli"]
PAUSE, CATCHING_UP = 0.2, 0.1
"""Seconds for which a recorder is stopped, less than channels keep messages, and until it has made up for that."""


def run(quick: bool, progress: Progress) -> Report:
    """Measure, about two minutes in all, most of it the log."""
    report = Report()
    with tempfile.TemporaryDirectory() as folder, _own_channels():
        here = Path(folder)
        progress("bindings and events", 0.0)
        with no_garbage_collection():
            report.sections.append(
                Section("ten inputs, ten outputs, five events", bindings(here, 300 if quick else 3000))
            )
        progress("configuration", 0.1)
        report.sections.append(Section("configuration", configurations(here, 3 if quick else 10)))
        progress("services", 0.2)
        with _loop(here) as remote:
            report.sections.append(Section("services beside a loop of 1 kHz", services(remote, 200 if quick else 2000)))
            progress("logs", 0.35)
            if find_spec("mcap") and find_spec("lz4"):
                report.sections.append(Section("logs", logs(here, remote, 5.0 if quick else 60.0)))
            else:
                report.notes.append(f"no logs: mcap and lz4 are not installed: {install_command('log')}")
    report.limit_ratio("bindings_and_events", "matrix_product", 1.2)
    report.limit_ratio("get", "period_alone", 1.0)
    report.limit_ratio("period_while_asked", "period_alone", 1.02)
    if "log_lost" in report.results:
        report.limit_count("log_lost", 0)
        report.limit_ratio("compute_while_logged", "compute_alone", 1.1)
    report.limit_ratio("configuration_20_tasks", "yaml_20_tasks", 5.0)
    return report


# --- in the loop -------------------------------------------------------------------------------------


def configuration(tasks: int, bound: bool) -> dict[str, object]:
    """Dreamer with so many tasks below each other; the first ten with goal and error bound, five events."""
    names = [f"task{number}" for number in range(tasks - 1)]
    first = names[:10]
    inputs = [
        {"parameter": f"tasks.{name}.goal", "direction": "input", "topic": f"bench.{name}.goal"} for name in first
    ]
    outputs = [
        {"parameter": f"tasks.{name}.error", "direction": "output", "topic": f"bench.{name}.error"} for name in first
    ]
    text = "tasks.{0}.error_norm < 0.001 and tasks.{0}.state == 'enabled'"
    return {
        "name": "bench",
        "robot": "dreamer",
        "tasks": [
            {"name": name, "type": "cartesian_position", "frame": FRAMES[number % 2], "goal": "here"}
            for number, name in enumerate(names)
        ]
        + [{"name": "posture", "type": "joint_position", "goal": "here"}],
        "constraints": [
            {"name": "torso", "type": "coactuation", "master": "torso_lower_pitch", "slaves": ["torso_upper_pitch"]}
        ],
        "compound_task": [
            {"name": name, "priority": 2, "operational_state": "enabled" if number < 2 else "sensing"}
            for number, name in enumerate(names)
        ]
        + [{"name": "posture", "priority": 1}],
        "constraint_set": [{"name": "torso"}],
        "bindings": [*inputs, *outputs] if bound else [],
        "events": [{"name": f"near{k}", "expression": text.format(names[k])} for k in range(5)] if bound else [],
    }


class Beat:
    """A clock that does not wait."""

    period, missed, _now = 0.001, 0, 0.0

    def tick(self) -> float:
        """The next beat is at once."""
        self._now += self.period
        return self._now


def built_of(folder: Path, tasks: int, bound: bool = True) -> Built:
    """Build such a configuration from a file."""
    file = folder / "bench.yaml"
    file.write_text(json.dumps(configuration(tasks, bound)))
    return build(read(file))


def bindings(folder: Path, cycles: int) -> Results:
    """Cycles with and without, in turns."""
    with contextlib.ExitStack() as opened:
        loops = {}
        for name, bound in (("bound", True), ("nothing", False)):
            built = built_of(folder, 11, bound)
            robot = opened.enter_context(Loopback(built.robot))
            loops[name] = opened.enter_context(wired(built, robot, Beat(), name))
            loops[name].servo.start()
        senders = [opened.enter_context(Sending(f"bench.task{number}.goal", 3)) for number in range(10)]
        goals = [np.array(each.goal) for each in loops["bound"].servo.behavior.tasks[:10]]

        def send() -> None:
            for sender, goal in zip(senders, goals, strict=True):
                sender.put(goal)

        some, every, none = ([] for _ in range(3))
        beside = Beside()
        for cycle in range(cycles):
            if cycle % 10 == 0:
                send()
            some.append(_steered(loops["bound"]))
            none.append(_steered(loops["nothing"]))
            beside.take()
            if cycle % 5 == 0:
                send()
                every.append(_steered(loops["bound"]))
    base = float(np.median(none))
    return {
        "bindings_and_events": Timing.of(np.array(some) - base),
        "bindings_and_events_all_new": Timing.of(np.array(every) - base),
        "nothing_bound": Timing.of(none),
        "matrix_product": beside.timing,
    }


def _steered(loop: Wired) -> float:
    """A cycle of the loop, and microseconds of what it does for others in it: the same calls once more, timed."""
    servo, steering = loop.servo, loop.steering
    servo.inputs, servo.publish = (), ()
    servo.cycle()
    start = time.perf_counter_ns()
    steering.apply(servo)
    middle = time.perf_counter_ns()
    steering.emit(servo)
    return (middle - start + time.perf_counter_ns() - middle) * 1e-3


def configurations(folder: Path, rounds: int) -> Results:
    """Load a configuration of 20 tasks again and again."""
    built_of(folder, 20)
    samples, alone = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        built_of(folder, 20)
        middle = time.perf_counter()
        yaml.safe_load((folder / "bench.yaml").read_text())
        samples.append((middle - start) * 1e6)
        alone.append((time.perf_counter() - middle) * 1e6)
    return {"configuration_20_tasks": Timing.of(samples), "yaml_20_tasks": Timing.of(alone)}


# --- beside the loop ---------------------------------------------------------------------------------


@contextlib.contextmanager
def _own_channels() -> Iterator[None]:
    """Shared memory of the benchmark's own."""
    before = os.environ.get("WHOLEBODY_CHANNELS")
    with tempfile.TemporaryDirectory(prefix="wholebody-bench-", dir="/dev/shm") as folder:
        os.environ["WHOLEBODY_CHANNELS"] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ["WHOLEBODY_CHANNELS"]
            else:
                os.environ["WHOLEBODY_CHANNELS"] = before


@contextlib.contextmanager
def _loop(folder: Path) -> Iterator[Remote]:
    """A loop in a process of its own, in real time, on a robot of numbers."""
    file = folder / "bench.yaml"
    file.write_text(json.dumps(configuration(6, bound=False)))
    command = [*MAIN, "run", str(file), "--driver", "loopback", "--priority", "40"]
    with open(folder / "loop.txt", "w") as said, subprocess.Popen(command, stdout=said, stderr=said) as process:
        try:
            until = time.monotonic() + 120
            while not running() and process.poll() is None and time.monotonic() < until:
                time.sleep(0.1)
            remote = Remote("bench")
            while remote.get("servo.cycles", timeout=60.0) < 100:
                time.sleep(0.05)
            yield remote
        finally:
            process.terminate()


def services(remote: Remote, rounds: int) -> Results:
    """Gets, and the loop's period meanwhile."""
    alone = _periods(rounds)
    samples, begun, pauses = [], _sequence(), np.random.default_rng(0).uniform(0.0, 0.002, rounds)
    for pause in pauses:  # or each request would be just behind the cycle that answered the last
        time.sleep(pause)
        start = time.perf_counter_ns()
        remote.get("tasks.task0.goal")
        samples.append((time.perf_counter_ns() - start) * 1e-3)
    asked = _periods(max(1, _sequence() - begun), wait=False)
    return {"get": Timing.of(samples), "period_alone": Timing.of(alone), "period_while_asked": Timing.of(asked)}


def _sequence() -> int:
    with Channel("robot.bench.joint_state") as channel:
        return channel.newest


def _periods(count: int, wait: bool = True) -> list[float]:
    """Microseconds from one cycle to the next, of the next cycles, or of those that were."""
    count = min(count, 1000)
    stamps = []
    with Channel("robot.bench.joint_state") as channel, channel.reader() as reader:
        if wait:
            until = channel.newest + count
            while channel.newest < until:
                time.sleep(0.05)
        for sequence in range(channel.newest - count + 2, channel.newest + 1):
            reader.at(sequence)
            stamps.append(reader.stamp_ns)
    return list(np.diff(stamps) * 1e-3)


def logs(folder: Path, remote: Remote, seconds: float) -> Results:
    """State and command recorded by another process; what the loop's computations took, with and without."""
    channels = [part for name in ("joint_state", "command") for part in ("--channels", f"robot.bench.{name}")]
    command = [*MAIN, "log", str(folder / "run.mcap"), "--seconds", str(seconds + 3.0), *channels]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(2.0)
        alone, logged = _in_turns(process, seconds)
        _, said = process.communicate()
    from wholebody.channels.recording.playback import Recording

    recording = Recording(folder / "run.mcap")
    numbers = np.array([each.sequence for each in recording.messages(["robot.bench.joint_state"])])
    lost = int(np.diff(numbers).sum() - (len(numbers) - 1))
    return {
        "log_messages": float(sum(recording.counts.values())),
        "log_lost": float(lost + ("lost" in said)),
        "compute_alone": Timing.of(alone),
        "compute_while_logged": Timing.of(logged),
    }


def _in_turns(recorder: subprocess.Popen[str], seconds: float) -> tuple[list[float], list[float]]:
    """What cycles took while the recorder was stopped for a moment, and while it went on: a machine has its moods.

    Stopped, it costs nobody anything; the messages of that moment are still on their channels when it goes on.
    """
    alone: list[float] = []
    logged: list[float] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        recorder.send_signal(signal.SIGSTOP)
        try:
            alone += _compute_latencies(PAUSE)
        finally:
            recorder.send_signal(signal.SIGCONT)
        time.sleep(CATCHING_UP)
        logged += _compute_latencies(PAUSE)
    return alone, logged


def _compute_latencies(seconds: float) -> list[float]:
    """Microseconds that cycles took, every tenth of them."""
    found, until = [], time.monotonic() + seconds
    with Channel("robot.bench.compute_latency") as channel, channel.reader() as reader:
        reader.latest()
        while time.monotonic() < until:
            if reader.wait(0.2, mode="next"):
                found.append(float(reader.message["values"][0]) * 1e6)
    return found
