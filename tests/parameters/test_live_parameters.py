"""What people see of parameters: the newest known values, and nobody waits for a controller that is busy."""

import threading
from dataclasses import dataclass
from typing import Annotated

import pytest
from robot_processes import wait_for

from wholebody.errors import BadParameter
from wholebody.operator.robot import settings
from wholebody.operator.robot.settings import LiveParameters
from wholebody.parameters import Bounds, Unit
from wholebody.parameters.records import ControllerNames, Description
from wholebody.parameters.reflection import Parameters
from wholebody.parameters.server import ParameterServer

ROBOT = "listed"


@dataclass
class Gait:
    """Something to set."""

    speed: Annotated[float, Unit("m/s"), Bounds(0.0, 1.0)] = 0.25


@pytest.fixture
def served():
    """A controller that answers in a thread of its own, as long as it is not told to be busy."""
    gait, parameters = Gait(), Parameters()
    parameters.add_attributes("gait", gait)
    ending = threading.Event()
    with ParameterServer(ControllerNames(ROBOT, "walk"), parameters, Description("hubo2plus")) as commands:

        def serve():
            while not ending.wait(0.001):
                commands.serve(0.0)

        thread = threading.Thread(target=serve)
        thread.start()
        live = LiveParameters(ROBOT, Parameters())
        yield gait, live
        live.close()
        ending.set()
        thread.join()


def test_values_are_listed_and_follow_what_is_set_here_or_elsewhere(served):
    gait, live = served
    wait_for(lambda: live.values().get("walk:gait.speed") == "0.25")
    live.set("walk:gait.speed", "0.5").result()
    assert gait.speed == 0.5
    assert live.values()["walk:gait.speed"] == "0.5", "at once, for who has set it"
    gait.speed = 0.75
    wait_for(lambda: live.values()["walk:gait.speed"] == "0.75")
    with pytest.raises(BadParameter, match="outside"):
        live.set("walk:gait.speed", "7").result()
    with pytest.raises(BadParameter, match="run"):
        live.set("run:gait.speed", "0.5").result()


@pytest.mark.slow
def test_nobody_who_lists_them_waits_for_a_controller_that_does_not_answer(served, monkeypatch):
    _, live = served
    wait_for(lambda: "walk:gait.speed" in live.values())
    asked, answer = threading.Event(), threading.Event()

    def busy(remote, timeout):
        asked.set()
        answer.wait()
        raise BadParameter("too late")

    monkeypatch.setattr(settings.Remote, "values", busy)
    assert asked.wait(10.0)
    assert live.values()["walk:gait.speed"] == "0.25", "what it said last"
    answer.set()


def test_nobody_who_sets_one_waits_for_a_controller_that_does_not_answer(served, monkeypatch):
    _, live = served
    answer = threading.Event()

    def busy(remote, path, value, timeout):
        answer.wait()
        raise BadParameter("too late")

    monkeypatch.setattr(settings.Remote, "set", busy)
    setting = live.set("walk:gait.speed", "0.5")
    assert not setting.done()
    answer.set()
    with pytest.raises(BadParameter, match="too late"):
        setting.result()
