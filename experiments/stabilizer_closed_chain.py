"""Stabilizer, 6.2.1, Fig. 6.5–6.7: both arms move an object along a sinusoid; the hands must not part.

    python -m experiments.stabilizer_closed_chain [ROBOT ...]

Kinematics alone, 200 steps a second, ten seconds, all robots with two arms unless told. Prints how far the hands part
and how far the object is off its path, at most, and writes `results/closed_chain_ROBOT.png`: where the centre of mass
is to be, the joints of the arms, and the errors of closure. The document shows curves and gives no figures.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wholebody import robots
from wholebody.behaviors.arms import hand_of, holding_posture
from wholebody.behaviors.closed_chain import ClosedChain, Held
from wholebody.model.layout import Array
from wholebody.model.model import Model

RESULTS = Path(__file__).parent / "results"
EVERY = ("hubo2plus", "minihubo", "hoap3", "hrp2", "teo", "atlas", "valkyrie", "dreamer")
PERIOD, SECONDS, ROUND = 0.005, 10.0, 5.0  # s


@dataclass(frozen=True)
class Course:
    """What happened, one row for each period."""

    times: Array
    com: Array  # m, x and y
    joints: Array  # rad
    closure: Array  # m, rad
    path: Array  # m, rad


def follow(name: str) -> Course:
    """Move the object along the sinusoid: 15 % of an arm's reach forward, half of that aside, a quarter up."""
    model = Model(robots.load(name))
    chain = ClosedChain(model, holding_posture(model))
    start, seen = chain.object_to_world, model.at(chain.q)
    shoulder = seen.position(model.frame(model.robot.joint(model.robot.groups["left_arm"][0]).child))
    reach = float(np.linalg.norm(seen.position(hand_of(model, "left_arm")) - shoulder))
    sizes, times = 0.15 * reach * np.array([1.0, 0.5, 0.25]), np.array([1.0, 1.0, 2.0]) * math.tau / ROUND
    places = [model.column(joint) + model.nq - model.nv for joint in chain.names]
    held: list[Held] = []
    for k in range(1, round(SECONDS / PERIOD) + 1):
        goal, velocity = start.copy(), np.zeros(6)
        goal[:3, 3] += sizes * np.sin(times * k * PERIOD)
        velocity[:3] = sizes * times * np.cos(times * k * PERIOD)
        held.append(chain.step(goal, velocity, PERIOD))
    return Course(
        times=PERIOD * np.arange(1, len(held) + 1),
        com=np.array([each.com_in_world[:2] for each in held]),
        joints=np.array([each.q[places] for each in held]),
        closure=np.array([(each.closure.position, each.closure.rotation) for each in held]),
        path=np.array([(each.path.position, each.path.rotation) for each in held]),
    )


def draw(name: str, course: Course) -> None:
    """The three figures of the document in one."""
    import matplotlib.pyplot as plt

    RESULTS.mkdir(exist_ok=True)
    figure, (com, joints, closure) = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    com.plot(*course.com.T)
    com.set(title="centre of mass", xlabel="x, m", ylabel="y, m", aspect="equal")
    joints.plot(course.times, course.joints)
    joints.set(title="joints", xlabel="s", ylabel="rad")
    closure.semilogy(course.times, 1e3 * course.closure[:, 0] + 1e-12, label="mm")
    closure.semilogy(course.times, np.degrees(course.closure[:, 1]) + 1e-12, label="degrees")
    closure.set(title="how far the hands part", xlabel="s")
    closure.legend()
    figure.suptitle(name)
    figure.savefig(RESULTS / f"closed_chain_{name}.png", dpi=110)
    plt.close(figure)


def main(names: tuple[str, ...]) -> None:
    """All robots."""
    print("| robot | closure, mm | closure, ° | path, mm | path, ° | CoM moves, mm |")
    print("|---|---|---|---|---|---|")
    for name in names:
        course = follow(name)
        draw(name, course)
        closure, path = course.closure.max(axis=0), course.path.max(axis=0)
        print(
            f"| {name} | {1e3 * closure[0]:.1g} | {math.degrees(closure[1]):.1g} | {1e3 * path[0]:.2g} | "
            f"{math.degrees(path[1]):.2g} | {1e3 * float(np.ptp(course.com, axis=0).max()):.0f} |"
        )


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or EVERY)
