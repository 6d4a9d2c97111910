"""What the command server answers: transcripts of who says what, control, the queue and decisions."""

import threading
from concurrent.futures import Future

import pytest
from rcp_body import QuickBody, SlowBody, wait_for_secret

from wholebody.errors import BadParameter
from wholebody.operator.rcp.body import Stage, Underway
from wholebody.operator.rcp.command_server import CommandServer, Rules
from wholebody.operator.rcp.users import Role, User, Users

ANNE = User.new("anne", Role.OPERATOR, "swordfish")
ROOT = User.new("root", Role.ADMINISTRATOR, "correct-horse")


class Conversation:
    """A command server, and clients by name who talk to it in turns."""

    def __init__(self, body=None, users=None, **rules):
        self.body = body or SlowBody()
        self.commands = CommandServer(self.body, users, Rules(**{"secret_every": 0.0, **rules}))
        self.now = 0.0
        self.clients = {}

    def says(self, who, line, local=True, address=""):
        """The answers to a line."""
        if who not in self.clients:
            self.clients[who] = self.commands.open(local, self.now, address=address)
        self.commands.line(self.clients[who], line, self.now)
        if line.startswith("CONNECT"):
            wait_for_secret(self.clients[who])
            self.commands.update(self.now)
        return self.hears(who)

    def hears(self, who):
        outbox = self.clients[who].outbox
        lines = outbox.copy()
        outbox.clear()
        return lines

    def operator(self, who="a"):
        self.says(who, "CONNECT operator")
        assert self.says(who, "CONTROL BEGIN") == ["OK CONTROL BEGIN"]

    def passes(self, seconds):
        self.now += seconds
        self.commands.update(self.now)


def test_a_walk_from_the_first_word_to_the_last():
    talk = Conversation()
    assert talk.says("a", "CONNECT operator") == ["OK CONNECTED local OPERATOR"]
    assert talk.says("a", "CONTROL BEGIN") == ["OK CONTROL BEGIN"]
    assert talk.says("a", "MOVE WALKING FORWARD 3 STEPS") == ["OK COMMAND 1 QUEUED", "OK COMMAND 1 STARTED"]
    assert talk.says("a", "MOVE TURNING LEFT 45 DEGREES") == ["OK COMMAND 2 QUEUED"]
    talk.body.finish()
    talk.passes(1.0)
    assert talk.hears("a") == ["OK COMMAND 1 COMPLETED", "OK COMMAND 2 STARTED"]
    assert talk.says("a", "DIRECT STOP") == ["OK COMMAND 2 INTERRUPTEDBY 3", "OK COMMAND 3 STARTED"]
    talk.body.finish()
    talk.passes(1.0)
    assert talk.hears("a") == ["OK COMMAND 3 COMPLETED"]
    assert talk.says("a", "DISCONNECT") == ["OK DISCONNECTED"]


def test_stop_clears_the_queue_and_each_command_hears_of_it():
    talk = Conversation()
    talk.operator()
    for _ in range(3):
        talk.says("a", "MOVE WALKING FORWARD 1 STEPS")
    assert talk.says("a", "STOP") == [
        "OK COMMAND 1 INTERRUPTEDBY 4",
        "OK COMMAND 2 INTERRUPTEDBY 4",
        "OK COMMAND 3 INTERRUPTEDBY 4",
        "OK COMMAND 4 STARTED",
    ]
    assert talk.body.stops == [4]
    assert talk.says("a", "MOVE WALKING FORWARD 1 STEPS") == ["OK COMMAND 5 QUEUED"], "it waits until the robot stands"
    talk.body.finish()
    talk.passes(0.1)
    assert talk.hears("a") == ["OK COMMAND 4 COMPLETED", "OK COMMAND 5 STARTED"]


def test_a_direct_command_interrupts_and_leaves_the_queue():
    talk = Conversation()
    talk.operator()
    talk.says("a", "MOVE WALKING FORWARD 5 STEPS")
    talk.says("a", "MOVE WALKING BACKWARD 5 STEPS")
    assert talk.says("a", "DIRECT MOVE HEAD UP 10 DEGREES") == [
        "OK COMMAND 3 QUEUED",
        "OK COMMAND 1 INTERRUPTEDBY 3",
        "OK COMMAND 3 STARTED",
    ]
    talk.body.finish()
    talk.passes(0.1)
    assert talk.hears("a") == ["OK COMMAND 3 COMPLETED", "OK COMMAND 2 STARTED"]


def test_the_robot_asks_which_arm_and_waits_for_the_answer():
    talk = Conversation()
    talk.operator()
    assert talk.says("a", "GRAB OBJECT(antenna)") == [
        "OK COMMAND 1 QUEUED",
        "SELECT STRATEGY FOR 1 [left_arm, right_arm]",
    ]
    assert talk.says("a", "OK COMMAND 1") == []
    assert not talk.body.begun
    assert talk.says("a", "USE STRATEGY FOR 1 teeth") == ["KO the strategies for 1 are left_arm, right_arm"]
    assert talk.says("a", "USE STRATEGY FOR 1 right_arm") == ["OK COMMAND 1 STARTED"]
    assert talk.body.begun[0][2] == "right_arm"


def test_a_decision_that_nobody_takes_fails_the_command_and_the_queue_goes_on():
    talk = Conversation(decision_timeout=5.0, control_timeout=100.0)
    talk.operator()
    talk.says("a", "GRAB OBJECT(antenna)")
    talk.says("a", "GOTO 1 2")
    talk.passes(5.1)
    assert talk.hears("a") == ["KO COMMAND 1 FAILED no strategy was chosen in 5 s", "OK COMMAND 2 STARTED"]


def test_what_fails_says_why():
    talk = Conversation()
    talk.operator()
    talk.says("a", "GOTO 1 2")
    talk.body.finish(Stage.FAILED, "a wall is in the way")
    talk.passes(0.1)
    assert talk.hears("a") == ["KO COMMAND 1 FAILED a wall is in the way"]


def test_a_waiting_command_can_be_cancelled_and_one_that_goes_on_ends_stable():
    talk = Conversation()
    talk.operator()
    for _ in range(3):
        talk.says("a", "GOTO 1 2")
    assert talk.says("a", "CANCEL 2") == ["OK COMMAND 2 INTERRUPTEDBY 4"]
    assert talk.says("a", "CANCEL 1") == ["OK COMMAND 1 INTERRUPTEDBY 5", "OK COMMAND 5 STARTED"]
    talk.body.finish()
    talk.passes(0.1)
    assert talk.hears("a") == ["OK COMMAND 5 COMPLETED", "OK COMMAND 3 STARTED"]
    assert talk.says("a", "CANCEL 99") == ["KO no command 99 waits or goes on"]


def test_only_one_at_a_time_is_in_control_and_anybody_may_stop():
    talk = Conversation()
    talk.operator("a")
    talk.says("b", "CONNECT operator")
    assert talk.says("b", "CONTROL BEGIN") == ["KO local has control; without a word it ends in 30 s"]
    assert talk.says("b", "MOVE WALKING FORWARD 1 STEPS") == ["KO CONTROL BEGIN comes first"]
    talk.says("a", "MOVE WALKING FORWARD 1 STEPS")
    assert talk.says("b", "STOP") == ["OK COMMAND 2 STARTED"]
    assert talk.hears("a") == ["OK COMMAND 1 INTERRUPTEDBY 2"]
    assert talk.says("a", "CONTROL END") == ["OK CONTROL END"]
    assert talk.says("b", "CONTROL BEGIN") == ["OK CONTROL BEGIN"]


def test_silence_loses_control_and_stops_the_robot():
    talk = Conversation(control_timeout=10.0)
    talk.operator()
    talk.says("a", "MOVE WALKING FORWARD 9 STEPS")
    talk.passes(9.9)
    assert not talk.body.stops
    talk.says("a", "QUERY POSITION")
    talk.passes(9.9)
    assert not talk.body.stops, "any word counts"
    talk.passes(0.2)
    assert talk.body.stops
    assert talk.hears("a")[-1] == "NOTIFY control lost: local was silent for 10 s"


def test_while_the_server_itself_is_busy_nobody_counts_as_silent():
    talk = Conversation(control_timeout=1.5)
    talk.operator("a")
    for busy in (0.02, 5.0, 0.02, 0.3, 0.02):
        talk.now += busy
        talk.commands.tick(talk.now)
    assert talk.commands.holder is not None
    for _ in range(80):
        talk.now += 0.02
        talk.commands.tick(talk.now)
    assert talk.commands.holder is None, "silent for 1.5 s while somebody listened"
    assert talk.body.stops


def test_a_server_that_is_busy_again_and_again_lets_a_silence_last_half_a_second_longer_and_no_more():
    talk = Conversation(control_timeout=1.5)
    talk.operator("a")
    while talk.commands.holder is not None and talk.now < 20.0:
        talk.now += 0.25
        talk.commands.tick(talk.now)
    assert 1.5 < talk.now <= 1.5 + 0.5 + 2 * 0.25
    talk.says("a", "CONTROL BEGIN")
    for _ in range(80):
        talk.now += 0.25
        talk.says("a", "OK")
        talk.commands.tick(talk.now)
    assert talk.commands.holder is not None, "the control arm: it says something now and then"


def test_a_lost_connection_stops_the_walk():
    talk = Conversation()
    talk.operator()
    talk.says("a", "MOVE WALKING FORWARD 9 STEPS")
    talk.commands.close(talk.clients["a"], talk.now)
    assert talk.body.stops
    talk.says("b", "CONNECT operator")
    assert talk.says("b", "CONTROL BEGIN") == ["OK CONTROL BEGIN"]


def test_an_observer_who_leaves_stops_nothing():
    talk = Conversation()
    talk.operator("a")
    talk.says("b", "CONNECT observer")
    talk.says("a", "MOVE WALKING FORWARD 9 STEPS")
    talk.commands.close(talk.clients["b"], talk.now)
    assert not talk.body.stops


def test_users_are_known_by_their_secrets_and_roles():
    talk = Conversation(users=Users([ANNE, ROOT]))
    assert talk.says("x", "CONNECT operator") == ["OK CONNECTED guest OBSERVER"]
    assert talk.says("x", "CONTROL BEGIN")[0].startswith("KO an observer cannot take control")
    assert talk.says("y", "CONNECT operator anne wrong-one") == ["KO no such user, or another secret"]
    assert talk.says("y", "CONNECT operator nobody swordfish") == ["KO no such user, or another secret"]
    assert talk.says("y", "CONNECT operator anne swordfish") == ["OK CONNECTED anne OPERATOR"]
    assert talk.says("y", "CONTROL BEGIN") == ["OK CONTROL BEGIN"]
    talk.says("y", "MOVE WALKING FORWARD 9 STEPS")
    assert talk.says("z", "CONNECT operator root correct-horse") == ["OK CONNECTED root ADMINISTRATOR"]
    assert talk.says("z", "CONTROL BEGIN") == ["OK CONTROL BEGIN"]
    assert talk.hears("y") == [
        "OK COMMAND 1 INTERRUPTEDBY 2",
        "OK COMMAND 2 STARTED",
        "NOTIFY control lost: root takes over",
    ]
    assert talk.says("y", "CONTROL BEGIN")[0].startswith("KO root has control")


def test_who_guesses_secrets_is_cut_off():
    talk = Conversation(users=Users([ANNE]), wrong_secrets=3)
    for _ in range(3):
        talk.says("x", "CONNECT operator anne password1")
    assert talk.clients["x"].closing


def test_secrets_are_tried_one_by_one():
    talk = Conversation(users=Users([ANNE]), secret_every=1.0)
    talk.says("x", "CONNECT operator anne password1")
    assert talk.says("y", "CONNECT operator anne swordfish")[0].startswith("KO somebody has just connected")
    talk.passes(1.1)
    assert talk.says("y", "CONNECT operator anne swordfish") == ["OK CONNECTED anne OPERATOR"]


def test_who_guesses_from_one_address_keeps_nobody_at_another_from_logging_in():
    talk = Conversation(users=Users([ANNE]), secret_every=1.0)
    talk.says("x", "CONNECT operator anne password1", address="10.0.0.66")
    assert talk.says("x", "CONNECT operator anne password2")[0].startswith("KO somebody has just connected")
    assert talk.says("y", "CONNECT operator anne swordfish", address="10.0.0.7") == ["OK CONNECTED anne OPERATOR"]


class SlowUsers(Users):
    """It takes them as long as a test wants to look at a secret."""

    def __init__(self):
        super().__init__([ANNE])
        self.may = threading.Event()

    def admit(self, *who):
        assert not who[1] or self.may.wait(20.0)
        return super().admit(*who)


def test_while_a_secret_is_looked_at_the_desk_answers_others_and_what_was_said_since_comes_after_it():
    users = SlowUsers()
    talk = Conversation(users=users)
    talk.says("b", "CONNECT observer")
    anne = talk.clients["a"] = talk.commands.open(True, talk.now)
    for line in ("CONNECT operator anne swordfish", "CONTROL BEGIN"):
        talk.commands.line(anne, line, talk.now)
    talk.passes(0.1)
    assert talk.hears("a") == []
    assert talk.says("b", "QUERY POSITION") == ["OK POSITION 0 0 1"]
    users.may.set()
    wait_for_secret(anne)
    talk.passes(0.1)
    assert talk.hears("a") == ["OK CONNECTED anne OPERATOR", "OK CONTROL BEGIN"]


def test_who_never_says_connect_is_closed_and_others_are_not():
    talk = Conversation(connect_within=10.0, control_timeout=100.0)
    talk.operator("a")
    talk.says("b", "HELP")
    talk.passes(9.9)
    assert not talk.clients["b"].closing
    talk.passes(0.2)
    assert talk.clients["b"].closing
    assert talk.hears("b") == ["KO nobody has said CONNECT within 10 s"]
    assert not talk.clients["a"].closing


def test_from_elsewhere_nobody_is_an_operator_without_a_secret():
    talk = Conversation()
    assert talk.says("far", "CONNECT operator", local=False) == ["OK CONNECTED guest OBSERVER"]


def test_a_short_secret_is_none():
    with pytest.raises(BadParameter, match="eight"):
        User.new("anne", Role.OPERATOR, "1234")


def test_questions_have_answers_and_wrong_ones_are_told_what_there_is():
    talk = Conversation()
    assert talk.says("a", "QUERY POSITION") == ["KO CONNECT <profile> comes first"]
    talk.operator()
    assert talk.says("a", "QUERY POSITION") == ["OK POSITION 0 0 1"]
    assert talk.says("a", "POSITION 1.5 2 0.5") == ["OK POSITION 1.5 2 0.5"]
    assert talk.says("a", "QUERY POSITION") == ["OK POSITION 1.5 2 0.5"]
    assert talk.says("a", "QUERY SENSOR [imu.roll]") == ["OK SENSOR [imu.roll=0.01]"]
    assert talk.says("a", "QUERY SENSOR [nose]") == ["KO no sensor 'nose'; there are imu.roll, imu.pitch"]
    assert talk.says("a", "QUERY PARAM step.length") == ["OK PARAM step.length 0.2"]
    assert talk.says("a", "SET step.length 0.1") == ["OK PARAM step.length 0.1"]
    assert talk.says("a", "SET speed 1") == ["KO no parameter 'speed'"]
    assert talk.says("a", "HELP")[0].startswith("OK HELP [CONNECT")
    assert talk.says("a", "DIRECT QUERY POSITION") == ["OK POSITION 1.5 2 0.5"]
    assert talk.says("a", "DIRECT CONTROL END") == ["OK CONTROL END"]


def test_an_order_that_is_refused_has_a_number_too_and_says_why():
    talk = Conversation()
    talk.operator()
    refused = {
        "MOVE FLYING UP 1 METRES": "the movements are WALKING, TURNING, HEAD, not FLYING",
        "MOVE WALKING LEFT 1 STEPS": "WALKING goes FORWARD or BACKWARD, not LEFT",
        "MOVE WALKING FORWARD 99 STEPS": "WALKING takes more than 0 and at most 20 STEPS at a time",
        "MOVE WALKING FORWARD 1.5 STEPS": "WALKING takes whole STEPS",
        "DIRECT GOTO OBJECT(unicorn)": "nobody has seen it",
    }
    for number, (line, why) in enumerate(refused.items(), 1):
        assert talk.says("a", line) == [f"KO COMMAND {number} FAILED {why}"]
        assert talk.commands.orders.log[-1].stage == "FAILED"
    assert talk.commands.machine.state == "controlled", "what is refused goes past nobody"
    for _ in range(101):
        talk.says("a", "GOTO 1 1")
    assert talk.says("a", "GOTO 1 1") == ["KO COMMAND 107 FAILED 100 commands wait already"]


def test_who_asks_for_news_hears_of_the_orders_of_others():
    talk = Conversation(QuickBody())
    talk.operator("a")
    talk.says("b", "CONNECT observer")
    assert talk.says("b", "NOTIFY [progress]") == ["OK NOTIFY [progress]"]
    talk.says("a", "MOVE TURNING LEFT 10 DEGREES")
    talk.passes(0.1)
    assert talk.hears("b") == ["NOTIFY progress 1 QUEUED", "NOTIFY progress 1 STARTED", "NOTIFY progress 1 COMPLETED"]
    talk.says("a", "MOVE TURNING LEFT 10 DEGREES")
    talk.says("a", "DIRECT STOP")
    same = ["NOTIFY progress 2 INTERRUPTEDBY 3", "NOTIFY progress 3 STARTED"]
    assert talk.hears("b")[2:] == same, "as its owner hears"
    assert talk.says("b", "NOTIFY [weather]")[0].startswith("KO no topic 'weather'")


def test_what_is_wrong_is_told_once_when_it_begins_and_to_those_who_ask_later():
    talk = Conversation()
    talk.says("a", "CONNECT observer")
    talk.says("a", "NOTIFY [warning]")
    talk.passes(0.1)
    assert talk.hears("a") == []
    talk.body.wrong = ["it has fallen"]
    for _ in range(3):
        talk.passes(0.1)
    talk.body.wrong = ["it has fallen", "joint REB: jammed"]
    talk.passes(0.1)
    assert talk.hears("a") == ["NOTIFY warning it has fallen", "NOTIFY warning joint REB: jammed"]
    talk.says("b", "CONNECT observer")
    talk.says("b", "NOTIFY [warning]")
    talk.body.wrong = ["it has fallen"]
    talk.passes(0.1)
    assert talk.hears("b") == ["NOTIFY warning it has fallen"]
    talk.body.wrong = []
    talk.passes(0.1)
    talk.body.wrong = ["it has fallen"]
    talk.passes(0.1)
    assert talk.hears("a") == ["NOTIFY warning it has fallen"], "again"


def test_how_far_an_order_has_come_is_told_with_every_part_and_every_second():
    talk = Conversation()
    talk.operator("a")
    talk.says("a", "NOTIFY [progress]")
    talk.says("a", "USE OBJECT(lever)")
    talk.hears("a")
    talk.body.does = Underway("goes beside it", 7.2, 4, 9)
    heard = []
    for _ in range(14):
        talk.passes(0.1)
        heard += talk.hears("a")
    assert heard == 2 * ["NOTIFY progress 1 UNDERWAY 4 of 9: goes beside it, 8 s left"]
    talk.body.does = Underway("presses on it")
    talk.passes(0.1)
    assert talk.hears("a") == ["NOTIFY progress 1 UNDERWAY presses on it"]
    talk.body.finish()
    talk.passes(0.1)
    assert talk.hears("a") == ["OK COMMAND 1 COMPLETED", "NOTIFY progress 1 COMPLETED"]
    talk.passes(5.0)
    assert talk.hears("a") == [], "nothing goes on any more"


def test_more_lines_a_second_than_allowed_are_refused_and_it_passes():
    talk = Conversation(lines_per_second=10.0)
    answers = [talk.says("a", "HELP")[0][:2] for _ in range(15)]
    assert answers == ["OK"] * 10 + ["KO"] * 5
    talk.passes(1.0)
    assert talk.says("a", "HELP")[0].startswith("OK")


def test_a_stop_is_never_one_line_too_many():
    talk = Conversation(observer_lines_per_second=5.0)
    talk.says("a", "CONNECT observer")
    answers = [talk.says("a", "QUERY POSITION")[0] for _ in range(20)]
    assert answers[-1] == "KO more than 5 lines a second"
    assert talk.says("a", "STOP") == ["OK COMMAND 1 STARTED"]
    assert talk.body.stops == [1]


def test_observers_share_what_they_may_say_and_none_takes_anothers_part_or_the_operators():
    talk = Conversation(observer_lines_per_second=30.0, lines_per_second=100.0)
    talk.operator("a")
    for who in ("b", "c"):
        talk.says(who, "CONNECT observer")
    talk.passes(10.0)

    def taken(who):
        return [talk.says(who, "QUERY POSITION")[0][:2] for _ in range(200)].count("OK")

    assert [taken(who) for who in "abc"] == [100, 15, 15]
    talk.commands.close(talk.clients["c"], talk.now)
    talk.passes(1.0)
    assert taken("b") == 30, "all of it, if nobody else looks on"


def test_a_velocity_that_is_repeated_is_one_command():
    talk = Conversation()
    talk.operator()
    assert talk.says("a", "DRIVE 0.2 0 0") == ["OK COMMAND 1 QUEUED", "OK COMMAND 1 STARTED"]
    assert talk.says("a", "DRIVE 0.2 0 0.1") == []
    assert [number for number, _, _ in talk.body.begun] == [1, 1]
    assert talk.says("a", "DRIVE 0 0 0") == []
    talk.body.finish()
    talk.passes(0.1)
    assert talk.hears("a") == ["OK COMMAND 1 COMPLETED"]
    assert talk.says("a", "DRIVE 0 0 0") == [], "to rest is nothing to do"
    assert talk.commands.orders.log[-1].stage == "COMPLETED"


def test_a_velocity_that_is_let_go_while_the_robot_stops_never_begins():
    talk = Conversation()
    talk.operator()
    talk.says("a", "STOP")
    assert talk.says("a", "DRIVE 0.2 0 0") == ["OK COMMAND 2 QUEUED"]
    assert talk.says("a", "DRIVE 0.1 0 0") == []
    assert talk.says("a", "DRIVE 0 0 0") == ["OK COMMAND 2 COMPLETED before it began"]
    talk.body.finish()
    talk.passes(0.1)
    assert not talk.body.begun


def test_a_velocity_needs_control_and_a_held_robot_goes_on_when_told():
    talk = Conversation()
    talk.says("a", "CONNECT operator")
    assert talk.says("a", "DRIVE 0.2 0 0") == ["KO CONTROL BEGIN comes first"]
    assert talk.says("a", "RESUME") == ["KO CONTROL BEGIN comes first"]
    talk.says("a", "CONTROL BEGIN")
    assert talk.says("a", "RESUME") == ["OK RESUME it goes on"]


def test_who_promised_to_say_something_every_second_loses_control_sooner():
    talk = Conversation()
    talk.clients["page"] = talk.commands.open(True, 0.0, timeout=2.0)
    talk.says("page", "CONNECT operator")
    talk.says("page", "CONTROL BEGIN")
    talk.says("page", "MOVE WALKING FORWARD 9 STEPS")
    talk.passes(1.9)
    talk.says("page", "OK")
    talk.passes(1.9)
    assert not talk.body.stops
    talk.passes(0.2)
    assert talk.body.stops


class AskingBody(SlowBody):
    """It has to ask others before it can say whether a parameter is set."""

    def __init__(self):
        super().__init__()
        self.answers = []

    def set_parameter(self, name, value):
        return self.resume()

    def resume(self):
        self.answers.append(Future())
        return self.answers[-1]


def test_while_a_robot_is_asked_to_go_on_nobody_waits_and_a_stop_never_does():
    talk = Conversation(AskingBody())
    talk.operator()
    talk.says("b", "CONNECT observer")
    assert talk.says("a", "RESUME") == []
    assert talk.says("b", "QUERY POSITION") == ["OK POSITION 0 0 1"]
    assert talk.says("a", "STOP") == ["OK COMMAND 1 STARTED"]
    talk.body.answers[0].set_result("it follows references again")
    talk.passes(0.1)
    assert talk.hears("a") == ["OK RESUME it follows references again"]


def test_while_a_parameter_is_being_set_nobody_waits_but_who_set_it_and_a_stop_never_does():
    talk = Conversation(AskingBody())
    talk.operator()
    talk.says("b", "CONNECT observer")
    assert talk.says("a", "SET step.length 0.3") == []
    assert talk.says("a", "QUERY PARAM step.length") == []
    assert talk.says("b", "QUERY POSITION") == ["OK POSITION 0 0 1"]
    for number, line in enumerate(("STOP", "direct stop"), 1):
        assert talk.says("a", line)[-1] == f"OK COMMAND {number} STARTED"
        assert talk.body.stops[-1] == number
    talk.passes(0.1)
    assert talk.hears("a") == []
    talk.body.values["step.length"] = "0.3"
    talk.body.answers[0].set_result(None)
    talk.passes(0.1)
    assert talk.hears("a") == ["OK PARAM step.length 0.3", "OK PARAM step.length 0.3"], "in the order of the lines"


def test_what_becomes_of_a_parameter_that_could_not_be_set_is_told_and_the_next_one_is_tried():
    talk = Conversation(AskingBody())
    talk.operator()
    talk.says("a", "SET step.length 9")
    talk.says("a", "SET step.length 0.3")
    talk.says("a", "QUERY POSITION")
    talk.body.answers[0].set_exception(BadParameter("9 is outside 0 … 1"))
    talk.passes(0.1)
    assert talk.hears("a") == ["KO 9 is outside 0 … 1"]
    talk.body.answers[1].set_result(None)
    talk.passes(0.1)
    assert talk.hears("a") == ["OK PARAM step.length 0.2", "OK POSITION 0 0 1"]
