"""ControlIt!, §5.3: Dreamer's right hand is asked to go further than it can, and back; and what a singular level does.

    python -m experiments.controlit_reach

prints errors and how much efforts jump from one cycle to the next, with singular directions shared between the levels
and with plain truncation, and writes `results/controlit_reach.png`. Below the hand there is the posture, so that torso
and shoulder help as far as they can. The document's goals were random ones; these go to the edge of reach and beyond.
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

RESULTS = Path(__file__).parent / "results"
WAIT = 1.5  # s, that the goal stays out there
CASES: dict[str, dict[str, Any]] = {
    "within reach": {"away": (0.4, -0.4, 0.6)},
    "at its edge": {"away": (0.8, 0.0, 0.3)},
    "10 cm beyond, limits above": {"away": (0.9, 0.0, 0.3), "limits": True, "stiffness": 25.0, "out": 2.0},
    "20 cm beyond, limits above": {"away": (1.0, 0.0, 0.3), "limits": True, "stiffness": 25.0, "out": 2.0},
}
LAWS: dict[str, dict[str, Any]] = {
    "shared": {},
    "shared below 5 %": {"task_tolerance": 0.05},
    "truncated": {"singular": "truncated"},
}

Array = np.ndarray


@dataclass(frozen=True)
class Reached:
    """Cycle by cycle: the hand's error, m; the angle of the torso, rad; the greatest step of an effort, N·m."""

    errors: Array
    torso: Array
    steps: Array


class OutAndBack:
    """The goal of a hand goes away by a vector, smoothly, waits, and comes back; below it, the posture is kept."""

    def __init__(self, model: Model, away: Array, out: float, stiffness: float, limits: bool) -> None:
        self.model, self.away, self.out, self.stiffness, self.limits = model, away, out, stiffness, limits
        self.problem: Problem | None = None

    def __call__(self, time, snapshot):
        if self.problem is None:
            self.problem = self._build(snapshot)
        there, back = (np.clip((time - begin) / self.out, 0, 1) for begin in (0.2, 0.2 + self.out + WAIT))
        self.hand.goal[:] = self.start + (smooth(there) - smooth(back)) * self.away
        return self.problem

    def _build(self, snapshot):
        self.start = snapshot.position(self.model.frame("right_palm")).copy()
        self.hand = CartesianPositionTask("hand", "right_palm", self.start, stiffness=self.stiffness)
        top = [JointLimitTask.of(self.model)] if self.limits else []
        return Problem([top, self.hand, JointPositionTask("posture", snapshot.q, stiffness=25.0)], [COUPLING])


def smooth(x: float) -> float:
    """From 0 to 1, at rest at both ends."""
    return float(x**3 * (10 - 15 * x + 6 * x**2))


def reach(
    away: tuple[float, float, float],
    *,
    out: float = 1.5,
    stiffness: float = 100.0,
    limits: bool = False,
    latency: int = 0,
    **law: Any,
) -> Reached:
    """Let the goal go away by a vector within `out` seconds, and come back; the law is that of a singular level.

    latency  how old joint angles are when the controller sees them, ms
    """
    model = Model(dreamer())
    rows: list[tuple[float, ...]] = []

    def watch(servo):
        rows.append((np.linalg.norm(servo.command.error("hand")), servo.estimate.q[0], *servo.command.effort))

    behavior = OutAndBack(model, np.array(away), out, stiffness, limits)
    sensors = SensorModel(encoder_delay=latency)
    with Simulation(model.robot, control_period=0.001, sensors=sensors) as simulation:
        Servo(simulation, simulation, WBOSC(model, **law), behavior, publish=[watch]).run(1.2 + 2 * out + WAIT)
    table = np.array(rows)
    return Reached(table[:, 0], table[:, 1], np.abs(np.diff(table[:, 2:], axis=0)).max(axis=1))


def main() -> None:
    done = {(case, law): reach(**CASES[case], **LAWS[law]) for case in CASES for law in LAWS}
    print(f"{'':<28}{'':<18}{'error out there, mm':>20}{'after, mm':>11}{'torso, °':>10}{'steps of effort, N·m':>22}")
    for (case, law), each in done.items():
        waiting = slice(
            round(1e3 * (CASES[case].get("out", 1.5) + 0.7)), round(1e3 * (CASES[case].get("out", 1.5) + 1.7))
        )
        print(
            f"{case:<28}{law:<18}{1e3 * np.mean(each.errors[waiting]):20.1f}{1e3 * each.errors[-1]:11.2f}"
            f"{np.degrees(np.ptp(each.torso)):10.0f}{each.steps[100:].max():14.2f}, {each.steps[waiting].max():.2f} out"
        )
    draw(done)


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
            axes[1, column].semilogy(1e-3 * np.arange(len(each.steps)), each.steps + 1e-4, lw=0.6)
        axes[0, column].set_title(case, loc="left")
        axes[1, column].set_xlabel("time, s")
    axes[0, 0].set_ylabel("error of the hand, mm")
    axes[1, 0].set_ylabel("step of effort in a cycle, N·m")
    axes[0, 0].legend(fontsize=7)
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / "controlit_reach.png", dpi=90)


if __name__ == "__main__":
    main()
