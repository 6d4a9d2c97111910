"""A robot that stands before an object, as one of its hands wants it, and reaches."""

from __future__ import annotations

from wholebody.behaviors.reaching import Reaching
from wholebody.robots.robot import Placement
from wholebody.simulation import Simulation


class ReachingRig:
    """`spot` is the arm's property that says where it wants the object, seen from the base; so far aside of that."""

    def __init__(self, robot, scene, side, spot, aside=0.0, seed=0):
        self.side, self.world, self.reaching = side, Simulation(robot, scene, seed=seed), Reaching(robot)
        x, y = getattr(self.reaching.arms[side], spot)
        base, (at_x, at_y) = self.world.base_to_world, self.item[:2]
        base[:2, 3] = at_x - x, at_y - y + aside
        self.world.reset(None, Placement.of(base))
        self.state, self.reference = self.world.new_state(), self.world.new_reference()
        self.goes_on(0.2)

    def goes_on(self, seconds):
        for _ in range(round(seconds / self.world.period)):
            self.world.read(self.state)
            self.reaching.cycle(self.state, self.reference)
            self.world.write(self.reference)
            self.world.advance()
            self.looks()

    def looks(self):
        """What is to be noted in every period."""

    def does(self, what, *values, **more):
        """Have the hand do something; how long it said that this would take, and how long it took, s."""
        getattr(self.reaching, what)(self.side, *values, **more)
        self.goes_on(0.01)
        foretold, took = self.reaching.left(self.side), 0.0
        while self.reaching.busy(self.side):
            self.goes_on(0.05)
            took += 0.05
        return foretold, took
