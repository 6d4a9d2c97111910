"""An operator in control who says ten thousand lines, broken, mutilated and right: each is answered, nothing breaks."""

import collections
import random
import re
import socket
import subprocess

import pytest
from robot_processes import MAIN
from walking_rig import NAME, Rig
from willing_body import WillingBody

from wholebody.errors import NoController
from wholebody.operator.rcp.client import Client
from wholebody.operator.rcp.command_server import CommandServer, Rules
from wholebody.services import Report, Stage

LINES = 10_000
AT_ONCE = 50
MARK = 9_000_000_000
"""Numbers of orders that there are not: what is asked about them is answered at once, and shows how far it is."""
UNANSWERED = re.compile(r"\s*(DIRECT\s+)?(DRIVE|OK|KO)\b.*", re.IGNORECASE)
"""Lines that need no answer: a word of an older DRIVE, and what acknowledges."""
SELECT = re.compile(r"SELECT STRATEGY FOR (\d+) \[(.*)\]")
WAYS = ("left_arm", "right_arm", "push_with_left_arm", "leave_it", "candidate_1", "none_of_these")


def right(chance):
    """A line that is a command, and mostly one that makes sense."""
    number, far = chance.randint(1, 60), round(chance.uniform(-1.0, 1.0), 2)
    item = chance.choice(("antenna", "candidate_1", "candidate_1", "candidate_2", "stand"))
    line = chance.choice(
        [
            f"MOVE WALKING {chance.choice(('FORWARD', 'BACKWARD', 'LEFT', 'RIGHT'))} {number % 4 + 1} STEPS",
            f"MOVE TURNING {chance.choice(('LEFT', 'RIGHT'))} {number} DEGREES",
            f"MOVE HEAD {chance.choice(('LEFT', 'RIGHT', 'UP', 'DOWN'))} {number} DEGREES",
            f"GOTO {far} {far / 2}",
            *(f"{verb} OBJECT({item})" for verb in ("GOTO", "GRAB", "USE", "DROP")),
            f"DRIVE {far / 5} 0 {far / 4}",
            "DRIVE 0 0 0",
            "STOP",
            f"CANCEL {number * 20}",
            f"USE STRATEGY FOR {number * 20} {chance.choice(WAYS)}",
            f"SET walking.step {abs(far) / 4}",
            "QUERY PARAM goto.range",
            "QUERY SENSOR [head.pan]",
            "QUERY SENSOR []",
            "QUERY POSITION",
            f"POSITION {far} {far} 0.5",
            "NOTIFY [event, progress, warning]",
            "NOTIFY []",
            "HELP",
            "CONTROL BEGIN",
            "CONNECT operator",
        ]
    )
    if line == "STOP" and chance.random() < 0.7:
        return "QUERY POSITION"  # all else would never have its turn
    return f"DIRECT {line}" if chance.random() < 0.2 else line


def mutilated(chance):
    """A line that was a command before something was cut out, put in, doubled or swapped."""
    line = right(chance)
    at, to = sorted(chance.choices(range(len(line) + 1), k=2))
    words = line.split()
    chance.shuffle(words)
    odd = chance.choice(("\x00", "[", ")", "é", "-", "9" * 30, "nan", " ", "🤖", "OBJECT("))
    return chance.choice((line[:at] + line[to:], line[:at] + odd + line[at:], f"{line} {line}", " ".join(words)))


def broken(chance):
    """Bytes that mean nothing."""
    noise = chance.randbytes(chance.randint(1, 600)).replace(b"\n", b"").replace(b"\r", b"")
    return (b"!" + noise).decode(errors="replace")


class Wire:
    """A connection to a server; whatever is said, the answers to it are told from those to what comes after it."""

    def __init__(self, raw):
        self._raw, self._lines, self._mark = raw, raw.makefile("r"), MARK
        raw.sendall(b"CONNECT operator\nCONTROL BEGIN\n")
        assert [self._lines.readline().split()[0] for _ in range(2)] == ["OK", "OK"]

    def say(self, said):
        """What was heard after each line."""
        marked = [f"{line}\nUSE STRATEGY FOR {self._mark + n} x\n" for n, line in enumerate(said)]
        self._raw.sendall("".join(marked).encode(errors="replace"))
        return [self._heard(line) for line in said]

    def _heard(self, said):
        heard = []
        while (answer := self._lines.readline()) != f"KO nothing is to be decided for {self._mark}\n":
            assert answer, f"the server has hung up after {said!r}"
            heard.append(answer.rstrip("\n"))
        self._mark += 1
        return heard


class Counter:
    """A command server of this process, which is updated after every line."""

    def __init__(self, body):
        self._commands, self._now = CommandServer(body, rules=Rules(lines_per_second=1e9)), 0.0
        self._session = self._commands.open(True, 0.0)
        self.say(["CONNECT operator", "CONTROL BEGIN"])

    def say(self, said):
        """What was heard after each line."""
        return [self._heard(line) for line in said]

    def _heard(self, line):
        self._now += 0.02
        self._commands.line(self._session, line, self._now)
        self._commands.tick(self._now)
        heard, self._session.outbox[:] = list(self._session.outbox), []
        return heard


def fuzz(there, seed):
    """Say ten thousand lines, and see that each is answered; how often each word was the first of what was heard."""
    chance, asked, counts = random.Random(seed), [], collections.Counter()
    for _ in range(0, LINES, AT_ONCE):
        said = [chance.choice((right, right, mutilated, broken))(chance) for _ in range(AT_ONCE)]
        if asked:
            said[0] = f"USE STRATEGY FOR {asked[-1][0]} {chance.choice(asked[-1][1].split(', '))}"
        for line, heard in zip(said, there.say(said), strict=True):
            assert not any("unforeseen" in each for each in heard), (line, heard)
            if not UNANSWERED.fullmatch(line):
                assert any(each.startswith(("OK", "KO")) for each in heard), (line, heard)
            counts.update(each.split()[0] for each in heard)
            asked += [found.groups() for each in heard if (found := SELECT.fullmatch(each))]
    return counts


class MoodyBody(WillingBody):
    """Its controllers end or fail now and then, and what it sees comes and goes."""

    def __init__(self):
        super().__init__()
        self.chance = random.Random(5)
        self.walker.reports = self.hands.reports = self.reports
        self.legs.connected = self._connected

    def reports(self, number):
        if self.chance.random() < 0.2:
            return []
        stage = self.chance.choice((Stage.SUCCEEDED, Stage.SUCCEEDED, Stage.SUCCEEDED, Stage.FAILED))
        return [Report(number, stage, "as it happens", 0.0)]

    def _connected(self):
        if self.chance.random() < 0.002:
            raise NoController("it has just ended")
        return self.walker

    def news(self):
        if self.chance.random() < 0.3:
            self.seen.clear()
            for number in range(self.chance.randint(0, 3)):
                self.sees(f"candidate_{number + 1}", 0.5, self.chance.uniform(-0.4, 0.4))
        if self.chance.random() < 0.02:
            self.holds(self.chance.choice(("antenna", "candidate_1")), self.chance.choice(("left", "right")))
        return super().news()


@pytest.mark.slow
def test_a_body_whose_controllers_are_moody_answers_ten_thousand_lines():
    body = MoodyBody()
    counts = fuzz(Counter(body), 3)
    body.close()
    assert all(counts[word] > 50 for word in ("OK", "KO", "NOTIFY", "SELECT")), counts


@pytest.mark.slow
def test_a_simulated_robot_answers_ten_thousand_lines_and_goes_on_standing():
    with Rig() as rig:
        command = [*MAIN, "rcp", "--port", "0", "--no-walk", "--no-camera", "--name", NAME]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
            try:
                port = int(re.search(r":(\d+)", server.stdout.readline())[1])
                with socket.create_connection(("127.0.0.1", port), timeout=60.0) as raw:
                    fuzz(Wire(raw), 4)
                with Client(port=port) as other:
                    assert other.connect("operator"), "it is alive"
            finally:
                server.terminate()
            assert "Traceback" not in server.stderr.read()
        assert rig.upright
