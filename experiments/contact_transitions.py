"""Contacts that are switched at once and with a transition: what the motors and the world feel of it.

    python -m experiments.contact_transitions

Hubo2+ and Valkyrie lift a foot and put it down again; Valkyrie takes its hands, which touch a wall, for contacts that
bear 60 N each. In the 0.3 s after a switch (a transition takes 0.2 s): the greatest step of any effort from one cycle
to the next, the greatest effort beyond the one before the switch, and the greatest acceleration of any joint.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from examples.balance import PLANS, Balance, without_hands
from examples.valkyrie_wall import BRACED, WALL, Push, smooth
from wholebody import robots
from wholebody.control import WBOSC
from wholebody.control.servo import Behavior, Servo
from wholebody.model import Model
from wholebody.simulation import Simulation

RESULTS = Path(__file__).parent / "results"
PERIOD, AFTER = 0.001, 0.3  # s
WAYS: dict[str, Callable] = {"at once": WBOSC, "transition": smooth}

Array = np.ndarray


@dataclass
class Efforts:
    """What the joints are told and do, in every cycle; to be published to."""

    simulation: Simulation
    told: list[Array] = field(default_factory=list)
    shaken: list[float] = field(default_factory=list)

    def __call__(self, servo: Servo) -> None:
        self.told.append(np.array(servo.command.effort))
        self.shaken.append(float(np.abs(self.simulation.truth.acceleration).max()))

    def around(self, switch: float) -> Switch:
        """What happened at an instant (s) and shortly after."""
        first = round(switch / PERIOD) - 3
        told, before = np.array(self.told[first : first + round(AFTER / PERIOD)]), self.told[first]
        return Switch(
            step=float(np.abs(np.diff(told, axis=0)).max()),
            peak=float((np.abs(told) - np.abs(before)).max()),
            shake=float(max(self.shaken[first : first + round(AFTER / PERIOD)])),
        )


@dataclass(frozen=True)
class Switch:
    """How hard a switch was."""

    step: float  # N·m from one cycle to the next
    peak: float  # N·m beyond what was before
    shake: float  # rad/s²


def lifting(name: str) -> tuple[Model, Behavior, dict[str, float]]:
    """A foot goes up and down; when its contact goes off and on."""
    model = Model(without_hands(robots.load(name)))
    plan = PLANS["one foot"](model)
    return model, Balance(model, plan), {"lift": plan.lifted[0], "land": plan.lifted[1]}


def bracing() -> tuple[Model, Behavior, dict[str, float]]:
    """Hands that touch a wall become contacts, and push with 60 N each from that instant on."""
    model = Model(robots.load("valkyrie"))
    return model, Push(model, 60.0, gently=60.0), {"brace": BRACED}


CASES = {
    "hubo2plus": (lambda: lifting("hubo2plus"), "flat"),
    "valkyrie": (lambda: lifting("valkyrie"), "flat"),
    "valkyrie at a wall": (bracing, f"wall:ahead={WALL}"),
}


def run(case: str, way: str) -> tuple[Efforts, dict[str, float]]:
    """Simulate one case in one way, until shortly after its last switch."""
    make, scene = CASES[case]
    model, behavior, switches = make()
    robot = robots.load(model.robot.name)
    with Simulation(robot, scene, control_period=PERIOD) as simulation:
        efforts = Efforts(simulation)
        servo = Servo(simulation, simulation, WAYS[way](model), behavior, description=robot, publish=[efforts])
        servo.run(max(switches.values()) + 0.35)
    return efforts, switches


def main() -> None:
    print(f"{'':<20}{'':<8}{'':<12}{'step, N·m':>12}{'peak, N·m':>12}{'shake, rad/s²':>16}")
    runs = {}
    for case in CASES:
        for way in WAYS:
            efforts, switches = run(case, way)
            runs[case, way] = efforts, switches
            for what, switch in switches.items():
                found = efforts.around(switch)
                print(
                    f"{case:<20}{what:<8}{way:<12}{found.step:12.2f}{found.peak:12.1f}{found.shake:16.1f}", flush=True
                )
    draw(runs)


def draw(runs: dict[tuple[str, str], tuple[Efforts, dict[str, float]]]) -> None:
    """The effort that steps the most, around each switch, in both ways."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    panels = [(case, what) for case in CASES for what in runs[case, "at once"][1]]
    figure, axes = plt.subplots(1, len(panels), figsize=(3.2 * len(panels), 3.0), layout="constrained")
    for axis, (case, what) in zip(axes, panels, strict=True):
        switch = runs[case, "at once"][1][what]
        first, end = round((switch - 0.1) / PERIOD), round((switch + 0.3) / PERIOD)
        told = np.array(runs[case, "at once"][0].told[first:end])
        joint = int(np.abs(np.diff(told, axis=0)).max(axis=0).argmax())
        for way in WAYS:
            series = np.array(runs[case, way][0].told[first:end])[:, joint]
            axis.plot(PERIOD * np.arange(len(series)) - 0.1, series, label=way)
        axis.set_title(f"{case}: {what}", fontsize=9)
        axis.set_xlabel("time after the switch, s")
    axes[0].set_ylabel("effort of the joint that jumps most, N·m", fontsize=8)
    axes[0].legend(fontsize=7)
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / "contact_transitions.png", dpi=90)


if __name__ == "__main__":
    main()
