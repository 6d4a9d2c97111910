"""Stabilizer, 6.2 and Fig. 6.3: a robot and a partner carry a table; the partner leads it by pulling at it.

    python -m experiments.carried_table [SEEDS]

Hubo2+ holds one end of a table of 4 kg in MuJoCo, the partner the other: springs and dampers to where the partner
wants to be, never stronger than 20 N. The robot knows only what its wrists feel. Sensors have noise and a cycle of
delay, links are heavier or lighter than thought by up to 5 %. Beside it the same robot that holds and balances, but
does not follow. Prints a table, writes `results/carried_table.md` and `results/carried_table.png`.
"""

from __future__ import annotations

import math
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.stabilizer_walk import heavier, mass_factor
from wholebody import robots
from wholebody.behaviors.arms import ARMS, hand_of
from wholebody.behaviors.carrying import Carrying, CarryingGains
from wholebody.behaviors.walking import Walking
from wholebody.locomotion.walking.gait import SOLES
from wholebody.model.layout import Array
from wholebody.robots.formats.xml import text_of
from wholebody.robots.masses import of_shape
from wholebody.robots.robot import Shape
from wholebody.simulation import SensorModel, Simulation, scenes

RESULTS = Path(__file__).parent / "results"
TABLE = "carried_table"
LENGTH, THICK, MASS = 0.9, 0.03, 4.0  # m, m, kg
BEGIN = 4.0  # s, when the partner sets off
STILL = CarryingGains(speed=0.0, turning=0.0, yielding=0.0)
Lead = Callable[[float], tuple[float, float]]
"""Metres ahead and radians about the robot's start, so many seconds after the partner set off."""


def ahead(seconds: float) -> tuple[float, float]:
    """A metre forward, at 0.15 m/s."""
    return min(max(0.0, 0.15 * seconds), 1.0), 0.0


def around(seconds: float) -> tuple[float, float]:
    """An eighth of a circle about the robot, at 0.1 rad/s."""
    return 0.0, min(max(0.0, 0.1 * seconds), math.pi / 4)


class TableScene:
    """A floor, and a table top whose near corners hang in the robot's hands, free to turn there."""

    def __init__(self, carrying: Carrying) -> None:
        model = carrying.walking.walker.model
        q = model.neutral()
        q[7:] = carrying.posture
        seen = model.at(q)
        feet = np.mean([seen.position(model.surface(sole)) for sole in SOLES], axis=0)
        self._grips = []
        for arm in ARMS:
            palm = model.robot.surface(arm.replace("arm", "palm"))
            hand = seen.position(hand_of(model, arm))
            link = seen.placement(model.frame(palm.link))
            self._grips.append((palm.link, link[:3, :3].T @ (hand - link[:3, 3]), hand - feet))
        near, far = (grip[2] for grip in self._grips)
        self.width = float(near[1] - far[1])
        self._middle = (near + far) / 2 + np.array([LENGTH / 2, 0.0, 0.0])

    def __call__(self, root: ET.Element) -> Array:
        """Add it."""
        ground = scenes.flat(root)
        size = (LENGTH, self.width, THICK)
        world = root.find("worldbody")
        body = ET.SubElement(root if world is None else world, "body", name=TABLE, pos=text_of(tuple(self._middle)))
        ET.SubElement(body, "freejoint", name=TABLE)
        moments = of_shape(Shape("box", size), MASS).sixfold[:3]
        ET.SubElement(body, "inertial", pos="0 0 0", mass=repr(MASS), diaginertia=text_of(moments))
        half, untouched = text_of(tuple(each / 2 for each in size)), {"contype": "0", "conaffinity": "0"}
        ET.SubElement(body, "geom", untouched, name=TABLE, type="box", size=half, rgba=scenes.WOOD)
        equality = root.find("equality")
        equality = ET.SubElement(root, "equality") if equality is None else equality
        for number, (link, in_link, at) in enumerate(self._grips):
            holds, held = f"grip {number}", f"handle {number}"
            hand = next(each for each in root.iter("body") if each.get("name") == link)
            ET.SubElement(hand, "site", name=holds, pos=text_of(tuple(in_link)), size="0.005")
            ET.SubElement(body, "site", name=held, pos=text_of(tuple(at - self._middle)), size="0.005")
            ET.SubElement(equality, "connect", name=holds, site1=holds, site2=held, solref="0.02 1")
        return ground


class Partner:
    """A person at the far end: both hands are drawn to where the person wants them to be, and carry half the weight."""

    STIFFNESS, DAMPING, STRONGEST = 60.0, 30.0, 20.0  # N/m, N·s/m, N: level, both hands together
    LIFT, LIFT_DAMPING = 3000.0, 100.0  # N/m, N·s/m

    def __init__(self, simulation: Simulation, width: float) -> None:
        self._simulation = simulation
        self._grips = [np.array([LENGTH / 2, side * width / 2, 0.0]) for side in (1, -1)]
        self._before = self._start = self._places()
        self._goals = self._start

    def pull(self, lead: tuple[float, float]) -> float:
        """Hold for one period, wanting to be that far; how strong the pull is, N."""
        far, turn = lead
        R = np.array([[math.cos(turn), -math.sin(turn), 0.0], [math.sin(turn), math.cos(turn), 0.0], [0.0, 0.0, 1.0]])
        goals = self._start @ R.T + np.array([far, 0.0, 0.0])
        here, period = self._places(), self._simulation.period
        slip = (goals - self._goals - here + self._before) / period
        forces = self.STIFFNESS / 2 * (goals - here) + self.DAMPING / 2 * slip
        forces[:, 2] = MASS * 9.81 / 4 + self.LIFT / 2 * (goals - here)[:, 2] + self.LIFT_DAMPING / 2 * slip[:, 2]
        level = float(np.linalg.norm(forces[:, :2].sum(axis=0)))
        forces[:, :2] *= min(1.0, self.STRONGEST / max(level, 1e-9))
        for grip, force in zip(self._grips, forces, strict=True):
            self._simulation.push(TABLE, force, period, grip)
        self._before, self._goals = here, goals
        return min(level, self.STRONGEST)

    def _places(self) -> Array:
        at = self._simulation.link_to_world(TABLE)
        return np.array([at[:3, 3] + at[:3, :3] @ grip for grip in self._grips])


@dataclass(frozen=True)
class Outcome:
    """How a run went, and its course: time, what the partner wants, what the table did, m or rad; the pull, N."""

    fell: bool
    stands: bool  # whether it stood still at the end
    course: Array

    @property
    def followed(self) -> float:
        """Which share of the way the table went."""
        return float(self.course[-1, 2] / self.course[-1, 1])

    @property
    def pull(self) -> float:
        """Of the last two seconds, N, mean."""
        return float(self.course[-400:, 3].mean())


def run(lead: Lead, seed: int, gains: CarryingGains | None = None, seconds: float = 25.0) -> Outcome:
    """Carry a table with a partner that leads so."""
    robot = robots.load("hubo2plus")
    carrying = Carrying(Walking(robot), gains)
    scene = TableScene(carrying)
    body, sensors = heavier(robot, mass_factor(seed)), SensorModel.realistic()
    rows, fell = [], False
    with Simulation(body, scene, seed=seed, sensors=sensors, posture=carrying.posture) as simulation:
        state, reference = simulation.new_state(), simulation.new_reference()
        partner, start = Partner(simulation, scene.width), simulation.link_to_world(TABLE)
        height = float(simulation.base_to_world[2, 3])
        carrying.walking.stand()
        while simulation.time < seconds and not fell:
            wanted = lead(simulation.time - BEGIN)
            force = partner.pull(wanted)
            simulation.read(state)
            carrying.cycle(state, reference)
            simulation.write(reference)
            simulation.tick()
            at = simulation.link_to_world(TABLE)
            went = at[0, 3] - start[0, 3] if wanted[0] else math.atan2(at[1, 3], at[0, 3])
            rows.append((simulation.time, max(wanted), went, force))
            fell = bool(simulation.base_to_world[2, 3] < 0.7 * height)
    return Outcome(fell, carrying.walking.standing, np.array(rows))


def main(seeds: int = 10) -> None:
    """All runs, a table and a picture."""
    lines = ["| lead | robot | stands | went | pull at the end |", "|---|---|---|---|---|"]
    shown = {}
    for lead in (ahead, around):
        for name, gains in (("follows", None), ("holds", STILL)):
            outcomes = []
            for seed in range(seeds):
                outcomes.append(run(lead, seed, gains))
                print(f"{lead.__name__}, {name}: {seed + 1} of {seeds}", end="\r", file=sys.stderr, flush=True)
            shown[lead.__name__, name] = outcomes[0]
            stands = sum(not each.fell for each in outcomes)
            went = [each.followed for each in outcomes]
            lines.append(
                f"| {lead.__name__} | {name} | {stands} of {seeds} | {min(went):.0%} to {max(went):.0%} | "
                f"{np.mean([each.pull for each in outcomes]):.1f} N |"
            )
    print("\n".join(lines))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "carried_table.md").write_text("\n".join(lines) + "\n")
    draw(shown)


def draw(shown: dict[tuple[str, str], Outcome]) -> None:
    """Where the partner wants to be, where the table is, and how strong the pull."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(11, 6), sharex=True, layout="constrained")
    for column, (lead, unit) in enumerate((("ahead", "m"), ("around", "rad"))):
        follows, holds = shown[lead, "follows"].course, shown[lead, "holds"].course
        above, below = axes[0, column], axes[1, column]
        above.plot(follows[:, 0], follows[:, 1], "k--", label="the partner wants")
        for course, name in ((follows, "the robot follows"), (holds, "it only holds")):
            above.plot(course[:, 0], course[:, 2], label=name)
            below.plot(course[:, 0], course[:, 3], label=name)
        above.set(title=f"led {lead}", ylabel=f"table, {unit}")
        below.set(xlabel="s", ylabel="pull, N")
        above.legend()
    figure.savefig(RESULTS / "carried_table.png", dpi=110)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:2]))
