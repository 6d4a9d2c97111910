"""ControlIt!, §5.3: Dreamer's right hand is asked to go further than it can, and back; and what a singular level does.

    python -m experiments.controlit_reach

prints errors and how much efforts jump from one cycle to the next, as shares of what the motors can do: with bounded
springs, which is the rule, with a linear law that shares singular directions between the levels, and with truncation.
It writes `results/controlit_reach.png`. Above the hand joints are kept off their limits, below it there is the posture,
so that torso and shoulder help as far as they can. The document's goals were random ones; these go to the edge of reach
and beyond.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.controlit_dreamer import COUPLING, dreamer
from wholebody.control import WBOSC, Problem, Servo
from wholebody.model import Model
from wholebody.simulation import SensorModel, Simulation
from wholebody.tasks import CartesianPositionTask, JointLimitTask, JointPositionTask
from wholebody.tasks.kinds import ERROR_LIMIT_OF_FRAMES, UNLIMITED

RESULTS = Path(__file__).parent / "results"
WAIT = 1.5  # s, that the goal stays out there
REST = 2.5  # s, after it has come back
CASES: dict[str, dict[str, Any]] = {
    "within reach": {"away": (0.4, -0.4, 0.6)},
    "at its edge": {"away": (0.8, 0.0, 0.3)},
    "10 cm beyond": {"away": (0.9, 0.0, 0.3), "stiffness": 25.0, "out": 2.0},
    "20 cm beyond": {"away": (1.0, 0.0, 0.3), "stiffness": 25.0, "out": 2.0},
    "20 cm beyond, 7 ms late": {"away": (1.0, 0.0, 0.3), "stiffness": 25.0, "out": 2.0, "latency": 7},
    "20 cm beyond, stiff, 7 ms late": {"away": (1.0, 0.0, 0.3), "stiffness": 100.0, "out": 2.0, "latency": 7},
}
LAWS: dict[str, dict[str, Any]] = {
    "bounded": {},
    "linear": {"error_limit": UNLIMITED},
    "truncated": {"singular": "truncated"},
}

Array = np.ndarray


@dataclass(frozen=True)
class Reached:
    """Cycle by cycle: the hand's error, m; the angle of the torso, rad; and the greatest step of an effort.

    steps   in N·m
    shares  as shares of what the joint's motor can do
    """

    errors: Array
    torso: Array
    steps: Array
    shares: Array


class OutAndBack:
    """The goal of a hand goes away by a vector, smoothly, waits, and comes back; below it, the posture is kept."""

    def __init__(self, model: Model, away: Array, out: float, **of_the_hand: float) -> None:
        self.model, self.away, self.out, self.of_the_hand = model, away, out, of_the_hand
        self.problem: Problem | None = None

    def __call__(self, time, snapshot):
        if self.problem is None:
            self.problem = self._build(snapshot)
        there, back = (np.clip((time - begin) / self.out, 0, 1) for begin in (0.2, 0.2 + self.out + WAIT))
        self.hand.goal[:] = self.start + (smooth(there) - smooth(back)) * self.away
        return self.problem

    def _build(self, snapshot):
        self.start = snapshot.position(self.model.frame("right_palm")).copy()
        self.hand = CartesianPositionTask("hand", "right_palm", self.start, **self.of_the_hand)
        posture = JointPositionTask("posture", snapshot.q, stiffness=25.0)
        return Problem([JointLimitTask.of(self.model), self.hand, posture], [COUPLING])


def smooth(x: float) -> float:
    """From 0 to 1, at rest at both ends."""
    return float(x**3 * (10 - 15 * x + 6 * x**2))


def reach(
    away: tuple[float, float, float],
    *,
    out: float = 1.5,
    stiffness: float = 100.0,
    error_limit: float = ERROR_LIMIT_OF_FRAMES,
    latency: int = 0,
    **law: Any,
) -> Reached:
    """Let the goal go away by a vector within `out` seconds, and come back; the law is that of a singular level.

    error_limit  of the hand's task
    latency      how old joint angles are when the controller sees them, ms
    """
    model = Model(dreamer())
    rows: list[tuple[float, ...]] = []

    def watch(servo):
        rows.append((np.linalg.norm(servo.command.error("hand")), servo.estimate.q[0], *servo.command.effort))

    behavior = OutAndBack(model, np.array(away), out, stiffness=stiffness, error_limit=error_limit)
    sensors = SensorModel(encoder_delay=latency)
    with Simulation(model.robot, control_period=0.001, sensors=sensors) as simulation:
        Servo(simulation, simulation, WBOSC(model, **law), behavior, publish=[watch]).run(0.2 + 2 * out + WAIT + REST)
    table = np.array(rows)
    steps = np.abs(np.diff(table[:, 2:], axis=0))
    strongest = np.array([model.robot.joint(name).effort for name in model.joint_names])
    return Reached(table[:, 0], table[:, 1], steps.max(axis=1), (steps / strongest).max(axis=1))


def main() -> None:
    done = {(case, law): reach(**CASES[case], **LAWS[law]) for case in CASES for law in LAWS}
    print(f"{'':<32}{'':<11}{'error out there, mm':>20}{'after, mm':>11}{'torso, °':>10}{'steps of effort, %':>22}")
    for (case, law), each in done.items():
        out = waiting(CASES[case].get("out", 1.5))
        print(
            f"{case:<32}{law:<11}{1e3 * np.mean(each.errors[out]):20.1f}{1e3 * each.errors[-1]:11.3f}"
            f"{np.degrees(np.ptp(each.torso)):10.0f}{1e2 * each.shares[100:].max():14.2f},"
            f" {1e2 * each.shares[out].max():.2f} out"
        )
    draw(done)


def waiting(out: float) -> slice:
    """The last second of those cycles in which the goal waits out there."""
    return slice(round(1e3 * (0.2 + out + WAIT)) - 1000, round(1e3 * (0.2 + out + WAIT)))


def draw(done: dict[tuple[str, str], Reached]) -> None:
    """Errors and steps of effort over time, a column for each case."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, len(CASES), figsize=(4 * len(CASES), 5), sharex="col", layout="constrained")
    for column, case in enumerate(CASES):
        for law in LAWS:
            each = done[case, law]
            axes[0, column].plot(1e-3 * np.arange(len(each.errors)), 1e3 * each.errors, label=law)
            axes[1, column].semilogy(1e-3 * np.arange(len(each.shares)), 1e2 * each.shares + 1e-4, lw=0.6)
        axes[0, column].set_title(case, loc="left")
        axes[1, column].set_xlabel("time, s")
    axes[0, 0].set_ylabel("error of the hand, mm")
    axes[1, 0].set_ylabel("step of effort in a cycle, % of its limit")
    axes[0, 0].legend(fontsize=7)
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / "controlit_reach.png", dpi=90)


if __name__ == "__main__":
    main()
