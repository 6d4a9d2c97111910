"""Tree: the bodies of a robot and the joints between them, with joints at zero; links fixed to each other are one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from wholebody.robots.geometry import placements
from wholebody.robots.robot import Array, Joint, Robot


class Limb(NamedTuple):
    """Joints in a row from a link where limbs branch off to the last one before an end, or before fingers."""

    base: str
    joints: tuple[Joint, ...]

    @property
    def tip(self) -> str:
        """The link that its last joint moves."""
        return self.joints[-1].child


@dataclass(frozen=True)
class Tree:
    """A robot with its joints at zero, or at the limit nearest to it; links fixed to each other are one body."""

    robot: Robot

    @cached_property
    def where(self) -> dict[str, Array]:
        """Each link's frame in the root's."""
        return placements(self.robot, np.array([np.clip(0.0, j.lower, j.upper) for j in self.robot.moving]))

    @cached_property
    def body(self) -> dict[str, str]:
        """Of each link the topmost link that it is fixed to."""
        found = {self.robot.root: self.robot.root}
        for joint in self.robot.joints:
            found[joint.child] = found[joint.parent] if joint.kind == "fixed" else joint.child
        return found

    @cached_property
    def below(self) -> dict[str, list[Joint]]:
        """Of each body the joints that move others against it."""
        found: dict[str, list[Joint]] = {each: [] for each in self.body.values()}
        for joint in self.robot.joints:
            if joint.kind != "fixed":
                found[self.body[joint.parent]].append(joint)
        return found

    @cached_property
    def above(self) -> dict[str, Joint]:
        """Of each body the joint that moves it."""
        return {joint.child: joint for joint in self.robot.joints if joint.kind != "fixed"}

    def links_of(self, body: str) -> list[str]:
        """The links that a body is made of."""
        return [link.name for link in self.robot.links if self.body[link.name] == body]

    def origin(self, joint: Joint) -> Array:
        """Where a joint is, in the root's frame."""
        return self.where[joint.child][:3, 3]

    def axis(self, joint: Joint) -> Array:
        """The direction of a joint's axis, in the root's axes."""
        direction = self.where[joint.child][:3, :3] @ np.array(joint.axis)
        return np.asarray(direction / np.linalg.norm(direction))

    def middle(self, body: str) -> Array:
        """The centre of mass of a body, in the root's frame; of one without mass, where its frame is."""
        links = [self.robot.link(name) for name in self.links_of(body)]
        mass = sum(link.mass for link in links)
        if mass <= 0:
            return self.where[body][:3, 3]
        moments = [link.mass * (self.where[link.name] @ [*link.com, 1.0])[:3] for link in links]
        return np.asarray(np.sum(moments, axis=0) / mass)

    def limb(self, first: Joint) -> Limb:
        """The limb that begins with a joint: on until bodies branch, or end."""
        joints = [first]
        while len(self.below[joints[-1].child]) == 1:
            joints.append(self.below[joints[-1].child][0])
        return Limb(self.body[first.parent], tuple(joints))

    def path(self, link: str) -> list[Joint]:
        """The joints that move between the root and a link."""
        found, body = list[Joint](), self.body[link]
        while body in self.above:
            found.insert(0, self.above[body])
            body = self.body[self.above[body].parent]
        return found

    def points(self, limb: Limb) -> Array:
        """The joints of a limb and the middle of its last body."""
        return np.array([*(self.origin(joint) for joint in limb.joints), self.middle(limb.tip)])

    def length(self, limb: Limb) -> float:
        """From joint to joint to the middle of the last body."""
        return float(np.linalg.norm(np.diff(self.points(limb), axis=0), axis=1).sum())
