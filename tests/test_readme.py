"""The README says what is so."""

import re
import subprocess
import sys
from pathlib import Path

from wholebody.cli import COMMANDS

REPOSITORY = Path(__file__).parents[1]
TEXT = (REPOSITORY / "README.md").read_text()


def test_its_python_runs_as_it_stands():
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert blocks
    for block in blocks:
        run = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, timeout=30)
        assert run.returncode == 0, run.stderr
        assert run.stdout, "it shows something"


def test_every_command_it_names_exists():
    named = set(re.findall(r"`wholebody (\w+)", TEXT))
    assert named
    assert named <= set(COMMANDS)


def test_every_file_it_links_to_exists():
    links = [link for link in re.findall(r"\]\(([^)]+)\)", TEXT) if "://" not in link]
    assert links
    assert [link for link in links if not (REPOSITORY / link).exists()] == []


def test_every_make_target_it_names_exists():
    makefile = (REPOSITORY / "Makefile").read_text()
    targets = set(re.findall(r"[$`] ?make (\w+)", TEXT))
    assert {"demo", "test"} <= targets
    assert [target for target in sorted(targets) if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []
