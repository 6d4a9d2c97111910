"""Links that jam on shapes of their own chain well inside the ranges of the joints between them, found by sampling.

Shapes of robots from files are coarse: hulls of meshes, boxes around them. Links two or three joints apart, which pass
each other in the machine, then stop one another in physics, and no controller ever arrives. A leg that meets the other
leg, or an arm the trunk, is another thing: that is the machine.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import mujoco
import numpy as np

from wholebody.errors import RobotWarning, UnknownName
from wholebody.robots.missing import Finding
from wholebody.robots.robot import Array, Joint, Robot
from wholebody.simulation import scenes
from wholebody.simulation.contacts import collisions, overlapping
from wholebody.simulation.ground import joint_positions, set_base, set_joints
from wholebody.simulation.world import World

INSIDE = 0.8
"""Of a joint's range, about its middle: what happens nearer to the ends is what the ends are for."""
FAR = 3
"""Joints between links that can jam; those further apart can be folded onto each other in any machine."""
OFTEN = 1 / 3
"""Of the sampled angles of all joints between: links that meet so often are in each other's way by their shapes."""
SWEPT = 0.2
"""Of the angles of one joint, all others at rest, for links that only two joints part."""
STEPS = 25
HIGH = 100.0
"""m above the ground, where nothing else is touched."""


@dataclass(frozen=True)
class Jam:
    """Two links of a chain that stop each other, the joints between them, and how often they meet."""

    links: frozenset[str]
    joints: tuple[str, ...]
    share: float

    @property
    def finding(self) -> Finding:
        """As one of the things that a robot's file says wrongly."""
        assumed = f"they meet in {self.share:.0%} of the angles of {', '.join(self.joints)}; physics lets them pass"
        remedy = "smaller shapes, or <exclude> (URDF: <disable_collisions>); --self-collision all keeps them"
        return Finding("links that jam on each other", tuple(sorted(self.links)), assumed, remedy)


def jams(robot: Robot, samples: int = 500) -> tuple[Jam, ...]:
    """Find the pairs of links that jam, the same ones each time; those that are in each other at rest are left out."""
    world = World(robot, scenes.named("flat"), 0.001)
    if at_rest := overlapping(world):
        robot = robot.letting_touch(at_rest)
        world = World(robot, scenes.named("flat"), 0.001)
    between = _near_pairs(robot)
    if not between or not robot.moving:
        return ()
    low, high = (np.array(each) for each in zip(*(_inside(joint) for joint in robot.moving), strict=True))
    rest = np.clip(joint_positions(robot, None), low, high)
    generator = np.random.default_rng(0)
    met = Counter(pair for _ in range(samples) for pair in _meeting(world, generator.uniform(low, high)))
    shares = {pair: met[pair] / samples for pair in between if met[pair] >= OFTEN * samples}
    for number, joint in enumerate(robot.moving):
        swept = Counter[frozenset[str]]()
        for angle in np.linspace(low[number], high[number], STEPS):
            swept.update(_meeting(world, np.where(np.arange(len(rest)) == number, angle, rest)))
        for pair, count in swept.items():
            if len(between.get(pair, ())) == 2 and joint.name in between[pair] and count >= SWEPT * STEPS:
                shares[pair] = max(shares.get(pair, 0.0), count / STEPS)
    return tuple(Jam(pair, between[pair], share) for pair, share in sorted(shares.items(), key=lambda each: -each[1]))


def _inside(joint: Joint) -> tuple[float, float]:
    """The middle of a joint's range, at most half a turn to either side."""
    low, high = max(joint.lower, -np.pi), min(joint.upper, np.pi)
    middle, half = (low + high) / 2, INSIDE * (high - low) / 2
    return middle - half, middle + half


def _meeting(world: World, positions: Array) -> Iterator[frozenset[str]]:
    """Pairs of links that are in each other, far above the ground."""
    set_base(world, np.array([0.0, 0.0, HIGH]), np.eye(3))
    set_joints(world, positions)
    mujoco.mj_kinematics(world.model, world.data)
    mujoco.mj_comPos(world.model, world.data)
    mujoco.mj_collision(world.model, world.data)
    yield from {frozenset((each.link, each.other)) for each in collisions(world)}


def _near_pairs(robot: Robot) -> dict[frozenset[str], tuple[str, ...]]:
    """Pairs of links of which one hangs from the other by two or three moving joints, with these joints."""
    above = {joint.child: joint for joint in robot.joints}
    found = {}
    for link in robot.links:
        passed: list[str] = []
        at = link.name
        while at in above and len(passed) <= FAR:
            passed += [above[at].name] if above[at].kind != "fixed" else []
            at = above[at].parent
            if 2 <= len(passed) <= FAR:
                found[frozenset((link.name, at))] = tuple(passed)
    return found


# --- what the user chooses -------------------------------------------------------------------------

CHOICES = ("usual", "all", "none")


def check_choice(choice: str) -> None:
    """Refuse what is none of usual, all and none."""
    if choice not in CHOICES:
        raise UnknownName("choice of self-collision", choice, CHOICES)


def colliding_as_chosen(world: World, choice: str, physics: bool = True) -> Robot:
    """The robot with the pairs of its links that are not to collide; a RobotWarning names those that nobody asked for.

    usual: links that are in each other as the robot stands pass each other, and in a robot from a file of others also
    those that jam, unless nothing can stop a joint, without physics. all: every pair collides. none: none does.
    """
    robot = world.robot
    check_choice(choice)
    if choice == "all":
        return robot
    if choice == "none":
        names = [link.name for link in robot.links]
        return robot.letting_touch(frozenset(frozenset(pair) for pair in combinations(names, 2)))
    passing = _told(robot, overlapping(world), "are in each other as it stands")
    if not (passing.from_file and physics):
        return passing
    return _told(passing, frozenset(jam.links for jam in jams(passing)), "jam on each other inside the joints' ranges")


def _told(robot: Robot, pairs: frozenset[frozenset[str]], why: str) -> Robot:
    """The robot with these pairs allowed to touch, and a warning that says which they are."""
    if not pairs:
        return robot
    some = ", ".join(" and ".join(sorted(pair)) for pair in sorted(pairs, key=sorted)[:4])
    more = f" and {len(pairs) - 4} more" if len(pairs) > 4 else ""
    text = (
        f"'{robot.name}' has links that {why}; their contacts are left out: {some}{more} (--self-collision all: kept)"
    )
    warnings.warn(text, RobotWarning, stacklevel=4)
    return robot.letting_touch(pairs)
