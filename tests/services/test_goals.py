"""Goals take time: they are accepted or rejected, run, and come to one of four ends, of which who gave them hears."""

import contextlib
import math
from dataclasses import dataclass

import pytest

from wholebody.errors import GoalNotDone, NoServer
from wholebody.services import Client, GoalServer, Stage, is_alive

NAME = "robot.lift"


@dataclass(frozen=True)
class Lift:
    """Lift something."""

    height: float


class Lifting(GoalServer):
    """Lifts as far as it is told to."""

    def __init__(self):
        super().__init__(NAME, (Lift,))
        self.given_up = []

    def give_up(self, slot):
        self.given_up.append(slot)


@pytest.fixture
def lift():
    """A server of goals, and a client."""
    with Lifting() as server, Client(NAME) as client:
        yield server, client


def stages(client, number):
    return [report.stage for report in client.reports(number)]


def accept(server, time=0.0, slot=""):
    asked = server.take_goal(time)
    server.accept(asked, time, slot=slot)
    return asked


def test_a_goal_is_accepted_runs_with_progress_and_succeeds(lift):
    server, client = lift
    number = client.send(Lift(0.5))
    assert stages(client, number) == []
    assert accept(server, 1.0).request == Lift(0.5)
    assert server.number == number
    for time, progress in ((2.0, 0.25), (3.0, 0.75)):
        server.run(time, progress=progress)
    assert stages(client, number) == [Stage.ACCEPTED, Stage.RUNNING]
    assert client.reports(number)[-1].progress == 0.75, "the newest"
    server.finish(Stage.SUCCEEDED, 4.0)
    ended = client.wait(number)
    assert (ended.stage, ended.time, math.isnan(ended.progress)) == (Stage.SUCCEEDED, 4.0, True)
    assert server.number == 0


def test_what_is_told_last_counts_and_what_was_told_before_is_preempted(lift):
    server, client = lift
    with Client(NAME) as other:
        first, last = client.send(Lift(0.5)), other.send(Lift(0.1))
        accept(server)
        accept(server)
        assert stages(client, first) == [Stage.ACCEPTED, Stage.PREEMPTED]
        assert stages(other, last) == [Stage.ACCEPTED]
        with pytest.raises(GoalNotDone, match=f"preempted: order {last} came after it"):
            client.wait(first)


def test_goals_in_slots_of_their_own_do_not_preempt_each_other(lift):
    server, client = lift
    left, right = client.send(Lift(0.5)), client.send(Lift(0.1))
    accept(server, slot="left")
    accept(server, slot="right")
    server.finish(Stage.SUCCEEDED, 1.0, slot="right")
    assert stages(client, left) == [Stage.ACCEPTED]
    assert stages(client, right) == [Stage.ACCEPTED, Stage.SUCCEEDED]


def test_a_goal_that_is_cancelled_is_given_up_and_ends_so_but_a_failure_stays_one(lift):
    server, client = lift
    for end, becomes in ((Stage.SUCCEEDED, Stage.CANCELLED), (Stage.FAILED, Stage.FAILED)):
        number = client.send(Lift(0.5))
        accept(server)
        cancel = client.cancel(number)
        assert server.take_goal(1.0) is None
        assert stages(client, cancel) == [Stage.SUCCEEDED]
        assert stages(client, number) == [Stage.ACCEPTED], "it is still on its way to rest"
        server.finish(end, 2.0)
        assert stages(client, number) == [Stage.ACCEPTED, becomes]
    assert server.given_up == ["", ""]
    late = client.cancel(number)
    assert server.take_goal(3.0) is None
    with pytest.raises(GoalNotDone, match=r"rejected: goal .* is not under way"):
        client.wait(late)


def test_goals_of_a_server_that_was_killed_have_failed_when_another_takes_its_place(lift):
    server, client = lift
    ended, under_way = client.send(Lift(0.5)), client.send(Lift(0.1))
    accept(server)
    server.finish(Stage.SUCCEEDED, 1.0)
    accept(server, 2.0)
    server.close()  # all that a kill leaves: the channels
    assert not is_alive(NAME)
    with contextlib.closing(Lifting()) as again:
        with pytest.raises(GoalNotDone, match="failed: its server ended before it was done"):
            client.wait(under_way)
        assert stages(client, ended)[-1] is Stage.SUCCEEDED
        assert again.take_goal(3.0) is None, "neither is done again"


def test_who_waits_for_a_server_that_is_gone_hears_of_it(lift):
    server, client = lift
    number = client.send(Lift(0.5))
    accept(server)
    with pytest.raises(NoServer, match=r"did not come to 'succeeded' within 0.2 s"):
        client.wait(number, timeout=0.2)
    server.close()
    with pytest.raises(NoServer, match="has ended"):
        client.wait(number)
    with pytest.raises(NoServer, match="does not run"):
        Client(NAME, timeout=0.0)
