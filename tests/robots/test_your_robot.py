"""docs/your_robot.md: each command of it, as one types it, on a file of links and joints alone."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from robot_processes import wholebody

from wholebody import robots
from wholebody.robots.formats.mjcf_writer import write_mjcf

PAGE = (Path(__file__).parents[2] / "docs" / "your_robot.md").read_text()
COMMANDS = re.findall(r"^wholebody .*$", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("yours")
    bare = replace(
        robots.load("hoap3"), name="small", groups={}, surfaces=(), sensors=(), postures={}, gains={}, gaps=()
    )
    (path / "small.xml").write_text(write_mjcf(bare))
    return path


@pytest.mark.slow
def test_every_command_of_the_page_does_what_it_says(folder):
    told = [re.findall(r'"[^"]*"|\S+', command)[1:] for command in COMMANDS]
    assert [words[:2] for words in told][:2] == [["robots", "adopt"], ["robots", "show"]]
    said = ""
    for words in told:
        run = wholebody(*(word.strip('"') for word in words), cwd=folder, timeout=250, check=words[1] != "check")
        said += run.stdout
    assert (folder / "small.png").is_file()
    assert "it stands after" in said


@pytest.mark.slow
def test_what_the_page_says_a_yaml_can_say_can_be_said(folder):
    example = next(each for each in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if "\njoints:" in each)
    (folder / "told.yaml").write_text(example)
    told = robots.load(folder / "told.yaml")
    assert (told.joint("L_KN").effort, told.joint("R_KN").velocity, told.joint("L_KN").upper) == (12, 6, 2.2)
    assert told.gains["R_AAA"].stiffness == 500
