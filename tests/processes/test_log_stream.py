"""What processes of a robot print costs lines, and never the process: where the disk is full, or nobody reads."""

import os
import subprocess
import sys

import pytest

from wholebody.processes.log_stream import LogStream

SAYS = """
import sys, time
from wholebody.processes.log_stream import LogStream
sys.stdout = LogStream(1) if sys.argv[1] == "ours" else sys.stdout
for number in range(3):
    print("line", number, flush=True)
open(sys.argv[2], "w").write("it lives on")
"""


def test_lines_that_cannot_be_written_are_counted_where_they_can_be_again(tmp_path):
    file = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
    full = os.open("/dev/full", os.O_WRONLY)
    kept = os.dup(file)
    stream = LogStream(file)
    print("one", 1, file=stream)
    os.dup2(full, file)
    print("two\nthree", file=stream, flush=True)
    os.dup2(kept, file)
    print("four", file=stream)
    assert (tmp_path / "log").read_text() == ("one 1\n(2 lines are missing here: No space left on device)\nfour\n")
    for each in (file, full, kept):
        os.close(each)


@pytest.mark.parametrize("whose", ["ours", "Python's"])
def test_a_process_whose_log_nobody_reads_any_more_goes_on(whose, tmp_path):
    reads, writes = os.pipe()
    os.close(reads)
    subprocess.run([sys.executable, "-c", SAYS, whose, tmp_path / "done"], stdout=writes, stderr=subprocess.DEVNULL)
    os.close(writes)
    assert (tmp_path / "done").exists() is (whose == "ours"), "the control arm ends"
