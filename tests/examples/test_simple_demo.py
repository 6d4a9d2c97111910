"""Hubo-Ach's simple demo (section 4.5) in four languages: they do the same, in no more lines than the docs say."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from compiled_example import compiled
from robot_processes import EXAMPLES, end_all, wait_for, wholebody

from wholebody.drivers import connect

FOLDER = EXAMPLES / "simple_demo"
DOCS = Path(__file__).parents[2] / "docs" / "channels.md"
COMMENTS = {".py": r'"""(?s:.*?)"""|#.*', ".c": r"/\*(?s:.*?)\*/", ".cpp": r"//.*", ".m": r"%(?!f).*"}


def statements(source):
    """Lines that are neither blank nor comments."""
    text = re.sub(COMMENTS[source.suffix], "", source.read_text())
    return sum(bool(line.strip()) for line in text.splitlines())


def run_as_written(source, folder):
    """Run the commands with which an example begins, but for the start of the robot."""
    if source.suffix == ".py":
        return [sys.executable, source]
    if source.suffix == ".m":
        wholebody("octave", "install", "--to", folder)
        return ["octave", "--no-gui", "--quiet", "--eval", f"addpath ('{folder}', '{FOLDER}'); simple_demo"]
    return [compiled(source, folder)]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["py", "c", "cpp", "m"])
def test_it_reads_a_joint_and_a_foot_and_moves_two_joints(ending, tmp_path):
    if ending == "m" and not (shutil.which("octave") and shutil.which("mkoctfile")):
        pytest.skip("apt install octave liboctave-dev")
    wholebody("start", "hubo2plus", "--driver", "loopback", "--filter", "smooth 20")
    try:
        command = run_as_written(FOLDER / f"simple_demo.{ending}", tmp_path)
        run = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert run.returncode == 0, run.stderr
        numbers = [float(each) for each in re.findall(r"= *(\S+)", run.stdout)]
        assert numbers == [pytest.approx(0.0, abs=1e-3), pytest.approx(0.0, abs=1e-3)]
        with connect("look") as robot:
            arrived = pytest.approx(-0.2, abs=0.01), pytest.approx(0.1, abs=0.01)
            wait_for(lambda: robot.wait() and (robot.position("LEB"), robot.position("RSP")) == arrived)
    finally:
        end_all()


def test_the_docs_say_how_many_lines_each_takes():
    rows = re.findall(r"^\| \[`simple_demo\.(\w+)`\]\(\S+\) \| (\d+) \| (\d+|–) \|$", DOCS.read_text(), re.MULTILINE)
    assert {ending: int(ours) for ending, ours, _ in rows} == {
        ending: statements(FOLDER / f"simple_demo.{ending}") for ending in ("py", "c", "cpp", "m")
    }
