"""Servo: the whole-body control loop, on any robot and clock, to be read from top to bottom in `Servo.cycle`.

model = Model(robot)
with Simulation(robot, control_period=0.001) as simulation:
    servo = Servo(simulation, simulation, WBOSC(model), behavior)
    servo.run(10.0)
print(servo.timing)
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Annotated, Protocol

import numpy as np
import numpy.typing as npt

from wholebody.control.estimate import Estimate
from wholebody.control.joint_pid import JointPID
from wholebody.control.problem import Problem
from wholebody.control.result import Fault
from wholebody.control.timing import Echo, Timing
from wholebody.drivers import Clock, RobotInterface
from wholebody.errors import BadProblem, ControlLost, WholebodyError
from wholebody.messages import Mode, Reference
from wholebody.model.layout import Array, Integers
from wholebody.model.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.model.updater import ModelUpdater
from wholebody.parameters import Bounds, Unit
from wholebody.robots.robot import Robot

STAGES = ("read", "estimate", "model", "behavior", "solve", "write", "publish")
LOOKS_A_CYCLE = 4
"""How often in a cycle the thread beside the loop looks for work: what is asked for in one is ready in the next."""
READ, ESTIMATE, MODEL, BEHAVIOR, SOLVE, WRITE, PUBLISH = range(len(STAGES))


class Command(Protocol):
    """What a controller commands: of each joint of its model, in the model's order."""

    @property
    def effort(self) -> Array:
        """N·m or N."""

    @property
    def position(self) -> Array:
        """Radians or metres."""

    @property
    def velocity(self) -> Array:
        """Radians or metres a second."""

    @property
    def fault(self) -> Fault | None:
        """Why this is the last safe command once more, if it is."""


class Controller(Protocol):
    """What solves a problem: WBOSC, QuadraticController, Impedance."""

    model: Model

    def prepare(self, problem: Problem) -> None:
        """Make a problem ready, before the loop."""

    def solve(self, snapshot: Snapshot, problem: Problem) -> Command:
        """The command of one cycle."""


Behavior = Callable[[float, Snapshot], Problem]
"""What the robot should do: asked in every cycle, with the time, it says which problem to solve; most often it sets
goals in the tasks of one problem and returns that."""

Publish = Callable[["Servo"], None]
"""Who wants to know: called after the command is written, in the order of the list; in every n-th cycle only, if it
has an attribute `every`, n."""

Input = Callable[["Servo"], None]
"""Who brings something in, such as goals from other processes: called before the behavior, in the order of the list."""


@dataclass
class Counters:
    """What happened since the start."""

    cycles: int = 0
    model_updates: int = 0
    updates_beside: int = 0  # those of them that came from the thread beside the loop
    task_updates: int = 0
    faults: int = 0
    faults_in_a_row: int = 0


class Servo:
    """Newest state → estimate → snapshot → inputs → behavior → controller → reference → whoever wants to know.

    It runs on a robot's interface and a clock, which may be one simulation. A state that cannot be used, or a problem
    that cannot be solved, is a fault: the last safe command stays, `faults` says why, and when that goes on for longer
    than `patience` the robot is stopped. Any exception, also of a behavior, stops it at once and is raised again.

    description   the robot behind the interface, if it has more joints than the controller's model
    mode          what the joints follow: effort; position; or impedance: both, with stiffness and damping
    others        who moves the joints that the model does not have: held where they are found, unless given
    model_every   the model is updated in every n-th cycle: it is never older than n − 1 cycles
    model_beside  whether a thread beside the loop updates the model as often as it can; then the loop takes what is
                  ready without waiting, and updates the model itself only where it would grow n cycles old
    task_every    the behavior is asked in every n-th cycle
    viscous       whether efforts make up for the damping of joints that the robot's description knows
    max_staleness  how old a snapshot may be, in seconds, before it is a fault
    patience      for how many seconds faults are borne
    """

    FAULTS_KEPT = 16

    max_staleness: Annotated[float, Unit("s"), Bounds(0, 10)]
    patience: Annotated[float, Unit("s"), Bounds(0, 60)]
    model_every: Annotated[int, Unit("1"), Bounds(1, 1000)]
    task_every: Annotated[int, Unit("1"), Bounds(1, 1000)]

    def __init__(
        self,
        robot: RobotInterface,
        clock: Clock,
        controller: Controller,
        behavior: Behavior,
        *,
        description: Robot | None = None,
        mode: Mode = Mode.EFFORT,
        others: JointPID | None = None,
        model_every: int = 1,
        task_every: int = 1,
        model_beside: bool = False,
        viscous: bool = True,
        max_staleness: float = 0.05,
        patience: float = 0.1,
        inputs: Sequence[Input] = (),
        publish: Sequence[Publish] = (),
    ) -> None:
        self.robot, self.clock, self.controller, self.behavior = robot, clock, controller, behavior
        self.model = controller.model
        self.description = self.model.robot if description is None else description
        self.mode, self.patience, self.max_staleness = mode, patience, max_staleness
        self.model_every, self.task_every = model_every, task_every
        self.inputs, self.publish = tuple(inputs), tuple(publish)
        self._check(model_beside)
        self.updater = ModelUpdater(self.model, clock.period / LOOKS_A_CYCLE) if model_beside else None
        self.estimate = Estimate(self.model, self.description.state_dtype())
        damping = damping_of(self.model.robot) if viscous else None
        self.reference = ReferenceBuffer(self.description, self.estimate.joints, mode, damping)
        outside = [each for each in self.description.joint_names if each not in self.model.joint_names]
        self.others = JointPID(self.description, outside) if others is None else others
        self.timing = Timing(STAGES)
        self.echo = Echo()
        self.counters = Counters()
        self.faults: deque[tuple[float, str]] = deque(maxlen=self.FAULTS_KEPT)
        self.time = self.begun = -math.inf
        self.staleness = self.worst_staleness = 0.0
        self.snapshot: Snapshot = self.model.at(self.model.neutral())
        self.problem: Problem | None = None
        self.command: Command | None = None
        self._measured = -math.inf  # when what the snapshot shows was measured
        self._model_read = -math.inf  # and read
        self._echoed = self.estimate.state.reference

    # --- the loop ----------------------------------------------------------------------------------

    def run(self, seconds: float = math.inf) -> None:
        """Go on for so many seconds of the clock; the robot is stopped if anything goes wrong, and not otherwise.

        They begin with the first cycle: what has to be compiled or built before it does not count.
        """
        try:
            with self.updating():
                if self.problem is None:
                    self.start()
                if seconds > 0.5 * self.clock.period:
                    self.cycle()
                end = self.time + seconds - 1.5 * self.clock.period
                while self.time < end:
                    self.cycle()
        except BaseException:
            self.robot.stop()
            raise

    def updating(self) -> AbstractContextManager[object]:
        """The thread beside the loop, if there is one, for a `with` block around cycles; `run` has it already."""
        return self.updater or nullcontext()

    def start(self) -> None:
        """Look where the robot is and make the first problem ready; nothing is commanded yet."""
        self.time = self.begun = self.clock.tick()
        self.robot.read(self.estimate.state)
        trouble = self.estimate.update()
        if trouble:
            raise WholebodyError(f"the loop cannot begin: {trouble}")
        self.others.start(self.estimate.position)
        self._use(self.model.at(self.estimate.q, self.estimate.v), -math.inf, self._stamp())
        self._update_tasks()
        if self.problem is not None:
            self.controller.prepare(self.problem)
            self.controller.solve(self.snapshot, self.problem)  # what must be compiled is compiled here

    def cycle(self) -> None:
        """One beat of the clock."""
        mark = self.timing.mark
        self.time = self.clock.tick()
        if self.counters.cycles == 0:
            self.begun = self.time
        self.timing.begin()

        self.robot.read(self.estimate.state)
        self.echo.receive(self._echoed[self.reference.first], self.time)
        mark(READ)

        trouble = self.estimate.update()
        mark(ESTIMATE)

        if not trouble:
            trouble = self._update_model()
        mark(MODEL)

        for take in self.inputs:
            take(self)
        if not trouble:
            self._update_tasks()
        mark(BEHAVIOR)

        if not trouble:
            trouble = self._solve()
        if self.others.joints:
            self.others.update(self.estimate.position, self.estimate.velocity, self.clock.period)
        mark(SOLVE)

        self._count(trouble)
        self.reference.fill(self.time, self.command, self.snapshot, self.others)
        self.robot.write(self.reference.record)
        self.echo.send(self.reference.sent, self.time)
        mark(WRITE)

        for every, publish in self._publish:
            if self.counters.cycles % every == 0:
                publish(self)
        mark(PUBLISH)
        self.timing.end()
        self.counters.cycles += 1

    @property
    def publish(self) -> tuple[Publish, ...]:
        """Who wants to know."""
        return tuple(publish for _, publish in self._publish)

    @publish.setter
    def publish(self, publish: Sequence[Publish]) -> None:
        self._publish = [(int(getattr(each, "every", 1)), each) for each in publish]

    # --- its stages --------------------------------------------------------------------------------

    def _update_model(self) -> str:
        """A new snapshot, if it is the model's turn; what is wrong, if the one there is grew too old."""
        q, v = self.estimate.q, self.estimate.v
        if self.updater is not None:
            done = self.updater.take()
            if done is not None and done.read > self._model_read:
                self._use(*done)
                self.counters.updates_beside += 1
            self.updater.ask(q, v, self.time, self._stamp())
        if self.time - self._model_read > (self.model_every - 0.5) * self.clock.period:
            self._use(self.model.at(q, v), self.time, self._stamp())
        self.staleness = self.time - self._measured
        self.worst_staleness = max(self.worst_staleness, self.staleness)
        return "the state is too old" if self.staleness > self.max_staleness else ""

    def _use(self, snapshot: Snapshot, read: float, measured: float) -> None:
        self.snapshot, self._model_read, self._measured = snapshot, read, measured
        self.counters.model_updates += 1

    def _stamp(self) -> float:
        """When the state was measured; one without a time counts as new."""
        stamped = self.estimate.time
        return stamped if stamped > 0.0 else self.time

    def _update_tasks(self) -> None:
        """Ask the behavior, if it is its turn."""
        if self.counters.cycles % self.task_every == 0:
            self.problem = self.behavior(self.time - self.begun, self.snapshot)
            self.counters.task_updates += 1

    def _solve(self) -> str:
        if self.problem is None:
            return "the behavior gave no problem to solve"
        self.command = self.controller.solve(self.snapshot, self.problem)
        return "" if self.command.fault is None else self.command.fault.reason

    def _count(self, trouble: str) -> None:
        """Note a fault; when there were too many in a row, give up."""
        counters = self.counters
        if not trouble:
            counters.faults_in_a_row = 0
            return
        counters.faults += 1
        counters.faults_in_a_row += 1
        self.faults.append((self.time, trouble))
        if counters.faults_in_a_row * self.clock.period > self.patience:
            raise ControlLost(self.patience, trouble)

    def _check(self, model_beside: bool) -> None:
        for what, every in (("model", self.model_every), ("task", self.task_every)):
            if every != int(every) or every < 1:
                raise BadProblem(
                    f"the {what} is updated in every n-th cycle, n a whole number from 1 on, not {every!r}"
                )
        if model_beside and self.model_every == 1:
            raise BadProblem(
                "a model updated beside the loop is one cycle old or more, and with model_every=1 it may not be: "
                "permit model_every=2 or more, or update it in the loop (model_beside=False)"
            )
        longest = self.model_every * self.clock.period
        if longest > self.max_staleness:
            raise BadProblem(
                f"a model updated in every {self.model_every}th cycle grows {longest:g} s old, more than the "
                f"{self.max_staleness:g} s permitted; update it more often, or permit more"
            )
        if self.mode not in (Mode.EFFORT, Mode.POSITION, Mode.IMPEDANCE):
            raise BadProblem(f"a whole-body controller commands effort, position or impedance, not {self.mode!r}")


class ReferenceBuffer:
    """The reference of a robot, filled in every cycle: joints of the model by command, the others each by itself."""

    def __init__(self, robot: Robot, joints: Integers, mode: Mode, damping: Array | None) -> None:
        memory = np.zeros(1, robot.reference_dtype())
        self.record: Reference = memory[0]
        self.raw: npt.NDArray[np.uint8] = memory.view(np.uint8)  # the same as bytes
        whole = np.array_equal(joints, np.arange(len(robot.joint_names)))
        self._joints = slice(None) if whole else joints
        self._mask = self.record.mask
        self.first = int(joints[0])
        self._damping, self._given, self._drag = damping, np.zeros(len(joints)), np.zeros(len(joints))
        self._position, self._velocity, self._effort = self.record.position, self.record.velocity, self.record.effort
        self.record.mode[:] = Mode.EFFORT if mode is Mode.EFFORT else Mode.POSITION
        self.record.mode[joints] = mode
        for name, gain in robot.gains.items():
            if name in robot.index:
                self.record.stiffness[robot.index[name]] = gain.stiffness
                self.record.damping[robot.index[name]] = gain.damping

    @property
    def sent(self) -> float:
        """The number by which the reference is known again."""
        return float(self._position[self.first])

    def fill(self, time: float, command: Command | None, snapshot: Snapshot, others: JointPID) -> None:
        """What each joint gets; before the first command, the joints of the model go on with what they had."""
        self.record.time = time
        if command is not None:
            self._position[self._joints] = command.position
            self._velocity[self._joints] = command.velocity
            self._given[:] = command.effort
            if self._damping is not None:
                np.dot(self._damping, snapshot.v[-len(self._drag) :], out=self._drag)
                self._given += self._drag
            self._effort[self._joints] = self._given
            self._mask[self._joints] = True
        if others.joints:
            self._position[others.columns] = others.goal
            self._effort[others.columns] = others.effort
            self._mask[others.columns] = True


def damping_of(robot: Robot) -> Array | None:
    """D with D v the efforts that keep joints moving against their damping; a motor also does it for those it drags."""
    D = np.diag([joint.damping if joint.actuated else 0.0 for joint in robot.moving])
    for coupling in robot.couplings:
        master, slave = robot.index[coupling.master], robot.index[coupling.slave]
        D[master, slave] += coupling.ratio * robot.joint(coupling.slave).damping
    return D if D.any() else None
