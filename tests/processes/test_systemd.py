"""Robots as services of systemd: units that it accepts, nothing started unasked; udev; logs of bounded size."""

import configparser
import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import warnings

import pytest
from robot_processes import daemon, wait_for

from wholebody.cli import service as command
from wholebody.cli.start import planned
from wholebody.errors import BadConfiguration, BadParameter, NotPermitted, UnknownName
from wholebody.processes import lifecycle, logs, systemd
from wholebody.processes.systemd import Unit, udev_rules

FULL = ["hubo2plus", "--driver", "full:buses=can0,can1", "--name", "lab", "--readable"]
AWKWARD = [*FULL, "--behavior", "nod", "--filter", "smooth 20", "--no-guard", "--on-miss", "stop", "--no-physics"]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Units of the user go there."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path


def parsed(unit):
    """A unit as data."""
    found = configparser.ConfigParser(strict=False, interpolation=None)
    found.optionxform = str
    found.read_string(unit.text())
    return found


def words_of(line):
    """The words of ExecStart, as systemd takes them."""
    return [word.replace("%%", "%").replace("$$", "$") for word in shlex.split(line)]


@pytest.mark.parametrize("words", [FULL, AWKWARD, ["--driver", "mini"]], ids=["full", "awkward", "mini"])
@pytest.mark.slow(but="mini")
def test_the_unit_starts_the_very_plan_that_was_asked_for_in_the_foreground(words, monkeypatch):
    monkeypatch.setattr("wholebody.cli.start.check_behaviors", lambda *_: None)
    unit = command.unit_of(words, False, "")
    line = words_of(parsed(unit)["Service"]["ExecStart"])
    assert line[:4] == [sys.executable, "-m", "wholebody.cli", "start"]
    assert "--foreground" in line
    assert planned([word for word in line[4:] if word != "--foreground"]) == planned(words)


def test_a_unit_starts_again_what_fails_with_real_time_rights_and_a_log_in_the_journal():
    unit = parsed(command.unit_of(FULL, True, "anne"))
    service = unit["Service"]
    assert (service["Restart"], service["KillMode"], service["StandardOutput"]) == ("on-failure", "mixed", "journal")
    assert int(service["LimitRTPRIO"]) > 70
    assert service["LimitMEMLOCK"] == "infinity"
    assert service["User"] == "anne"
    assert unit["Install"]["WantedBy"] == "multi-user.target"
    assert int(unit["Unit"]["StartLimitBurst"]) > 1, "not for ever, if it fails at once"


def test_the_group_of_a_robot_is_one_of_its_service():
    unit = Unit("lab", True, planned(FULL)[0], "robots", user="anne")
    assert parsed(unit)["Service"]["SupplementaryGroups"] == "robots"
    assert "--group robots" in unit.text()


def test_what_cannot_start_is_not_installed(home):
    for words, error in ((["hubo2plsu"], UnknownName), ([*FULL, "--on-miss", "fly"], UnknownName)):
        with pytest.raises(error):
            command.install(words)
    with pytest.raises(BadParameter, match="goes with --system"):
        command.install(FULL, as_user="anne")
    assert not list(home.rglob("*.service"))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
@pytest.mark.parametrize("system", [False, True], ids=["user", "system"])
def test_systemd_finds_nothing_wrong_with_a_unit(tmp_path, monkeypatch, system):
    monkeypatch.setattr("wholebody.cli.start.check_behaviors", lambda *_: None)
    unit = command.unit_of(AWKWARD, system, "")
    file = tmp_path / unit.service
    file.write_text(f"{unit.text()}\n")
    verify = ["systemd-analyze", "verify", "--man=no", *([] if system else ["--user"]), str(file)]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}

    def complaints():
        run = subprocess.run(verify, capture_output=True, text=True, env=environment)
        return [line for line in run.stderr.splitlines() if unit.service in line]

    assert not complaints()
    file.write_text(unit.text().replace("Restart=on-failure", "Restart=perhaps"))
    assert complaints(), "it reads it"


def test_install_writes_a_file_and_starts_nothing_and_remove_takes_it_away(capsys):
    unit = command.unit_of(["--driver", "mini"], False, "")
    command.install(["--driver", "mini"], dry_run=True)
    assert f"would write {unit.path}" in capsys.readouterr().out
    assert not unit.path.exists()
    command.install(["--driver", "mini"])
    assert unit.path.read_text() == f"{unit.text()}\n"
    said = capsys.readouterr().out
    assert "nothing is started" in said
    assert f"systemctl --user enable --now {unit.service}" in said
    assert daemon() is None
    command.status()
    assert str(unit.path) in capsys.readouterr().out
    command.remove()
    assert not unit.path.exists()
    with pytest.raises(BadConfiguration, match=r"there is no .*wholebody-robot\.service"):
        command.remove()


def test_one_that_runs_is_not_removed(monkeypatch, tmp_path):
    tool = tmp_path / "systemctl"
    tool.write_text('#!/bin/sh\ncase "$*" in *is-active*) echo active;; esac\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    command.install(["--driver", "mini"])
    with pytest.raises(Exception, match="end it first: systemctl --user stop wholebody-robot"):
        command.remove()
    assert Unit("robot").path.exists()


def test_the_machines_folder_needs_root(monkeypatch, tmp_path):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.write_text", refuse)
    with pytest.raises(NotPermitted, match=r"run this as root \(sudo\)"):
        systemd.write(tmp_path / "unit", "text")


# Devices.

RULE = re.compile(r'(?:[A-Z]+(?:\{\w+\})?(?:==|=|\+=)"[^"]*"(?:, )?)+')


def test_rules_of_udev_are_rules_for_can_serial_lines_and_gamepads():
    lines = [line for line in udev_rules("robots").splitlines() if line and not line.startswith("#")]
    assert all(RULE.fullmatch(line) for line in lines), 'each is of KEY=="value" parts'
    group = 'GROUP="robots"'
    for device, what in (("can[0-9]*", "bitrate 1000000"), ("ttyUSB", group), ("js[0-9]*", group)):
        assert any(device in line and what in line for line in lines)
    with pytest.raises(UnknownName, match="no group"):
        command.udev(members="no-such-group")


# Logs.


def test_a_log_is_put_aside_a_few_times_and_no_line_before_is_lost(tmp_path):
    log = tmp_path / "robot.log"
    for number in range(6):
        log.write_text(f"{number}\n")
        logs.rotate(log)
        assert log.read_text() == ""
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {
        "robot.log": "",
        "robot.log.1": "5\n",
        "robot.log.2": "4\n",
        "robot.log.3": "3\n",
    }
    log.write_text("small")
    logs.rotate(log, most=5)
    assert log.read_text() == "small"
    logs.rotate(tmp_path / "nobody.log")


WRITER = """
import itertools, time
for number in itertools.count():
    print(number, flush=True)
    time.sleep(1e-4)
"""


def test_what_a_process_says_for_weeks_is_of_bounded_size_and_the_newest_is_there(tmp_path):
    log = tmp_path / "robot.log"
    with log.open("ab") as output, subprocess.Popen([sys.executable, "-c", WRITER], stdout=output) as process:
        logs.keep_small(log, most=2000, every=0.02)
        wait_for(lambda: (tmp_path / "robot.log.3").exists())
        until = time.monotonic() + 0.3
        while time.monotonic() < until:
            with contextlib.suppress(FileNotFoundError):
                assert sum(each.stat().st_size for each in tmp_path.iterdir()) < 4 * 40_000
        process.kill()
    files = [log, *(tmp_path / f"robot.log.{number}" for number in (1, 2, 3))]
    numbers = [int(word) for each in reversed(files) for word in each.read_text().split()]
    assert numbers == sorted(numbers), "the oldest first"
    assert len(numbers) > 0.9 * (numbers[-1] - numbers[0])


@pytest.mark.slow
def test_processes_keep_their_log_small_and_the_log_of_a_run_before_stays(monkeypatch):
    from robot_processes import end_all, wholebody

    log = lifecycle.log_file("robot")
    try:
        wholebody("start", "--driver", "loopback")
        wholebody("stop")
        before = log.read_text()
        wholebody("start", "--driver", "loopback")
        assert log.with_name("robot.log.1").read_text() == before, "why it ended can still be read"
        with warnings.catch_warnings(), log.open("ab") as output:
            output.write(b"x" * (logs.MOST_BYTES + 1))
        wait_for(lambda: log.stat().st_size < logs.MOST_BYTES)
        assert log.with_name("robot.log.2").read_text() == before
    finally:
        end_all()
