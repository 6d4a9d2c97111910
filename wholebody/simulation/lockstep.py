"""How a Simulation's time goes by: with a daemon's answers (join), with simulated boards, or with real time.

join runs a Simulation as the simulator of a robot's name, period by period as the robot's daemon answers:

    with Simulation(robots.load("hubo2plus")) as simulation:
        join(simulation, "robot", running=lambda: not told_to_stop)

The handshake is drawn in wholebody/drivers/simulator_link.py. Daemon and controllers come and go as they like: without
an answer the world stands still.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from wholebody import messages
from wholebody.channels import Channel
from wholebody.channels.owned import own_channel
from wholebody.drivers import Names, SteadyClock
from wholebody.errors import BadReference, BadSimulation, SimulationDiverged
from wholebody.messages import Mode, State
from wholebody.parameters.parameter import Bounds, Unit
from wholebody.realtime import sleep_until
from wholebody.robots.robot import Robot
from wholebody.simulation.objects import object_record
from wholebody.simulation.simulation import Simulation

SLICE = 0.1
"""Seconds after which a wait looks whether it shall end."""
REPEATED = 1.0
"""Seconds for which a beat is repeated after a channel was pulled away: what is put meanwhile may be lost, too."""
REPORTS = 1.0
"""Seconds from one report to the next."""
DEBT = 0.1
"""Seconds that a paced simulation may lag behind and catch up; what is more is forgiven, and it goes on from there."""


@dataclass(frozen=True)
class Pace:
    """How a joined simulation gets on."""

    periods: int  # gone by since it joined
    simulated: float  # s
    took: float  # s of real time, with what was spent waiting for a daemon
    recent: float  # simulated seconds per second since the last report
    late: int  # periods that were not over when real time was
    refused: int  # commands that no joint can follow
    resets: int  # how often the physics became unstable and began anew
    waiting: bool  # whether there is no answer
    trouble: str  # the last object that was refused or unstable, in words

    @property
    def real_time(self) -> float:
        """Simulated seconds per second, since it joined."""
        return self.simulated / self.took if self.took > 0 else 0.0


def join(
    simulation: Simulation,
    name: str = "",
    real_time: float | None = 1.0,
    running: Callable[[], bool] = lambda: True,
    progress: Callable[[Pace], None] | None = None,
) -> Pace:
    """Be the simulator of the robot of that name until `running` says no; return how it went.

    `real_time` is how many simulated seconds go by in a second: 1, another number, or None for as fast as possible.
    `progress` is called about once a second, also while nobody answers. A command that makes no sense is refused, and
    the joints keep what they had; physics that became unstable begins anew.
    """
    if real_time is not None and not 0.01 <= real_time <= 1000:
        raise BadSimulation(f"{real_time} times real time; give 0.01 to 1000, or None for as fast as possible")
    with contextlib.ExitStack() as stack:
        simulator = _Simulator(simulation, Names(name), stack)
        beat = _Beat(simulation.period / real_time if real_time is not None else 0.0)
        watch = _Watch(simulation.period, simulator, beat, progress)
        simulator.show()
        while simulator.wait(running, beat, watch):
            simulator.follow()
            simulator.advance()
            beat.keep()
            watch.count()
            simulator.show()
        return watch.pace(waiting=not simulator.answered)


class _Simulator:
    """The simulator's end of the handshake."""

    def __init__(self, simulation: Simulation, names: Names, stack: contextlib.ExitStack) -> None:
        robot, ticks = simulation.robot, messages.tick()
        triggers = stack.enter_context(Channel(names.from_simulator, ticks))
        for process in triggers.writer_processes():
            raise BadSimulation(
                f"process {process} simulates '{names.robot}' already; end it, or give this one another name"
            )
        self.refused = self.resets = 0
        self.trouble = ""
        self._simulation = simulation
        self._start = simulation.truth.position
        self._states = stack.enter_context(Channel(names.simulated, robot.state_dtype()).writer())
        self._commands = stack.enter_context(Channel(names.commanded, robot.reference_dtype(), keep=True).reader())
        self._answers = stack.enter_context(Channel(names.to_simulator, ticks, keep=True).reader())
        self._heard_on, self._repeat_until = self._answers.ring, 0.0
        self._beats = stack.enter_context(triggers.writer())
        objects = stack.enter_context(own_channel(names.objects, object_record(len(simulation.objects))))
        self._objects = stack.enter_context(objects.writer())
        with triggers.reader() as before:
            before.latest()
            self._number = before.message.number
        self._beats.message.period = simulation.period
        self._commands.latest()  # what was commanded before is for another simulator

    def show(self) -> None:
        """Put the state, and then the beat that says so."""
        self._number += 1
        simulation = self._simulation
        simulation.read(self._states.message)
        self._states.put()
        objects = self._objects.message
        objects.time, objects.base[:], objects.pose[:] = simulation.time, simulation.base_pose, simulation.object_poses
        self._objects.put()
        self._beats.message.time, self._beats.message.number = self._simulation.time, self._number
        self._beats.put()

    @property
    def answered(self) -> bool:
        """Whether the daemon has answered this beat."""
        return bool(self._answers.message.number == self._number)

    def wait(self, running: Callable[[], bool], beat: _Beat, watch: _Watch) -> bool:
        """Wait for the answer, with real time forgotten if it takes long; False if it is time to end."""
        while running():
            if self.answered:
                return True
            if not self._answers.wait(SLICE):
                beat.forget()
                watch.report(waiting=True)
                self._repeat_what_may_be_lost()
        return False

    def _repeat_what_may_be_lost(self) -> None:
        """Put state and beat again, for a while after a channel was pulled away with them, or with their answer."""
        now = time.monotonic()
        if self._answers.ring is not self._heard_on or self._beats.ring.gone or self._states.ring.gone:
            self._heard_on, self._repeat_until = self._answers.ring, now + REPEATED
        if now < self._repeat_until:
            self._states.put()
            self._beats.put()

    def follow(self) -> None:
        """Take the newest command, if there is one."""
        if not self._commands.latest():
            return
        try:
            self._simulation.write(self._commands.message)
        except BadReference as error:
            self.refused += 1
            self.trouble = str(error)

    def advance(self) -> None:
        """Let one period go by."""
        try:
            self._simulation.advance()
        except SimulationDiverged as error:
            self.resets += 1
            self.trouble = str(error)
            self._simulation.reset(self._start)


class _Beat:
    """Instants of real time, `period` seconds apart; with 0 there are none to wait for."""

    def __init__(self, period: float) -> None:
        self.late = 0
        self._period = period
        self._next = 0.0

    def forget(self) -> None:
        """Begin anew with the next period."""
        self._next = 0.0

    def keep(self) -> None:
        """Wait until the next instant, or count that it has passed."""
        if self._period == 0.0:
            return
        now = time.monotonic()
        self._next = self._next + self._period if self._next else now
        behind = now - self._next
        if behind <= 0:
            sleep_until(self._next)
            return
        self.late += 1
        if behind > max(DEBT, self._period):
            self._next += behind


class _Watch:
    """Counts, and reports about once a second."""

    def __init__(
        self, period: float, simulator: _Simulator, beat: _Beat, progress: Callable[[Pace], None] | None
    ) -> None:
        self._period, self._simulator, self._beat, self._progress = period, simulator, beat, progress
        self._periods = self._reported = 0
        self._began = self._last = time.monotonic()

    def count(self) -> None:
        """One period more."""
        self._periods += 1
        self.report(waiting=False)

    def report(self, waiting: bool) -> None:
        """Tell how it gets on, if it is time to."""
        if self._progress is None or time.monotonic() - self._last < REPORTS:
            return
        self._progress(self.pace(waiting))
        self._last, self._reported = time.monotonic(), self._periods

    def pace(self, waiting: bool) -> Pace:
        """How it gets on."""
        now, simulator = time.monotonic(), self._simulator
        since = max(now - self._last, 1e-9)
        return Pace(
            periods=self._periods,
            simulated=self._periods * self._period,
            took=now - self._began,
            recent=(self._periods - self._reported) * self._period / since,
            late=self._beat.late,
            refused=simulator.refused,
            resets=simulator.resets,
            waiting=waiting,
            trouble=simulator.trouble,
        )


class SimulatedPlant:
    """A Plant: the mechanics of a Simulation, without the clock.

    A joint with power is held to its target with the robot's own gains; one without is limp (without physics it stays
    where it is). Time goes by in whole control periods of the simulation, and what is left of one counts next time; so
    make it with control_period = step, or as long as the boards' own period.
    """

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self._reference = simulation.new_reference()
        self._left = 0.0

    def advance(self, seconds: float, target: npt.NDArray[np.float64], powered: npt.NDArray[np.bool_]) -> None:
        """Let time go by with each powered joint driven to its target (rad); the others are limp."""
        period = self.simulation.period
        self._left += seconds
        periods = math.floor(self._left / period + 1e-6)  # sums of seconds are never exact
        self._left -= periods * period
        if periods <= 0:
            return
        np.copyto(self._reference.position, target, where=powered & np.isfinite(target))
        self._reference.mode[:] = np.where(powered, int(Mode.POSITION), int(Mode.EFFORT))
        self.simulation.write(self._reference)
        for _ in range(periods):
            self.simulation.advance()

    def read(self, state: State) -> None:
        """Fill in a state of the robot: positions, velocities, efforts, IMUs, force-torque sensors."""
        self.simulation.read(state)


def simulation(
    robot: Robot,
    period: float,
    *,
    scene: str = "flat",
    posture: str | None = None,
    seed: Annotated[int, Unit("1"), Bounds(0)] = 0,
    real_time: bool = True,
    step: Annotated[float, Unit("s"), Bounds(1e-5, 0.1)] = 0.001,
) -> Simulation:
    """The robot in MuJoCo in the process of the loop, in real time or as fast as it goes.

    scene      what stands around it
    posture    in which posture of its description it begins
    seed       of the noise of its sensors
    real_time  no: as fast as it goes
    step       of the physics
    """
    kind = PacedSimulation if real_time else Simulation
    return kind(robot, scene, posture=posture, seed=seed, step=min(step, period), control_period=period)


class PacedSimulation(Simulation):
    """A Simulation whose beats come in real time; beats that went by are counted, and simulated time waits for them."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._beat = SteadyClock(self.period)

    def tick(self) -> float:
        """Wait for the beat, then let one control period go by."""
        self._beat.tick()
        return super().tick()

    @property
    def missed(self) -> int:  # type: ignore[override]
        """Beats of real time that went by unused."""
        return self._beat.missed
