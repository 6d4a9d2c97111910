"""No message is torn, misordered or lost and nobody stalls, whoever is killed or stopped (tests/torture/run.py)."""

import json
import subprocess
import sys

import pytest
from torture import programs


def torture(seconds, report, *options):
    command = [sys.executable, programs.HERE / "run.py", "--seconds", str(seconds), "--report", report, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50)
    assert report.exists(), done.stderr
    return done.returncode, json.loads(report.read_text()), done.stdout


@pytest.mark.slow
def test_no_message_is_torn_or_misordered_and_nobody_stalls_whoever_is_killed(tmp_path):
    code, summary, log = torture(10, tmp_path / "report")
    assert code == 0, log
    assert summary["broken"] == []
    assert (summary["torn"], summary["misordered"], summary["stalls"]) == (0, 0, 0)
    assert summary["kills"] > 100
    assert summary["stops"] > 10
    assert min(summary["put"], summary["read"]) > 10_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mistake", "law"),
    [
        ("a reader looks at the entry only once", "torn"),
        ("a writer publishes its slot, then fills it", "torn"),
        ("a writer reads the clock before it knows its sequence", "misordered"),
        ("a writer locks the others out while it puts", "stalls"),
    ],
)
def test_a_wrong_ring_is_found_out_within_seconds(mistake, law, tmp_path):
    ring = programs.make_mistake(mistake, tmp_path)
    for _ in range(5):  # on a busy machine few processes are killed in the one wrong moment
        code, summary, log = torture(4, tmp_path / "report", "--ring", ring)
        if code == 1:
            break
    assert code == 1, log
    assert summary[law] > 0
