"""Nothing of ours is reached by other machines without token and TLS, and no secret is in a process list or a log."""

import contextlib
import re
import shutil
import socket
import ssl
import stat
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from page_browser import BUNDLE, address_of
from robot_processes import MAIN, end_all, wait_for, wholebody

from wholebody import robots, security
from wholebody.channels import Channel
from wholebody.channels.bridge.bridge import Bridge
from wholebody.channels.bridge.gateway import Gateway
from wholebody.drivers import Loopback, SteadyClock
from wholebody.drivers.datagrams import Kind
from wholebody.drivers.udp import UdpRobot, UdpServer
from wholebody.errors import BadConfiguration, NoRobot, NotSecured, Refused
from wholebody.operator.rcp.client import Client
from wholebody.parameters.transports import Udp
from wholebody.processes import lifecycle

ROBOT = robots.load("minihubo")
COUNT = np.dtype([("count", "<i8")])
needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
needs_zenoh = pytest.mark.skipif(not find_spec("zenoh"), reason="eclipse-zenoh is not installed")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder for keys, in which there are none."""
    monkeypatch.setenv("WHOLEBODY_KEYS", str(tmp_path / "keys"))
    for each in ("WHOLEBODY_TOKEN", "WHOLEBODY_INSECURE"):
        monkeypatch.delenv(each, raising=False)
    yield tmp_path / "keys"
    end_all()


@pytest.fixture
def made(folder):
    """The same, with keys."""
    security.make(["robot.local", "192.168.1.5"])
    return folder


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# Keys.


@needs_openssl
def test_keys_are_the_users_alone_and_good_for_the_names_that_were_given(made):
    for name in ("robot.key", "token"):
        assert stat.S_IMODE((made / name).stat().st_mode) == 0o600
    shown = subprocess.run(
        ["openssl", "x509", "-in", made / "robot.pem", "-noout", "-text"], capture_output=True, text=True, check=True
    ).stdout
    assert "DNS:robot.local" in shown
    assert "IP Address:192.168.1.5" in shown
    before = (made / "token").read_text()
    security.make()
    assert (made / "token").read_text() == before, "what is there stays"
    assert before not in repr(security.keys())


@pytest.mark.parametrize("name", ["token", "robot.key"])
def test_a_secret_that_others_may_read_is_refused(folder, name):
    folder.mkdir()
    (folder / name).write_text("a" * 24)
    (folder / name).chmod(0o640)
    with pytest.raises(BadConfiguration, match=rf"others may read; run: chmod 600 .*{name}"):
        security.keys()


@pytest.mark.parametrize("word", ["short", "with a space in it, and long", "ümlaute sind keine buchstaben"])
def test_a_word_that_is_no_token_is_refused(monkeypatch, word):
    monkeypatch.setenv("WHOLEBODY_TOKEN", word)
    with pytest.raises(BadConfiguration, match="is no token: give 16 letters"):
        security.token()


@pytest.mark.parametrize(
    ("host", "ours"),
    [
        *(("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("[::1]", True), ("localhost", True)),
        *(("0.0.0.0", False), ("::", False), ("", False), ("192.168.1.5", False), ("no such host.invalid", False)),
    ],
)
def test_which_addresses_are_of_this_machine_alone(host, ours):
    assert security.is_loopback(host) == ours


# Refusals.


@pytest.mark.parametrize("what", ["page", "rcp", pytest.param("bridge", marks=needs_zenoh)])
def test_a_command_does_not_listen_beyond_this_machine_without_keys(what):
    more = {"page": ["--port", 0], "rcp": ["--port", 0], "bridge": ["--export", "x"]}[what]
    where = ["--listen", f"0.0.0.0:{free_port()}"] if what == "bridge" else ["--host", "0.0.0.0"]
    run = wholebody(what, *where, *more, check=False)
    assert run.returncode == 1
    assert re.search(r"would listen at 0\.0\.0\.0, where others reach it, without TLS", run.stderr)
    assert "wholebody keys make" in run.stderr
    assert "--insecure" in run.stderr


@needs_zenoh
def test_links_and_gateways_do_not_either_and_say_loudly_if_they_are_told_to(capfd):
    for make in (
        lambda **more: Bridge([f"0.0.0.0:{free_port()}"], exports=["x"], **more),
        lambda **more: Gateway(f"0.0.0.0:{free_port()}", **more),
    ):
        with pytest.raises(NotSecured, match="without TLS and without a token"), make():
            pass
        with make(insecure=True):
            pass
        assert "INSECURE: the link between machines listens at 0.0.0.0 without TLS" in capfd.readouterr().err


def test_udp_does_not_either(monkeypatch, capfd):
    def server(**more):
        return UdpServer(ROBOT, Loopback(ROBOT), SteadyClock(0.005), ("0.0.0.0", 0), **more)

    with pytest.raises(NotSecured, match=r"the UDP server would listen at 0\.0\.0\.0.*without a token"):
        server()
    server(insecure=True).close()
    assert "INSECURE" in capfd.readouterr().err
    with pytest.raises(NotSecured, match="the parameter bound to udp:0"):
        Udp().receive("0.0.0.0:9000", 3, print)
    Udp().receive(f":{free_port()}", 3, print).close()  # no host: this machine
    monkeypatch.setenv("WHOLEBODY_TOKEN", "a-token-of-many-letters")
    server().close()


# Links.


@needs_openssl
@needs_zenoh
@pytest.mark.parametrize(
    ("changed", "passes"),
    [("nothing", True), ("token", False), ("certificate", False), ("plain", False)],
)
@pytest.mark.slow
def test_a_bridge_lets_in_who_has_certificate_and_token_and_nobody_else(made, tmp_path, monkeypatch, changed, passes):
    port = free_port()
    with Channel("hubo.count", COUNT) as channel, channel.writer() as writer:
        with Bridge([f"0.0.0.0:{port}"], exports=["hubo.count"]):
            other = tmp_path / "other"
            shutil.copytree(made, other)
            (other / "robot.key").unlink()
            monkeypatch.setenv("WHOLEBODY_KEYS", str(other))
            monkeypatch.setenv("WHOLEBODY_CHANNELS", str(tmp_path / "there"))
            if changed == "token":
                (other / "token").write_text("another-token-of-many-letters")
            if changed == "certificate":
                monkeypatch.setenv("WHOLEBODY_KEYS", str(tmp_path / "third"))
                security.make()
                shutil.copy(made / "token", tmp_path / "third" / "token")
            scheme = "" if changed == "plain" else "tls/"
            with Bridge(connect=[f"{scheme}127.0.0.1:{port}"], imports=["hubo.count"]):
                until = time.monotonic() + (40.0 if passes else 5.0)
                while not (arrived := (tmp_path / "there" / "hubo.count").exists()) and time.monotonic() < until:
                    writer.message["count"] += 1
                    writer.put()
                    time.sleep(0.02)
        assert arrived == passes


class Pair:
    """A UDP server and a robot, each with a token."""

    def __init__(self, monkeypatch, theirs, ours):
        monkeypatch.setenv("WHOLEBODY_TOKEN", theirs)
        self.interface = Loopback(ROBOT)
        self.server = UdpServer(ROBOT, self.interface, SteadyClock(0.005))
        monkeypatch.setenv("WHOLEBODY_TOKEN", ours)
        self.far = UdpRobot(ROBOT, self.server.address, timeout=0.3)

    def move(self):
        """Have the far side greet, and tell joint 3 a position for some cycles."""
        state, reference = (np.zeros(1, each)[0] for each in (ROBOT.state_dtype(), ROBOT.reference_dtype()))
        reference.mask[:] = True
        reference.position[3] = 0.1
        self.far._wire.send(Kind.HELLO, self.server.address)
        for _ in range(5):
            self.server.cycle()
            self.far.read(state)
            self.far.write(reference)
        self.server.cycle()


@pytest.mark.parametrize(
    ("theirs", "ours", "passes"),
    [
        ("the-right-token-of-both", "the-right-token-of-both", True),
        ("the-right-token-of-both", "another-token-of-mine", False),
        ("the-right-token-of-both", "", False),
        ("", "the-right-token-of-both", False),
    ],
)
def test_udp_lets_in_who_has_the_token(monkeypatch, theirs, ours, passes):
    pair = Pair(monkeypatch, theirs, ours)
    pair.move()
    assert (pair.interface._commanded[3] == 0.1) == passes
    assert (pair.server.counters.garbage == 0) == passes
    assert (pair.server._controller is not None) == passes
    pair.far._wire.close()
    pair.server.close()


def test_udp_that_is_recorded_and_sent_again_moves_nothing(monkeypatch):
    pair = Pair(monkeypatch, "the-right-token-of-both", "the-right-token-of-both")
    recorded, send = [], pair.far._wire._socket.sendto

    class Recorder:
        def __getattr__(self, name):
            return getattr(pair_socket, name)

        def sendto(self, data, to):
            recorded.append(bytes(data))
            return send(data, to)

    pair_socket = pair.far._wire._socket
    pair.far._wire._socket = Recorder()
    pair.move()
    assert pair.interface._commanded[3] == 0.1
    pair.server.close()
    interface = Loopback(ROBOT)
    monkeypatch.setenv("WHOLEBODY_TOKEN", "the-right-token-of-both")
    with UdpServer(ROBOT, interface, SteadyClock(0.005)) as again, socket.socket(type=socket.SOCK_DGRAM) as replay:
        for data in recorded:
            replay.sendto(data, again.address)
            again.cycle()
        assert interface._commanded[3] == 0.0, "it was for another that ran before"
        assert again.counters.garbage == len(recorded) - 1, "a greeting is believed, and moves nothing"
    pair_socket.close()


def test_a_robot_with_another_token_says_so(monkeypatch):
    pair = Pair(monkeypatch, "the-right-token-of-both", "another-token-of-mine")
    with pytest.raises(NoRobot, match="with our token"), pair.far:
        pass
    pair.server.close()


# People.


@contextlib.contextmanager
def serving(*command):
    """A command that serves; the lines that it says."""
    with subprocess.Popen([*MAIN, *map(str, command)], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


def patiently(connect):
    """Connect, as soon as secrets may be tried again."""

    def connected():
        try:
            return connect()
        except Refused as error:
            if "try again" not in str(error):
                raise
            return None

    return wait_for(connected)


@needs_openssl
@pytest.mark.slow
def test_rcp_beyond_this_machine_is_encrypted_and_wants_the_token(made):
    wholebody("start", "hubo2plus", "--driver", "loopback")
    with serving("rcp", "--host", "0.0.0.0", "--port", 0, "--no-walk") as process:
        port = int(re.search(r"RCP is at 0\.0\.0\.0:(\d+), encrypted", process.stdout.readline())[1])
        trusted = ssl.create_default_context(cafile=made / "robot.pem")
        with Client("127.0.0.1", port, tls=trusted) as guest:
            guest.connect("operator")
            with pytest.raises(Refused):
                guest.take_control()
        with Client("127.0.0.1", port, tls=trusted) as guesser, pytest.raises(Refused, match="no such user"):
            patiently(lambda: guesser.connect("operator", "operator", "a-guess-of-some-letters"))
        with Client("127.0.0.1", port, tls=trusted) as operator:
            patiently(lambda: operator.connect("operator", "operator", (made / "token").read_text()))
            operator.take_control()
        with pytest.raises(ssl.SSLError):
            Client("127.0.0.1", port, tls=ssl.create_default_context())


@needs_openssl
@pytest.mark.skipif(not BUNDLE.is_file(), reason="needs the page built with npm (make page)")
@pytest.mark.slow
def test_no_secret_is_in_a_process_list_or_a_log(made):
    wholebody("start", "hubo2plus", "--driver", "loopback")
    with (
        serving("page", "--host", "0.0.0.0", "--port", 0, "--rcp", 0, "--no-walk", "--no-camera") as page,
        serving("bridge", "--listen", f"0.0.0.0:{free_port()}", "--export", "robot.state") as bridge,
    ):
        said = [page.stdout.readline() for _ in range(3)]
        said.append(bridge.stdout.readline())
        address, token = address_of(said).split("#token=")
        assert address.startswith("https://")
        secret = [token, (made / "token").read_text(), *(made / "robot.key").read_text().splitlines()[1:-1]]
        lists = [arguments(each) for each in Path("/proc").glob("[0-9]*/cmdline")]
        assert any("robot.state" in each for each in lists), "they are there"
        logs = [each.read_text(errors="replace") for each in lifecycle.runtime_folder().glob("*.log")]
        for word in secret:
            assert not [each for each in (*lists, *logs, *said) if word in each]
        file = next(lifecycle.runtime_folder().glob("*.page.html"))
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not file.exists()


def arguments(path):
    """What a process was started with; nothing if it has gone."""
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError:
        return ""
