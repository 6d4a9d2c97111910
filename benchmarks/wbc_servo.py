"""The servo loop in real time, Tables 3 and 4 of the paper: Dreamer with 22 degrees of freedom, through shared memory.

State and reference go through channels, as they do between the servo and a daemon; odometry is published on a third.
Both columns of the paper are measured in turns of a tenth of a second, at 1 kHz: between two beats the loop sleeps, so
caches are as cold as on a robot. One column updates the model in the loop, in every cycle; in the other a thread beside
the loop does (`model_beside`).
"""

from __future__ import annotations

import numpy as np

from benchmarks.report import Report, Timing
from benchmarks.wbc_timing import Results
from wholebody.channels import Channel
from wholebody.control import WBOSC, Problem
from wholebody.control.introspection.steering import PublishState
from wholebody.control.servo import STAGES, Servo
from wholebody.drivers.interface import SteadyClock
from wholebody.messages import Reference, State
from wholebody.model import Model
from wholebody.robots.robot import Robot

PERIOD = 0.001
TURN = 100
"""Cycles of one column, before the other has its turn."""
MODEL_EVERY = 10
"""Cycles after which the loop updates a model itself that was not updated beside it."""
PAPER_US = {
    "read": (20.0, 20.0),
    "publish": (14.7, 14.0),
    "model": (272.0, 7.5),
    "command": (497.0, 470.0),
    "write": (12.5, 11.6),
    "total": (820.0, 528.0),
}
"""Table 3 of the paper, one thread and several; its events are 4 µs more."""
NAMES = {"solve": "command"}
COLUMNS = {"": {}, "beside_": {"model_beside": True, "model_every": MODEL_EVERY}}


class SharedMemory:
    """A robot behind two channels, which measures at every tick of a clock that keeps real time."""

    period, missed = PERIOD, 0

    def __init__(self, robot: Robot) -> None:
        self._states = Channel("bench.wbc.state", robot.state_dtype())
        self._references = Channel("bench.wbc.reference", robot.reference_dtype())
        self._robot, self._reader = self._states.writer(), self._states.reader()
        self._controller = self._references.writer()
        self._beat = SteadyClock(PERIOD)
        self._ticks, self._rng = 0, np.random.default_rng(0)
        self._home = np.array(robot.posture("stand"))
        self._robot.message.base.known = True
        self._robot.message.base.orientation[:] = (0.0, 0.0, 0.0, 1.0)

    def tick(self) -> float:
        """The robot measures."""
        self._beat.tick()
        self._ticks += 1
        message = self._robot.message
        message.time = self._ticks * PERIOD
        message.position[:] = self._home + 0.01 * self._rng.normal(size=len(self._home))
        self._robot.put()
        return self._ticks * PERIOD

    def read(self, state: State) -> None:
        """Take the newest state."""
        self._reader.latest()
        state.copy_from(self._reader.message)

    def write(self, reference: Reference) -> None:
        """Put a reference."""
        self._controller.message.copy_from(reference)
        self._controller.put()

    def stop(self) -> None:
        """Nothing moves here."""

    def __enter__(self) -> SharedMemory:
        return self

    def __exit__(self, *_: object) -> None:
        self._states.close()
        self._references.close()


def stages(model: Model, problem: Problem, cycles: int) -> Results:
    """Each stage of the loop, and the whole: as it is, and with names that begin with `beside_`."""
    with SharedMemory(model.robot) as robot, Channel("bench.wbc.odometry", model.robot.state_dtype()) as odometry:
        publish = [PublishState(odometry.writer())]
        servos = {
            name: Servo(robot, robot, WBOSC(model), lambda time, snapshot: problem, publish=publish, **how)
            for name, how in COLUMNS.items()
        }
        for _ in range(max(1, cycles // TURN)):
            for servo in servos.values():
                servo.run(TURN * PERIOD)
    found: Results = {}
    for column, servo in servos.items():
        laps = servo.timing.microseconds
        found |= {f"{column}stage_{NAMES.get(name, name)}": Timing.of(laps[:, at]) for at, name in enumerate(STAGES)}
        found[f"{column}stage_total"] = Timing.of(laps.sum(axis=1))
    beside = servos["beside_"]
    found["beside_share_of_cycles"] = beside.counters.updates_beside / beside.counters.cycles
    found["beside_worst_staleness_cycles"] = round(beside.worst_staleness / PERIOD)
    return found


def totals(name: str, model: Model, problem: Problem, cycles: int) -> Results:
    """The whole cycle of one row of Table 4, in both columns."""
    found = stages(model, problem, cycles)
    return {f"{name}_loop": found["stage_total"], f"{name}_loop_beside": found["beside_stage_total"]}


def limit(report: Report) -> None:
    """Beside the loop a model costs it no more than in it, and is never older than permitted."""
    report.limit_ratio("beside_stage_model", "stage_model", 1.0)
    report.limit_count("beside_worst_staleness_cycles", MODEL_EVERY - 1)


def beside_the_paper(report: Report) -> str:
    """How our table stands beside the paper's, as a note."""
    parts = []
    for name, (single, multi) in PAPER_US.items():
        ours = [report.timing(f"{column}stage_{name}").median for column in COLUMNS]
        parts.append(f"{name} {ours[0]:.1f}, {ours[1]:.1f} ({single:g}, {multi:g})")
    return (
        "Table 3, medians in µs, model updated in the loop and beside it, in brackets the paper's means, one thread "
        f"and several (i7-4771, another machine): {'; '.join(parts)}"
    )
