"""RCP over real sockets: many clients, slow ones, broken ones."""

import asyncio
import contextlib
import random
import socket
import subprocess
import sys
import threading
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rcp_body import QuickBody, SlowBody
from robot_processes import wait_for

from wholebody.errors import Refused
from wholebody.operator.rcp.client import Client
from wholebody.operator.rcp.command_server import CommandServer, Rules
from wholebody.operator.rcp.server import MOST_CLIENTS, Lines, Server


@contextlib.contextmanager
def serving(body, **rules):
    """A server in a thread of its own; gives its port."""
    loop, ready, port = asyncio.new_event_loop(), threading.Event(), []

    async def serve():
        async with Server(CommandServer(body, rules=Rules(**rules)), port=0) as server:
            port.append(server.port)
            ready.set()
            await server.serve()

    def run():
        asyncio.set_event_loop(loop)
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
        loop.close()

    task = loop.create_task(serve())
    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(10.0)
    try:
        yield port[0]
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(10.0)


@pytest.fixture
def quick():
    with serving(QuickBody()) as port:
        yield port


def test_an_order_is_given_in_one_line_and_waited_for(quick):
    with Client(port=quick) as robot:
        assert robot.connect("operator") == "CONNECTED local OPERATOR"
        robot.take_control()
        assert robot.do("MOVE WALKING FORWARD 3 STEPS") == "COMPLETED"
        with pytest.raises(Refused, match="WALKING goes"):
            robot.do("MOVE WALKING UP 3 STEPS")
        robot.give_control_back()


def test_what_becomes_of_an_order_while_one_asks_something_else_is_not_lost(quick):
    with Client(port=quick) as robot:
        robot.connect("operator")
        robot.take_control()
        first, second = (robot.begin(f"MOVE WALKING {way} 3 STEPS") for way in ("FORWARD", "BACKWARD"))
        time.sleep(0.2)
        assert robot.ask("QUERY POSITION") == "POSITION 0 0 1"
        assert robot.wait(second, 5.0) == "COMPLETED"
        assert robot.wait(first, 5.0) == "COMPLETED"


def test_what_the_robot_asks_while_one_asks_something_else_is_still_to_be_answered():
    body = SlowBody()
    with serving(body) as port, Client(port=port) as robot:
        robot.connect("operator")
        robot.take_control()
        grab, go, last = (robot.begin(line) for line in ("GRAB OBJECT(cup)", "GOTO 1 1", "GOTO 2 2"))
        assert robot.ask("QUERY POSITION") == "POSITION 0 0 1"
        assert f"{go} INTERRUPTEDBY" in robot.ask(f"CANCEL {go}")
        threading.Timer(0.5, body.finish).start()
        assert robot.wait(grab, 5.0, lambda ways: ways[1]) == "COMPLETED"
        assert body.begun[0][2] == "right_arm"
        assert robot.wait(go, 5.0).startswith("INTERRUPTEDBY")
        stop = robot.begin("STOP")
        assert robot.wait(last, 5.0) == f"INTERRUPTEDBY {stop}"


def test_fifty_clients_at_once_all_get_their_own_answers_and_one_at_a_time_has_control(quick):
    holding, most, done, failures = [], [], [], []

    def looks_on(robot, number):
        assert robot.connect("observer").endswith("OBSERVER")
        robot.ask("NOTIFY [control, progress, event, warning]")
        for _ in range(5):
            assert robot.ask("QUERY POSITION") == "POSITION 0 0 1"
            assert robot.ask("QUERY SENSOR [imu.roll]") == "SENSOR [imu.roll=0.01]"
            assert robot.ask("QUERY PARAM step.length").startswith("PARAM step.length")
            assert robot.ask("HELP").startswith("HELP")
            with pytest.raises(Refused, match="CONTROL BEGIN comes first"):
                robot.begin("MOVE WALKING FORWARD 1 STEPS")
        if number % 10 == 0:
            assert robot.do("STOP", 30.0)

    def commands(robot, number):
        robot.connect("operator")
        while not robot_is_had(robot):
            time.sleep(0.01)
        holding.append(number)
        most.append(len(holding))
        turn = robot.begin(f"MOVE TURNING LEFT {number + 1} DEGREES")
        robot.ask(f"SET step.length 0.{number + 1}")
        assert robot.ask("QUERY PARAM step.length") == f"PARAM step.length 0.{number + 1}", "nobody else set it"
        assert robot.wait(turn, 30.0).split()[0] in ("COMPLETED", "INTERRUPTEDBY")
        holding.remove(number)
        done.append(number)
        robot.give_control_back()

    def robot_is_had(robot):
        with contextlib.suppress(Refused):
            robot.take_control()
            return True
        return False

    def talk(number):
        try:
            with Client(port=quick) as robot:
                (commands if number < 8 else looks_on)(robot, number)
        except Exception as error:
            failures.append((number, repr(error)))

    threads = [threading.Thread(target=talk, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(50.0)
    assert not failures
    assert sorted(done) == list(range(8))
    assert set(most) == {1}


BEGIN = b"CONNECT operator\r\nCONTROL BEGIN\r\nMOVE WALKING FORWARD 9 STEPS\r\n"


@pytest.mark.parametrize(
    "before",
    [
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1:7878\r\nContent-Type: text/plain;charset=UTF-8\r\n\r\n",
        b"CONNECT 127.0.0.1:7878 HTTP/1.1\r\n",
        b"Origin: https://elsewhere.example\r\n",
        b"\x16\x03\x01\x02\n" * 5,
    ],
    ids=["request", "proxy", "header", "noise"],
)
def test_what_a_browser_sends_for_the_page_of_a_stranger_moves_nothing(before):
    body = SlowBody()
    with serving(body) as port, socket.create_connection(("127.0.0.1", port), timeout=10.0) as browser:
        browser.sendall(before + BEGIN)
        heard = b""
        with contextlib.suppress(ConnectionError):
            while data := browser.recv(4096):
                heard += data
        assert b"OK" not in heard
        with socket.create_connection(("127.0.0.1", port), timeout=10.0) as person:
            person.sendall(b"hello\n" + BEGIN)
            wait_for(lambda: body.begun)
        assert len(body.begun) == 1, "the control arm: the same lines without it"


def test_half_lines_and_many_lines_in_one_packet_are_the_same_to_it(quick):
    with socket.create_connection(("127.0.0.1", quick)) as raw:
        raw.sendall(b"CONNECT obs")
        time.sleep(0.05)
        raw.sendall(b"erver\r\nQUERY POSITION\nHELP\nQUERY POS")
        time.sleep(0.05)
        raw.sendall(b"ITION\n")
        lines = raw.makefile("r")
        answers = [lines.readline().split()[1] for _ in range(4)]
    assert answers == ["CONNECTED", "POSITION", "HELP", "POSITION"]


def test_ten_thousand_broken_lines_get_ten_thousand_refusals(quick):
    chance = random.Random(1)
    with socket.create_connection(("127.0.0.1", quick)) as raw:
        lines = raw.makefile("rb")
        raw.sendall(b"CONNECT operator\n")
        assert lines.readline().startswith(b"OK")
        for _ in range(100):
            junk = [bytes(b for b in chance.randbytes(chance.randint(1, 700)) if b != 10) + b"!" for _ in range(100)]
            raw.sendall(b"".join(line + b"\n" for line in junk))
            assert all(lines.readline().startswith(b"KO ") for _ in junk)
        raw.sendall(b"HELP\n")
        assert lines.readline().startswith(b"OK HELP")


def test_a_line_without_end_is_refused_and_costs_no_memory(quick):
    with socket.create_connection(("127.0.0.1", quick)) as raw:
        raw.sendall(b"x" * 5_000_000 + b"\nHELP\n")
        lines = raw.makefile("r")
        assert "bytes at most" in lines.readline()
        assert lines.readline().startswith("OK HELP")


def test_a_client_that_never_reads_is_cut_off_and_holds_nobody_up():
    with serving(SlowBody(), lines_per_second=1e9) as port:
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect(("127.0.0.1", port))
            deaf.settimeout(50.0)  # a busy machine takes long to read it all
            deaf.sendall(b"CONNECT operator\n")
            with contextlib.suppress(ConnectionError):
                for _ in range(20_000):
                    deaf.sendall(b"HELP\n" * 500)
                pytest.fail("it was never cut off")
        with Client(port=port) as other:
            assert other.connect("operator")


@pytest.mark.slow
def test_two_hundred_who_never_say_a_word_keep_nobody_out_for_good():
    with serving(QuickBody(), connect_within=1.0) as port, contextlib.ExitStack() as stack:
        idle = [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(MOST_CLIENTS)]
        wait_for(lambda: b"CONNECT within" in idle[-1].recv(100))

        def is_let_in():
            with contextlib.suppress(Refused, ConnectionError), Client(port=port) as late:
                return late.connect("observer")

        assert wait_for(is_let_in).endswith("OBSERVER")
        idle[0].settimeout(10.0)
        wait_for(lambda: not idle[0].recv(100))


def test_a_cut_connection_stops_the_robot():
    body = SlowBody()
    with serving(body) as port:
        with Client(port=port) as robot:
            robot.connect("operator")
            robot.take_control()
            robot.begin("MOVE WALKING FORWARD 9 STEPS")
            assert not body.stops
        wait_for(lambda: body.stops)


def test_control_is_lost_by_silence_and_can_be_had_again():
    with serving(SlowBody(), control_timeout=2.0) as port, Client(port=port) as first, Client(port=port) as second:
        first.connect("operator")
        second.connect("operator")
        first.take_control()
        with pytest.raises(Refused, match="has control"):
            second.take_control()
        wait_for(lambda: "NOTIFY control lost" in first.hear(20.0))
        second.take_control()


FLOOD = """
import itertools, socket, sys, threading
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as raw:
    raw.sendall(b"CONNECT observer\\n")
    print(raw.recv(100), flush=True)
    threading.Thread(target=lambda: all(iter(lambda: raw.recv(1 << 16), b"")), daemon=True).start()
    for number in itertools.count():
        raw.sendall(b"".join(b"CONTROK%d\\n" % (1000 * number + each) for each in range(1000)))
"""


@contextlib.contextmanager
def flooded(port, by):
    """Observers who say what is no command, as fast as they can."""
    command = [sys.executable, "-c", FLOOD, str(port)]
    floods = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(by)]
    try:
        assert all(b"OK CONNECTED" in each.stdout.readline() for each in floods)
        yield
        assert all(each.poll() is None for each in floods), "they go on all the while"
    finally:
        for each in floods:
            each.kill()
            each.communicate()


def silent_for(body, robot):
    """Seconds from the last word of who has control to the stop."""
    robot.take_control()
    robot.begin("MOVE WALKING FORWARD 9 STEPS")
    said, before = time.monotonic(), len(body.stops)
    wait_for(lambda: len(body.stops) > before)
    return time.monotonic() - said


@pytest.mark.slow
def test_observers_who_flood_the_server_neither_delay_the_stop_of_a_silent_holder_nor_one_that_is_said():
    body = QuickBody()
    with serving(body, control_timeout=1.5) as port, Client(port=port) as robot, Client(port=port) as bob:
        robot.connect("operator")
        bob.connect("observer")
        in_peace = silent_for(body, robot)
        with flooded(port, 3):
            assert silent_for(body, robot) < in_peace + 1.0
            said = time.monotonic()
            assert bob.do("STOP", 20.0) == "COMPLETED"
            assert time.monotonic() - said < 1.0


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=40), max_size=20), st.data())
def test_lines_are_the_same_however_they_come_in_pieces(lines, data):
    stream = "".join(f"{line}\n" for line in lines).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    taker = Lines()
    pieces = [stream[a:b] for a, b in pairwise([0, *cuts, len(stream)])]
    assert [line for piece in pieces for line in taker.take(piece)] == lines
