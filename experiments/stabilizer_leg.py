"""Stabilizer, 3.8: the floating leg of HOAP-3's step beside the double pendulum that stands for it, Fig. 3.25.

    python -m experiments.stabilizer_leg

prints the table and writes `results/stabilizer_leg.png`. The document shows a picture only; m₁ is the thigh's mass, m₂
all below the knee.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from experiments.stabilizer_step import RESULTS, Array, Step, follow, plan, pyplot
from wholebody import robots
from wholebody.model import DoublePendulum, Model


@dataclass(frozen=True)
class Leg:
    """Torques of the swinging leg's hip pitch and knee, n × 2, by the full model and by two double pendulums."""

    full: Array  # without the rotors, which no pendulum has
    links: Array  # both masses at the ends of the links, as the document says
    masses: Array  # the lower one at the centre of mass of all below the knee


def leg_as_pendulum(model: Model, step: Step, hip: str = "L_LFE", knee: str = "L_KN") -> Leg:
    """Fig. 3.25. The waist is upright, so the hip's pitch is the angle of the thigh from straight down.

    The pendulums err mostly in gravity, for three reasons that explain all of that: the thigh's mass is not at the knee
    (most of the hip's error), centres of mass are 6 to 7 mm ahead of the links (most of the knee's), and the leg leans
    out sideways by its roll. What moves, the hip's own acceleration included, adds about a tenth.
    """
    columns = [model.column(name) for name in (hip, knee)]
    q, v, v_dot = step.q[:, [1 + c for c in columns]], step.v[:, columns], step.v_dot[:, columns]
    rotors = np.array([model.robot.joint(name).rotor_inertia for name in (hip, knee)])
    masses = DoublePendulum.of_limb(model, step.q[0], hip, knee)
    links = replace(masses, lower=float(np.linalg.norm(model.robot.joint("L_AFE").at.xyz)))
    by = [np.array([each.inverse_dynamics(*row) for row in zip(q, v, v_dot, strict=True)]) for each in (links, masses)]
    return Leg(step.torque[:, [c - 6 for c in columns]] - rotors * v_dot, *by)


def main() -> None:
    """Print how well the pendulums stand for the leg, and draw it."""
    model = Model(robots.load("hoap3"))
    step = follow(plan(model))
    leg = leg_as_pendulum(model, step)
    print("Fig. 3.25: the floating leg       hip: peak/N·m  RMS error   knee: peak/N·m  RMS error")
    for name, torque in (("full model", leg.full), ("pendulum of link lengths", leg.links),
                         ("pendulum to the centre of mass", leg.masses)):  # fmt: skip
        peak, rms = np.abs(torque).max(axis=0), np.sqrt(np.mean((torque - leg.full) ** 2, axis=0))
        print(f"{name:32s}{peak[0]:15.3f}{rms[0]:11.3f}{peak[1]:17.3f}{rms[1]:11.3f}")
    draw(step, leg)


def draw(step: Step, leg: Leg) -> None:
    """Fig. 3.25."""
    plt = pyplot()
    RESULTS.mkdir(exist_ok=True)
    figure, grid = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    for column, (axes, name) in enumerate(zip(grid, ("left hip pitch", "left knee"), strict=True)):
        axes.plot(step.time, leg.full[:, column], "k", label="full model, without rotors")
        axes.plot(step.time, leg.links[:, column], "C3--", label="double pendulum, link lengths")
        axes.plot(step.time, leg.masses[:, column], "C0", label="double pendulum, to the centre of mass")
        axes.set(title=f"Fig. 3.25: {name}", xlabel="time [s]", ylabel="torque [N·m]")
        low, high = axes.get_ylim()
        axes.set_ylim(low, high + 0.3 * (high - low))
        axes.margins(x=0)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8, loc="upper left")
    figure.savefig(RESULTS / "stabilizer_leg.png", dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    main()
