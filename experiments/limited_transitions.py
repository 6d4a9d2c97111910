"""Changes while limits hold: at once, by commands that fade, and inside the controller with inequalities.

    python -m experiments.limited_transitions

Hubo2+ in MuJoCo, by efforts at 1 kHz. Its centre of mass is asked to be 6 cm ahead all of a sudden; a hand and the
centre of mass change places in the order, while the hand is 5 cm from its goal, or ("far") 17 cm, so that it then runs
along limits; a foot is lifted. Each change takes 0.3 s, that of a contact 0.2 s:

at once   the controller alone
fade      its commands fade, τ + α (τ_old − τ), as those of WBOSC do
inside    what is asked fades, and limits hold on the way

In the 0.4 s after the change: the greatest step of an effort from one cycle to the next; and, as rigid soles would feel
the efforts, how far the soles go beyond what they can bear: N of pull or slip, N·m of tip; then µs of a cycle in a
transition and of one without, medians.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field

import numpy as np

from examples.balance import PLANS, Balance
from experiments.standing_pushes import model_of
from wholebody import robots
from wholebody.constraints import FlatContact
from wholebody.control import Problem, QuadraticController, Servo, Transitions
from wholebody.control.contact_limits import sole_rows
from wholebody.control.result import Result
from wholebody.control.servo import Behavior
from wholebody.model import Model
from wholebody.model.snapshot import Snapshot
from wholebody.simulation import Simulation
from wholebody.tasks import CartesianPositionTask, CenterOfMassTask, JointPositionTask, Orientation3DTask

ROBOT = "hubo2plus"
WAYS = ("at once", "fade", "inside")
PERIOD, CHANGED, AFTER = 0.001, 0.3, 0.4  # s
SOLES = ("left_sole", "right_sole")
FRICTION, INSET = 0.6, 0.01
AHEAD = 0.06  # m
AWAY = {"order": 0.03, "far": 0.1}  # m, along each axis: from the hand to its goal

Array = np.ndarray


class Sudden:
    """The centre of mass, a hand and the posture as they are found, and a change of them at an instant."""

    def __init__(self, model: Model, what: str) -> None:
        self.model, self.what = model, what
        self.before: Problem | None = None

    def __call__(self, time: float, snapshot: Snapshot) -> Problem:
        if self.before is None:
            self._build(snapshot)
        if self.what == "goal" and abs(time - CHANGED) < 0.5 * PERIOD:
            self.com.goal[0] += AHEAD
        return self.after if self.what in AWAY and time >= CHANGED else self.before

    def _build(self, now: Snapshot) -> None:
        away = AWAY.get(self.what, 0.0) * np.array([1.0, -1.0, 1.0])
        self.com = CenterOfMassTask("com", now.com_in_world, stiffness=(20.0, 20.0, 100.0))
        hand = CartesianPositionTask("hand", "right_palm", now.position(self.model.frame("right_palm")) + away)
        rest = (
            Orientation3DTask("pelvis", self.model.robot.root, now.rotation(self.model.frame(self.model.robot.root))),
            JointPositionTask("posture", now.q[7:]),
        )
        feet = [FlatContact(each.replace("sole", "foot"), each) for each in SOLES]
        self.before = Problem([self.com, *rest, hand], feet)
        self.after = Problem([hand, self.com, *rest], feet)


def changes(model: Model) -> dict[str, tuple[Behavior, float]]:
    """What changes, and when."""
    plan = PLANS["one foot"](model)
    return {
        "goal": (Sudden(model, "goal"), CHANGED),
        **{each: (Sudden(model, each), CHANGED) for each in AWAY},
        "foot": (Balance(model, plan), plan.lifted[0]),
    }


@dataclass
class Watched:
    """A controller whose commands are looked at."""

    controller: Transitions | QuadraticController
    efforts: list[Array] = field(default_factory=list)
    beyond: list[dict[str, float]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    faults: int = 0

    def __post_init__(self) -> None:
        self.model, self.period = self.controller.model, self.controller.period
        self._rows = {each: sole_rows(FRICTION, 0.0, self.model.robot.surface(each).outline, 0.0) for each in SOLES}

    def prepare(self, problem: Problem) -> None:
        self.controller.prepare(problem)

    def solve(self, snapshot: Snapshot, problem: Problem) -> Result:
        begun = time.perf_counter()
        result = self.controller.solve(snapshot, problem)
        self.seconds.append(time.perf_counter() - begun)
        self.efforts.append(result.effort.copy())
        self.beyond.append(self._exceeded(snapshot, problem, result.effort))
        self.faults += result.fault is not None
        return result

    def _exceeded(self, snapshot: Snapshot, problem: Problem, effort: Array) -> dict[str, float]:
        """What soles that are to stay would have to bear beyond what they can, of each kind, if none gave way."""
        model, n = self.model, self.model.nv
        feet = [FlatContact(each, each) for each in SOLES]
        J = np.vstack([each.jacobian(snapshot) for each in feet])
        bias = np.concatenate([each.bias(snapshot) for each in feet])
        held = len(J)
        whole = np.block([[snapshot.M, -J.T], [J, np.zeros((held, held))]])
        push = np.concatenate([np.concatenate([np.zeros(6), effort]) - snapshot.h, -bias])
        forces = np.linalg.solve(whole, push)[n:]
        found: dict[str, float] = {}
        for index, each in enumerate(SOLES):
            if problem.constraint(each.replace("sole", "foot")).state != "enabled":
                continue
            turn = np.kron(np.eye(2), snapshot.rotation(model.frame(each)).T)
            slack = self._rows[each].matrix @ turn @ forces[6 * index : 6 * index + 6]
            for name, value in zip(self._rows[each].names, slack, strict=True):
                found[name] = max(found.get(name, 0.0), float(-value))
        return found


@dataclass(frozen=True)
class Change:
    """How a change went."""

    step: float  # N·m
    beyond: dict[str, float]
    cycle: float  # s
    steady: float  # s
    faults: int
    stands: bool


def run(what: str, way: str) -> Change:
    """Simulate one change in one way."""
    robot, model = robots.load(ROBOT), model_of(ROBOT)
    controller = QuadraticController(model, friction=FRICTION, inset=INSET)
    controller.blends_inside = way == "inside"
    watched = Watched(controller if way == "at once" else Transitions(controller))
    behavior, when = changes(model)[what]
    with Simulation(robot, control_period=PERIOD) as simulation:
        height = simulation.com_in_world[2]
        Servo(simulation, simulation, watched, behavior, description=robot).run(when + AFTER)
        stands = bool(simulation.com_in_world[2] > 0.9 * height)
    first, whole = round(when / PERIOD) - 2, round(0.2 / PERIOD)
    after = watched.beyond[first:]
    return Change(
        step=float(np.abs(np.diff(watched.efforts[first:], axis=0)).max()),
        beyond={kind: max(each[kind] for each in after) for kind in after[0]},
        cycle=float(np.median(watched.seconds[first + 3 : first + whole])),
        steady=float(np.median(watched.seconds[first - whole : first])),
        faults=watched.faults,
        stands=stands,
    )


def main(*chosen: str) -> None:
    print(f"{'':<17}{'step, N·m':>10}{'pull, N':>9}{'slip, N':>9}{'tip, N·m':>10}{'µs':>7}{'steady':>8}{'faults':>8}")
    for what in chosen or changes(model_of(ROBOT)):
        for way in WAYS:
            done = run(what, way)
            beyond = "".join(
                f"{done.beyond[kind]:{width}.2f}" for kind, width in (("pull", 9), ("slip", 9), ("tip", 10))
            )
            print(
                f"{what:<8}{way:<9}{done.step:10.2f}{beyond}{1e6 * done.cycle:7.0f}{1e6 * done.steady:8.0f}"
                f"{done.faults:8}{'' if done.stands else '  fell'}",
                flush=True,
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
