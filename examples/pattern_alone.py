"""The pattern generator alone: footsteps in; zero moment point, centre of mass and feet out. No robot moves.

python -m examples.pattern_alone hubo2plus 0.6
"""

from __future__ import annotations

import sys

import numpy as np

from wholebody import robots
from wholebody.locomotion import Feet, Pattern, Place, gait_of
from wholebody.locomotion.walking.footsteps import to_place
from wholebody.model import Model


def main(name: str = "hubo2plus", metres: str = "0.6") -> None:
    gait = gait_of(Model(robots.load(name)))  # or Gait(height=0.6, step_time=0.8, …): it needs no robot
    aside = gait.limits.spacing / 2
    pattern = Pattern(gait, Feet(Place(0.0, aside, 0.0), Place(0.0, -aside, 0.0)))
    pattern.follow(to_place(pattern.feet, Place(float(metres), 0.0, 0.0), gait.limits), time=0.0)
    print("  time  on       zero moment point      centre of mass    left and right foot up")
    for time in np.arange(0.0, pattern.ends, 0.1):
        target = pattern.at(time)  # every period of your own loop
        numbers = (*target.zmp, *target.com, target.left.height, target.right.height)
        print(f"{time:6.2f}  {target.support:5}" + " ".join(f"{round(number, 3) + 0.0:9.3f}" for number in numbers))
    print(f"the feet stand about ({pattern.feet.middle.x:.2f}, {pattern.feet.middle.y:.2f}) m")


if __name__ == "__main__":
    main(*sys.argv[1:])
