"""State machines of shared decisions and of the body: each goes only where its table leads, whatever people say."""

import random
from unittest.mock import Mock

import pytest
from rcp_body import SlowBody
from willing_body import WillingBody

from wholebody.behaviors import GoalHandle
from wholebody.errors import NoController
from wholebody.operator.rcp import commands as rcp
from wholebody.operator.rcp.body import Stage
from wholebody.operator.rcp.command_server import CommandServer
from wholebody.operator.rcp.orders import QUEUE, SERVER, Machine
from wholebody.operator.robot import robot
from wholebody.operator.robot.activity import BODY, HOLD

LINES = (
    *("CONTROL BEGIN", "CONTROL END", "STOP", "DRIVE 0.1 0 0", "DRIVE 0 0 0", "GRAB OBJECT(cup)", "GOTO 1 1"),
    *("DIRECT MOVE HEAD LEFT 10 DEGREES", "MOVE HEAD LEFT 10 DEGREES", "CANCEL 1", "CANCEL 2", "CANCEL 3"),
    *("USE STRATEGY FOR 1 left_arm", "USE STRATEGY FOR 2 left_arm", "USE STRATEGY FOR 3 left_arm"),
)


class Talk:
    """A command server, one person, and where both machines were after each line."""

    def __init__(self):
        self.body, self.now = SlowBody(), 0.0
        self.commands = CommandServer(self.body)
        self.session = self.commands.open(True, 0.0)
        self.visited = [("free", "idle")]
        self.says("CONNECT operator")

    def says(self, line):
        self.now += 0.1
        self.session.outbox.clear()
        self.commands.line(self.session, line, self.now)
        assert not any("unforeseen" in each for each in self.session.outbox), self.session.outbox
        self.note()
        return list(self.session.outbox)

    def updates(self):
        self.now += 0.1
        self.commands.update(self.now)
        assert not any("unforeseen" in each for each in self.session.outbox), self.session.outbox
        self.note()

    def note(self):
        self.visited.append((self.commands.machine.state, self.commands.orders.machine.state))

    @property
    def now_in(self):
        return self.visited[-1]


def test_control_commands_and_decisions_go_the_way_of_the_figures():
    talk = Talk()
    talk.says("CONTROL BEGIN")
    assert talk.now_in == ("controlled", "idle")  # 0.1
    talk.says("GRAB OBJECT(cup)")
    assert talk.now_in == ("controlled", "deciding")  # 1.2, 0.2
    talk.says("USE STRATEGY FOR 1 left_arm")
    assert talk.now_in == ("controlled", "moving")  # 2.1
    talk.says("DIRECT GOTO 1 1")
    assert talk.now_in == ("direct", "moving")  # 1.1
    talk.body.finish()
    talk.updates()
    assert talk.now_in == ("controlled", "idle")
    talk.says("STOP")
    assert talk.now_in == ("direct", "stopping")
    talk.says("CONTROL END")
    assert talk.now_in == ("free", "stopping")  # 1.3


@pytest.mark.parametrize("seed", range(20))
def test_whatever_people_say_both_machines_go_only_where_their_tables_lead(seed):
    talk, choose = Talk(), random.Random(seed)
    for _ in range(300):
        talk.says(choose.choice(LINES))
        if choose.random() < 0.3 and (talk.body.begun or talk.body.stops):
            talk.body.finish(choose.choice([Stage.COMPLETED, Stage.FAILED]))
        talk.updates()
    servers, queues = ({state[n] for state in talk.visited} for n in (0, 1))
    assert servers == set(Machine(SERVER).states)
    assert queues == set(Machine(QUEUE).states)


def test_a_machine_refuses_a_way_that_is_not_in_its_table():
    machine = Machine(QUEUE)
    machine.become("deciding")
    with pytest.raises(AssertionError, match="no way leads from deciding to deciding"):
        machine.become("deciding")


def test_what_the_robot_knows_of_the_ways_is_told_before_it_asks():
    talk = Talk()
    talk.says("CONTROL BEGIN")
    talk.says("NOTIFY [event]")
    talk.body.noticed = ["left_arm reaches it"]
    said = talk.says("GRAB OBJECT(cup)")
    told, asked = (next(n for n, line in enumerate(said) if line.startswith(word)) for word in ("NOTIFY", "SELECT"))
    assert told < asked


@pytest.mark.parametrize("seed", range(10))
def test_whatever_the_body_is_told_it_goes_only_where_its_tables_lead(seed, monkeypatch):
    """Legs that answer, answer late, or are not there; a daemon that answers; every order, in any order."""
    body, choose, visited = WillingBody(), random.Random(seed), set()
    body.goals = Mock(**{"give.return_value": GoalHandle(body.walker, 1, "nod")})
    body.walker.followed, reports = body.walker.reports, body.walker.reports
    monkeypatch.setattr(robot, "ANSWER_WITHIN", 0.0)
    orders = (
        rcp.Move("WALKING", "FORWARD", 1.0, "STEPS"),
        rcp.Move("HEAD", "LEFT", 5.0, "DEGREES"),
        rcp.Drive(0.1, 0.0, 0.0),
        rcp.Drive(0.1, 0.0, 0.1),
        rcp.Do("nod"),
        rcp.Goto(0.3, 0.0),
    )
    for number in range(1, 400):
        body.walker.reports = choose.choice([reports, lambda number: ()])
        body.legs.connected = choose.choice([lambda: body.walker, lambda: body.walker, _nobody])
        what = choose.random()
        if what < 0.4:
            body.begin(number - number % 3, choose.choice(orders), "")
        elif what < 0.6:
            body.stop(number)
        elif what < 0.7:
            body.resume()
        visited |= {body.machine.state, body.hold.state}
        list(body.news())
        visited |= {body.machine.state, body.hold.state}
    body.close()
    assert visited == {*Machine(BODY).states, *Machine(HOLD).states}


def _nobody():
    raise NoController("no walking controller runs")
