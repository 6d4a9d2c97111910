"""A user's own parts: a package that only PYTHONPATH knows adds one of each kind, and no file of ours is touched."""

import contextlib
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import urllib.request
from pathlib import Path
from unittest import mock

import pytest
from page_browser import address_of
from robot_processes import MAIN, end_all, wait_for, wholebody

from wholebody.behaviors import Goals
from wholebody.channels import directory
from wholebody.channels.subscription import Subscription
from wholebody.drivers import Names
from wholebody.errors import BadParameter, NoServer, WholebodyError
from wholebody.messages import Reference
from wholebody.operator.console.commands import execute
from wholebody.operator.console.session import Session
from wholebody.processes.lifecycle import beside
from wholebody.processes.registry import BEHAVIOR as BEHAVIOR_ROLE
from wholebody.processes.registry import running_as
from wholebody.services import Stage

ROOT = Path(__file__).resolve().parents[2]

ENTRY_POINTS = """\
[wholebody.robots]
lab_dreamer = lab.robot

[wholebody.tasks]
lab_level = lab.control:Level

[wholebody.constraints]
lab_locked = lab.control:Locked

[wholebody.controllers]
lab_wbosc = lab.control:LabWBOSC

[wholebody.drivers]
lab_paper = lab.control:Paper

[wholebody.clocks]
lab_clock = lab.control:hurried

[wholebody.transports]
lab_file = lab.control:IntoFile

[wholebody.stabilizers]
lab_lean = lab.balance:Lean
"""
ROBOT = """\
'''The laboratory's Dreamer.'''
from dataclasses import replace
from wholebody import robots

def robot():
    return replace(robots.load("dreamer"), name="lab_dreamer", title="Dreamer of the laboratory")
"""
CONTROL = '''\
"""What the laboratory controls with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np

from wholebody.constraints import Constraint
from wholebody.control import WBOSC
from wholebody.drivers import Loopback, SteadyClock
from wholebody.parameters import Bounds, Unit
from wholebody.tasks import Task


@dataclass(eq=False, repr=False)
class Level(Task):
    """Keep a frame at a height."""

    frame: str
    goal: Annotated[float, Unit("m"), Bounds(-2, 2)] = 0.0
    row_count = 1

    def error(self, snapshot):
        return self.goal - snapshot.position(snapshot.model.frame(self.frame))[2:]

    def jacobian(self, snapshot):
        return snapshot.jacobian(snapshot.model.frame(self.frame))[2:3]

    def bias(self, snapshot):
        return snapshot.bias(snapshot.model.frame(self.frame))[2:3]


@dataclass(eq=False, repr=False)
class Locked(Constraint):
    """A joint that a pin holds."""

    name: str
    joint: str
    row_count = 1

    def jacobian(self, snapshot):
        row = np.zeros((1, snapshot.model.nv))
        row[0, snapshot.model.column(self.joint)] = 1.0
        return row


class LabWBOSC(WBOSC):
    """WBOSC that counts."""

    def __init__(self, model, period: float = 0.001, note: str = "") -> None:
        super().__init__(model, period=period)
        Path(note).write_text("made")


class Paper(Loopback):
    """A robot of nothing but numbers."""


def hurried(period: float):
    """The beat of real time."""
    return SteadyClock(period)


class IntoFile:
    """A topic is a file; each value is a line."""

    def receive(self, topic, size, deliver):
        raise NotImplementedError

    def sender(self, topic):
        return Lines(topic)


class Lines:
    def __init__(self, path):
        self.file = open(path, "w")

    def send(self, time, values):
        print(json.dumps(list(values)), file=self.file, flush=True)

    def close(self):
        self.file.close()
'''
BALANCE = '''\
"""How the laboratory balances."""

from pathlib import Path

from wholebody.locomotion.balance.dcm_stabilizer import DcmStabilizer


class Lean(DcmStabilizer):
    """The standard, which says when it begins."""

    def reset(self):
        super().reset()
        Path(__file__).with_name("was_here").touch()
'''
CONFIGURATION = """\
name: lab
robot: lab_dreamer
servo_frequency: 200
interface: lab_paper
clock: lab_clock
controller: {{type: lab_wbosc, note: {folder}/made}}
tasks:
  - {{name: hand, type: lab_level, frame: right_palm, goal: 0.9}}
constraints:
  - {{name: torso, type: coactuation, master: torso_lower_pitch, slaves: [torso_upper_pitch]}}
  - {{name: pin, type: lab_locked, joint: {joint}}}
compound_task:
  - {{name: hand, priority: 1}}
constraint_set:
  - {{name: torso}}
  - {{name: pin}}
bindings:
  - {{parameter: tasks.hand.error, direction: output, topic: "{folder}/error", transport_type: lab_file}}
"""
BENCHMARK = '''\
"""How long nothing takes."""

from benchmarks.report import Report, Section


def run(quick, progress):
    return Report([Section("nothing at all", {"nothing": 0.0})])
'''


BEHAVIOR = '''\
"""How the laboratory nods."""

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from wholebody.behaviors import Goal
from wholebody.parameters import Bounds, Unit


@dataclass(frozen=True)
class Nod(Goal):
    """Say yes.

    times  how often
    angle  how far
    """

    times: Annotated[int, Unit("1"), Bounds(1, 100)] = 2
    angle: Annotated[float, Unit("rad"), Bounds(0.0, 0.6)] = 0.2
    mood: Literal["gay", "grave"] = "gay"

    def run(self, robot):
        rest, begin = robot.position("NKY"), robot.now
        while (share := 2.0 * (robot.now - begin) / self.times) < 1.0:
            yield share
            robot.move({"NKY": rest + self.angle * math.sin(math.tau * self.times * share)})
'''


def ours():
    """What our files contain, as far as git would see it."""
    files = (path for path in (ROOT / "wholebody").rglob("*") if path.suffix in (".py", ".pyi", ".c", ".h", ".yaml"))
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(autouse=True)
def no_file_of_ours_is_touched():
    before = ours()
    yield
    assert ours() == before


@pytest.fixture
def lab(tmp_path):
    """The environment of somebody who has the package on PYTHONPATH, as pip would have installed it."""
    package, told = tmp_path / "lab", tmp_path / "lab-1.0.dist-info"
    package.mkdir()
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: lab\nVersion: 1.0\n")
    (told / "entry_points.txt").write_text(ENTRY_POINTS)
    for name, text in (("__init__", ""), ("robot", ROBOT), ("control", CONTROL), ("balance", BALANCE)):
        (package / f"{name}.py").write_text(text)
    path = os.pathsep.join([str(tmp_path), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return os.environ | {"PYTHONPATH": path}


def test_an_own_robot_is_in_the_catalogue(lab):
    assert "Dreamer of the laboratory" in wholebody("robots", "show", "lab_dreamer", env=lab).stdout
    assert wholebody("robots", "show", "lab_dreamer", check=False).returncode == 1, "without the package there is none"


def test_own_robot_task_constraint_controller_driver_clock_and_transport_run_together(lab, tmp_path):
    (tmp_path / "lab.yaml").write_text(CONFIGURATION.format(folder=tmp_path, joint="left_elbow"))
    ran = json.loads(wholebody("run", tmp_path / "lab.yaml", "--seconds", 0.5, "--json", env=lab).stdout)
    assert ran["cycles"] > 10
    assert ran["faults"] == 0
    assert (tmp_path / "made").read_text() == "made", "by the controller"
    errors = [json.loads(line)[0] for line in (tmp_path / "error").read_text().splitlines()]
    assert len(errors) > 5, "by the transport"
    assert abs(errors[0]) > 0.001
    refused = wholebody("check", tmp_path / "lab.yaml", check=False)
    assert refused.returncode == 1, "without the package there is none of them"
    assert "no task 'lab_level'" in refused.stdout


def test_a_part_in_a_file_needs_no_package(tmp_path):
    (tmp_path / "parts.py").write_text(CONTROL)
    text = CONFIGURATION.format(folder=tmp_path, joint="left_elbow").replace("lab_dreamer", "dreamer")
    for name, attribute in (
        ("lab_paper", "Paper"),
        ("lab_clock", "hurried"),
        ("lab_wbosc", "LabWBOSC"),
        ("lab_level", "Level"),
        ("lab_locked", "Locked"),
        ("lab_file", "IntoFile"),
    ):
        text = text.replace(name, f'"{tmp_path}/parts.py:{attribute}"')
    (tmp_path / "lab.yaml").write_text(text)
    ran = json.loads(wholebody("run", tmp_path / "lab.yaml", "--seconds", 0.3, "--json").stdout)
    assert ran["cycles"] > 10
    assert (tmp_path / "error").read_text()
    (tmp_path / "lab.yaml").write_text(text.replace("parts.py:Level", "parts.py:Lever"))
    refused = wholebody("check", tmp_path / "lab.yaml", check=False)
    assert "no 'Lever' in" in refused.stdout + refused.stderr
    assert "Traceback" not in refused.stderr


def test_an_own_benchmark_is_a_file(tmp_path):
    (tmp_path / "nothing.py").write_text(BENCHMARK)
    ran = json.loads(wholebody("bench", tmp_path / "nothing.py", "--quick", "--json").stdout)
    assert ran["results"] == {"nothing": 0.0}


EXPERIMENT = '''\
"""How much nothing is."""

import sys


def main():
    print("| nothing |", *sys.argv[1:])


if __name__ == "__main__":
    main()
'''


def test_an_own_experiment_is_a_file(tmp_path):
    (tmp_path / "nothing.py").write_text(EXPERIMENT)
    assert wholebody("experiment", tmp_path / "nothing.py", "--seeds", 3).stdout == "| nothing | --seeds 3\n"
    refused = wholebody("experiment", tmp_path / "nothing_else.py", check=False)
    assert "there is no file" in refused.stderr


COMMAND = '''\
"""What the laboratory types."""

from typing import Annotated

import typer


def juggle(balls: Annotated[int, typer.Option(help="How many.")] = 3) -> None:
    """Juggle with balls."""
    print(f"{balls} balls")


deep = typer.Typer(help="Commands of commands.")


@deep.command()
def one() -> None:
    """The first."""


@deep.command()
def two() -> None:
    """The second."""
    print("two")
'''


def test_an_own_command_is_found_like_ours_by_entry_point_and_in_a_file(lab, tmp_path):
    (tmp_path / "lab" / "juggle.py").write_text(COMMAND)
    entries = tmp_path / "lab-1.0.dist-info" / "entry_points.txt"
    entries.write_text(f"{ENTRY_POINTS}\n[wholebody.commands]\njuggle = lab.juggle:juggle\ndeep = lab.juggle:deep\n")
    assert wholebody("juggle", "--balls", 5, env=lab).stdout == "5 balls\n"
    assert wholebody("deep", "two", env=lab).stdout == "two\n"
    shown = wholebody("--help", env=lab).stdout
    assert "Juggle with balls" in shown
    assert "start" in shown
    file = tmp_path / "lab" / "juggle.py"
    assert wholebody(file, "--balls", 4).stdout == "4 balls\n"
    assert wholebody(f"{file}:deep", "two").stdout == "two\n"
    assert wholebody("juggle", check=False).returncode == 2, "without the package there is none"


def test_a_command_of_others_that_is_broken_hides_no_other(lab, tmp_path):
    entries = tmp_path / "lab-1.0.dist-info" / "entry_points.txt"
    entries.write_text(f"{ENTRY_POINTS}\n[wholebody.commands]\njuggle = lab.nowhere:juggle\n")
    shown = wholebody("--help", env=lab)
    assert "start" in shown.stdout
    assert "'juggle' cannot be imported from lab.nowhere:juggle" in shown.stderr
    assert wholebody("juggle", env=lab, check=False).returncode == 1


def test_a_robot_in_a_file_needs_no_package(tmp_path):
    (tmp_path / "mine.py").write_text(ROBOT)
    assert "Dreamer of the laboratory" in wholebody("robots", "show", tmp_path / "mine.py").stdout


def test_an_own_stabilizer_has_a_name_like_ours(lab):
    told = wholebody("walk", "--help", env=lab | {"COLUMNS": "200"}).stdout
    assert "lab_lean" in told
    assert "dcm" in told
    refused = wholebody("walk", "--stabilizer", "lab_lean", check=False)
    assert "no stabilizer 'lab_lean'" in refused.stderr, "without the package there is none"


class Lines:
    """Somebody who talks to `wholebody rcp` over its socket."""

    def __init__(self, said):
        port, self.connect = re.search(r":(\d+): (CONNECT .*)", said).groups()
        self.socket = socket.create_connection(("127.0.0.1", int(port)), timeout=30)
        self.lines = self.socket.makefile("rw", newline="\n")

    def __enter__(self):
        for line in (self.connect, "CONTROL BEGIN"):
            assert self(line).startswith("OK")
        return self

    def __exit__(self, *_):
        self("CONTROL END")  # or the robot is stopped
        self.lines.close()
        self.socket.close()

    def __call__(self, line):
        """What is answered first."""
        print(line, file=self.lines, flush=True)
        return self.hears()

    def hears(self):
        return self.lines.readline().strip()


@pytest.fixture
def nodding(lab, tmp_path):
    """A robot that was started with a behaviour of the laboratory, and RCP, a page and its port beside it."""
    (tmp_path / "lab" / "head.py").write_text(BEHAVIOR)
    entries = tmp_path / "lab-1.0.dist-info" / "entry_points.txt"
    entries.write_text(f"{ENTRY_POINTS}\n[wholebody.behaviors]\nlab_nod = lab.head:Nod\n")
    wholebody("start", "hubo2plus", "--driver", "loopback", "--behavior", "lab_nod", env=lab)
    command = [*MAIN, "page", "--rcp", "0", "--port", "0", "--no-open", "--no-walk", "--no-camera"]
    page = subprocess.Popen(command, env=lab, stdout=subprocess.PIPE, text=True)
    said = [page.stdout.readline() for _ in range(3)]
    address, token = address_of(said).split("#token=")
    yield lab, address, said[1].replace("TOKEN", token)
    page.terminate()
    page.communicate(timeout=30)
    end_all()


def test_an_own_behaviour_in_one_file_is_told_by_console_rcp_page_and_python(nodding):
    lab, page, rcp = nodding
    shown = wholebody("console", "-c", "help nod; nod 1 10deg", env=lab).stdout
    assert "nod [times=2] [angle=0.2 rad] [mood=gay]" in shown
    assert "how often" in shown
    assert "nod: done" in shown
    for line, why in (
        ("nod times=101", "times = 101 is outside 1 … 100"),
        ("nod angle=40deg", "outside 0 … 0.6 rad"),
        ("nod 2 3kg", "angle is a number in rad or deg"),
        ("nod mood=sad", "mood is one of gay, grave"),
        ("nod nose=2", "no argument of nod 'nose'"),
    ):
        with contextlib.closing(Session()) as console, pytest.raises(WholebodyError, match=why):
            execute(console, line)

    with Lines(rcp) as says:
        assert ", NOD]" in says("HELP")
        assert says("HELP NOD") == "OK HELP nod [times=2] [angle=0.2 rad] [mood=gay]: Say yes."
        assert says("NOD times=101") == "KO COMMAND 1 FAILED times = 101 is outside 1 … 100"
        heard = [says("NOD 1 angle=0.1"), says.hears(), says.hears()]
        assert heard == [f"OK COMMAND 2 {stage}" for stage in ("QUEUED", "STARTED", "COMPLETED")]
        moving = Subscription(Names().reference("nod"), Reference)
        assert [says("NOD 100"), says.hears()] == ["OK COMMAND 3 QUEUED", "OK COMMAND 3 STARTED"]
        wait_for(lambda: moving.take().mask.any())
        heard = [says("DIRECT NOD 99"), says.hears(), says.hears()]
        assert heard == ["OK COMMAND 4 QUEUED", "OK COMMAND 3 INTERRUPTEDBY 4", "OK COMMAND 4 STARTED"]
        heard = [says("CANCEL 4"), says.hears(), says.hears()]
        assert heard[:2] == ["OK COMMAND 4 INTERRUPTEDBY 5", "OK COMMAND 5 STARTED"]
        assert heard[2].startswith("OK COMMAND 5 COMPLETED no walking controller runs: the daemon holds every joint")
        wait_for(lambda: not moving.take().mask.any())
        assert says("RESUME").startswith("OK RESUME")
    news = json.loads(urllib.request.urlopen(f"{page}robot.json", timeout=30).read())
    assert news["verbs"][0]["arguments"][1]["upper"] == 0.6

    with Goals() as robot:
        assert robot.nod(times=1).wait().stage is Stage.SUCCEEDED
        with pytest.raises(BadParameter, match="angle = 2 is outside"):
            robot.nod(angle=2)
        long = robot.say("nod 100")
        wait_for(long.reports)
        assert robot.nod(1).wait().stage is Stage.SUCCEEDED
        assert long.reports()[-1].stage is Stage.PREEMPTED


@pytest.mark.slow
def test_whoever_asked_hears_that_a_behaviour_was_killed_and_it_can_be_begun_again(nodding):
    lab, _, rcp = nodding
    with Goals() as robot, Lines(rcp) as says:
        asked = robot.nod(100)
        wait_for(asked.reports)
        os.kill(running_as(BEHAVIOR_ROLE, "", "lab_nod").process, signal.SIGKILL)
        with pytest.raises(NoServer, match=r"'robot\.nod' has ended"):
            asked.wait()
        wait_for(lambda: not says("HELP").endswith("NOD]"))
        assert "no command 'NOD'" in says("NOD 1")
        with contextlib.ExitStack() as stack, mock.patch.dict(os.environ, lab):
            stack.enter_context(beside(BEHAVIOR_ROLE, name="robot", behavior="lab_nod")).until_ready()
            assert robot.nod(1).wait().stage is Stage.SUCCEEDED
            wait_for(lambda: says("HELP").endswith(", NOD]"))
            assert [says("NOD 100"), says.hears()] == ["OK COMMAND 1 QUEUED", "OK COMMAND 1 STARTED"]
            os.kill(running_as(BEHAVIOR_ROLE, "", "lab_nod").process, signal.SIGKILL)
            assert says.hears() == "KO COMMAND 1 FAILED 'robot.nod' has ended"


@pytest.mark.slow
def test_a_behaviour_in_a_file_needs_no_package_and_ends_with_its_robot(tmp_path):
    (tmp_path / "head.py").write_text(BEHAVIOR)
    wholebody("start", "hubo2plus", "--driver", "loopback", "--behavior", f"{tmp_path}/head.py:Nod")
    try:
        assert "nod: done" in wholebody("console", "-c", "nod 1").stdout
        assert "behavior" in wholebody("stop").stdout
        assert not [each for each in directory.names() if each.startswith("robot.")]
    finally:
        end_all()
    refused = wholebody("start", "--driver", "loopback", "--behavior", f"{tmp_path}/head.py:Not", check=False)
    assert "no 'Not' in" in refused.stderr
    assert not [each for each in directory.names() if each.startswith("robot.")], "nothing began"


@pytest.mark.slow
def test_a_robot_walks_with_an_own_stabilizer(lab, tmp_path):
    options = (
        "--stabilizer",
        "lab_lean",
        "--order",
        "stand",
        "--order",
        "walk 0.2",
        "--no-film",
        "--fast",
        "--out",
        tmp_path / "out",
    )
    walked = wholebody("walk", "minihubo", *options, env=lab)
    assert (tmp_path / "lab" / "was_here").exists()
    assert "lab_lean" in (tmp_path / "out" / "report.md").read_text(), walked.stdout
