"""GOTO OBJECT: how near a robot goes to an object, as sure as it is of its place."""

import numpy as np
import pytest
from test_command_server import Conversation
from willing_body import WillingBody

from wholebody.perception.objects import SeenObject


class GoingBody(WillingBody):
    """One that walks where it is told to; it notes where it has been, and where it has looked from."""

    def __init__(self, deviation, after_a_look):
        super().__init__()
        self.x, self.track, self.after_a_look = 1.2, [], after_a_look  # beyond the stand of its map
        self.seen.append(SeenObject("antenna", (3.0, 0.0, 0.06), deviation, 0.02, True))
        self.walker.go, self.where.base, self.search.roughly = self.goes, self.base, self.looks_roughly

    def base(self):
        base = np.eye(4)
        base[0, 3] = self.x
        return base

    def goes(self, forward, leftward):
        self.x, self.where._seen = self.x + forward, None
        self.track.append(self.x)
        return 0

    def looks_roughly(self, name, deviation):
        self.track.append("looks")
        self.seen[0] = self.seen[0]._replace(**self.after_a_look)
        return iter(())


def track(unsure, **after_a_look):
    body = GoingBody(unsure, after_a_look)
    talk = Conversation(body)
    talk.operator()
    talk.says("a", "GOTO OBJECT(antenna)")
    for _ in range(20):
        talk.passes(0.1)
    assert talk.hears("a")[-1].endswith("COMPLETED")
    body.close()
    return body.track


def test_a_robot_stops_before_a_thing_that_is_on_no_map():
    assert track(0.005) == [pytest.approx(2.6)]


def test_of_a_thing_of_whose_place_it_is_not_sure_it_stays_away_and_looks_before_it_comes_near():
    there = track(0.12, deviation=0.004, position=(2.8, 0.0, 0.06))
    assert there == [pytest.approx(3.0 - 0.4 - 3 * 0.12), "looks", pytest.approx(2.4)]
