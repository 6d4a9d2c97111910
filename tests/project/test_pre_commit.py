"""What is looked at before a commit is what `make lint` looks at, by tools of the project, with nothing downloaded."""

import shlex
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
REPOSITORIES = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
HOOKS = {hook["id"]: hook for each in REPOSITORIES for hook in each["hooks"]}


def test_nothing_is_downloaded():
    assert [each["repo"] for each in REPOSITORIES] == ["local"]
    assert {hook["language"] for hook in HOOKS.values()} == {"system"}
    assert all(hook["entry"].startswith(".venv/bin/") for hook in HOOKS.values())


def test_the_hooks_are_those_of_make_lint():
    makefile = (ROOT / "Makefile").read_text()
    assert set(HOOKS) == {"ruff", "ruff-format", "mypy"}
    for words in ("ruff check", "ruff format --check", "mypy"):
        assert f"$(BIN)/{words}" in makefile
        assert any(hook["entry"].startswith(f".venv/bin/{words}") for hook in HOOKS.values()), words


def ran(hook, *files):
    """What the hook's own command says of files."""
    program, *options = shlex.split(HOOKS[hook]["entry"])
    command = [Path(sys.executable).with_name(Path(program).name), *options, *files]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).returncode


def test_the_hooks_refuse_what_is_wrong_and_pass_what_is_right(tmp_path):
    wrong, right = tmp_path / "wrong.py", tmp_path / "right.py"
    wrong.write_text("import os\nx  =  1\n")
    right.write_text('"""Right."""\n\nx = 1\n')
    for hook in ("ruff", "ruff-format"):
        assert ran(hook, wrong) == 1
        assert ran(hook, right) == 0
