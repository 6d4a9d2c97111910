"""The console: every command, as typed, on a robot that runs."""

import io
import math
import os
import pty
import subprocess
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from robot_processes import MAIN, daemon, end_all, kill_daemon, wait_for, wholebody

from wholebody import messages
from wholebody.channels import Channel
from wholebody.cli.console import completions, history_file
from wholebody.drivers import connect
from wholebody.errors import BadMessage, HardwareError, NoRobot, UnknownName
from wholebody.messages import Silence
from wholebody.operator.console import motion as console_motion
from wholebody.operator.console.commands import COMMANDS, execute, find
from wholebody.operator.console.motion import Move, Trapezoid
from wholebody.operator.console.session import Session

JOINTS = ("RSP", "RSR", "REB", "LSP")
DOCUMENTED = (
    "home homeAll iniSensors initializeAll initialize reset resetAll goto ctrl ctrlAll status statusAll "
    "mode step stop resume lease gains get update quit"
)


class Talk:
    """A console in this process, and what it said."""

    def __init__(self):
        self._output = io.StringIO()
        self.session = Session("", Console(file=self._output, width=200, highlight=False))

    def __call__(self, line):
        begin = self._output.tell()
        execute(self.session, line)
        return self._output.getvalue()[begin:]


@pytest.fixture
def talk():
    wholebody("start", "--driver", "loopback")
    talk = Talk()
    yield talk
    talk.session.close()
    end_all()


def joint(talk, name):
    return next(each for each in talk.session.look().joints if each.name == name)


# Moving.


def test_goto_arrives_and_tells_the_error_that_is_left(talk):
    said = talk("goto RSP 0.25")
    assert said.startswith("RSP at 0.25 rad after ")
    assert "mrad from it" in said
    assert joint(talk, "RSP").position == pytest.approx(0.25, abs=1e-3)
    assert joint(talk, "RSP").controller == "console"


def test_goto_waits_for_the_first_report_of_a_daemon_that_has_just_begun(talk, monkeypatch):
    reports = talk.session.watcher._report
    take, missing = reports.take, iter(range(5))
    monkeypatch.setattr(reports, "take", lambda: take() if next(missing, None) is None else None)
    assert talk.session.watcher.velocity_limits()["RSP"] > 0.0


@pytest.mark.slow
def test_goto_moves_several_joints_together_and_no_other(talk):
    before = {each.name: each.position for each in talk.session.look().joints}
    talk("goto rsp 0.2 REB -0.4")
    after = {each.name: each.position for each in talk.session.look().joints}
    assert {name for name in after if abs(after[name] - before[name]) > 1e-6} == {"RSP", "REB"}


@pytest.mark.slow
def test_goto_is_slower_if_told_and_never_faster_than_its_share(talk):
    talk("speed 0.05")
    states = Channel("robot.state").reader()
    states.latest()
    limit = talk.session.watcher.velocity_limits()["RSP"]
    talk("goto RSP 0.3")
    fastest = 0.0
    while states.next():
        fastest = max(fastest, abs(states.message["velocity"][16]))
    assert fastest <= 0.05 * limit * 1.5, "a state may come late, so two steps in one"
    with pytest.raises(BadMessage, match="share"):
        talk("speed 2")


def test_goto_beyond_the_range_is_refused_before_anything_moves_with_the_nearest_position(talk):
    with pytest.raises(BadMessage, match=r"RSP goes from -2\.967 to 2\.967 rad, not to -9: goto RSP -2\.967$"):
        talk("goto RSP -9")
    with pytest.raises(BadMessage, match=r"REB goes from -2\.496 to 0\.06981 rad, not to 3: goto REB 0\.069$"):
        talk("goto RSP 0.3 REB 3")
    with pytest.raises(BadMessage, match=r"give from 0\.001 to 1"):
        talk("speed 1e-300")
    picture = talk.session.look()
    assert not any(each.controller or each.command for each in picture.joints)
    assert sum(picture.refusals.values()) == 0
    talk("goto REB 0.069")  # as far as it was said to go


@pytest.mark.slow
def test_goto_where_another_controller_holds_a_lease_names_it(talk, monkeypatch):
    monkeypatch.setattr(console_motion, "SETTLE_SECONDS", 0.1)
    ended = threading.Event()

    def insist():
        with connect("walk", period=0.2, silence=Silence.HOLD, lease=True) as robot:
            while not ended.is_set() and robot.wait():
                robot.move({"RSP": 0.0})

    other = threading.Thread(target=insist)
    other.start()
    try:
        wait_for(lambda: joint(talk, "RSP").leased)
        with pytest.raises(HardwareError, match=r"RSP is leased to 'walk'; `lease end RSP` first"):
            talk("goto RSP 0.3")
        row = next(line for line in talk("lease").splitlines() if line.startswith("RSP"))
        assert row.split()[:3] == ["RSP", "walk", "yes"]
        assert "walk" in talk("lease end RSP")
    finally:
        ended.set()
        other.join()


def test_a_stopped_robot_moves_only_after_resume(talk):
    assert "stopped" in talk("stop")
    with pytest.raises(HardwareError, match="resume"):
        talk("goto RSP 0.1")
    assert talk.session.look().stopped
    assert [event.name for event in talk.session.look().events] == ["stop"]
    assert "a console" in wholebody("status").stdout
    talk("resume")
    talk("goto RSP 0.1")
    assert joint(talk, "RSP").position == pytest.approx(0.1, abs=1e-3)


def test_stop_needs_nobody_to_answer(talk):
    stops = Channel("robot.stop", messages.event()).reader()
    stops.latest()
    kill_daemon()
    talk.session.requests.stop()
    assert stops.latest(), "the emergency channel has it all the same"


@given(
    velocity=st.floats(0.01, 100),
    acceleration=st.floats(0.01, 100),
    share=st.floats(0, 1),
)
def test_a_trapezoid_keeps_its_limits_and_ends_at_rest(velocity, acceleration, share):
    profile = Trapezoid(velocity, acceleration)
    t, dt = share * profile.duration, profile.duration * 1e-4
    before, here, after = (profile.at(t + k * dt) for k in (-1, 0, 1))
    assert profile.at(0) == 0
    assert profile.at(profile.duration) == 1
    assert 0 <= before <= here <= after <= 1
    assert (after - here) / dt <= velocity * (1 + 1e-6)
    assert abs(after - 2 * here + before) / dt**2 <= acceleration * (1 + 1e-3)
    assert profile.at(profile.duration - t) == pytest.approx(1 - here, abs=1e-9), "the same backwards"


def test_the_slowest_joint_sets_the_pace():
    move = Move.plan({"A": 0.0, "B": 1.0}, {"A": 1.0, "B": 0.0}, {"A": 1.0, "B": 0.1})
    times = np.linspace(0, move.profile.duration, 1000)
    b = np.array([move.at(t)["B"] for t in times])
    assert np.abs(np.diff(b) / np.diff(times)).max() <= 0.1 * (1 + 1e-6)
    assert move.at(math.inf) == {"A": 1.0, "B": 0.0}


# Boards, modes, limits.


@pytest.mark.slow
def test_homing_ends_when_the_boards_say_so(talk):
    for line in ("home RSP", "homeAll", "home all"):
        assert "homed" in talk(line)


@pytest.mark.slow
def test_what_goes_to_the_boards_is_answered_by_them(talk):
    for line in ("iniSensors", "initialize RSP", "initializeAll", "reset RSP", "resetAll", "ctrl RSP 1", "ctrlAll on"):
        assert "always ready" in talk(line)
    assert "always ready" in talk("gains RSP 10 0 1")


@pytest.mark.slow
def test_mode_sets_how_a_reference_is_followed(talk):
    talk("mode RSP smooth 20")
    assert talk("mode RSP").split() == ["RSP", "smooth", "20"]
    assert talk("mode LSP").split() == ["LSP", "pass"]
    talk("mode all compliant 0.3")
    assert {line.split(maxsplit=1)[1].strip() for line in talk("mode").splitlines()} == {"compliant 0.3"}
    for line in ("mode RSP smoth 20", "mode RSP smooth", "mode RSP pass 1"):
        with pytest.raises((UnknownName, BadMessage)):
            talk(line)
    with pytest.raises(HardwareError, match="refused"):
        talk("mode RSP compliant 1.5")


@pytest.mark.slow
def test_a_step_limit_is_set_and_taken_back(talk):
    usual = talk.session.watcher.velocity_limits()["RSP"]
    talk("step RSP 0.001")
    wait_for(lambda: talk.session.watcher.velocity_limits()["RSP"] == pytest.approx(0.2))
    talk("step RSP default")
    wait_for(lambda: talk.session.watcher.velocity_limits()["RSP"] == pytest.approx(usual))
    with pytest.raises(BadMessage, match="give from 1e-09 to 10 rad per period, or `default`"):
        talk("step RSP -1")


@pytest.mark.slow
def test_status_get_and_update_show_the_joint_and_the_robot(talk):
    talk("goto RSP 0.2")
    said = talk("status RSP")
    assert said.startswith("RSP: driver on, control on, homed")
    assert "encoder         0.2000 rad" in said
    assert "current              –" in talk("get RSP"), "a loopback robot measures no current"
    assert "hubo2plus: running" in talk("update")
    table = talk("statusAll")
    assert all(name in table for name in ("RSP", "LF5", "moved by"))


# Words.


def test_every_documented_command_is_there_and_in_the_help(talk):
    helped = talk("help")
    for name in DOCUMENTED.split():
        assert find(name).name == name
        assert f"\n{name}" in f"\n{helped}"
    assert "offset" in talk("help home")


@pytest.mark.parametrize("typed", ["homeAll", "home-all", "HOMEALL", "home_all", "Home-All"])
def test_a_command_may_be_written_in_any_way(typed):
    assert find(typed).name == "homeAll"


@pytest.mark.parametrize(("typed", "near"), [("hom", "home"), ("statsAll", "statusAll"), ("gotoo", "goto")])
def test_an_unknown_command_offers_the_nearest(typed, near):
    with pytest.raises(UnknownName, match=f"'{near}'"):
        find(typed)


def test_an_unknown_joint_offers_the_nearest(talk):
    with pytest.raises(UnknownName, match="'RSP'"):
        talk("goto RSPP 0.1")


@pytest.mark.slow
def test_a_line_that_makes_no_sense_moves_nothing_and_says_how_to_write_it(talk):
    for line in ("goto", "goto RSP", "goto RSP x", "goto RSP nan", "ctrl RSP maybe", "home RSP LSP", "goto all 0"):
        with pytest.raises(BadMessage):
            talk(line)
    assert all(each.controller == "" for each in talk.session.look().joints)


@pytest.mark.slow
def test_comments_and_empty_lines_do_nothing(talk):
    assert talk("") == talk("   ") == talk("# goto RSP 1") == ""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ho", ["home ", "homeAll "]),
        ("goto R", ["RSP ", "RSR ", "REB "]),
        ("goto RSP 0.1 l", ["LSP "]),
        ("status RSP; get reb", ["REB "]),
        ("mode RSP s", ["smooth "]),
        ("home a", ["all "]),
        ("lease e", ["end "]),
        ("help iniS", ["iniSensors "]),
        ("stop ", []),
        ("nonsense R", []),
    ],
)
def test_tab_completes_commands_joints_and_modes(line, words):
    assert completions(line, JOINTS) == words


# As a program.


@pytest.mark.slow
def test_a_script_gets_an_exit_code(talk):
    run = wholebody("console", "-c", "goto RSP 0.1; status RSP")
    assert "RSP at 0.1 rad" in run.stdout
    run = wholebody("console", "-c", "goto REB 3; goto RSP 0.5", check=False)
    assert run.returncode == 1
    assert run.stderr.startswith("wholebody: REB goes from")
    assert joint(talk, "RSP").position == pytest.approx(0.1, abs=1e-3), "what fails ends it"
    assert wholebody("console", input="goto RSP 0.2\nquit\ngoto RSP 0.3\n").returncode == 0
    assert joint(talk, "RSP").position == pytest.approx(0.2, abs=1e-3)


def test_without_a_robot_it_says_how_to_start_one():
    run = wholebody("console", "-c", "homeAll", check=False)
    assert run.returncode == 1
    assert run.stderr == "wholebody: no robot called 'robot' is running; start one: wholebody start hubo2plus\n"


@pytest.mark.slow
def test_a_robot_that_has_gone_is_missed_and_one_that_came_back_is_found(talk):
    kill_daemon()
    with pytest.raises(NoRobot):
        talk("home RSP")
    wholebody("start", "--driver", "loopback")
    talk("goto RSP 0.1")


@pytest.mark.slow
def test_a_daemon_that_hangs_is_reported(talk):
    os.kill(daemon(), 19)  # SIGSTOP
    try:
        begin = time.monotonic()
        with pytest.raises(HardwareError, match="did not answer 'home' within 1 s"):
            talk.session.requests.request(messages.Verb.HOME, timeout=1.0)
        assert time.monotonic() - begin < 5
    finally:
        os.kill(daemon(), 18)  # SIGCONT


def test_in_a_terminal_it_completes_remembers_and_goes_on_after_an_error(talk, tmp_path):
    ours, theirs = pty.openpty()
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "TERM": "xterm", "INPUTRC": "/dev/null"}
    process = subprocess.Popen([*MAIN, "console"], stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    read = Reading(ours)
    read.until("robot> ")
    os.write(ours, b"goto RSPP 1\n")
    assert "closest: 'RSP'" in read.until("robot> ")
    os.write(ours, b"upd\t\n")
    assert "running" in read.until("robot> ")
    os.write(ours, b"quit\n")
    assert process.wait(20) == 0
    os.close(ours)
    assert "update" in (tmp_path / "wholebody" / "console_history").read_text()


def test_the_history_is_kept_where_state_belongs(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert history_file() == tmp_path / "wholebody" / "console_history"
    monkeypatch.delenv("XDG_STATE_HOME")
    assert history_file().parts[-4:-1] == (".local", "state", "wholebody")


class Reading:
    """What a terminal showed."""

    def __init__(self, file):
        self._file, self._rest = file, ""

    def until(self, text):
        while text not in self._rest:
            self._rest += os.read(self._file, 4096).decode(errors="replace")
        shown, _, self._rest = self._rest.partition(text)
        return shown


def test_commands_have_one_name_each():
    names = [command.name.lower() for command in COMMANDS]
    assert len(set(names)) == len(names)
