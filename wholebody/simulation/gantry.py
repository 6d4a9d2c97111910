"""Gantry: two ropes from which a simulated robot hangs, is lowered onto its feet, and is let go.

Programs for a robot of today begin with it in a gantry: they bring its joints into a first posture before it bears
itself. Each rope pulls at a point of the torso, above the centre of mass, left and right of it, up and towards where it
hangs.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from wholebody.errors import BadSimulation
from wholebody.messages import Reference, State
from wholebody.robots.robot import Array, Placement, Robot
from wholebody.simulation.simulation import Simulation

HEIGHT = 0.15
"""m that the soles hang above the ground"""
LOWERING = 0.1
"""m/s"""
ABOVE, ASIDE = 0.3, 0.15
"""m from the centre of mass to the points where the ropes are tied"""
GIVE = 0.05
"""m that the ropes are longer when the robot hangs in them"""
STANDING = 0.7
"""Of its weight: when its feet bear as much it stands, and is let go SETTLING seconds later."""
SETTLING = 0.5
GRAVITY = 9.81
UP = np.array((0.0, 0.0, 1.0))


class Gantry:
    """A Simulation in a gantry, to be advanced in its place; `hang` s after `begins` it is lowered (inf: never)."""

    def __init__(self, simulation: Simulation, hang: float, say: Callable[[str], None] = lambda text: None) -> None:
        if not simulation.physics:
            raise BadSimulation("a gantry needs physics: without, nothing falls")
        if not hang > 0:
            raise BadSimulation(f"a robot that hangs {hang} s in its gantry; give a positive number of seconds")
        self.simulation, self._hang, self._say = simulation, hang, say
        self.begins: Callable[[], bool] = lambda: True
        self.let_go = False
        robot = simulation.robot
        self._link = _shoulders(robot)
        base, link = simulation.base_to_world, simulation.link_to_world(self._link)
        turn, left = link[:3, :3].T, base[:3, 1]
        above = turn @ (simulation.com_in_world + ABOVE * UP - link[:3, 3])
        self._tied = [above + turn @ (side * left) for side in (ASIDE, -ASIDE)]
        self._stiffness = robot.mass * GRAVITY / GIVE / 2  # of one rope
        self._damping = math.sqrt(self._stiffness * robot.mass / 2)
        base[2, 3] += HEIGHT
        simulation.reset(base=Placement.of(base))
        self._before = self._points()
        self._anchors = [point + GIVE * UP for point in self._before]
        self._weight, self._since, self._stands = robot.mass * GRAVITY, math.nan, math.nan

    def read(self, state: State) -> None:
        """Read the robot's sensors."""
        self.simulation.read(state)

    def write(self, reference: Reference) -> None:
        """Command its joints."""
        self.simulation.write(reference)

    def advance(self) -> None:
        """Let a period go by, with the ropes' forces held."""
        if not self.let_go:
            self._follow()
        if not self.let_go:
            self._pull()
        self.simulation.advance()

    def _follow(self) -> None:
        """Hang, lower, let go."""
        simulation, now = self.simulation, self.simulation.time
        if math.isnan(self._since):
            if self._hang < math.inf and self.begins():
                self._since = now
                self._say(f"it hangs in its gantry; lowered in {self._hang:g} s")
            return
        if now - self._since < self._hang:
            return
        pulled = sum(force[2] for force in self._forces())
        if math.isnan(self._stands):
            if pulled < (1 - STANDING) * self._weight:
                self._stands = now
            else:
                self._anchors = [anchor - LOWERING * simulation.period * UP for anchor in self._anchors]
        elif now - self._stands > SETTLING:
            self.let_go = True
            self._say("it stands on its feet and is let go")

    def _points(self) -> list[Array]:
        """Where the ropes are tied, in the world."""
        link = self.simulation.link_to_world(self._link)
        return [link[:3, :3] @ tied + link[:3, 3] for tied in self._tied]

    def _forces(self) -> list[Array]:
        """What each rope pulls with; none pushes down."""
        forces = []
        for point, anchor, before in zip(self._points(), self._anchors, self._before, strict=True):
            velocity = (point - before) / self.simulation.period
            force = self._stiffness * (anchor - point) - self._damping * velocity
            force[2] = max(force[2], 0.0)
            forces.append(force)
        return forces

    def _pull(self) -> None:
        simulation = self.simulation
        for tied, force in zip(self._tied, self._forces(), strict=True):
            simulation.push(self._link, tuple(force), simulation.period, tuple(tied))
        self._before = self._points()


def _shoulders(robot: Robot) -> str:
    """The link that bears the arms: the last of the torso; of a robot without one its root."""
    torso = robot.groups.get("torso", ())
    return robot.joint(torso[-1]).child if torso else robot.root
