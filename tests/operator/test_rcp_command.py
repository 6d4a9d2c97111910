"""`wholebody rcp` as a person starts it, and as others then talk to the robot."""

import contextlib
import re
import shutil
import socket
import ssl
import subprocess
import urllib.error
import urllib.request

import pytest
from page_browser import BUNDLE, page_of
from robot_processes import MAIN, end_all, wait_for, wholebody

from wholebody.errors import Refused
from wholebody.operator.monitor.watcher import Watcher
from wholebody.operator.rcp.client import Client


@pytest.fixture
def robot():
    wholebody("start", "hubo2plus", "--driver", "loopback")
    yield
    end_all()


def make_certificate(folder):
    """A certificate and its key in a folder; a context that trusts it."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    make = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost"
    subprocess.run([*make.split(), "-addext", "subjectAltName=IP:127.0.0.1"], cwd=folder, check=True, timeout=60)
    return ssl.create_default_context(cafile=folder / "cert.pem")


@contextlib.contextmanager
def rcp(*options):
    """The server; gives its port."""
    command = [*MAIN, "rcp", "--port", "0", "--no-walk", *map(str, options)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield int(re.search(r":(\d+)", server.stdout.readline())[1])
        finally:
            server.terminate()


def heard(lines, pattern):
    """The next line that is as one says."""
    return next(found for line in lines if (found := re.fullmatch(pattern, line.strip())))


def test_a_person_with_nc_turns_the_head_and_stops_the_robot(robot):
    with rcp() as port, socket.create_connection(("127.0.0.1", port), timeout=20) as raw:
        lines = raw.makefile("r")
        raw.sendall(b"connect operator\ncontrol begin\nmove head up 10 degrees\n")
        said = [lines.readline().strip() for _ in range(5)]
        assert said[2:] == [f"OK COMMAND 1 {stage}" for stage in ("QUEUED", "STARTED", "COMPLETED")]
        raw.sendall(b"MOVE WALKING FORWARD 1 STEPS\n")
        assert "no walking controller runs" in lines.readline()
        raw.sendall(b"NOTIFY [warning]\nSTOP\n")
        held = [r"OK COMMAND \d+ COMPLETED .*", r"NOTIFY warning "]
        for line in held:  # other warnings may come, too
            heard(lines, f"{line}the daemon holds every joint; RESUME lets it go on")
        watcher = Watcher()
        wait_for(lambda: watcher.look().stopped)
        raw.sendall(b"RESUME\nQUERY SENSOR [joint.NK1]\n")
        heard(lines, "OK RESUME.*")
        assert float(heard(lines, r"OK SENSOR .*=(.*)]")[1]) < -0.05


@pytest.mark.slow
def test_a_robot_has_one_desk_and_a_second_is_told_where_it_is(robot):
    with rcp() as port:
        second = wholebody("rcp", "--port", "0", "--no-walk", check=False)
        assert second.returncode == 1
        assert f"RCP at 127.0.0.1:{port}, process" in second.stderr
    with rcp():
        pass


@pytest.mark.slow
def test_users_are_known_by_their_secrets_and_what_they_say_is_encrypted(robot, tmp_path):
    made = wholebody("rcp", "--new-user", "anne", "--role", "administrator")
    secret = made.stderr.split()[-1]
    users = tmp_path / "users.yaml"
    users.write_text(f"users:\n{made.stdout}")
    assert secret not in users.read_text()
    trusting = make_certificate(tmp_path)
    with rcp("--users", users, "--certificate", tmp_path / "cert.pem", "--key", tmp_path / "key.pem") as port:
        with Client(port=port, tls=trusting) as guest:
            assert guest.connect("operator").endswith("OBSERVER")
            with pytest.raises(Refused, match="observer cannot take control"):
                guest.take_control()
        with Client(port=port, tls=trusting) as anne:
            with pytest.raises(Refused, match="another secret"):
                anne.connect("operator", "anne", "guessed-it")
            assert "ADMINISTRATOR" in _patiently(lambda: anne.connect("operator", "anne", secret))
            anne.ask("SET goto.range 0.7")
            assert anne.ask("QUERY PARAM goto.range").endswith("0.7")
            with pytest.raises(Refused, match="outside"):
                anne.ask("SET goto.range 70")


@pytest.mark.slow
@pytest.mark.skipif(not BUNDLE.is_file(), reason="needs the page built with npm (make page)")
def test_a_page_with_a_certificate_speaks_to_nobody_in_the_clear(robot, tmp_path):
    trusting = make_certificate(tmp_path)
    options = ("--certificate", str(tmp_path / "cert.pem"), "--key", str(tmp_path / "key.pem"))
    with page_of("robot", *options) as address:
        address = address.partition("#")[0]
        assert address.startswith("https://")
        with urllib.request.urlopen(address, context=trusting, timeout=20) as answer:
            assert b"wholebody" in answer.read()
            assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
            urllib.request.urlopen(address, timeout=20)
        with pytest.raises((urllib.error.URLError, ConnectionError)):
            urllib.request.urlopen(address.replace("https", "http"), timeout=20)


def _patiently(connect):
    """Secrets are tried a few times a second and no more; who asks all the time is refused for that."""

    def connected():
        try:
            return connect()
        except Refused as error:
            if "try again" not in str(error):
                raise
            return None

    return wait_for(connected)


@pytest.mark.slow
def test_a_file_of_users_with_one_called_as_the_one_of_the_token_is_refused(tmp_path):
    users = tmp_path / "users.yaml"
    users.write_text("users:\n" + wholebody("rcp", "--new-user", "operator").stdout)
    run = wholebody("page", "--users", users, check=False)
    assert run.returncode == 1
    assert "has the address with the token" in run.stderr


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("users:\n  - {name: anne, role: operatr, hash: 'aa:bb'}\n", "users.yaml.*2.*operator"),
        ("users:\n  - {name: anne, role: operator, hash: secret}\n", "--new-user anne"),
        ("people: []\n", "a list 'users'"),
    ],
)
def test_a_file_of_users_that_cannot_be_right_is_refused_with_its_line(tmp_path, text, complaint):
    from wholebody.errors import BadConfiguration
    from wholebody.operator.rcp.users import read_users

    file = tmp_path / "users.yaml"
    file.write_text(text)
    with pytest.raises(BadConfiguration, match=complaint):
        read_users(file)
