"""A behaviour is a class: its server rejects, does, fails, cancels and preempts its goals, and moves no other joint."""

import math
import threading
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest
from daemon_rig import Rig

from wholebody import messages
from wholebody.behaviors import Behavior, Goal, Goals
from wholebody.behaviors.behavior import BehaviorServer, load
from wholebody.behaviors.posture import Postures
from wholebody.drivers.connection import connect
from wholebody.errors import BadConfiguration, BadParameter, BadState, NoController, UnknownName
from wholebody.parameters import Bounds, Unit
from wholebody.services import Client, Stage

ENDED = []


@dataclass(frozen=True)
class Turn(Goal):
    """Turn a joint slowly."""

    angle: Annotated[float, Unit("rad"), Bounds(-1.0, 1.0)] = 0.1
    joint: str = "NKY"

    def run(self, robot):
        begin = robot.position(self.joint)
        try:
            for step in range(20):
                yield step / 20
                robot.move({self.joint: begin + self.angle * (step + 1) / 20})
        finally:
            ENDED.append(self.angle)


@dataclass(frozen=True)
class Break(Goal):
    """Do what goes wrong."""

    error: str

    def run(self, robot):
        yield math.nan
        if self.error == "ours":
            raise BadState("it cannot be done")
        yield 1 / 0


class Head(Behavior):
    """What a head does."""

    goals = (Turn, Break)


class Playing(Rig):
    """A robot, a behaviour, and somebody who tells it; a cycle of both at every step."""

    def __enter__(self):
        super().__enter__()
        ENDED.clear()
        found = []
        connecting = threading.Thread(target=lambda: found.append(connect("head", period=0.5, lease=True)))
        connecting.start()
        while connecting.is_alive():
            self.go()
        self.link = self._open.enter_context(found[0])
        self.server = self._open.enter_context(BehaviorServer("head", Head(self.robot), self.link))
        self.people = self._open.enter_context(Goals())
        return self

    def play(self, cycles=1):
        for _ in range(cycles):
            self.go()
            self.link.wait()
            self.server.cycle()

    def end_of(self, handle, cycles=200):
        for _ in range(cycles):
            self.play()
            reports = handle.reports()
            if reports and reports[-1].stage.final:
                return reports
        raise AssertionError(reports)


@pytest.fixture
def head():
    with Playing() as playing:
        yield playing


def test_a_goal_moves_its_joint_alone_and_leaves_it_to_others_at_its_end(head):
    stages = [report.stage for report in head.end_of(head.people.turn(0.3))]
    assert stages == [Stage.ACCEPTED, Stage.RUNNING, Stage.SUCCEEDED]
    head.play(2)
    head.settle()
    assert head.command("NKY") == pytest.approx(0.3)
    assert not head.link.reference.mask.any()
    head.put("other", {"NKY": 0.0})
    head.settle()
    assert head.command("NKY") == pytest.approx(0.0), "the lease has ended with the goal"
    assert head.command("RSP") == 0.0


def test_a_goal_that_its_plan_refuses_or_that_is_out_of_bounds_is_rejected_and_nothing_moves(head):
    report = head.end_of(head.people.turn(joint="XYZ"))[-1]
    assert report.stage is Stage.REJECTED
    assert "no joint 'XYZ'" in report.text
    with pytest.raises(BadParameter, match=r"angle = 2\.0 is outside -1 … 1 rad"):
        head.people.turn("2")
    with Client("robot.head") as careless:
        number = careless.send(Turn(2.0))
        head.play(3)
        assert careless.reports(number)[-1].stage is Stage.REJECTED, "the server looks, too"
    head.settle()
    assert head.command("NKY") == 0.0


@pytest.mark.parametrize(("error", "says"), [("ours", "it cannot be done"), ("theirs", "ZeroDivisionError")])
def test_what_goes_wrong_fails_the_goal_and_not_the_server(head, error, says):
    report = head.end_of(head.people.give("break", error))[-1]
    assert report.stage is Stage.FAILED
    assert says in report.text
    assert head.end_of(head.people.turn())[-1].stage is Stage.SUCCEEDED


def test_a_goal_that_is_cancelled_or_preempted_ends_where_it_is(head):
    first = head.people.turn(0.9)
    head.play(5)
    second = head.people.turn(-0.5)
    head.play(8)
    assert first.reports()[-1].stage is Stage.PREEMPTED
    second.cancel()
    assert head.end_of(second)[-1].stage is Stage.CANCELLED
    assert ENDED == [0.9, -0.5], "each could tidy up"
    head.settle()
    assert 0.9 > head.command("NKY") > -0.5


def test_a_goal_fails_if_the_robot_is_stopped_or_another_has_a_lease_on_its_joint(head):
    head.people.turn()
    head.end_of(head.people.turn())
    head.cycle.stop("somebody says so")
    assert "the robot is stopped" in head.end_of(head.people.turn())[-1].text
    head.cycle.resume()
    head.play(2)
    head.put("holder", {"NKY": 0.2}, period=1.0, lease=True)
    head.play(30)
    holding = head.people.give("turn")
    head.server._behavior.run = lambda goal, robot: _insist(robot)
    assert "NKY is moved by 'holder', who has a lease" in head.end_of(holding)[-1].text


def _insist(robot):
    while True:
        yield math.nan
        robot.move({"NKY": 0.0})


def test_whoever_tells_a_behaviour_that_is_not_there_hears_so(head):
    with pytest.raises(UnknownName, match="no verb 'jump'; there are: turn, break"):
        head.people.jump()
    head.server.close()
    with pytest.raises(NoController, match=r"'robot\.head', which knows 'turn', has ended"):
        head.people.turn()


def test_two_behaviours_with_one_verb_are_told_apart(head):
    with BehaviorServer("other", Head(head.robot), head.link):
        assert set(head.people.verbs) == {"head.turn", "head.break", "other.turn", "other.break"} or head.people._look()
        with pytest.raises(UnknownName, match=r"no verb 'turn'; closest: 'head\.turn'"):
            head.people.turn()
        assert head.end_of(head.people.say("head.turn 0.2"))[-1].stage is Stage.SUCCEEDED


def test_every_robot_takes_a_posture_no_faster_than_its_joints_can(head):
    head.server.close()
    with BehaviorServer("head", Postures(head.robot), head.link) as head.server:
        refused = head.end_of(head.people.posture("stand", seconds=0.1))[-1]
        assert refused.stage is Stage.REJECTED
        assert "give at least" in refused.text
        taken = head.end_of(head.people.posture("stand", "2s"), cycles=500)
        assert taken[-1].stage is Stage.SUCCEEDED
        assert taken[-1].time - taken[0].time == pytest.approx(2.0, abs=0.02)
        head.play(2)
        np.testing.assert_allclose(head.link.state.reference, head.robot.posture("stand"), atol=1e-6)


class Bare(Goal):
    """No dataclass."""


@pytest.mark.parametrize(("name", "says"), [("Bare", "Bare is no dataclass"), ("Rig", "neither a Goal nor a Behavior")])
def test_what_is_no_behaviour_is_refused_in_words(name, says):
    with pytest.raises(BadConfiguration, match=says):
        load(f"{__file__}:{name}", None)


def test_a_server_that_knows_more_is_started_again_though_clients_still_listen(head):
    """A page that is open does not keep its robot from another version of a behaviour."""
    head.end_of(head.people.turn())
    head.server.close()

    class More(Head):
        goals = (Turn,)

    with BehaviorServer("head", More(head.robot), head.link) as head.server:
        head.people._look()
        assert set(head.people.verbs) == {"turn"}
        assert head.end_of(head.people.turn())[-1].stage is Stage.SUCCEEDED
        assert messages.labels(head.server._requests.message.dtype, "kinds") == ("turn", "cancel")
