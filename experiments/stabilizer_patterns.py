"""Three ways from footsteps to a centre of mass: ours, ZMP preview control, and the thesis's equations (5.7.1).

    python -m experiments.stabilizer_patterns

Hubo2+ as a plain pendulum walks equal steps of 0.2 m in 0.8 s, a fifth of it on both feet. All three are to press where
`Pattern` says: under the middle of the foot that bears, and in a straight line to the other one. Where they do press is
p = c − c̈ / ω². Prints how far that is away from there in steps 4 to 9, on one foot and on both, and by how much it
jumps; writes `results/stabilizer_patterns.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from experiments.stabilizer_walk import RESULTS, forward
from wholebody import robots
from wholebody.locomotion import Feet, Pattern, Place, gait_of
from wholebody.locomotion.walking.gait import Gait
from wholebody.locomotion.walking.pendulum import ContinuousSteps, PreviewControl
from wholebody.model import Model

Array = np.ndarray
LENGTH, STEPS, FIRST, LAST = 0.2, 12, 4, 9
PERIOD = 0.005  # s


@dataclass(frozen=True)
class Pressed:
    """Where the ground pushes, n × 2, and where it should."""

    zmp: Array
    wanted: Array
    single: Array  # whether one foot bears

    @property
    def off(self) -> tuple[float, float]:
        """Root mean square, m: on one foot, on both."""
        away = np.sum((self.zmp - self.wanted) ** 2, axis=1)
        return float(np.sqrt(away[self.single].mean())), float(np.sqrt(away[~self.single].mean()))

    @property
    def jump(self) -> float:
        """The greatest from one period to the next, m."""
        return float(np.linalg.norm(np.diff(self.zmp, axis=0), axis=1).max())


def gait_of_a_pendulum(name: str = "hubo2plus") -> Gait:
    """Without legs, the weight over the middle of the sole."""
    return replace(gait_of(Model(robots.load(name)), 0.8), swing_share=0.0, inward=0.0, forward=0.0)


def patterns(gait: Gait) -> dict[str, Pressed]:
    """The same walk in three ways."""
    aside = gait.limits.spacing / 2
    pattern = Pattern(gait, Feet(Place(0.0, aside, 0.0), Place(0.0, -aside, 0.0)))
    pattern.follow(forward(LENGTH, STEPS)(pattern.feet, gait), 0.0)
    times = np.arange(0.0, pattern.ends, PERIOD)
    targets = [pattern.at(float(time)) for time in times]
    wanted = np.array([target.zmp for target in targets])
    single = np.array([target.support != "both" for target in targets])
    previewed = PreviewControl(gait.height, PERIOD).follow(wanted).zmp
    counted = (times > gait.begin + FIRST * gait.step_time) & (times < gait.begin + LAST * gait.step_time)
    ours = np.array([target.com for target in targets])
    found = {
        "Pattern": ours - np.gradient(np.gradient(ours, PERIOD, axis=0), PERIOD, axis=0) / gait.omega**2,
        "PreviewControl": previewed,
        "ContinuousSteps": _of_the_thesis(gait, times),
    }
    return {name: Pressed(zmp[counted], wanted[counted], single[counted]) for name, zmp in found.items()}


def _of_the_thesis(gait: Gait, times: Array) -> Array:
    """Its first single support, on the left foot, is our first, in which the right foot goes half as far."""
    aside = gait.limits.spacing / 2
    steps = ContinuousSteps(LENGTH, aside, gait.omega, gait.single_support, gait.double_support)
    middle, small = gait.begin + gait.single_support / 2, 1e-5

    def zmp(time: float) -> Array:
        before, after = steps.at(time - small), steps.at(time + small)
        return steps.at(time).position - (after.velocity - before.velocity) / (2 * small * gait.omega**2)

    return np.array([zmp(float(time) - middle) for time in times])


def main() -> None:
    """Print the table and write it."""
    lines = ["| centre of mass by | off on one foot/mm | off on both/mm | largest jump/mm |", 4 * "|---" + "|"]
    for name, pressed in patterns(gait_of_a_pendulum()).items():
        one, both = pressed.off
        lines.append(f"| `{name}` | {1e3 * one:.1f} | {1e3 * both:.1f} | {1e3 * pressed.jump:.1f} |")
    print("\n".join(lines))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "stabilizer_patterns.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
