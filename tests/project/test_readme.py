"""The README and the documentation say what is so."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import import_rule
import installing
import pytest
from robot_processes import end_all, wholebody

from wholebody import cli

REPOSITORY = Path(__file__).parents[2]
README = REPOSITORY / "README.md"
PAGES = [README, *sorted((REPOSITORY / "docs").glob("*.md"))]
TEXT = README.read_text()
EXTRAS = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def table(heading):
    """The rows of the README's table of which this is the first heading."""
    lines = TEXT[TEXT.index(f"| {heading} |") :].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def names_in(cell):
    return re.findall(r"`(\w+)`", cell)


@pytest.mark.parametrize("page", [README, REPOSITORY / "docs" / "channels.md"], ids=lambda page: page.stem)
def test_its_python_runs_as_it_stands(page):
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        run = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, timeout=30)
        assert run.returncode == 0, run.stderr
        assert run.stdout, "it shows something"


@pytest.mark.slow
def test_the_verb_of_your_own_runs_and_is_told_as_it_is_written_there(tmp_path):
    page = (REPOSITORY / "docs" / "behaviors.md").read_text()
    nod, head, people = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "nod.py").write_text(nod)
    (tmp_path / "head.py").write_text(head.replace("\n\nclass", "\nfrom nod import Nod\n\n\nclass", 1))
    lines = re.search(r"```\n(\$ wholebody start.*?)```", page, re.DOTALL)[1].splitlines()
    commands = [line.removeprefix("$ wholebody ") for line in lines if line.startswith("$")]
    assert len(commands) == 3
    try:
        said = [wholebody(*shlex.split(command), cwd=tmp_path).stdout for command in commands]
        ran = subprocess.run([sys.executable, "-c", people], capture_output=True, text=True, timeout=60)
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout == "nod [times=2] [angle=0.3 rad] [joint=NKY]\n"
    finally:
        end_all()
    assert all(line in "".join(said) for line in lines if not line.startswith("$"))
    sys_path = os.environ | {"PYTHONPATH": f"{tmp_path}:{REPOSITORY}"}
    wholebody("start", "hubo2plus", "--driver", "loopback", "--behavior", tmp_path / "head.py:Head", env=sys_path)
    try:
        assert "nod: done" in wholebody("console", "-c", "nod 1").stdout
    finally:
        end_all()


@pytest.mark.slow
def test_the_driver_of_your_own_runs_as_it_is_written_there(tmp_path):
    page = (REPOSITORY / "docs" / "robot_layer.md").read_text()
    section = page.partition("## A driver of your own")[2].partition("\n## ")[0]
    (python,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    (tmp_path / "mine.py").write_text(python)
    commands = re.findall(r"^\$ wholebody (.*?)(?:  +#.*)?$", section, re.MULTILINE)
    assert len(commands) == 5
    try:
        said = [wholebody(*shlex.split(command), cwd=tmp_path).stdout for command in commands]
    finally:
        end_all()
    assert "20 laws kept, 0 broken" in said[1]
    assert "hubo2plus runs" in said[2]
    assert "RSP at 0.1 rad" in said[3]


def test_every_command_that_is_named_exists():
    named = {name for page in PAGES for name in re.findall(r"[`$] ?wholebody ([a-z]+)(?![\w/])", page.read_text())}
    assert len(named) > len(cli.names()) / 2
    assert named <= set(cli.names())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_file_it_links_to_exists(page):
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text())
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


def test_only_tests_that_build_wheels_have_a_time_limit_of_their_own():
    marked = re.compile(r"pytest\.mark\.timeout\(")
    found = {path.name for path in (REPOSITORY / "tests").rglob("test_*.py") if marked.search(path.read_text())}
    assert found == {"test_portability.py"}


def test_every_make_target_it_names_exists():
    makefile = (REPOSITORY / "Makefile").read_text()
    targets = set(re.findall(r"[$`] ?make (\w+)", TEXT))
    assert {"demo", "test"} <= targets
    assert [target for target in sorted(targets) if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []


def test_the_table_of_extras_is_that_of_pyproject():
    rows = {name: libraries for names, libraries, _ in table("extra") for name in names_in(names)}
    assert list(rows) == sorted(rows, key=list(EXTRAS).index), "in the same order"
    assert set(rows) == set(EXTRAS)
    for extra, libraries in rows.items():
        if extra not in ("all", "build", "wheel", "dev"):
            assert libraries.split(", ") == [installing.name_of(each) for each in EXTRAS[extra]], extra


def test_the_extra_all_is_every_extra_above_it_with_the_same_versions():
    above = list(EXTRAS)[: list(EXTRAS).index("all")]
    assert sorted(EXTRAS["all"]) == sorted(each for extra in above for each in EXTRAS[extra])
    assert names_in(table("extra")[len(above)][0]) == ["all"]


def test_the_map_names_every_package_once():
    named = sorted(name for packages, _ in table("package") for name in names_in(packages))
    assert named == sorted(
        {each.name.split(".")[1] for each in import_rule.modules(REPOSITORY) if "." in each.name} - {"_kernels"}
    )
