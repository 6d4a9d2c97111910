"""What the bridges to ROS 2 and Foxglove cost: processor time and age of a message, and the daemon beside them.

joint_state         CPU of a state of 38 joints becoming a JointState, its bytes, and written; `bytes_alone`, its
                    yardstick, is packing the same numbers by one struct and writing the same bytes; nobody reads.
age                 from the beat of the daemon (200 Hz, a robot of numbers) to the JointState in the hands of another
                    process that waits for it; `period`, its yardstick, is that of the daemon.
late_beside, work_beside   how late the daemon's cycles begin, and what they take, beside both bridges, with nodes that
                    hear everything; `…_alone` while the bridges are stopped, in turns.
"""

from __future__ import annotations

import contextlib
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np

from benchmarks.parameters import _own_channels
from benchmarks.report import Progress, Report, Section, Timing, no_garbage_collection
from wholebody import robots
from wholebody.channels import Channel
from wholebody.drivers import Names
from wholebody.errors import install_command
from wholebody.messages import Measured, Timings, new
from wholebody.operator.ros.standard_messages import StandardMessages
from wholebody.ros.cdr import encode
from wholebody.ros.dds import SENSORS, Participant
from wholebody.ros.node import Node
from wholebody.ros.standard import Clock, Imu, JointState, Odometry, TFMessage, Time, WrenchStamped

MAIN = [sys.executable, "-m", "wholebody.cli"]
NAME, DOMAIN, PERIOD = "bench_ros", 199, 0.005
TURN = 0.5
"""s for which the bridges run, and are stopped, in turns: channels keep their messages for longer."""
Results = dict[str, Timing | float]


def run(quick: bool, progress: Progress) -> Report:
    """Measure, half a minute in all."""
    report = Report()
    if not find_spec("cyclonedds"):
        report.notes.append(f"cyclonedds is not installed: {install_command('ros')}")
        return report
    progress("a message", 0.0)
    with no_garbage_collection():
        report.sections.append(Section("a JointState of 38 joints, CPU", message(500 if quick else 3000)))
    report.limit_minima("joint_state", "bytes_alone", 2.0)
    with _own_channels(), _robot() as bridges:
        progress("its age", 0.2)
        report.sections.append(Section("age at another process", age(3.0 if quick else 15.0)))
        progress("the daemon beside them", 0.6)
        report.sections.append(Section("the daemon's cycles", beside(bridges, 4 if quick else 20)))
    report.limit_ratio("age", "period", 1.0)
    report.limit_quotient("age_p99", "two_periods", 1.0)
    report.limit_ratio("late_beside", "late_alone", 1.2)
    report.limit_ratio("work_beside", "work_alone", 1.2)
    return report


def message(count: int) -> Results:
    """CPU of one message, batch by batch, in turns with its yardstick."""
    robot = robots.load("hubo2plus")
    messages, state = StandardMessages(robot), new(robot.state_dtype())
    state.measured[:] = Measured.POSITION | Measured.VELOCITY | Measured.EFFORT
    stamp = Time.of(1.5)
    whole = encode(messages.joint_state(state, stamp))
    plain = struct.Struct(f"<{3 * len(robot.joint_names)}d")
    values, head = [0.0] * (3 * len(robot.joint_names)), whole[: len(whole) - plain.size]
    found: dict[str, list[float]] = {"joint_state": [], "bytes_alone": []}
    with Participant(DOMAIN) as here:
        writer = here.writer("rt/joint_states", JointState)

        def ours() -> None:
            writer.put(messages.joint_state(state, stamp))

        def alone() -> None:
            writer.put_bytes(head + plain.pack(*values))

        for _ in range(40):
            for name, call in (("joint_state", ours), ("bytes_alone", alone)):
                begin = time.process_time_ns()
                for _ in range(count // 40 + 1):
                    call()
                found[name].append((time.process_time_ns() - begin) / (count // 40 + 1) * 1e-3)
    return {name: Timing.of(each) for name, each in found.items()}


@contextlib.contextmanager
def _robot() -> Iterator[list[subprocess.Popen[str]]]:
    """A robot of numbers, and its bridges."""
    start = ["start", "hubo2plus", "--driver", "loopback", "--name", NAME]
    subprocess.run([*MAIN, *start], check=True, stdout=subprocess.DEVNULL)
    commands = [["ros", "--domain", str(DOMAIN)]]
    commands += [["foxglove", "--port", "0"]] if find_spec("foxglove") else []
    bridges = [subprocess.Popen([*MAIN, *each, "--name", NAME], stdout=subprocess.PIPE, text=True) for each in commands]
    try:
        for each in bridges:
            assert each.stdout is not None
            each.stdout.readline()
        yield bridges
    finally:
        for each in bridges:
            each.send_signal(signal.SIGCONT)
            each.terminate()
            each.wait()
        subprocess.run([*MAIN, "stop", "--name", NAME], check=False, stdout=subprocess.DEVNULL)


def age(seconds: float) -> Results:
    """How old joint states are when they come."""
    ages: list[float] = []
    with Node("bench", domain=DOMAIN) as node:
        reader = node.subscription("/joint_states", JointState, lambda told: None)
        until = time.monotonic() + seconds + 2.0
        while time.monotonic() < until:
            if reader.wait(0.5):
                came = time.time()
                ages += [came - each.header.stamp.seconds for each in reader.take()]
    samples = 1e6 * np.array(ages[len(ages) // 8 :])
    return {
        "age": Timing.of(samples),
        "period": Timing.of([1e6 * PERIOD]),
        "age_p99": float(np.percentile(samples, 99)),
        "two_periods": 2e6 * PERIOD,
    }


def beside(bridges: list[subprocess.Popen[str]], turns: int) -> Results:
    """How late the daemon's cycles begin and what they take, with the bridges and without, in turns."""
    found: dict[str, list[np.ndarray]] = {"beside": [], "alone": []}
    names = Names(NAME)
    with (
        Node("bench", domain=DOMAIN) as node,
        Channel(names.timing) as channel,
        channel.reader() as reader,
    ):
        for topic, kind in (("joint_states", JointState), ("odom", Odometry)):
            node.subscription(f"/{topic}", kind, lambda told: None)
        node.subscription("/tf", TFMessage, lambda told: None)
        node.subscription("/clock", Clock, lambda told: None, SENSORS)
        for sensor in robots.load("hubo2plus").sensors:
            kind = {"imu": Imu, "force_torque": WrenchStamped}.get(sensor.kind)
            if kind is not None:
                folder = "imu" if sensor.kind == "imu" else "wrench"
                node.subscription(f"/{folder}/{sensor.name}", kind, lambda told: None, SENSORS)
        for _ in range(turns):
            for state, number in (("beside", signal.SIGCONT), ("alone", signal.SIGSTOP)):
                for each in bridges:
                    os.kill(each.pid, number)
                found[state].append(_cycles(reader, node))
    rows = {state: np.vstack(each) for state, each in found.items()}
    return {
        f"{what}_{state}": Timing.of(1e6 * rows[state][:, column])
        for column, what in enumerate(("late", "work"))
        for state in rows
    }


def _cycles(reader: object, node: Node) -> np.ndarray:
    """Lateness and work of the cycles of one turn, in seconds."""
    until, kept = time.monotonic() + TURN, []
    while time.monotonic() < until:
        node.spin()
        while reader.next():  # type: ignore[attr-defined]
            row = Timings(np.array([reader.message.copy()], reader.message.dtype))  # type: ignore[attr-defined]
            kept.append((float(row.late[0]), float(row.took[0].sum())))
        time.sleep(0.005)
    return np.array(kept[len(kept) // 5 :])
