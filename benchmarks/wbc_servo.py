"""The stages of the servo loop, Table 3 of the paper: Dreamer with 22 degrees of freedom, through shared memory.

State and reference go through channels, as they do between the servo and a daemon; odometry is published on a third.
"""

from __future__ import annotations

import numpy as np

from benchmarks.report import Timing
from benchmarks.wbc_timing import Results
from wholebody.channels import Channel
from wholebody.control import WBOSC, Problem
from wholebody.control.publish import PublishState
from wholebody.control.servo import STAGES, Servo
from wholebody.hardware import Record
from wholebody.model import Model
from wholebody.robots.robot import Robot

PERIOD = 0.001
PAPER_US = {"read": 20.0, "publish": 14.7, "model": 272.0, "command": 497.0, "write": 12.5, "total": 820.0}
"""Table 3 of the paper, one thread; its events are 4.1 µs more."""
NAMES = {"solve": "command"}


class SharedMemory:
    """A robot behind two channels, and the beat of nobody's time: a new state lies there at every tick."""

    period, missed = PERIOD, 0

    def __init__(self, robot: Robot) -> None:
        self._states = Channel("bench.wbc.state", robot.state_dtype())
        self._references = Channel("bench.wbc.reference", robot.reference_dtype())
        self._robot, self._reader = self._states.writer(), self._states.reader()
        self._controller = self._references.writer()
        self._ticks, self._rng = 0, np.random.default_rng(0)
        self._home = np.array(robot.posture("stand"))
        self._robot.message["base"]["known"] = True
        self._robot.message["base"]["orientation"] = (0.0, 0.0, 0.0, 1.0)

    def tick(self) -> float:
        """The robot measures."""
        self._ticks += 1
        message = self._robot.message
        message["time"] = self._ticks * PERIOD
        message["position"] = self._home + 0.01 * self._rng.normal(size=len(self._home))
        self._robot.put()
        return self._ticks * PERIOD

    def read(self, state: Record) -> None:
        """Take the newest state."""
        self._reader.latest()
        state.setfield(self._reader.message, self._reader.message.dtype, 0)

    def write(self, reference: Record) -> None:
        """Put a reference."""
        self._controller.message.setfield(reference, reference.dtype, 0)
        self._controller.put()

    def stop(self) -> None:
        """Nothing moves here."""

    def __enter__(self) -> SharedMemory:
        return self

    def __exit__(self, *_: object) -> None:
        self._states.close()
        self._references.close()


def stages(model: Model, problem: Problem, cycles: int) -> Results:
    """Each stage of the loop, and the whole."""
    with SharedMemory(model.robot) as robot, Channel("bench.wbc.odometry", model.robot.state_dtype()) as odometry:
        publish = [PublishState(odometry.writer())]
        servo = Servo(robot, robot, WBOSC(model), lambda time, snapshot: problem, publish=publish)
        servo.run(cycles * PERIOD)
        laps = servo.timing.microseconds
    found: Results = {f"stage_{NAMES.get(name, name)}": Timing.of(laps[:, at]) for at, name in enumerate(STAGES)}
    return found | {"stage_total": Timing.of(laps.sum(axis=1))}


def beside_the_paper(results: Results) -> str:
    """How our table stands beside the paper's, as a note."""
    parts = []
    for name, paper in PAPER_US.items():
        ours = results[f"stage_{name}"]
        assert isinstance(ours, Timing)
        parts.append(f"{name} {ours.median:.1f} ({paper:g})")
    return f"Table 3, medians in µs, in brackets the paper's means (one thread, i7-4771): {', '.join(parts)}"
