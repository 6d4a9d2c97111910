"""What is wrong with a robot is said in words, as long as it is, and in the same words."""

import pytest

from wholebody import messages
from wholebody.behaviors.walking_goals import Bearing, Doing
from wholebody.channels import Channel
from wholebody.drivers import Names
from wholebody.locomotion.walking.footsteps import Place
from wholebody.messages import Status
from wholebody.operator.robot import diagnostics
from wholebody.operator.robot.diagnostics import Diagnostics

NAMES = Names("")
WELL = Doing(0.0, Place(0.0, 0.0, 0.0), Bearing.BOTH, True, 0, "", 0.0)


@pytest.fixture
def robot(monkeypatch):
    """A state and a report that a test fills in, and what is wrong then."""
    monkeypatch.setattr(diagnostics, "LOOK_EVERY", 0.0)
    monkeypatch.setattr(diagnostics, "LASTS", 0.0)
    monkeypatch.setattr(diagnostics, "FAULTY", 0.0)
    with (
        Channel(NAMES.state, messages.state(("RSP", "REB"))) as states,
        Channel(NAMES.report, messages.report(("RSP", "REB"))) as reports,
        states.writer() as state,
        reports.writer() as report,
    ):
        yield Robot(state, report)


class Robot:
    def __init__(self, state, report):
        self.state, self.report, self.doing = state, report, None
        self._diagnostics = Diagnostics("", lambda: self.doing)

    def wrong(self):
        self.state.put()
        self.report.put()
        return self._diagnostics.now()


def test_a_robot_that_is_well_has_no_troubles(robot):
    assert robot.wrong() == ()
    robot.doing = WELL
    assert robot.wrong() == ()


def test_joints_with_faults_are_named(robot):
    robot.state.message["status"] = Status.CONTROL_ON, Status.JAMMED | Status.DRIVER_ON
    assert robot.wrong() == ("joint REB: jammed",)


def test_a_joint_that_saturates_for_an_instant_has_no_fault(robot, monkeypatch):
    monkeypatch.setattr(diagnostics, "FAULTY", 30.0)
    robot.state.message["status"] = Status.SATURATED
    assert robot.wrong() == ()
    assert robot.wrong() == ()
    monkeypatch.setattr(diagnostics, "FAULTY", 0.0)
    assert robot.wrong() == ("joint RSP: saturated", "joint REB: saturated")


def test_what_comes_and_goes_is_one_trouble(robot, monkeypatch):
    monkeypatch.setattr(diagnostics, "LASTS", 30.0)
    for status in (Status.SATURATED, 0, Status.SATURATED, 0):
        robot.state.message["status"] = status
        assert robot.wrong() == ("joint RSP: saturated", "joint REB: saturated")
    monkeypatch.setattr(diagnostics, "LASTS", 0.0)
    assert robot.wrong() == ()


def test_a_daemon_that_holds_the_robot_says_so(robot):
    robot.report.message["stopped"] = True
    assert robot.wrong() == ("the daemon holds every joint; RESUME lets it go on",)


def test_a_walking_controller_that_has_trouble_or_ends_is_told(robot):
    robot.doing = WELL._replace(trouble="it has fallen")
    assert robot.wrong() == ("it has fallen",)
    robot.doing = None
    assert robot.wrong() == ("the walking controller has ended",)


def test_a_walking_controller_that_says_nothing_while_the_robot_goes_on_is_told(robot, monkeypatch):
    robot.doing = WELL
    robot.state.message["time"] = 0.5
    assert robot.wrong() == ()
    robot.state.message["time"] = 1.5
    assert "the walking controller says nothing: " in robot.wrong()[0]


def test_a_robot_that_says_nothing_any_more_is_silent(robot, monkeypatch):
    assert robot.wrong() == ()
    monkeypatch.setattr(diagnostics, "SILENT", 0.0)
    assert robot.wrong() == ("the robot is silent: its daemon has ended; start it again: wholebody start --name robot",)
