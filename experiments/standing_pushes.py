"""What compliance is good for: Hubo2+ and Valkyrie are pushed while they stand, beside stiff position control.

    python -m experiments.standing_pushes

Two ways to push. A blow: a force for 0.1 s that gives the robot 0.2 m/s, whatever it does. A hand: it moves the pelvis
by 4 cm and away again, with as much force as that needs. Stiff joints give way less; that is all they do better, and
the motors, the hand and whatever else touches the robot pay for it.

stiff           every joint holds its position
efforts         whole-body control by efforts, at 1 kHz
positions L     whole-body control of the same stiff joints by positions, at 200 Hz; L is the leak of `Impedance` in
                1/s: the more leaks out, the softer the robot, and the less exact
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

import numpy as np

from examples.balance import PLANS, Balance, Plan, without_hands
from wholebody import robots
from wholebody.control import WBOSC
from wholebody.control.impedance import Impedance
from wholebody.control.servo import Servo
from wholebody.messages import Mode
from wholebody.model import Model
from wholebody.simulation import Simulation

RESULTS = Path(__file__).parent / "results"
SPEED = 0.2  # m/s: what a blow gives the robot
DEPTH, IN, OUT = 0.04, 0.5, 1.5  # m, s, s: how far the hand moves, in which time, and when it lets go
HAND_STIFFNESS, HAND_DAMPING = 3000.0, 100.0  # N/m, N·s/m
BEGIN = 0.3  # s
DIRECTIONS = {"forward": (1.0, 0.0, 0.0), "back": (-1.0, 0.0, 0.0), "left": (0.0, 1.0, 0.0)}
LEAKS = (2.0, 10.0, 30.0, 60.0)

Array = np.ndarray


@cache
def model_of(name: str) -> Model:
    return Model(without_hands(robots.load(name)))


@dataclass
class Pushed:
    """What a push did; sampled in every control period."""

    simulation: Simulation
    force: list[float] = field(default_factory=list)  # N, of the hand
    away: list[float] = field(default_factory=list)  # m, the centre of mass, in the plane
    effort: list[float] = field(default_factory=list)  # N·m, of the motor that works hardest
    height: list[float] = field(default_factory=list)

    def look(self, force: float = 0.0) -> None:
        com = self.simulation.com_in_world
        if not self.height:
            self._start = com
        self.force.append(force)
        self.away.append(float(np.linalg.norm((com - self._start)[:2])))
        self.effort.append(float(np.abs(self.simulation.truth.effort).max()))
        self.height.append(float(com[2]))

    @property
    def stands(self) -> bool:
        return self.height[-1] > 0.9 * self.height[0]


Way = Callable[[Simulation, Callable[[], None], float], None]
"""How a robot is controlled: a simulation, what to do after every period, and for how many seconds."""


def stiffly(simulation: Simulation, after: Callable[[], None], seconds: float) -> None:
    """Every joint holds the position in which it stands."""
    for _ in range(round(seconds / simulation.period)):
        simulation.advance()
        after()


def by_efforts(simulation: Simulation, after: Callable[[], None], seconds: float) -> None:
    model = model_of(simulation.robot.name)
    _serve(simulation, WBOSC(model), Mode.EFFORT, after, seconds)


def by_positions(simulation: Simulation, after: Callable[[], None], seconds: float, *, leak: float = 2.0) -> None:
    model = model_of(simulation.robot.name)
    solver = Impedance(WBOSC(model, period=simulation.period), leak=leak)
    _serve(simulation, solver, Mode.POSITION, after, seconds)


def _serve(simulation: Simulation, solver, mode: Mode, after: Callable[[], None], seconds: float) -> None:
    balance = Balance(solver.model, Plan())
    publish = [lambda servo: after()]
    Servo(simulation, simulation, solver, balance, description=simulation.robot, mode=mode, publish=publish).run(
        seconds
    )


def ways_of(name: str) -> dict[str, tuple[Way, float]]:
    """Each way, with its control period."""
    soft = {f"positions {leak:g}": (partial(by_positions, leak=leak), 0.005) for leak in LEAKS}
    return {"stiff": (stiffly, 0.001), "efforts": (by_efforts, 0.001)} | (soft if name == "hubo2plus" else {})


def blow(name: str, way: Way, period: float, direction: Array, speed: float = SPEED, seconds: float = 2.5) -> Pushed:
    """A force for a tenth of a second, at the root."""
    robot = robots.load(name)
    with Simulation(robot, control_period=period) as simulation:
        force = tuple(float(each) for each in 10 * robot.mass * speed * np.array(direction))
        simulation.push(robot.root, force, 0.1, start=BEGIN)
        pushed = Pushed(simulation)
        way(simulation, pushed.look, seconds)
        return pushed


def hand(name: str, way: Way, period: float, direction: Array, seconds: float = 3.0) -> Pushed:
    """A hand that moves the root so far: a stiff spring and a damper that push and do not pull."""
    robot, n = robots.load(name), np.array(direction)
    with Simulation(robot, control_period=period) as simulation:
        pushed, start = Pushed(simulation), simulation.base_to_world[:3, 3]
        before = 0.0

        def after() -> None:
            nonlocal before
            time = simulation.time - BEGIN
            moved = float(n @ (simulation.base_to_world[:3, 3] - start))
            s = min(max(time / IN, 0.0), 1.0)
            there, speed, before = DEPTH * s * s * (3 - 2 * s), (moved - before) / period, moved
            force = max(0.0, HAND_STIFFNESS * (there - moved) - HAND_DAMPING * speed) if 0 < time < OUT else 0.0
            if force > 0:
                simulation.push(robot.root, tuple(float(each) for each in force * n), period)
            pushed.look(force)

        way(simulation, after, seconds)
        return pushed


def tracking(leak: float) -> float:
    """How far the centre of mass of Hubo2+ is from its way at most, in m, while it sways by positions."""
    model = model_of("hubo2plus")
    plan = PLANS["sway"](model)
    errors = []
    with Simulation(robots.load("hubo2plus"), control_period=0.005) as simulation:
        servo = Servo(
            simulation,
            simulation,
            Impedance(WBOSC(model, period=0.005), leak=leak),
            Balance(model, plan),
            description=simulation.robot,
            mode=Mode.POSITION,
            publish=[lambda servo: errors.append(np.abs(servo.command.solution.error("com")).max())],
        )
        servo.run(plan.com.duration)
    return float(max(errors))


def main() -> None:
    hands: dict[str, dict[str, Pushed]] = {}
    for name in ("hubo2plus", "valkyrie"):
        print(f"\n{name}, {robots.load(name).mass:.0f} kg")
        print(f"{'':<10}{'':<14}{'a blow of 0.2 m/s':^30}{'a hand that moves 4 cm':^40}")
        print(f"{'':<10}{'':<14}{'away':>10}{'effort':>10}{'':>10}{'force':>12}{'away':>10}{'effort':>10}")
        for direction, n in DIRECTIONS.items():
            for way, (control, period) in ways_of(name).items():
                one, two = (push(name, control, period, n) for push in (blow, hand))
                cells = f"{1e3 * max(one.away):7.1f} mm{max(one.effort):6.1f} N·m{_fate(one):>10}"
                cells += (
                    f"{max(two.force):10.1f} N{1e3 * max(two.away):7.1f} mm{max(two.effort):6.1f} N·m{_fate(two):>8}"
                )
                print(f"{direction:<10}{way:<14}{cells}", flush=True)
                if direction == "forward":
                    hands.setdefault(name, {})[way] = two
    print("\nHubo2+ by positions: the leak, 1/s, and how far its centre of mass is off while it sways 3 cm, mm")
    for leak in LEAKS:
        print(f"{leak:6.0f}{1e3 * tracking(leak):8.2f}")
    draw(hands)


def _fate(pushed: Pushed) -> str:
    return "" if pushed.stands else "falls"


def draw(hands: dict[str, dict[str, Pushed]]) -> None:
    """The force of the hand, the way of the centre of mass and the greatest effort over time."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(hands), 3, figsize=(12, 3.2 * len(hands)), squeeze=False, layout="constrained")
    for row, (name, runs) in zip(axes, hands.items(), strict=True):
        for way, each in runs.items():
            if not each.stands:
                continue
            time = each.simulation.period * np.arange(len(each.force))
            values = (each.force, 1e3 * np.array(each.away), each.effort)
            for axis, series in zip(row, values, strict=True):
                axis.plot(time, series, label=way)
        for axis, label in zip(
            row, ("force of the hand, N", "centre of mass away, mm", "greatest effort, N·m"), strict=True
        ):
            axis.set_xlabel("time, s")
            axis.set_ylabel(label)
        row[0].set_title(f"{name}, a hand moves its pelvis 4 cm forward", loc="left", fontsize=9)
        row[1].legend(fontsize=7)
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / "standing_pushes.png", dpi=90)


if __name__ == "__main__":
    main()
