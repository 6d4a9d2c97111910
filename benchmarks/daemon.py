"""What the daemon's loop costs and keeps, at 200 Hz on a loopback robot of 38 joints, in a process of its own.

`work` is a cycle without the wait, by the daemon's own clock (`work_…` its stages). `cpu_…` are shares of a core that
the kernel counted, in percent, medians of turns: idle, and with three controllers that each read the state and put a
reference 1000 times a second. `newest_written` is how many of all cycles wrote the reference that was the newest when
they began, by the sequence numbers and stamps of the channels. `period_…` are the times from one cycle to the next
while one controller speaks at that rate; `unheard_…` counts the cycles that the loop missed meanwhile. `killed`
controllers were forked, spoke at 1 kHz and were killed with SIGKILL in the middle; `steps_above_limit` counts commands
that changed by more than the joint's velocity limit allows. Missed cycles are compared with those of as much time in
which nothing happens, taken in turns of a few seconds, because a machine that is shared stops the loop in bursts;
`…_woken_late` are the misses that began with a wake-up more than half a period late, before the loop had done anything.
Budgets have as yardsticks a byte's round trip between two threads (`round_trip`) and a process with numpy alone.
`gate_…` is the CPU of the gate alone in a cycle, all joints following positions or impedances, in turns with that of
v0.1.0, which let impedances pass.
`handshake` is a period of 5 ms with a simulator in lock-step, in two processes and as fast as they can.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe
from pathlib import Path

import numpy as np

from benchmarks import handshake
from benchmarks.kernels import timed
from benchmarks.old_tree import new_tree, old_daemon_tree
from benchmarks.processes import Helper, private_channels
from benchmarks.report import RATIO, SHARE, Budget, Progress, Report, Section, Timing, part
from benchmarks.yardsticks import Beside, round_trip
from wholebody import messages, robots
from wholebody.channels import Channel
from wholebody.drivers import Names, connect
from wholebody.realtime import sleep_until

PERIOD = 0.005
ROBOT = "hubo2plus"
GRAIN = 2.0**-22
"""rad. A controller counts in these: small enough for the gate, and exact."""
GATES, GATE_LIMIT = ("gate_positions", "gate_impedances"), 1.5
"""Medians, over those of v0.1.0."""
RATES = {"1_hz": 1.0, "50_hz": 50.0, "200_hz": 200.0, "1_khz": 1000.0, "10_khz": 10000.0, "irregular": 0.0}

_DAEMON = f"""
from wholebody import robots
from wholebody.daemon.process import run
from wholebody.drivers import Loopback
robot = robots.load({ROBOT!r})
run(robot, Loopback(robot), priority=50)
"""


@dataclass(frozen=True)
class Watched:
    """What was seen of the loop for a while."""

    ticks: int
    missed: int
    woken_late: int
    steps_above_limit: int
    periods: np.ndarray


def run(quick: bool, progress: Progress) -> Report:
    """Start a daemon and measure it for about four minutes; quick, half a minute."""
    report = Report()
    seconds = 2.0 if quick else 5.0
    with private_channels(), daemon() as process:
        idle, busy, trips = [], [], Beside(round_trip, every=1)
        for turn in range(turns := 2 if quick else 6):
            progress("idle", 0.3 * turn / turns)
            idle.append(while_(process, seconds))
            with speaking(1000.0, 3):
                progress("three controllers at 1 kHz", 0.3 * (turn + 0.4) / turns)
                busy.append(while_(process, seconds))
                stages = stage_times()
                for _ in range(10):
                    trips.take()
        cpu_idle, cpu_busy = (round(float(np.median(each)), 3) for each in (idle, busy))
        report.sections += [
            Section("work in a cycle", stages),
            Section("the daemon's process", footprint(process) | {"cpu_idle": cpu_idle, "cpu_busy": cpu_busy}),
        ]
        progress("whose reference is written", 0.3)
        report.sections.append(Section("references", newest_written(500 if quick else 10_000)))
        report.sections.append(Section("controllers at other rates", other_rates(quick, part(progress, 0.5, 0.7))))
        progress("kill -9", 0.7)
        report.sections.append(Section("kill -9 of controllers", killings(2 if quick else 20, 10, 0.3)))
    trees = {"new": new_tree(), "old": old_daemon_tree()}
    report.sections.append(timed(trees, GATES, 10 if quick else 40, part(progress, 0.85, 0.9)))
    for name in GATES:
        report.limit_ratio(f"{name}_new", f"{name}_old", GATE_LIMIT)
    report.sections.append(handshake.section(quick, part(progress, 0.9, 1.0)))
    report.sections.append(Section("yardsticks", {"round_trip": trips.timing, "memory_of_numpy": memory_of_numpy()}))
    report.limit_ratio("work", "round_trip", 20.0)
    report.budgets.append(Budget("cpu_busy / cpu_idle", round(cpu_busy / cpu_idle, 3), 1.3, RATIO))
    numbers = {name: value for name, value in report.results.items() if not isinstance(value, Timing)}
    report.limit_quotient("memory", "memory_of_numpy", 4.0)
    report.budgets.append(Budget("references not written in their tick", 100 - numbers["newest_written"], 0.0, SHARE))
    worse = numbers["missed_while_killing"] - numbers["missed_idle"]
    report.budgets.append(Budget("missed while killing − idle", round(worse, 4), 0.1, SHARE))
    report.limit_count("steps_above_limit", 0)
    return report


@contextmanager
def daemon() -> Iterator[int]:
    """A daemon on the loopback robot; gives its process id."""
    child = subprocess.Popen([sys.executable, "-c", _DAEMON], stderr=subprocess.DEVNULL)
    try:
        with connect("waiting", timeout=20.0):
            pass
        yield child.pid
    finally:
        child.terminate()
        child.wait(10.0)


def while_(process: int, seconds: float) -> float:
    """The share of a core that a process took for some seconds, in percent."""
    before, begin = on_cpu(process), time.monotonic()
    time.sleep(seconds)
    return (on_cpu(process) - before) / (time.monotonic() - begin) * 100


def on_cpu(process: int) -> float:
    """Seconds that a process has run."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) * 1e-9


def watch(seconds: float) -> Watched:
    """Look at every command of the loop for some seconds."""
    names, steps = Names(), np.array([joint.velocity for joint in robots.load(ROBOT).moving]) * PERIOD
    with ExitStack() as stack:
        commands, ticks, timing = (
            stack.enter_context(Channel(name).reader()) for name in (names.commanded, names.tick, names.timing)
        )
        for reader in (commands, ticks, timing):
            reader.latest()
        first, missed = int(ticks.message["number"]), int(ticks.message["missed"])
        last, above, instants, woken_late = commands.message["position"].copy(), 0, [], 0
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(0.05)
            while commands.next():
                above += int((np.abs(commands.message["position"] - last) > steps + 1e-12).any())
                last[:] = commands.message["position"]
                instants.append(commands.stamp_ns)
            before = int(timing.message["missed"])
            late = float(timing.message["late"])
            while timing.next():
                now = int(timing.message["missed"])
                woken_late += (now - before) if late > 0.5 * PERIOD else 0
                before, late = now, float(timing.message["late"])
        ticks.latest()
        count = int(ticks.message["number"]) - first
        return Watched(count, int(ticks.message["missed"]) - missed, woken_late, above, np.diff(instants) * 1e-3)


def stage_times() -> dict[str, Timing | float]:
    """The last thousand cycles, stage by stage."""
    with Channel(Names().timing) as channel, channel.reader() as reader:
        stages = messages.labels(channel.dtype, "stages")
        rows = []
        while reader.next():
            rows.append(reader.message["took"] * 1e6)
    took = np.array(rows)
    return {"work": Timing.of(took.sum(1))} | {
        f"work_{stage}": Timing.of(took[:, column]) for column, stage in enumerate(stages)
    }


def footprint(process: int) -> dict[str, Timing | float]:
    """Memory in MB, and how many of the libraries that do not belong there are loaded."""
    status = Path(f"/proc/{process}/status").read_text()
    resident = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    maps = Path(f"/proc/{process}/maps").read_text()
    foreign = sum(library in maps for library in ("llvmlite", "pinocchio", "mujoco"))
    return {"memory": round(int(resident.split()[1]) / 1024, 1), "foreign_libraries": float(foreign)}


def memory_of_numpy() -> float:
    """MB of a process that has done nothing but import numpy."""
    asked = "import numpy; print(next(line.split()[1] for line in open('/proc/self/status') if line[:5] == 'VmHWM'))"
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, check=True).stdout
    return round(int(said) / 1024, 1)


# Controllers.


@contextmanager
def speaking(rate: float, count: int = 1) -> Iterator[None]:
    """Controllers that read the state and put a reference at a rate; 0 is irregular."""
    with ExitStack() as stack:
        helpers = [stack.enter_context(Helper(speak, f"c{number}", rate)) for number in range(count)]
        for helper in helpers:
            helper.answer()
        time.sleep(0.2)
        yield


def speak(control: Pipe, name: str, rate: float) -> None:
    """Count on a joint of one's own until told to end."""
    joint = ("RSP", "LSP", "RSR")[int(name[1:]) % 3]
    with connect(name, timeout=20.0) as robot:
        control.send("ready")
        count, instant = 0, time.monotonic()
        while not control.poll():
            robot.wait(0.0)
            count += 1
            robot.move({joint: -(count % 4096) * GRAIN})
            instant = max(instant + (1 / rate if rate else random.expovariate(300.0)), time.monotonic() - 0.01)
            sleep_until(instant)


def newest_written(cycles: int) -> dict[str, Timing | float]:
    """Compare what each cycle wrote with what was newest when it began."""
    names, index = Names(), robots.load(ROBOT).index["RSP"]
    written, late = 0, 0
    with speaking(1000.0), Channel(names.commanded).reader() as commands:
        references = Channel(names.reference("c0")).reader()
        spoken: list[tuple[int, float]] = []
        commands.latest()
        references.latest()
        while written + late < cycles:
            time.sleep(0.01)
            while references.next():
                spoken.append((references.stamp_ns, float(references.message["position"][index])))
            stamps = np.array([stamp for stamp, _ in spoken])
            while commands.next():
                began_ns = int(commands.message["time"] * 1e9)
                at = int(np.searchsorted(stamps, began_ns, "right")) - 1
                if at < 0 or commands.stamp_ns > stamps[-1]:
                    continue
                newest = [value for _, value in spoken[at : int(np.searchsorted(stamps, commands.stamp_ns, "right"))]]
                if float(commands.message["position"][index]) in newest:
                    written += 1
                else:
                    late += 1
            spoken = spoken[-400:]
    return {"cycles_compared": float(written + late), "newest_written": round(100 * written / (written + late), 3)}


def other_rates(quick: bool, progress: Progress) -> dict[str, Timing | float]:
    """How the loop keeps its period while a controller speaks at various rates."""
    results: dict[str, Timing | float] = {}
    for number, (name, rate) in enumerate(RATES.items()):
        progress(f"a controller at {name.replace('_', ' ')}", number / len(RATES))
        with speaking(rate):
            seen = watch(1.0 if quick else 5.0)
        results[f"period_{name}"] = Timing.of(seen.periods)
        results[f"unheard_{name}"] = float(seen.missed)
    return results


def killings(turns: int, count: int, every: float) -> dict[str, Timing | float]:
    """Kill controllers in the middle of their work, and let as much time go by with none, in turns."""
    killed, killing, idle = 0, [], []
    with Helper(nursery) as helper:
        helper.answer()
        for _ in range(turns):
            helper.tell((count, every))
            killing.append(watch(count * every))
            killed += helper.answer()
            idle.append(watch(count * every))
    return {
        "killed": float(killed),
        "steps_above_limit": float(sum(seen.steps_above_limit for seen in killing)),
        **missed_in("while_killing", killing),
        **missed_in("idle", idle),
    }


def missed_in(what: str, seen: list[Watched]) -> dict[str, float]:
    """The share of cycles missed, and of those whose wake-up was late, in percent."""
    ticks = sum(each.ticks for each in seen)
    return {
        f"missed_{what}": round(100 * sum(each.missed for each in seen) / ticks, 4),
        f"missed_{what}_woken_late": round(100 * sum(each.woken_late for each in seen) / ticks, 4),
    }


def nursery(control: Pipe) -> None:
    """Fork controllers, and kill each after a while."""
    control.send("ready")
    while order := control.recv():
        count, every = order
        killed = 0
        for number in range(count):
            begin = time.monotonic()
            child = os.fork()
            if child == 0:
                restless(number)
            sleep_until(begin + every * random.uniform(0.5, 0.95))
            os.kill(child, signal.SIGKILL)
            killed += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
            sleep_until(begin + every)
        control.send(killed)


def restless(number: int) -> None:
    """Wave an arm from one end of its range to the other, a thousand times a second, until killed."""
    with connect(f"wave{number % 4}") as robot:
        while True:
            robot.wait(0.01)
            robot.move({"RSP": random.choice([-1.0, 1.0]), "REB": random.uniform(-1.5, 0.0)})
            time.sleep(0.001)
