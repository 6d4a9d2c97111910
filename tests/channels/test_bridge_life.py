"""Clocks that differ, nonsense that is asked for, and how a bridge ends."""

import contextlib
import signal
import socket
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from robot_processes import wait_for
from two_machines import STATE, newest, put, reader_of

from wholebody.channels.bridge.bridge import Bridge
from wholebody.channels.bridge.link import Answer, Exchange, FarClock
from wholebody.errors import BridgeError, IllegalName, WholebodyError

FAR_ROBOT = """
import sys
import numpy as np
from wholebody.channels import Channel
from wholebody.channels.bridge.bridge import Bridge
writer = Channel("hubo.state", np.dtype([("count", "<i8")])).writer()
with Bridge(listen=[sys.argv[1]], exports=["hubo.state"]):
    for count, line in enumerate(sys.stdin, 1):
        writer.message["count"] = count
        writer.put()
        print(count)
"""


def namespace(seconds):
    command = ["unshare", "--time", "--monotonic", str(seconds), "--fork", "--kill-child"]
    with contextlib.suppress(OSError):
        if subprocess.run([*command, "true"], capture_output=True).returncode == 0:
            return command
    pytest.skip(f"not permitted to make a time namespace of {seconds} s: the age across two clocks is not tested")


@pytest.mark.slow(but="far clock behind")
@pytest.mark.parametrize("seconds", [0, 100_000, -60], ids=["same clock", "far clock ahead", "far clock behind"])
def test_the_age_of_a_mirrored_message_is_true_whatever_the_far_clock_shows(far, near, port, seconds):
    prefix = namespace(seconds) if seconds else []
    robot = far.run(*prefix, sys.executable, "-c", FAR_ROBOT, port)

    def put_there():
        earliest = time.monotonic()
        robot.stdin.write("\n")
        robot.stdin.flush()
        robot.stdout.readline()
        return earliest, time.monotonic()

    def check(reader, earliest, latest):
        before = time.monotonic()
        age = reader.age
        assert before - latest - 0.1 <= age <= time.monotonic() - earliest + 0.1

    old = put_there()
    time.sleep(0.5)
    near.bridge("--connect", port, "--import", "hubo.state")
    reader = reader_of(near, "hubo.state")
    wait_for(lambda: newest(reader) == 1)
    check(reader, *old)
    fresh = put_there()
    wait_for(lambda: newest(reader) == 2)
    check(reader, *fresh)


@given(
    offset=st.integers(-(10**15), 10**15),
    ways=st.lists(st.tuples(st.integers(0, 10**8), st.integers(0, 10**8)), min_size=1, max_size=20),
)
def test_the_far_clock_is_known_to_half_a_round_trip_and_the_drift_since(offset, ways):
    clock, now, bounds = FarClock(), 10**16, []
    for there, back in ways:
        received = now + there + offset
        answer = Answer(1, 1, 1, received_ns=received, sent_ns=received + 1000)
        bounds.append(Exchange(now, answer, now + there + 1000 + back))
        clock.compare(bounds[-1])
        now += 500_000_000
    assert abs(clock.offset_ns - offset) <= min(one.uncertainty_ns(bounds[-1].arrived_ns) for one in bounds) + 1


def test_a_far_clock_that_stood_still_is_noticed_at_once():
    clock = FarClock()
    for asked, received, back in ((0, 50, 50), (10**9, 10**9 + 50, 50), (2 * 10**9, 10**9 + 50, 10**7)):
        clock.compare(Exchange(asked, Answer(1, 1, 1, received, received), asked + 50 + back))
    assert clock.offset_ns == pytest.approx(-(10**9), abs=10**7)


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"exports": ["x"]}, BridgeError, "endpoint"),
        ({"listen": ["127.0.0.1:1"]}, BridgeError, "export or to import"),
        ({"listen": ["127.0.0.1:1"], "exports": ["x"], "imports": ["x"]}, BridgeError, "'x' is both"),
        ({"listen": ["127.0.0.1:1"], "exports": ["../x"]}, IllegalName, "../x"),
        ({"listen": ["127.0.0.1:1"], "imports": ["a b"]}, IllegalName, "a b"),
        ({"listen": ["127.0.0.1"], "exports": ["x"]}, BridgeError, "HOST:PORT"),
        ({"listen": ["127.0.0.1:70000"], "exports": ["x"]}, BridgeError, "HOST:PORT"),
        ({"connect": ["udp/127.0.0.1:7000"], "exports": ["x"]}, BridgeError, "HOST:PORT"),
        ({"listen": ["127.0.0.1:1"], "exports": ["x"], "rate": 0}, BridgeError, "rate"),
        ({"listen": ["127.0.0.1:1"], "exports": ["x"], "rate": float("nan")}, BridgeError, "rate"),
        ({"listen": ["127.0.0.1:1"], "exports": [f"x{i}" for i in range(65)]}, BridgeError, "64"),
    ],
)
def test_nonsense_is_refused_before_anything_starts(arguments, kind, text):
    with pytest.raises(kind, match=text) as caught:
        Bridge(**arguments)
    assert isinstance(caught.value, WholebodyError)


def test_a_port_that_is_taken_is_a_clear_error(far, port):
    with socket.create_server(("127.0.0.1", int(port.split(":")[1]))):
        with pytest.raises(BridgeError, match="the port is taken"):
            Bridge(listen=[port], exports=["x"]).start()
        process = far.bridge("--listen", port, "--export", "x")
        assert process.communicate(timeout=20)[0] == ""
    err = far.said.read_text()
    assert process.returncode == 1
    assert err.startswith(f"wholebody: cannot listen on tcp/{port}: the port is taken")
    assert err.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_bridge_ends_cleanly_when_asked(far, port, number):
    process = far.bridge("--listen", port, "--export", "x", "--import", "y")
    assert "x export waiting for channel" in process.stdout.readline()
    process.send_signal(number)
    process.communicate(timeout=20)
    assert (process.returncode, far.said.read_text()) == (0, "")


def test_a_quiet_bridge_says_nothing(far, near, port):
    put(far.channel("x", STATE).writer(), 1)
    exporter = far.bridge("--listen", port, "--export", "x", "--quiet")
    near.bridge("--connect", port, "--import", "x", "--quiet")
    reader = reader_of(near, "x")
    wait_for(lambda: newest(reader) == 1)
    exporter.terminate()
    assert exporter.communicate(timeout=20)[0] + far.said.read_text() == ""


def test_a_bridge_can_be_opened_and_closed_many_times(near, port):
    for _ in range(10):
        with Bridge(listen=[port], exports=["x"], imports=["y"]) as bridge:
            assert [one.name for one in bridge.status()] == ["x", "y"]
        bridge.stop()


def test_without_zenoh_the_error_says_what_to_install():
    source = """
import sys
sys.modules["zenoh"] = None
from wholebody.cli import main
main()
"""
    command = [sys.executable, "-c", source, "bridge", "--listen", "127.0.0.1:1", "--export", "x"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=40)
    assert run.returncode == 1
    assert f"{sys.executable} -m pip install 'eclipse-zenoh>=" in run.stderr


def test_importing_the_bridge_does_not_load_zenoh():
    source = "import sys, wholebody.channels.bridge.bridge, wholebody.cli.channels; sys.exit('zenoh' in sys.modules)"
    subprocess.run([sys.executable, "-c", source], check=True, timeout=40)
