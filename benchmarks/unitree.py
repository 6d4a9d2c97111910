"""What the driver of Unitree's G1 costs, how exact it is, and how soon its death is noticed.

CPU of this process, with all threads of DDS, per cycle of 2 ms: a client that writes a command and takes a state as
they are, and our driver, which packs, checks and fills in records; and how late their cycles begin, and those of a
loop that only sleeps; all in turns. The G1 is a process that publishes and takes the same messages.

Check sums: commands that the driver packed, checked by another calculation; states of which each tenth has a bit
changed. Deaths: a client is killed, and it is noted when the simulated G1 damps its joints.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection

import numpy as np

from benchmarks.processes import Helper
from benchmarks.report import COUNT, RATIO, Budget, Progress, Report, Section, no_garbage_collection
from wholebody import messages
from wholebody.drivers import SteadyClock
from wholebody.drivers.unitree.dds import Participant
from wholebody.drivers.unitree.low_level import LOW_COMMAND, LOW_STATE, Message, Topic
from wholebody.drivers.unitree.motors import G1, Motors
from wholebody.drivers.unitree.robot import UnitreeRobot
from wholebody.drivers.unitree.simulated import PERIOD, SimulatedG1
from wholebody.errors import HardwareError, RealtimeWarning
from wholebody.files import yaml_of
from wholebody.messages import Reference, State
from wholebody.processes.devices import PRIORITY
from wholebody.realtime import realtime
from wholebody.robots.robot import Joint, Link, Robot

BLOCK = 250
"""Cycles in a row of one loop, before it is another's turn."""
LATE = 0.1 * PERIOD
"""s after its beat from which on a cycle counts as late."""
SAFE = 0.04
"""s within which the joints of a G1 whose client was killed are damped."""


def run(quick: bool, progress: Progress) -> Report:
    """CPU, late cycles, check sums and deaths."""
    robot, report = stand_in(), Report()
    _cycles(robot, 4 if quick else 40, report, progress)
    _check_sums(robot, 10_000 if quick else 100_000, report, progress)
    _deaths(robot, 3 if quick else 30, report, progress)
    return report


def stand_in() -> Robot:
    """A chain of joints that are named as those of a G1."""
    names = [f"{name}_joint" for name in yaml_of(G1, HardwareError)["motors"]]
    links = tuple(Link(f"link_{each}", 1.0, inertia=(0.1, 0.1, 0.1, 0.0, 0.0, 0.0)) for each in range(len(names) + 1))
    joints = tuple(
        Joint(name, "revolute", f"link_{each}", f"link_{each + 1}", lower=-3.0, upper=3.0, velocity=20.0, effort=50.0)
        for each, name in enumerate(names)
    )
    return Robot("g1", links, joints)


# CPU and late cycles.


def _cycles(robot: Robot, rounds: int, report: Report, progress: Progress) -> None:
    tag = f"bench-{os.getpid()}"
    with Helper(peer, tag), UnitreeRobot(robot, Motors.of(robot), Participant(tag=tag), timeout=20.0) as driver:
        state, reference = messages.new(robot.state_dtype()), messages.new(robot.reference_dtype())
        reference.mask[:] = True
        with Participant(tag=tag) as other:
            command = Message(LOW_COMMAND).pack()
            writer = other.writer(*_of(LOW_COMMAND))
            reader = other.reader(*_of(LOW_STATE))
            address = command.ctypes.data

            def ours() -> None:
                driver.write(reference)
                driver.read(state)

            def bare() -> None:
                writer.write_at(address)
                reader.take()

            loops: dict[str, Callable[[], None]] = {"driver": ours, "bare": bare, "sleeping": lambda: None}
            cpu: dict[str, list[float]] = {name: [] for name in loops}
            late: dict[str, int] = dict.fromkeys(loops, 0)
            with no_garbage_collection():
                for number in range(rounds + 1):
                    progress("cycles", 0.6 * number / rounds)
                    for name, loop in loops.items():
                        microseconds, count = _block(loop)
                        if number:  # the first warms up
                            cpu[name].append(microseconds)
                            late[name] += count
    idle = float(np.median(cpu["sleeping"]))
    mine, theirs = (float(np.median(cpu[name])) - idle for name in ("driver", "bare"))
    results = {"CPU of driver, us": round(mine, 1), "CPU of bare, us": round(theirs, 1)}
    report.sections.append(Section("a cycle", {**results, **{f"late {name}": float(late[name]) for name in late}}))
    report.budgets.append(Budget("CPU of driver / CPU of bare", round(mine / theirs, 3), 2.0, RATIO))
    share = (late["driver"] + 1) / (late["sleeping"] + 1)
    report.budgets.append(Budget("late driver / late sleeping", round(share, 3), 1.2, RATIO))
    report.notes.append(f"{rounds * BLOCK} cycles each of {PERIOD * 1e3:g} ms; late: {LATE * 1e3:g} ms after its beat")


def _block(loop: Callable[[], None]) -> tuple[float, int]:
    """CPU of a cycle, µs, and how many cycles began late."""
    clock, late = SteadyClock(PERIOD), 0
    clock.tick()
    begun = time.process_time()
    for _ in range(BLOCK):
        clock.tick()
        late += clock.late > LATE
        loop()
    return (time.process_time() - begun) / BLOCK * 1e6, late + clock.missed


def peer(control: Connection, tag: str) -> None:
    """A G1 that publishes and takes messages as they are."""
    with Participant(tag=tag) as participant:
        writer, reader = participant.writer(*_of(LOW_STATE)), participant.reader(*_of(LOW_COMMAND))
        state = Message(LOW_STATE)
        clock = SteadyClock(PERIOD)
        while not control.poll():
            clock.tick()
            reader.take()
            writer.write(state.pack())


def _of(topic: Topic) -> tuple[str, str, int]:
    return topic.name, topic.type, topic.size


# Check sums.


def _check_sums(robot: Robot, count: int, report: Report, progress: Progress) -> None:
    """Commands that are sent, and states with a bit changed that are received."""
    random, tag = np.random.default_rng(1), f"bench-sums-{os.getpid()}"
    sent: list[bytes] = []
    spoilt = bad = 0
    with Participant(tag=tag) as theirs:
        states, commands = theirs.writer(*_of(LOW_STATE)), theirs.reader(*_of(LOW_COMMAND))
        driver = _joined(robot, tag, lambda: states.write(Message(LOW_STATE).pack()))
        state, reference = messages.new(robot.state_dtype()), messages.new(robot.reference_dtype())
        reference.mask[:] = True
        measured = Message(LOW_STATE)
        for number in range(count):
            reference.position[:] = random.normal(size=len(robot.joint_names))
            driver.write(reference)
            sent += [bytes(each) for each in commands.take()]
            measured.motors[:, 1] = reference.position[0]
            wire = measured.pack().copy()
            if number % 10 == 0:
                wire[68 + 56 * int(random.integers(35)) + 4 + int(random.integers(12))] ^= 1 << int(random.integers(8))
                spoilt += 1
            states.write(wire)
            driver.read(state)
            if len(sent) == 1000:
                progress("check sums", 0.6 + 0.2 * number / count)
                bad += _bad(sent)
                sent.clear()
        bad += _bad(sent)
        missed = spoilt - driver.bad
        driver.__exit__(None, None, None)
    report.sections.append(
        Section("check sums", {"sent": count, "sent wrong": bad, "received wrong": spoilt, "not noticed": missed})
    )
    report.budgets += [Budget("sent wrong", bad, 0, COUNT), Budget("received wrong and not noticed", missed, 0, COUNT)]


def _joined(robot: Robot, tag: str, say: Callable[[], object]) -> UnitreeRobot:
    """A driver that has taken the robot that somebody else plays meanwhile."""
    taken = threading.Event()

    def play() -> None:
        while not taken.wait(0.001):
            say()

    thread = threading.Thread(target=play)
    thread.start()
    try:
        return UnitreeRobot(robot, Motors.of(robot), Participant(tag=tag)).__enter__()
    finally:
        taken.set()
        thread.join()


def _bad(sent: list[bytes]) -> int:
    """How many commands have a wrong check sum; bit by bit, of all at once."""
    if not sent:
        return 0
    wire = np.frombuffer(b"".join(sent), np.uint8).reshape(len(sent), -1)
    struct = np.zeros((len(sent), LOW_COMMAND.layout.itemsize), np.uint8)
    struct[:, :2], struct[:, 4], struct[:, 8:] = wire[:, :2], wire[:, 2], wire[:, 4:]
    words = struct.view("<u4")
    crc = np.full(len(sent), 0xFFFFFFFF, np.uint32)
    for word in words[:, :-1].T:
        crc ^= word
        for _ in range(32):
            crc = np.where(crc >> 31, crc << np.uint32(1) ^ np.uint32(0x04C11DB7), crc << np.uint32(1)).astype(
                np.uint32
            )
    return int((crc != words[:, -1]).sum())


# Deaths.


class _Standing:
    """A body that stands still."""

    def __init__(self) -> None:
        self.damped_at = 0.0

    def read(self, state: State) -> None:
        """It is all zeros."""

    def write(self, reference: Reference) -> None:
        """Note when nothing is stiff any more."""
        self.damped_at = 0.0 if reference.stiffness.any() else self.damped_at or time.monotonic()

    def advance(self) -> None:
        """It needs no time."""


def _deaths(robot: Robot, count: int, report: Report, progress: Progress) -> None:
    tag, body, over = f"bench-deaths-{os.getpid()}", _Standing(), threading.Event()
    took = []
    with Participant(tag=tag) as participant:
        device = SimulatedG1(robot, Motors.of(robot), body, participant)

        def be_device() -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RealtimeWarning)
                realtime(PRIORITY)  # as the process of a simulated G1 does
            device.run(lambda: not over.is_set())

        thread = threading.Thread(target=be_device)
        thread.start()
        try:
            for number in range(count):
                progress("deaths", 0.8 + 0.2 * number / count)
                took.append(_death(device, body, tag))
        finally:
            over.set()
            thread.join()
    worst = max(took)
    results = {"killed": count, "median ms": round(float(np.median(took)) * 1e3, 1), "worst ms": round(worst * 1e3, 1)}
    report.sections.append(Section("clients killed", results))
    report.budgets.append(Budget("until damped / 40 ms", round(worst / SAFE, 3), 1.0, RATIO))


def _death(device: SimulatedG1, body: _Standing, tag: str) -> float:
    """Seconds from the end of a client to damped joints."""
    before = device.received
    with Helper(client, tag) as helper:
        while device.received < before + 50 or body.damped_at:
            time.sleep(0.001)
        killed = time.monotonic()
        assert helper.process.pid is not None
        os.kill(helper.process.pid, signal.SIGKILL)
        while not body.damped_at:
            time.sleep(0.001)
        return body.damped_at - killed


def client(control: Connection, tag: str) -> None:
    """Somebody's program: a stiff command each period."""
    with Participant(tag=tag) as participant:
        writer, command, clock = participant.writer(*_of(LOW_COMMAND)), Message(LOW_COMMAND), SteadyClock(PERIOD)
        command.modes[:], command.motors[:, 4] = 1, 50.0
        while not control.poll():
            clock.tick()
            writer.write(command.pack())
