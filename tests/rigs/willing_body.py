"""The real body of Hubo2+, whose controllers do at once whatever they are told; what it sees is what a test says."""

import itertools
import math
from unittest import mock

import numpy as np

from wholebody import robots
from wholebody.behaviors.walking_goals import Bearing, Doing
from wholebody.locomotion.walking.footsteps import Place
from wholebody.operator.map import Block, Map
from wholebody.operator.robot.manipulation import Held
from wholebody.operator.robot.robot import WalkingBody
from wholebody.perception.objects import SeenObject
from wholebody.services import Report, Stage

HALL = Map([Block("north", 0.0, 5.0, 8.0, 0.1)], [Block("stand", 0.5, 0.0, 0.3, 0.3)])


class Willing:
    """A controller of legs or arms; it notes what it was told."""

    alive, left, trouble = True, 0.0, ""

    def __init__(self):
        self.told = []

    def __getattr__(self, what):
        def tell(*values, **more):
            self.told.append((what, *values))
            return len(self.told)

        return tell

    @property
    def doing(self):
        return Doing(0.0, Place(0.0, 0.0, 0.0), Bearing.BOTH, True, 0, self.trouble, math.nan)

    def reports(self, number):
        return [Report(number, Stage.SUCCEEDED, "", 0.0)]

    def load(self, side):
        return 5.0 * sum(what == "close_hand" for what, *_ in self.told)

    def close(self):
        """There is nothing to let go of."""


class WillingBody(WalkingBody):
    """It stands at the origin; `seen` is what it sees."""

    def __init__(self):
        with mock.patch("wholebody.operator.robot.activity.BoardClient"):  # there is no daemon to ask
            super().__init__(robots.load("hubo2plus"), "willing", HALL)
        self.walker, self.hands, self.seen = Willing(), Willing(), []
        self.legs.connected = lambda: self.walker
        self.fetching._hands._client = self.hands
        self.where.base = lambda: np.eye(4)
        self.search.all = lambda: tuple(self.seen)
        self.search.at = lambda name: iter(())
        self.search.now = itertools.count().__next__  # a second goes by whenever somebody looks at a clock
        self.search.clock = itertools.count().__next__
        self.search._seen_objects.time = math.inf
        self.head.look = self._look

    def _look(self, pan, tilt):
        self.head.pan, self.head.tilt = self.head._goal = pan, tilt

    def sees(self, name, x, y, z=0.06):
        self.seen.append(SeenObject(name, (x, y, z), 0.002, 0.02, True))

    def holds(self, name, side="right"):
        self.fetching._hands.held = Held(name, side, 0.06, 0.04)
