"""wholebody process: every process has a command, and all have it in one way."""

import inspect
import subprocess
import sys

import pytest
from robot_processes import end_all, wholebody

from wholebody.processes.main import main
from wholebody.processes.registry import DAEMON, ROLES, running_as


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    end_all()


def test_it_lists_every_role(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    said = capsys.readouterr().out
    assert all(role.name in said for role in ROLES.values())
    assert wholebody("process").stdout == said, "as one types it"


@pytest.mark.parametrize("name", ROLES)
def test_every_role_is_a_function_that_takes_a_name_or_a_plan(name):
    """But for the host, which is of a machine: it opens all robots that run there."""
    parameters = inspect.signature(ROLES[name].load()).parameters
    assert {"name", "plan"} & set(parameters) or name == "host"
    assert not ROLES[name].each or ROLES[name].each in parameters


@pytest.mark.parametrize(
    "command",
    [["wholebody.cli", "process"], pytest.param(["wholebody.processes"], marks=pytest.mark.slow)],
    ids=["wholebody", "python"],
)
def test_an_error_is_a_line_by_both_ways(command):
    arguments = ["walk", "--name", "nobody"]
    run = subprocess.run([sys.executable, "-m", *command, *arguments], capture_output=True, text=True, timeout=50)
    assert run.returncode == 1
    assert run.stderr == "walk: no robot called 'nobody' is running; start one: wholebody start hubo2plus\n"


@pytest.mark.parametrize("words", [["fly"], ["walk", "--speed", "3"], ["daemon"], ["daemon", "--plan", "none"]])
def test_a_role_that_there_is_not_and_an_option_that_it_has_not_are_refused(words, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert "usage: wholebody process" in capsys.readouterr().err


@pytest.mark.slow
def test_a_controller_typed_by_hand_knows_the_robot_that_runs():
    wholebody("start", "--driver", "loopback", "--name", "mine")
    assert running_as(DAEMON, "mine").robot == "hubo2plus"
    command = [sys.executable, "-m", "wholebody.processes", "walk", "--name", "mine", "--until", "999999999"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=50)
    assert run.returncode == -15, "and ends with a process that has ended already"
