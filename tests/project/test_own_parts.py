"""A user's own parts: a package that only PYTHONPATH knows adds one of each kind, and no file of ours is touched."""

import hashlib
import json
import os
from pathlib import Path

import pytest
from robot_processes import wholebody

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
