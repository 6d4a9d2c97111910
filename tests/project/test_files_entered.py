"""tools/files_entered.py: in how many files one cycle runs, at most."""

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
MOST = {"wave": 8, "walk": 18, "servo": 19, "move": 12}


@pytest.mark.slow(but="wave")
@pytest.mark.parametrize("scenario", MOST)
def test_one_cycle_runs_in_few_files(scenario):
    tool = [sys.executable, REPOSITORY / "tools" / "files_entered.py", scenario]
    ran = subprocess.run(tool, capture_output=True, text=True, timeout=200)
    assert ran.returncode == 0, ran.stderr
    title, *files = ran.stdout.splitlines()[-1 - ran.stdout.count("\n  ") :]
    assert title == f"{scenario}: {len(files)} files"
    assert 0 < len(files) <= MOST[scenario], ran.stdout
