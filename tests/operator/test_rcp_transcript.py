"""Golden transcripts: every command of Table E.2 (Stabilizer), by sub-protocol, and an antenna that is fetched.

`>` is what a client says, `<` what it hears, `!` what happens then, # the sub-protocol. Where several talk, their names
stand before what they say and hear.
"""

import re

import pytest
from rcp_body import SlowBody, wait_for_secret

from wholebody.operator.rcp.body import Stage
from wholebody.operator.rcp.command_server import CommandServer, Rules
from wholebody.operator.rcp.grammar import VERBS
from wholebody.operator.rcp.users import Role, User, Users

TRANSCRIPT = """
# connection
> QUERY POSITION
< KO CONNECT <profile> comes first
> CONNECT operator
< OK CONNECTED local OPERATOR
# control negotiation
> MOVE WALKING FORWARD 2 STEPS
< KO CONTROL BEGIN comes first
> CONTROL BEGIN
< OK CONTROL BEGIN
# basic movement
> MOVE WALKING FORWARD 2 STEPS
< OK COMMAND 1 QUEUED
< OK COMMAND 1 STARTED
> MOVE TURNING RIGHT 30 DEGREES
< OK COMMAND 2 QUEUED
> MOVE HEAD UP 10 DEGREES
< OK COMMAND 3 QUEUED
> MOVE BOWING DOWN 10 DEGREES
< KO COMMAND 4 FAILED the movements are WALKING, TURNING, HEAD, not BOWING
! finishes
< OK COMMAND 1 COMPLETED
< OK COMMAND 2 STARTED
> STOP
< OK COMMAND 2 INTERRUPTEDBY 5
< OK COMMAND 3 INTERRUPTEDBY 5
< OK COMMAND 5 STARTED
! finishes
< OK COMMAND 5 COMPLETED
# direct command execution
> GOTO 1 2
< OK COMMAND 6 QUEUED
< OK COMMAND 6 STARTED
> DIRECT MOVE HEAD LEFT 10 DEGREES
< OK COMMAND 7 QUEUED
< OK COMMAND 6 INTERRUPTEDBY 7
< OK COMMAND 7 STARTED
> DIRECT STOP
< OK COMMAND 7 INTERRUPTEDBY 8
< OK COMMAND 8 STARTED
! finishes
< OK COMMAND 8 COMPLETED
> DIRECT QUERY POSITION
< OK POSITION 0 0 1
# configuration
> QUERY PARAM step.length
< OK PARAM step.length 0.2
> SET step.length 0.25
< OK PARAM step.length 0.25
# sensor reading
> QUERY SENSOR [imu.roll, imu.pitch]
< OK SENSOR [imu.roll=0.01, imu.pitch=-0.02]
# positioning
> POSITION 1.5 -2 0.9
< OK POSITION 1.5 -2 0.9
> QUERY POSITION
< OK POSITION 1.5 -2 0.9
# notification
> NOTIFY [progress]
< OK NOTIFY [progress]
# goal-setting
> GOTO OBJECT(antenna)
< OK COMMAND 9 QUEUED
< NOTIFY progress 9 QUEUED
< OK COMMAND 9 STARTED
< NOTIFY progress 9 STARTED
! finishes
< OK COMMAND 9 COMPLETED
< NOTIFY progress 9 COMPLETED
> NOTIFY []
< OK NOTIFY []
> GOTO OBJECT(unicorn)
< KO COMMAND 10 FAILED nobody has seen it
# object grabbing, and strategy selection
> GRAB OBJECT(antenna)
< OK COMMAND 11 QUEUED
< SELECT STRATEGY FOR 11 [left_arm, right_arm]
> USE STRATEGY FOR 11 both_arms
< KO the strategies for 11 are left_arm, right_arm
> USE STRATEGY FOR 11 right_arm
< OK COMMAND 11 STARTED
! finishes
< OK COMMAND 11 COMPLETED
> USE OBJECT(antenna)
< OK COMMAND 12 QUEUED
< OK COMMAND 12 STARTED
! finishes
< OK COMMAND 12 COMPLETED
> DROP OBJECT(antenna)
< OK COMMAND 13 QUEUED
< OK COMMAND 13 STARTED
! fails
< KO COMMAND 13 FAILED it slipped
> SELECT STRATEGY FOR 13 [left_arm]
< KO it is the robot that asks for a strategy
# control negotiation and connection, at the end
> CONTROL END
< OK CONTROL END
> DISCONNECT
< OK DISCONNECTED
"""
OURS = {"DRIVE", "RESUME", "CANCEL", "HELP", "OK", "KO"}
"""Verbs that Table E.2 does not have."""


FETCHING = """
# anne fetches an antenna: strategy selection, interruption, failure
anne> CONNECT operator anne swordfish
anne< OK CONNECTED anne OPERATOR
anne> CONTROL BEGIN
anne< OK CONTROL BEGIN
anne> NOTIFY [event, warning]
anne< OK NOTIFY [event, warning]
bob> CONNECT observer
bob< OK CONNECTED guest OBSERVER
bob> NOTIFY [control, progress]
bob< OK NOTIFY [control, progress]
anne> GRAB OBJECT(unicorn)
anne< KO COMMAND 1 FAILED nobody has seen it
bob< NOTIFY progress 1 FAILED nobody has seen it
! notices right_arm from where it stands
anne< NOTIFY event right_arm from where it stands
anne> GRAB OBJECT(antenna)
anne< OK COMMAND 2 QUEUED
anne< SELECT STRATEGY FOR 2 [left_arm, right_arm]
bob< NOTIFY progress 2 QUEUED
anne> GOTO OBJECT(stand)
anne< OK COMMAND 3 QUEUED
bob< NOTIFY progress 3 QUEUED
anne> USE STRATEGY FOR 2 right_arm
anne< OK COMMAND 2 STARTED
bob< NOTIFY progress 2 STARTED
anne> DIRECT MOVE HEAD UP 10 DEGREES
anne< OK COMMAND 4 QUEUED
anne< OK COMMAND 2 INTERRUPTEDBY 4
anne< OK COMMAND 4 STARTED
bob< NOTIFY progress 4 QUEUED
bob< NOTIFY progress 2 INTERRUPTEDBY 4
bob< NOTIFY progress 4 STARTED
! finishes
anne< OK COMMAND 4 COMPLETED
anne< OK COMMAND 3 STARTED
bob< NOTIFY progress 4 COMPLETED
bob< NOTIFY progress 3 STARTED
! fails
anne< KO COMMAND 3 FAILED it slipped
bob< NOTIFY progress 3 FAILED it slipped
anne> GRAB OBJECT(antenna)
anne< OK COMMAND 5 QUEUED
anne< SELECT STRATEGY FOR 5 [left_arm, right_arm]
bob< NOTIFY progress 5 QUEUED
anne> CANCEL 5
anne< OK COMMAND 5 INTERRUPTEDBY 6
bob< NOTIFY progress 5 INTERRUPTEDBY 6
# nobody decides
anne> GRAB OBJECT(antenna)
anne< OK COMMAND 7 QUEUED
anne< SELECT STRATEGY FOR 7 [left_arm, right_arm]
bob< NOTIFY progress 7 QUEUED
! 25 s pass
anne> OK
! 25 s pass
anne> OK
! 25 s pass
anne< KO COMMAND 7 FAILED no strategy was chosen in 60 s
bob< NOTIFY progress 7 FAILED no strategy was chosen in 60 s
# control is taken over
anne> MOVE WALKING FORWARD 5 STEPS
anne< OK COMMAND 8 QUEUED
anne< OK COMMAND 8 STARTED
bob< NOTIFY progress 8 QUEUED
bob< NOTIFY progress 8 STARTED
root> CONNECT operator root correct-horse
root< OK CONNECTED root ADMINISTRATOR
root> MOVE WALKING FORWARD 5 STEPS
root< KO CONTROL BEGIN comes first
root> CONTROL BEGIN
root< OK CONTROL BEGIN
anne< OK COMMAND 8 INTERRUPTEDBY 9
anne< OK COMMAND 9 STARTED
anne< NOTIFY control lost: root takes over
bob< NOTIFY progress 8 INTERRUPTEDBY 9
bob< NOTIFY progress 9 STARTED
bob< NOTIFY control anne lost control: root takes over
bob< NOTIFY control root has control
! finishes
anne< OK COMMAND 9 COMPLETED
bob< NOTIFY progress 9 COMPLETED
anne> CONTROL BEGIN
anne< KO root has control; without a word it ends in 30 s
# control is timed out
root> DROP OBJECT(antenna)
root< OK COMMAND 10 QUEUED
root< OK COMMAND 10 STARTED
bob< NOTIFY progress 10 QUEUED
bob< NOTIFY progress 10 STARTED
! 31 s pass
bob< NOTIFY progress 10 INTERRUPTEDBY 11
bob< NOTIFY progress 11 STARTED
bob< NOTIFY control root lost control: root was silent for 30 s
root< OK COMMAND 10 INTERRUPTEDBY 11
root< OK COMMAND 11 STARTED
root< NOTIFY control lost: root was silent for 30 s
! is wrong: it has fallen
anne< NOTIFY warning it has fallen
anne> CONTROL BEGIN
anne< OK CONTROL BEGIN
bob< NOTIFY control anne has control
"""


class Talk:
    """A command server, what happens to its body, and people by name, as a transcript says."""

    def __init__(self):
        self.body, self.now, self.people = SlowBody(), 0.0, {}
        self.commands = CommandServer(self.body, rules=Rules(secret_every=0.0))

    def goes(self, transcript, users=None):
        """The same conversation, with what is heard taken from the command server."""
        if users is not None:
            self.commands.users = users
        went = []
        for line in transcript:
            who, mark, said = re.match(r"(\w*)(>?) ?(.*)", line).groups()
            if mark:
                self.says(who, said)
            elif line.startswith("! "):
                self.happens(line[2:])
            elif not line.startswith("#"):
                continue
            went.append(line)
            self.now += 0.1
            self.commands.update(self.now)
            went += self.heard(first=who)
        return went

    def says(self, who, line):
        if who not in self.people:
            self.people[who] = self.commands.open(True, self.now)
        self.commands.line(self.people[who], line, self.now)
        wait_for_secret(self.people[who])

    def happens(self, what):
        match what.split():
            case ["finishes"]:
                self.body.finish()
            case ["fails"]:
                self.body.finish(Stage.FAILED, "it slipped")
            case ["notices", *words]:
                self.body.noticed.append(" ".join(words))
            case ["is", "wrong:", *words]:
                self.body.wrong.append(" ".join(words))
            case [seconds, "s", "pass"]:
                self.now += float(seconds)

    def heard(self, first):
        """Who has just spoken comes first, the others as they came."""
        lines = []
        for who in sorted(self.people, key=lambda each: each != first):
            lines += [f"{who}< {each}" for each in self.people[who].outbox]
            self.people[who].outbox.clear()
        return lines


def as_it_went(transcript):
    return Talk().goes(transcript)


def test_every_command_is_answered_as_it_is_written_down():
    lines = TRANSCRIPT.strip().splitlines()
    assert as_it_went(lines) == lines


def test_an_antenna_is_fetched_as_it_is_written_down():
    users = Users([User.new("anne", Role.OPERATOR, "swordfish"), User.new("root", Role.ADMINISTRATOR, "correct-horse")])
    lines = FETCHING.strip().splitlines()
    assert Talk().goes(lines, users) == lines


@pytest.mark.parametrize("verb", sorted(set(VERBS) - OURS))
def test_no_verb_of_the_table_is_missing(verb):
    assert f"\n> {verb}" in TRANSCRIPT
